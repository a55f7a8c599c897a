/* A carriage hits a stop (restitution 0.6: the velocity jumps) while a clutch slips and locks on the shaft that pulls it.

   x' = v,  v' = k (y - x) - d v,  y' = w,  J w' = clutch(u - w) - k (y - x)

   ---
   step 2e-3, stop 4, steps 600
   state x = 0, output
   state v = 0, output
   state y = 0
   state w = 0, output
   input u = 0, min -1, max 1
   parameter k = 200
   parameter grip = 30, from 10, to 100
   constant d = 2
   constant J = 0.1
   indicators 1
   flag quick
*/
#include "fmi2me.h"

DERIVATIVES {
    double T = k * (y - x), slip = u - w;
    der_x = v;
    der_v = T - d * v;
    der_y = w;
    der_w = (grip * tanh(slip / 0.005) - T - 2.0 * w) / J;
}
INDICATORS { z[0] = 0.2 - x; }
EVENTS {
    if (x >= 0.2 && v > 0.0) v = -0.6 * v;
    return 0;
}
