/* A pressure wave's delay by a chain of twelve lags in a loop with an integrator: near its limit of stability.

   x1' = n (v - x1)/T, ...,  v' = (r - x12)/Ti with a fast inner lag

   ---
   step 0.01, stop 10, steps 600
   state v = 0
   state a1 = 0
   state a2 = 0
   state a3 = 0
   state a4 = 0
   state a5 = 0
   state a6 = 0
   state a7 = 0
   state a8 = 0
   state y = 0, output
   state fast = 0, output
   input r = 0, min -1, max 1
   parameter T = 0.5, from 0.2, to 1
   constant Ti = 0.7
*/
#include "fmi2me.h"

DERIVATIVES {
    double *a = &a1, *da = &der_a1, rate = 9.0 / T;
    der_v = (r - fast) / Ti;
    da[0] = rate * (v - a[0]);
    for (int i = 1; i < 8; i++) da[i] = rate * (a[i - 1] - a[i]);
    der_y = rate * (a[7] - y);
    der_fast = (y - fast) / 1e-3;
}
