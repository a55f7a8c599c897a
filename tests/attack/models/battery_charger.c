/* Constant current, then constant voltage, then off: the charger's mode is an Integer output, the cell has two RC elements.

   s' = i/Q,  u1' = (i R1 - u1)/t1,  u2' = (i R2 - u2)/t2,  u = ocv(s) + u1 + u2 + R0 i

   ---
   step 1, stop 3000, steps 600
   state s = 0.3, output
   state u1 = 0
   state u2 = 0
   output u
   memory mode = 1, output integer
   input limit = 2, min 0.2, max 6
   parameter Q = 4000, from 1333, to 20000
   parameter R0 = 0.05
   constant R1 = 0.03
   constant R2 = 0.02
   indicators 2
*/
#include "fmi2me.h"

static double ocv(double c) { return 3.2 + 0.7 * c + 0.15 * exp(-30.0 * c) + 0.25 * c * c * c * c; }

static double current(Model *self) {
    if (mode == 0.0) return -0.2;
    double i = (4.1 - ocv(s) - u1 - u2) / R0;
    return mode == 1.0 ? limit : fmin(i, limit);
}
DERIVATIVES {
    double i = current(self);
    u = ocv(s) + u1 + u2 + R0 * i;
    der_s = i / Q;
    der_u1 = (R1 * i - u1) / 0.5;
    der_u2 = (R2 * i - u2) / 60.0;
}
INDICATORS {
    z[0] = mode == 1.0 ? 4.1 - u : 1.0;
    z[1] = mode == 2.0 ? current(self) - 0.1 : mode == 0.0 ? s - 0.6 : 1.0;
}
EVENTS {
    int changed = 0;
    if (mode == 1.0 && u >= 4.1) TAKE(mode, 2.0);
    else if (mode == 2.0 && current(self) <= 0.1) TAKE(mode, 0.0);
    else if (mode == 0.0 && s <= 0.6) TAKE(mode, 1.0);
    return changed;
}
