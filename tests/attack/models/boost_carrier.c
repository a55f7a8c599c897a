/* A boost converter whose comparator is a state event: a triangular carrier of 1.07 kHz meets the control voltage.

   L i' = U - (1 - s) u,  C u' = (1 - s) i - u / R;  s where control > carrier

   ---
   step 1e-4, stop 0.05, steps 600
   state i = 2.4, output
   state u = 24, output
   state carrier = 0
   memory s = 0, output boolean
   memory up = 1
   input control = 0.4, min 0.05, max 0.8
   input R = 20, min 5, max 100
   parameter L = 5e-3
   parameter C = 2e-4
   constant U = 24
   indicators 3
*/
#include "fmi2me.h"

DERIVATIVES {
    der_carrier = up ? 2137.0 : -2137.0;
    der_i = (U - (1.0 - s) * u - 0.2 * i) / L;
    der_u = ((1.0 - s) * i - u / R) / C;
}
INDICATORS {
    z[0] = control - carrier;
    z[1] = 1.0 - carrier;
    z[2] = carrier;
}
EVENTS {
    int changed = 0;
    if (carrier >= 1.0) TAKE(up, 0.0);
    if (carrier <= 0.0) TAKE(up, 1.0);
    TAKE(s, control > carrier);
    return changed;
}
