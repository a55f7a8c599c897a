/* Gears by an Integer input, a clutch by a Boolean one: the ratio jumps where the bench says so.

   J w' = throttle M - T,  T = c (w - i_gear v / r) while closed,  m v' = i T / r - drag

   ---
   step 5e-3, stop 10, steps 600
   state w = 100, nominal 100, output
   state v = 5, output
   output T
   input gear = 2, integer, drive 1 5
   input closed = 1, boolean
   input throttle = 0.3, min 0, max 1
   parameter c = 40
   parameter m = 1200, from 600, to 3000
   flag quick
*/
#include "fmi2me.h"

DERIVATIVES {
    static const double ratios[] = {12.0, 14.0, 8.0, 5.5, 4.2, 3.4};
    int g = (int)clamp(gear, 0.0, 5.0);
    double i = ratios[g] / 0.3;
    T = closed != 0.0 ? 200.0 * tanh(c * (w - i * v) / 200.0) : 0.0;
    der_w = (200.0 * throttle - 0.3 * w - T) / 0.2;
    der_v = (i * T - 1.2 * v * v - 100.0 * tanh(v)) / m;
}
