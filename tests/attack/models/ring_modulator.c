/* A ring modulator in small: four diodes between two filters, the carrier large, the signal small (after Horneber 1976).

   C u1' = i1 - u1/R + ...,  Cs small: the bridge's own voltages are stiff; i = I0 (exp(u/U) - 1), limited where it would overflow

   ---
   step 2e-6, stop 1e-3, steps 500
   state u1 = 0
   state u2 = 0, output
   state u3 = 0
   state u4 = 0
   state uc = 0
   state i1 = 0
   state i2 = 0, output
   input signal = 0, min -0.5, max 0.5
   input carrier = 0, min -2, max 2
   parameter C = 1.6e-8
   parameter Cs = 1e-9, from 3e-10, to 1e-8
   parameter L = 4.45e-3
   constant R = 2.5e4
   constant Ri = 50
   flag quick
*/
#include "fmi2me.h"

static double diode(double u) { return 40.67286402e-9 * (exp(fmin(17.7493332 * u, 60.0)) - 1.0); }

DERIVATIVES {
    double a = diode(u3 - 0.5 * u1 - uc), b = diode(-u3 + 0.5 * u1 - uc);
    double c = diode(u4 + 0.5 * u2 + uc), d = diode(-u4 - 0.5 * u2 + uc);
    der_u1 = (i1 + 0.5 * a - 0.5 * b - u1 / R) / C;
    der_u2 = (i2 - 0.5 * c + 0.5 * d - u2 / R) / C;
    der_u3 = (-a + b - u3 / 600.0) / Cs;
    der_u4 = (-c + d - u4 / 600.0 + 0.02 * (u1 - u4)) / Cs;
    der_uc = ((carrier - uc) / 50.0 + a + b - c - d) / Cs;
    der_i1 = (-u1 - Ri * i1 + signal) / L;
    der_i2 = (-u2 - Ri * i2) / L;
}
