/* A pump against a closed line with a direct relief valve: a poppet of 20 g on a stiff spring, 250 bar.

   m y'' = A p - (c y + F0) - d y' (a stop at the seat: stiff spring),  V/E p' = q - Q_v - k_v max(y,0) sgn(p) sqrt|p|

   ---
   step 5e-4, stop 0.5, steps 600
   state p = 1e5, nominal 1e7, output
   state y = 0, nominal 1e-4, output
   state v = 0
   input q = 2e-4, min 0, max 1e-3
   input load = 0, min 0, max 1
   parameter V = 1e-3, from 3e-4, to 5e-3
   parameter c = 5e4, from 2e4, to 2e5
   parameter d = 60, from 30, to 600
   constant E = 1.4e9
   constant F0 = 1963
   constant A = 7.854e-5
   constant kv = 1.5e-3
*/
#include "fmi2me.h"

DERIVATIVES {
    double opening = y > 0.0 ? y : 0.0, seat = y < 0.0 ? -5e6 * y - 200.0 * v : 0.0;
    der_p = E / V * (q - load * 1e-7 * root(p) - kv * opening * root(p));
    der_y = v;
    der_v = (A * p - c * y - F0 - d * v + (seat > 0.0 ? seat : 0.0)) / 0.02;
}
