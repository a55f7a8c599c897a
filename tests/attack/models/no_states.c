/* A sensor without states: a characteristic with hysteresis, a limit, a Boolean alarm.

   ---
   step 0.01, stop 5, steps 600
   memory up = 0
   memory alarm = 0, output boolean
   output y
   input u = 0, min -2, max 2
   parameter width = 0.2, from 0.1, to 0.6
   indicators 3
*/
#include "fmi2me.h"

DERIVATIVES { y = clamp(u + (up ? width : -width), -1.5, 1.5); }
INDICATORS {
    z[0] = u - width;
    z[1] = u + width;
    z[2] = u - 1.0;
}
EVENTS {
    int changed = 0;
    if (u > width) TAKE(up, 1.0);
    if (u <= -width) TAKE(up, 0.0);
    TAKE(alarm, u > 1.0);
    return changed;
}
