/* Flame propagation (Shampine): a ball of flame grows slowly and at once; the oxygen is an input.

   y' = o y^2 - y^3 + 1e-4 (1e-3 - y)

   ---
   step 20, stop 8000, steps 600
   state y = 1e-3, output
   input o = 1, min 0.2, max 2
   parameter k = 1
   depends der_y: y o
   depends y: y
   flag quick
*/
#include "fmi2me.h"

DERIVATIVES { der_y = k * (o * y * y - y * y * y) + 1e-4 * (1e-3 - y); }
