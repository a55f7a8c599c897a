/* Hodgkin and Huxley's axon (1952): at rest until the current passes a threshold, then spikes of a millisecond.

   C V' = I - gNa m^3 h (V - 50) - gK n^4 (V + 77) - gL (V + 54.4)

   ---
   step 0.1, stop 60, steps 600
   state V = -65, nominal 100, output
   state m = 0.0529
   state h = 0.596
   state n = 0.3177, output
   input I = 0, min -5, max 30
   parameter gNa = 120, from 80, to 240
   parameter gK = 36, from 20, to 80
   constant gL = 0.3
*/
#include "fmi2me.h"

static double ratio(double u) { return fabs(u) < 1e-6 ? 1.0 + 0.5 * u : u / (1.0 - exp(-u)); }

DERIVATIVES {
    double am = ratio((V + 40.0) / 10.0), bm = 4.0 * exp(-(V + 65.0) / 18.0);
    double ah = 0.07 * exp(-(V + 65.0) / 20.0), bh = 1.0 / (1.0 + exp(-(V + 35.0) / 10.0));
    double an = 0.1 * ratio((V + 55.0) / 10.0), bn = 0.125 * exp(-(V + 65.0) / 80.0);
    der_V = I - gNa * m * m * m * h * (V - 50.0) - gK * n * n * n * n * (V + 77.0) - gL * (V + 54.4);
    der_m = am * (1.0 - m) - bm * m;
    der_h = ah * (1.0 - h) - bh * h;
    der_n = an * (1.0 - n) - bn * n;
}
