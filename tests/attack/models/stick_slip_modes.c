/* The same plant with true sticking: mode 0 sticks to the belt until the force is too large, mode +-1 slips until the velocities meet.

   sticking: v = vb (held by a fast relaxation), breaks loose where |c x + d v| > Fs;  slipping: F = Fc sgn(vb - v)

   ---
   step 2e-3, stop 5, steps 600
   state x = 0, output
   state v = 0.1, output
   memory mode = 0, output integer
   input vb = 0.1, min 0.02, max 0.5
   parameter c = 100
   parameter Fs = 8, from 6, to 30
   constant Fc = 4
   constant d = 0.5
   constant m = 1
   indicators 3
*/
#include "fmi2me.h"

DERIVATIVES {
    der_x = v;
    der_v = mode == 0.0 ? (vb - v) / 1e-3 : (-c * x - d * v + Fc * mode) / m;
}
INDICATORS {
    double pull = c * x + d * v;
    z[0] = pull - Fs;
    z[1] = pull + Fs;
    z[2] = mode == 0.0 ? 1.0 : mode * (vb - v) + 1e-9;
}
EVENTS {
    int changed = 0;
    double pull = c * x + d * v;
    if (mode == 0.0 && pull > Fs) TAKE(mode, 1.0);
    else if (mode == 0.0 && pull < -Fs) TAKE(mode, -1.0);
    else if (mode != 0.0 && mode * (vb - v) + 1e-9 <= 0.0) TAKE(mode, fabs(pull) > Fs ? -mode : 0.0);
    return changed;
}
