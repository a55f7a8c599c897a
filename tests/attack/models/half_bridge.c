/* A half bridge with dead time, switched by time events, and an LC filter: three time events in each period of 0.4 ms, a step is 0.25 ms.

   L i' = s U/2 - u - R i,  C u' = i - u/load;  in the dead time the diodes carry on: s = -sgn(i)

   ---
   step 2.5e-4, stop 0.05, steps 400
   state i = 0, output
   state u = 0, output
   memory s = 1
   memory edge = 0
   memory width = 0.5
   input duty = 0.5, min 0.1, max 0.9
   input load = 10, min 3, max 50
   parameter L = 4e-3, from 2e-3, to 4e-2
   parameter C = 1e-3
   constant U = 100
   constant R = 0.2
   constant T = 4e-4
   constant dead = 1e-5
*/
#include "fmi2me.h"

INITIAL { NEXT = TIME; }
DERIVATIVES {
    double drive = s != 0.0 ? s : -tanh(i / 1e-3);
    der_i = (0.5 * U * drive - u - R * i) / L;
    der_u = (i - u / load) / C;
}
EVENTS {
    int changed = 0;
    if (DUE) {
        double k = floor(TIME / T + 1e-7), begin = k * T;
        if (edge == 0.0) {
            width = clamp(duty, 0.05, 0.95);
            s = 1.0;
            edge = 1.0;
            NEXT = begin + width * T;
        } else if (edge == 1.0) {
            s = 0.0;
            edge = 2.0;
            NEXT = begin + width * T + dead;
        } else {
            s = -1.0;
            edge = 0.0;
            NEXT = (k + 1.0) * T;
        }
    }
    return changed;
}
