/* Brusselator with diffusion in eight cells (Hairer and Wanner IV.1): travelling reaction fronts, sixteen states.

   u' = A + u^2 v - (B+1) u + d u_xx,  v' = B u - u^2 v + d v_xx;  the boundary's u is an input

   ---
   step 0.05, stop 20
   state u1 = 1.5
   state u2 = 1.9
   state u3 = 2.0
   state u4 = 1.9, output
   state u5 = 1.5
   state u6 = 1.1
   state u7 = 1.0, output
   state u8 = 1.0
   state v1 = 3
   state v2 = 3
   state v3 = 3
   state v4 = 3, output
   state v5 = 3
   state v6 = 3
   state v7 = 3
   state v8 = 3
   input edge = 1, min 0.5, max 2.5
   parameter B = 3, from 2, to 4
   parameter d = 1.6
   constant A = 1
*/
#include "fmi2me.h"

DERIVATIVES {
    double *u = &u1, *v = &v1, *du = &der_u1, *dv = &der_v1;
    for (int i = 0; i < 8; i++) {
        double ul = i ? u[i - 1] : edge, ur = i < 7 ? u[i + 1] : 1.0, vl = i ? v[i - 1] : 3.0, vr = i < 7 ? v[i + 1] : 3.0;
        du[i] = A + u[i] * u[i] * v[i] - (B + 1.0) * u[i] + d * (ul - 2.0 * u[i] + ur);
        dv[i] = B * u[i] - u[i] * u[i] * v[i] + d * (vl - 2.0 * v[i] + vr);
    }
}
