/* A phase locked loop with a multiplying detector: it slips cycles when the frequency jumps, then locks; its ripple is fast.

   e = cos(theta - phi) type detector, filter, VCO; all phases turn with the carrier taken away

   ---
   step 1e-3, stop 1, steps 600
   state phase = 0.3, output
   state lag = 0
   state integral = 0, output
   state ripple = 0, output
   input detune = 0, min -150, max 150
   parameter K = 200, from 70, to 600
   parameter zeta = 1
   constant tau = 2e-4
*/
#include "fmi2me.h"

DERIVATIVES {
    double e = sin(phase);
    der_phase = detune - integral - zeta * lag;
    der_lag = (K * e - lag) / tau;
    der_integral = 0.25 * K * K * e;
    der_ripple = (cos(3.0 * phase) * e - ripple) / 5e-3;
}
