/* Robertson's autocatalytic reaction (1966), fed. Time constants from 1e-4 s to 1e5 s, one species of 1e-5.

   A' = -k1 A + k3 B C + u,  B' = k1 A - k3 B C - k2 B^2,  C' = k2 B^2 - u

   ---
   step 0.1, stop 40
   state A = 1, output
   state B = 0, output
   state C = 0, output
   input u = 0, min -1e-3, max 1e-2
   parameter k1 = 0.04
   parameter k2 = 3e7
   parameter k3 = 1e4
   depends der_A: A B C u
   depends der_B: A B C
   depends der_C: B u
   depends A: A
   depends B: B
   depends C: C
*/
#include "fmi2me.h"

DERIVATIVES {
    der_A = -k1 * A + k3 * B * C + u;
    der_B = k1 * A - k3 * B * C - k2 * B * B;
    der_C = k2 * B * B - u;
}
