/* Pressure behind an orifice: the square root's slope has no bound at zero.

   p' = k (q - sgn(p) sqrt|p|),  flow = sgn(p) sqrt|p|

   ---
   step 1e-3, stop 1, steps 600
   state p = 1, output
   output flow
   input q = 0.5, min -1, max 1
   parameter k = 300
   depends der_p: p q
   depends p: p
   depends flow: p
   flag quick
*/
#include "fmi2me.h"

DERIVATIVES {
    flow = root(p);
    der_p = k * (q - flow);
}
