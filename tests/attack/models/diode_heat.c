/* A diode that warms itself: its exponential depends on a junction's temperature in kelvin, its current heats the junction.

   Cj u' = (e - u)/R - I(u, T),  Ct T' = u I - (T - Th)/Rt,  Ch Th' = (T - Th)/Rt - 0.05 (Th - 300)

   ---
   step 1e-3, stop 2, steps 600
   state u = 0, output
   state T = 300, nominal 300, output
   state Th = 300, nominal 300, output
   input e = 0, min -10, max 10
   parameter R = 2
   parameter Ct = 0.02
   constant Cj = 1e-4
   constant Rt = 5
*/
#include "fmi2me.h"

DERIVATIVES {
    double V = 8.617e-5 * T, I = 1e-12 * pow(T / 300.0, 3.0) * exp(12900.0 * (1.0 / 300.0 - 1.0 / T)) * (exp(fmin(u / V, 60.0)) - 1.0);
    der_u = ((e - u) / R - I) / Cj;
    der_T = (u * I - (T - Th) / Rt) / Ct;
    der_Th = ((T - Th) / Rt - 0.05 * (Th - 300.0)) / 5.0;
}
