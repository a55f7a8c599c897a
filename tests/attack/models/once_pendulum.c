/* A pendulum on a stiff rod with a drive at its pivot, in a library that allows one instance per process.

   m x'' = -k (l - l0) x / l - d vr x/l + u,  m y'' = ... - m g

   ---
   step 2e-3, stop 3, steps 600
   state x = 0.5, output
   state y = -0.87, output
   state vx = 0
   state vy = 0
   input u = 0, min -5, max 5
   parameter k = 1e5
   parameter d = 100, from 30, to 1000
   constant m = 1
   flag once
*/
#include "fmi2me.h"

DERIVATIVES {
    double l = sqrt(x * x + y * y), pull = k * (l - 1.0) + d * (x * vx + y * vy) / l;
    der_x = vx;
    der_y = vy;
    der_vx = (-pull * x / l + u - 0.1 * vx) / m;
    der_vy = (-pull * y / l - 0.1 * vy) / m - 9.81;
}
