/* A loop with a dead time, as a Padé approximation of fourth order: non-minimum phase, near its stability limit.

   e^-sT, T = 0.1;  x' = (K u_delayed - x) / 1,  PI control

   ---
   step 0.01, stop 5, steps 600
   state a = 0
   state b = 0
   state c = 0
   state d = 0
   state x = 0, output
   state I = 0
   output u
   input r = 0, min -1, max 1
   parameter T = 0.1, from 0.04, to 0.2
   parameter K = 6, from 2, to 9
*/
#include "fmi2me.h"

DERIVATIVES {
    /* (1680 - 840 sT + 180 s2T2 - 20 s3T3 + s4T4) / (1680 + 840 ... + s4T4), controllable form in s T */
    double e = r - x;
    u = clamp(e + I, -20.0, 20.0);
    double top = u - 20.0 * d - 180.0 * c - 840.0 * b - 1680.0 * a;
    double y = top - 20.0 * d + 180.0 * c - 840.0 * b + 1680.0 * a;
    der_a = b / T;
    der_b = c / T;
    der_c = d / T;
    der_d = top / T;
    der_x = K * y - x;
    der_I = 2.0 * e;
}
