/* A wheel that brakes to a standstill and starts again on a relaxing contact patch: stiffness by load, sliding by a saturation.

   J w' = M - r F,  m v' = F - 30 v,  L s' = r w - v - |v + vt| s,  F = mu N tanh(c s / (mu N))

   ---
   step 2e-3, stop 2, steps 600
   state v = 3, output
   state w = 10, output
   state s = 0
   output F
   input M = 0, min -400, max 400
   input mu = 0.9, min 0.1, max 1
   parameter m = 300
   parameter c = 6e4, from 2e4, to 2e5
   constant J = 1.2
   constant r = 0.3
   constant L = 0.02
*/
#include "fmi2me.h"

DERIVATIVES {
    double most = mu * 3000.0;
    F = most * tanh(c * s / most);
    der_s = (r * w - v - fabs(v) * s) / L;
    der_w = (M - r * F - 0.05 * w) / J;
    der_v = (F - 30.0 * v) / m;
}
