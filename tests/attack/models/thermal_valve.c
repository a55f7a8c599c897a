/* A wax valve opens within 0.02 K at 320 K: a steep function of a state that is large as a number.

   C T' = Q - G valve (T - Tc),  valve = 1/(1 + exp(-(T - 320)/0.005)), flow behind a lag

   ---
   step 0.05, stop 60, steps 600
   state T = 318, nominal 300, output
   state flow = 0, output
   output valve
   input Q = 10, min 0, max 40
   input Tc = 300, min 280, max 310
   parameter C = 20
   parameter G = 2
   flag quick
*/
#include "fmi2me.h"

DERIVATIVES {
    valve = 1.0 / (1.0 + exp(clamp(-(T - 320.0) / 0.005, -500.0, 500.0)));
    der_flow = (valve - flow) / 0.1;
    der_T = (Q - G * flow * (T - Tc)) / C;
}
