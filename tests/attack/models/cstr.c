/* A cooled stirred reactor with three steady states (Aris and Amundson): it ignites and extinguishes with its coolant.

   c' = q (1 - c) - r,  T' = q (Tf - T) + 200 r - U (T - Tc),  tau Tc' = coolant - Tc,  r = 7.2e10 c exp(-8750/T)

   ---
   step 0.02, stop 20, steps 600
   state c = 0.5, output
   state T = 350, nominal 350, output
   state Tc = 300, nominal 300
   input coolant = 300, min 285, max 310
   input q = 1, min 0.5, max 2
   parameter U = 2.09, from 1, to 6
   constant Tf = 350
*/
#include "fmi2me.h"

DERIVATIVES {
    double r = 7.2e10 * c * exp(-8750.0 / fmax(T, 150.0));
    der_c = q * (1.0 - c) - r;
    der_T = q * (Tf - T) + 209.2 * r - U * (T - Tc);
    der_Tc = (coolant - Tc) / 0.01;
}
