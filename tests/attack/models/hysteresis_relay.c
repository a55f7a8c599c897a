/* A motor's position held by a relay with hysteresis and a fast current: a limit cycle whose length follows from the hysteresis.

   L i' = U s - R i - k w,  J w' = k i - d w - load,  phi' = w;  s turns where |wish - phi - 0.05 w| > e

   ---
   step 1e-3, stop 2, steps 600
   state i = 0
   state w = 0, output
   state phi = 0, output
   memory s = 1, output integer
   input wish = 0, min -1, max 1
   input load = 0, min -0.2, max 0.2
   parameter J = 0.01
   parameter L = 2e-3, from 1e-3, to 1e-2
   constant U = 12
   constant R = 1
   constant k = 0.2
   constant e = 0.02
   indicators 2
*/
#include "fmi2me.h"

DERIVATIVES {
    der_i = (U * s - R * i - k * w) / L;
    der_w = (k * i - 0.01 * w - load) / J;
    der_phi = w;
}
INDICATORS {
    double miss = wish - phi - 0.05 * w;
    z[0] = miss - e;
    z[1] = miss + e;
}
EVENTS {
    int changed = 0;
    double miss = wish - phi - 0.05 * w;
    if (miss > e) TAKE(s, 1.0);
    if (miss < -e) TAKE(s, -1.0);
    return changed;
}
