/* A rectifier: an exponential diode charges a capacitor from a wire with little inductance.

   L i' = e - u_d(i) ... solved for the current: Cj ud' = i - I0 (exp(ud/Ut) - 1);  C u' = i - u/R

   ---
   step 5e-5, stop 0.04, steps 800
   state i = 0, output
   state ud = 0
   state u = 0, output
   input e = 0, min -20, max 20
   parameter C = 1e-3
   parameter L = 1e-4
   parameter R = 50
   constant Cj = 1e-8
*/
#include "fmi2me.h"

DERIVATIVES {
    double id = 1e-9 * (exp(fmin(ud / 0.0389, 60.0)) - 1.0);
    der_i = (e - ud - u - 0.5 * i) / L;
    der_ud = (i - id - ud * 1e-3) / Cj;
    der_u = (id + ud * 1e-3 - u / R) / C;
}
