/* A PI controller that saturates, with anti-windup by back calculation; the motor behind it has an electrical pole.

   I' = ki e + (sat(v) - v) / 1e-3,  L i' = sat(v) - R i - k w,  J w' = k i - load

   ---
   step 1e-3, stop 2, steps 600
   state I = 0
   state i = 0, output
   state w = 0, output
   output v
   input r = 0, min -100, max 100
   input load = 0, min -2, max 2
   parameter kp = 2, from 0.7, to 8
   parameter J = 0.02
   constant ki = 20
   flag quick
*/
#include "fmi2me.h"

DERIVATIVES {
    double e = r - w, raw = kp * e + I;
    v = clamp(raw, -24.0, 24.0);
    der_I = ki * e + (v - raw) / 1e-3;
    der_i = (v - 0.5 * i - 0.15 * w) / 5e-4;
    der_w = (0.15 * i - load - 0.01 * w) / J;
}
