/* A cell whose open circuit voltage and resistance are tables with kinks, with two RC elements and a temperature in kelvin.

   z' = -i/Q,  u1' = (R1 i - u1)/tau1,  u2' = (R2 i - u2)/tau2,  C T' = R i^2 - a (T - Ta)

   ---
   step 0.1, stop 200, steps 600
   state z = 0.8, output
   state u1 = 0
   state u2 = 0
   state T = 298, nominal 300, output
   output u
   input i = 0, min -40, max 60
   parameter Q = 1000
   parameter R = 5e-3
   constant tau1 = 0.02
   constant tau2 = 8
*/
#include "fmi2me.h"

static double table(const double *y, double at) {
    int k = (int)clamp(floor(at * 5.0), 0.0, 4.0);
    return y[k] + (at * 5.0 - k) * (y[k + 1] - y[k]);
}

DERIVATIVES {
    static const double ocv[6] = {2.7, 3.4, 3.55, 3.62, 3.85, 4.18}, more[6] = {4.0, 1.6, 1.1, 1.0, 1.05, 1.3};
    double r = R * table(more, z) * exp(600.0 * (1.0 / T - 1.0 / 298.0));
    u = table(ocv, z) - r * i - u1 - u2;
    der_z = -i / (3.0 * Q);
    der_u1 = (2e-3 * i - u1) / tau1;
    der_u2 = (table(more, z) * 3e-3 * i - u2) / tau2;
    der_T = (r * i * i - 0.8 * (T - 298.0)) / 60.0;
}
