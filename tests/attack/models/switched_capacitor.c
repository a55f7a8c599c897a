/* A switched capacitor filter: two switches opened and closed by time events, their resistance 0.1 and 1e7 ohm.

   C1 u1' = (in - u1)/Ra - (u1 - u2)/Rb,  C2 u2' = (u1 - u2)/Rb - u2/load

   ---
   step 1e-3, stop 0.5, steps 500
   state u1 = 0
   state u2 = 0, output
   memory phase = 0, output boolean
   input in = 1, min -5, max 5
   parameter C1 = 1e-7
   parameter load = 2e4, from 7e3, to 2e5
   constant C2 = 2e-6
   constant T = 1.3e-3
*/
#include "fmi2me.h"

INITIAL { NEXT = TIME; }
DERIVATIVES {
    double Ra = phase == 0.0 ? 100.0 : 1e9, Rb = phase == 0.0 ? 1e9 : 100.0;
    der_u1 = ((in - u1) / Ra - (u1 - u2) / Rb) / C1;
    der_u2 = ((u1 - u2) / Rb - u2 / load) / C2;
}
EVENTS {
    int changed = 0;
    if (DUE) {
        double k = floor(2.0 * TIME / T + 1e-6);
        TAKE(phase, fmod(k, 2.0));
        NEXT = 0.5 * (k + 1.0) * T;
    }
    return changed;
}
