/* A room at 320 K with a radiator valve that goes from shut to open within 0.02 K, a thin wall, and a sensor: all as absolute temperatures.

   Cr Tr' = q(Ts) - 20 (Tr - Tw),  Cw Tw' = 20 (Tr - Tw) - a (Tw - Ta),  Ts' = (Tw - Ts)/3,  q = P/(1 + exp((Ts - wish)/0.005))

   ---
   step 0.5, stop 400, steps 600
   state Tr = 321, nominal 300, output
   state Tw = 320, nominal 300, output
   state Ts = 320, nominal 300
   output q
   input wish = 320, min 318, max 324
   input Ta = 290, min 280, max 300
   parameter Cr = 60
   parameter a = 4, from 2, to 12
   constant P = 400
*/
#include "fmi2me.h"

DERIVATIVES {
    q = P / (1.0 + exp(clamp((Ts - wish) / 0.005, -60.0, 60.0)));
    der_Tr = (q - 20.0 * (Tr - Tw)) / Cr;
    der_Tw = (20.0 * (Tr - Tw) - a * (Tw - Ta)) / 200.0;
    der_Ts = (Tw - Ts) / 3.0;
}
