/* A heated pressure vessel whose nominal values are wrong by six orders, both ways.

   V/(R T) p' = m_in - k root(p - 1e5) ...,  T' = (Q - h (T - 300)) / C + compression

   ---
   step 0.01, stop 20, steps 600
   state p = 2e5, nominal 0.1, output
   state T = 320, nominal 1e8, output
   state x = 1e-4, nominal 1e3, output
   input m = 1e-3, min 0, max 5e-3
   input Q = 0, min 0, max 500
   parameter V = 0.01
   parameter k = 1e-5
*/
#include "fmi2me.h"

DERIVATIVES {
    double out = k * root(p - 1e5) * (1.0 + 1e3 * x);
    der_p = 287.0 * T / V * (m - out);
    der_T = (Q - 2.0 * (T - 300.0)) / 30.0;
    der_x = ((p - 1e5) * 2e-9 - x) / 0.005;
}
