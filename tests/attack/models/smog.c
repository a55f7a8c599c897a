/* Photochemical smog, six species after the POLLU problem (Verwer 1994): NO2, NO, O3, O, OH, CO in ppm; sunlight and traffic are inputs.

   NO2 -> NO + O (j),  O -> O3 (6e6),  O3 + NO -> NO2 (26.6),  CO + OH -> (0.3e3), OH + NO2 -> (1.6e4), O3 -> 2 OH (j 0.02)

   ---
   step 0.5, stop 120
   state NO2 = 0.05, output
   state NO = 0.2, output
   state O3 = 0.04, output
   state O = 0
   state OH = 0, output
   state CO = 0.3
   input sun = 0.35, min 0, max 0.7
   input traffic = 0, drive 0 0.01
   parameter k3 = 26.6
   parameter k5 = 1.6e4
*/
#include "fmi2me.h"

DERIVATIVES {
    double r1 = sun * NO2, r2 = 6e6 * O, r3 = k3 * O3 * NO, r4 = 300.0 * CO * OH, r5 = k5 * OH * NO2, r6 = 0.02 * sun * O3;
    der_NO2 = -r1 + r3 - r5;
    der_NO = r1 - r3 + traffic;
    der_O3 = r2 - r3 - r6;
    der_O = r1 - r2;
    der_OH = 2.0 * r6 - r4 - r5;
    der_CO = -r4 + 10.0 * traffic;
}
