/* Semenov's thermal explosion with consumption, in a stirred reactor: it ignites, burns out, and the inflow restarts it.

   c' = (c0 - c)/tau - r,  T' = (T0 - T)/tau + 200 r - k (T - Tw),  r = 1e10 c exp(-1e4/T)

   ---
   step 0.1, stop 100, steps 600
   state c = 1, output
   state T = 350, nominal 300, output
   input Tw = 330, min 290, max 400
   input c0 = 1, min 0.5, max 1.5
   parameter k = 0.3, from 0.1, to 1
   parameter tau = 10, from 5, to 30
   constant T0 = 330
*/
#include "fmi2me.h"

DERIVATIVES {
    double r = 1e10 * c * exp(-1e4 / fmax(T, 150.0));
    der_c = (c0 - c) / tau - r;
    der_T = (T0 - T) / tau + 200.0 * r - k * (T - Tw);
}
