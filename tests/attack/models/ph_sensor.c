/* Neutralisation: acid and base in a stirred tank, measured in pH, which moves by seven within a millionth of concentration.

   s' = (q_a a - q_b b - (q_a + q_b) s) / V (surplus of acid),  h = s/2 + sqrt(s^2/4 + 1e-14),  pH = -log10 h, behind an electrode

   ---
   step 0.5, stop 300, steps 600
   state s = 1e-3, output
   state electrode = 3, output
   output pH
   input qa = 0.5, min 0.1, max 1
   input qb = 0.5, min 0, max 1.2
   parameter V = 50
   parameter lag = 0.3
   constant a = 0.01
   constant b = 0.01
   flag quick
*/
#include "fmi2me.h"

DERIVATIVES {
    double h = s > 0.0 ? 0.5 * s + sqrt(0.25 * s * s + 1e-14) : 1e-14 / (sqrt(0.25 * s * s + 1e-14) - 0.5 * s);
    pH = -log10(h);
    der_s = (qa * a - qb * b - (qa + qb) * s) / V;
    der_electrode = (pH - electrode) / lag;
}
