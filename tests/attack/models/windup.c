/* A cascade of two PI controllers; the actuator saturates and its rate is limited; the integrators are held by events while it does.

   position by act, act' limited to +-rate; I1' = 0 while saturated

   ---
   step 5e-3, stop 5, steps 600
   state x = 0, output
   state v = 0
   state act = 0, output
   state I1 = 0
   state I2 = 0
   memory hold = 0, output boolean
   input r = 0, min -1, max 1
   input load = 0, min -3, max 3
   parameter m = 1
   parameter rate = 200, from 70, to 1000
   constant most = 5
   indicators 2
*/
#include "fmi2me.h"

#define WISH (8.0 * (4.0 * (r - x) + I1 - v) + I2)

DERIVATIVES {
    double wish = clamp(WISH, -most, most);
    der_x = v;
    der_v = (act - load - 0.5 * v) / m;
    der_act = clamp((wish - act) / 2e-3, -rate, rate);
    der_I1 = hold != 0.0 ? 0.0 : 2.0 * (r - x);
    der_I2 = hold != 0.0 ? 0.0 : 10.0 * (4.0 * (r - x) + I1 - v);
}
INDICATORS {
    z[0] = WISH - most;
    z[1] = WISH + most;
}
EVENTS {
    int changed = 0;
    TAKE(hold, fabs(WISH) > most ? 1.0 : 0.0);
    return changed;
}
