/* A catalyst at trace concentrations: the input has no range, the builder invents 1, the bench doses 1e-7.

   a' = dose - k a b,  b' = 1e-7 - k a b - b,  p' = k a b - 0.1 p

   ---
   step 0.05, stop 20, steps 600
   state a = 0, output
   state b = 1e-7, output
   state p = 0, output
   input dose = 0, drive 0 3e-7
   parameter k = 1e9
*/
#include "fmi2me.h"

DERIVATIVES {
    double r = k * a * b;
    der_a = dose - r - 0.01 * a;
    der_b = 1e-7 - r - b;
    der_p = r - 0.1 * p;
}
