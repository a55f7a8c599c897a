/* Two lightly damped masses (0.1 %) driven near their resonance: small phase errors per step add up over hundreds of periods.

   ---
   step 5e-3, stop 20, steps 1000
   state x1 = 0, output
   state v1 = 0
   state x2 = 0, output
   state v2 = 0
   input u = 0, min -1, max 1
   parameter k = 400, from 133, to 800
   parameter c = 0.04
   constant m = 1
   flag quick
*/
#include "fmi2me.h"

DERIVATIVES {
    double s = k * (x2 - x1) + c * (v2 - v1);
    der_x1 = v1;
    der_v1 = (u - k * x1 - c * v1 + s) / m;
    der_x2 = v2;
    der_v2 = -s / m;
}
