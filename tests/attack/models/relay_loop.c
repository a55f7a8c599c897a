/* A relay without hysteresis in a loop of third order: it finds its own limit cycle, of a few steps' length.

   x1' = x2, x2' = x3, x3' = -6 x1 .. + K relay,  relay = sgn(r - x1)

   ---
   step 0.05, stop 30, steps 600
   state x1 = 0.1, output
   state x2 = 0
   state x3 = 0, output
   memory relay = 1, output integer
   input r = 0, min -1, max 1
   parameter K = 10
   parameter a = 1
   indicators 1
*/
#include "fmi2me.h"

DERIVATIVES {
    der_x1 = x2;
    der_x2 = x3;
    der_x3 = a * (-6.0 * x1 - 11.0 * x2 - 6.0 * x3) + K * relay;
}
INDICATORS { z[0] = r - x1; }
EVENTS {
    int changed = 0;
    TAKE(relay, r - x1 > 0.0 ? 1.0 : -1.0);
    return changed;
}
