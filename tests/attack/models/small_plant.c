/* A positioner that moves millimetres where its input, without a range, is studied at metres; cubic spring, stiff flexure.

   m v' = k (r - x) - c v - 1e9 x^3 ..., sensor' = (x - sensor) / 1e-3

   ---
   step 1e-3, stop 1, steps 600
   state x = 0, output
   state v = 0
   state sensor = 0, output
   input r = 0, drive -1e-3 1e-3
   parameter k = 4e4
   parameter k3 = 1e10, from 3e9, to 3e10
   constant m = 0.2
   constant c = 100
   flag quick
*/
#include "fmi2me.h"

DERIVATIVES {
    der_x = v;
    der_v = (k * (r - x) - c * v - k3 * x * x * x) / m;
    der_sensor = (x - sensor) / 2e-4;
}
