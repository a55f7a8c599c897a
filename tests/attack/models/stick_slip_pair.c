/* Two blocks on a belt joined by a spring (Burridge and Knopoff): each sticks and slips by a state event, one sets the other off.

   sticking: v = vb by a fast relaxation; slipping: m v' = pull - Fc sgn(v - vb)

   ---
   step 2e-3, stop 4, steps 600
   state x1 = 0, output
   state v1 = 0.1
   state x2 = 0.01, output
   state v2 = 0.1
   memory m1 = 0, output integer
   memory m2 = 0, output integer
   input vb = 0.1, min 0.03, max 0.4
   parameter c = 60
   parameter k = 40
   constant Fs = 6
   constant Fc = 3.5
   indicators 6
*/
#include "fmi2me.h"

#define PULL1 (-c * x1 - k * (x1 - x2) - 0.3 * v1)
#define PULL2 (-c * x2 - k * (x2 - x1) - 0.3 * v2)

DERIVATIVES {
    der_x1 = v1;
    der_x2 = v2;
    der_v1 = m1 == 0.0 ? (vb - v1) / 1e-3 : PULL1 + Fc * m1;
    der_v2 = m2 == 0.0 ? (vb - v2) / 1e-3 : PULL2 + Fc * m2;
}
INDICATORS {
    z[0] = PULL1 - Fs;
    z[1] = PULL1 + Fs;
    z[2] = m1 == 0.0 ? 1.0 : m1 * (vb - v1) + 1e-9;
    z[3] = PULL2 - Fs;
    z[4] = PULL2 + Fs;
    z[5] = m2 == 0.0 ? 1.0 : m2 * (vb - v2) + 1e-9;
}
static double turn(double mode, double pull, double ahead, double limit) {
    if (mode == 0.0) return pull > limit ? -1.0 : pull < -limit ? 1.0 : 0.0;
    return mode * ahead + 1e-9 <= 0.0 ? (fabs(pull) > limit ? -mode : 0.0) : mode;
}
EVENTS {
    int changed = 0;
    TAKE(m1, turn(m1, PULL1, vb - v1, Fs));
    TAKE(m2, turn(m2, PULL2, vb - v2, Fs));
    return changed;
}
