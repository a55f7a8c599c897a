/* Van der Pol's oscillator with a force: nearly harmonic or relaxing, as its parameter says, which the importer may multiply by ten.

   x' = v,  v' = mu (1 - x^2) v - x + u

   ---
   step 0.02, stop 20, steps 600
   state x = 2, output
   state v = 0, output
   input u = 0, min -2, max 2
   parameter mu = 8
   depends der_x: v
   depends der_v: x v u
   depends x: x
   depends v: v
   flag quick
*/
#include "fmi2me.h"

DERIVATIVES {
    der_x = v;
    der_v = mu * (1.0 - x * x) * v - x + u;
}
