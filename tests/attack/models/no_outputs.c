/* Two masses between stiff springs, and nothing declared to be an output: what is certified are the states.

   ---
   step 1e-3, stop 1, steps 600
   state x1 = 0.01
   state v1 = 0
   state x2 = 0
   state v2 = 0
   input u = 0, min -50, max 50
   parameter k = 2e5
   parameter c = 50
*/
#include "fmi2me.h"

DERIVATIVES {
    double s = k * (x2 - x1) + c * (v2 - v1);
    der_x1 = v1;
    der_v1 = (u + s - 500.0 * x1 - 5.0 * v1) / 2.0;
    der_x2 = v2;
    der_v2 = -s - 500.0 * x2 * (1.0 + 100.0 * x2 * x2);
}
