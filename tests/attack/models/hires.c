/* HIRES: high irradiance response of morphogenesis (Schäfer 1975; Hairer and Wanner IV.10), eight species; the light k is an input.

   ---
   step 0.5, stop 320
   state y1 = 1, output
   state y2 = 0
   state y3 = 0
   state y4 = 0
   state y5 = 0
   state y6 = 0, output
   state y7 = 0, output
   state y8 = 0.0057, output
   input light = 1, min 0, max 3
   parameter k = 280, from 100, to 1000
   flag quick
*/
#include "fmi2me.h"

DERIVATIVES {
    double q = k * y6 * y8;
    der_y1 = -1.71 * light * y1 + 0.43 * y2 + 8.32 * y3 + 0.0007;
    der_y2 = 1.71 * light * y1 - 8.75 * y2;
    der_y3 = -10.03 * y3 + 0.43 * y4 + 0.035 * y5;
    der_y4 = 8.32 * y2 + 1.71 * light * y3 - 1.12 * y4;
    der_y5 = -1.745 * y5 + 0.43 * y6 + 0.43 * y7;
    der_y6 = -q + 0.69 * y4 + 1.71 * y5 - 0.43 * y6 + 0.69 * y7;
    der_y7 = q - 1.81 * y7;
    der_y8 = -q + 1.81 * y7;
}
