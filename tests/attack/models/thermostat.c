/* Two rooms, a radiator, a thermostat with hysteresis: what it says is a Boolean output.

   C1 T1' = P on + k (T2 - T1) - a (T1 - Ta),  C2 T2' = k (T1 - T2) - a (T2 - Ta)

   ---
   step 10, stop 7200, steps 600
   state T1 = 290, nominal 300, output
   state T2 = 288, nominal 300, output
   state Tr = 292, nominal 300
   memory on = 1, output boolean
   input Ta = 275, min 255, max 295
   input wish = 293, min 288, max 298
   parameter C1 = 8e4
   parameter a = 25
   constant P = 2500
   indicators 2
   flag quick
*/
#include "fmi2me.h"

DERIVATIVES {
    der_Tr = (P * on - 90.0 * (Tr - T1)) / 3e3;
    der_T1 = (90.0 * (Tr - T1) + 60.0 * (T2 - T1) - a * (T1 - Ta)) / C1;
    der_T2 = (60.0 * (T1 - T2) - a * (T2 - Ta)) / 2e5;
}
INDICATORS {
    z[0] = T1 - wish - 0.5;
    z[1] = T1 - wish + 0.5;
}
EVENTS {
    int changed = 0;
    if (T1 > wish + 0.5) TAKE(on, 0.0);
    if (T1 <= wish - 0.5) TAKE(on, 1.0);
    return changed;
}
