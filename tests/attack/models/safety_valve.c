/* A boiler's safety valve pops open at 10 bar and reseats at 9: its lift is a memory, its position a Boolean output.

   C p' = Q - m(p) - lift k p,  lift' = (popped - lift) / tau

   ---
   step 0.02, stop 20, steps 600
   state p = 8e5, nominal 1e5, output
   state lift = 0, output
   memory popped = 0, output boolean
   input heat = 1, min 0, max 3
   parameter C = 1, from 0.5, to 5
   parameter tau = 0.01
   parameter k = 5, from 3, to 10
   indicators 2
   flag quick
*/
#include "fmi2me.h"

DERIVATIVES {
    der_p = (1e5 * heat - lift * k * p * 0.2) / C;
    der_lift = (popped - lift) / tau;
}
INDICATORS {
    z[0] = (p - 1e6) / 1e5;
    z[1] = (p - 9e5) / 1e5;
}
EVENTS {
    int changed = 0;
    if (p > 1e6) TAKE(popped, 1.0);
    if (p <= 9e5) TAKE(popped, 0.0);
    return changed;
}
