/* A buck converter, switched by time events: four periods of 50 us in a step of 0.2 ms, its duty taken once a period.

   L i' = s U - u - R i (i stays above zero: a diode),  C u' = i - u / load

   ---
   step 2e-4, stop 0.05, steps 400
   state i = 0, output
   state u = 0, output
   memory s = 1
   memory width = 0.5
   input duty = 0.5, min 0.1, max 0.9
   input load = 10, min 2, max 50
   parameter L = 2e-3, from 1e-3, to 2e-2
   parameter C = 4.7e-4
   constant U = 48
   constant R = 0.1
   constant T = 5e-5
   flag quick
*/
#include "fmi2me.h"

INITIAL { NEXT = TIME; }
DERIVATIVES {
    double d = s * U - u - R * i;
    der_i = (i <= 0.0 && d < 0.0 ? -1e5 * i * L : d) / L;
    der_u = (i - u / load) / C;
}
EVENTS {
    int changed = 0;
    if (DUE) {
        double k = floor(TIME / T + 1e-6), begin = k * T;
        if (TIME >= begin + width * T - 1e-10 && s == 1.0) {
            s = 0.0;
            NEXT = (k + 1.0) * T;
        } else {
            s = 1.0;
            width = clamp(duty, 0.05, 0.95);
            NEXT = begin + width * T;
        }
    }
    return changed;
}
