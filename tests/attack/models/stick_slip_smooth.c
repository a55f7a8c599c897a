/* A mass on a belt, friction regularised by a steep tanh with a Stribeck drop: stick-slip without events.

   m v' = -c x - d v + F(vb - v),  F(w) = tanh(w / 1e-3) (Fc + Fs exp(-(w/0.1)^2))

   ---
   step 2e-3, stop 5, steps 600
   state x = 0, output
   state v = 0, output
   input vb = 0.1, min -0.5, max 0.5
   parameter c = 100
   parameter Fc = 5
   parameter Fs = 3
   constant d = 0.5
   constant m = 1
   flag quick
*/
#include "fmi2me.h"

DERIVATIVES {
    double w = vb - v;
    der_x = v;
    der_v = (-c * x - d * v + tanh(w / 1e-3) * (Fc + Fs * exp(-100.0 * w * w))) / m;
}
