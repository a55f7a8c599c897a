/* Docking at 7e6 m from the origin: the port is a stiff spring that begins where two large positions are equal.

   x1'' = u/m - F/m, x2'' = F/m2,  F = k gap + d gap' in contact, 0 else; gap is an output

   ---
   step 0.01, stop 10, steps 600
   state x1 = 7e6, nominal 1e6
   state v1 = 0.1, output
   state x2 = 7000000.3, nominal 1e6
   state v2 = 0, output
   output gap
   input u = 0, min -100, max 100
   parameter k = 2e4
   parameter d = 800, from 300, to 3000
*/
#include "fmi2me.h"

DERIVATIVES {
    gap = x2 - x1;
    double F = gap < 0.0 ? -k * gap + d * (v1 - v2) : 0.0;
    der_x1 = v1;
    der_x2 = v2;
    der_v1 = (u - F) / 500.0;
    der_v2 = F / 2000.0;
}
