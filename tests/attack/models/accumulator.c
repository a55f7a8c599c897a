/* A pump charges a gas accumulator through a check valve that is a state event; a consumer's orifice empties it. Pressures in Pa.

   Cp p' = pump - valve,  gas: pa = p0 (V0/V)^1.4, V' = -(valve - out),  out = k y sqrt(pa)

   ---
   step 1e-3, stop 2, steps 600
   state p = 5e6, nominal 1e7, output
   state V = 1e-3, nominal 1e-3
   memory open = 0, output boolean
   output pa
   input pump = 0, min 0, max 4e-4
   input y = 0, min 0, max 1
   parameter Cp = 2e-12, from 1e-12, to 1e-11
   parameter k = 1e-7
   constant p0 = 6e6
   constant V0 = 1e-3
   indicators 1
*/
#include "fmi2me.h"

DERIVATIVES {
    double gas = p0 * pow(V0 / fmax(V, 1e-4), 1.4);
    double valve = open != 0.0 ? 2e-10 * (p - gas) : 1e-13 * (p - gas);
    pa = gas;
    der_p = (pump - valve - 1e-13 * p) / Cp;
    der_V = -(valve - k * y * sqrt(gas));
}
INDICATORS { z[0] = p - p0 * pow(V0 / fmax(V, 1e-4), 1.4); }
EVENTS {
    int changed = 0;
    TAKE(open, p > p0 * pow(V0 / fmax(V, 1e-4), 1.4) ? 1.0 : 0.0);
    return changed;
}
