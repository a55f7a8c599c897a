/* A position controller whose actuator has a dead zone: it creeps into the zone and hunts.

   x' = v,  v' = (K dz(kp (r - x) - kd v + I) - c v) / m,  I' = ki (r - x)

   ---
   step 5e-3, stop 5, steps 600
   state x = 0, output
   state v = 0
   state I = 0
   output force
   input r = 0, min -1, max 1
   parameter kp = 40, from 10, to 100
   parameter K = 5, from 2, to 20
   constant kd = 4
   constant ki = 20
   constant width = 1.5
   constant c = 40
*/
#include "fmi2me.h"

DERIVATIVES {
    double s = kp * (r - x) - kd * v + I;
    force = K * (s > width ? s - width : s < -width ? s + width : 0.0);
    der_x = v;
    der_v = (force - c * v) / 0.5;
    der_I = ki * (r - x);
}
