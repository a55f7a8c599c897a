/* A wheel that stops: slip is divided by the speed, so that the contact is infinitely stiff at standstill (limited at 0.05 m/s).

   J w' = M - r F,  m v' = F - drag,  F = Fz mu(slip),  slip = (r w - v) / max(|v|, 0.05)

   ---
   step 1e-3, stop 3, steps 800
   state w = 20, output
   state v = 6, output
   output F
   input M = 0, min -600, max 300
   parameter mu = 0.8, from 0.2, to 1.2
   parameter J = 1, from 0.5, to 3
   constant r = 0.3
   constant m = 300
*/
#include "fmi2me.h"

DERIVATIVES {
    double slip = (r * w - v) / fmax(fabs(v), 0.05);
    F = 3000.0 * mu * sin(1.4 * atan(8.0 * slip));
    double brake = M < 0.0 ? M * tanh(w / 0.5) : M;
    der_w = (brake - r * F) / J;
    der_v = (F - 0.4 * v * fabs(v) - 30.0 * tanh(v / 0.1)) / m;
}
