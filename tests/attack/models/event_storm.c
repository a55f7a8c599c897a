/* Eight comparators on two fast oscillations: hundreds of events in a few steps, each moves a current a little.

   x'' + w^2 x = u,  y' = (sum of the comparators - y) / tau

   ---
   step 0.01, stop 2, steps 400
   state x = 1, output
   state v = 0
   state y = 0, output
   memory level = 0, output integer
   input u = 0, min -400, max 400
   parameter w = 40, from 13, to 200
   parameter tau = 0.02
   indicators 8
   flag quick
*/
#include "fmi2me.h"

DERIVATIVES {
    der_x = v;
    der_v = -w * w * x + u - 0.2 * v;
    der_y = (level - y) / tau;
}
INDICATORS {
    for (int i = 0; i < 8; i++) z[i] = x - (i - 3.5) * 0.2;
}
EVENTS {
    int changed = 0, sum = 0;
    for (int i = 0; i < 8; i++) sum += x > (i - 3.5) * 0.2;
    TAKE(level, sum);
    return changed;
}
