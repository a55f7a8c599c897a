/* A clipper: two antiparallel diodes behind a resistor, gain before it; exponentials on both sides.

   C u' = (g e - u)/R - 2 I0 sinh(u/Ut),  C2 y' = (u - y)/R2

   ---
   step 5e-5, stop 0.02, steps 800
   state u = 0, output
   state y = 0, output
   input e = 0, min -1, max 1
   parameter g = 20, from 6, to 100
   parameter R = 2200
   constant C = 1e-8
   depends der_u: u e
   depends der_y: u y
   depends u: u
   depends y: y
*/
#include "fmi2me.h"

DERIVATIVES {
    der_u = ((g * e - u) / R - 2.0 * 2.52e-9 * sinh(clamp(u / 0.04525, -60.0, 60.0))) / C;
    der_y = (u - y) / 5e-4;
}
