/* An air cylinder: flow through a valve chokes at half the pressure, and turns round where the pressures are equal.

   p1' = (R T m(ps, p1) - p1 A v) / V(x),  M v' = A (p1 - p2) - F(v)

   ---
   step 1e-3, stop 1, steps 600
   state p1 = 1e5, nominal 1e5, output
   state p2 = 1e5, nominal 1e5, output
   state x = 0.1, nominal 0.1, output
   state v = 0
   input valve = 0, min -1, max 1
   parameter M = 5
   parameter F = 50, from 15, to 150
   constant A = 1e-3
*/
#include "fmi2me.h"

/* Mass flow between two pressures (ISO 6358 in outline). */
static double mass(double open, double a, double b) {
    if (b > a) return -mass(open, b, a);
    double ratio = b / a, c = 2e-8 * open * a;
    return ratio < 0.3 ? c : c * sqrt(fmax(0.0, 1.0 - (ratio - 0.3) * (ratio - 0.3) / 0.49));
}
DERIVATIVES {
    double in = valve > 0.0 ? valve : 0.0, out = valve < 0.0 ? -valve : 0.0;
    double m1 = mass(in, 7e5, p1) - mass(out, p1, 1e5), m2 = mass(out, 7e5, p2) - mass(in, p2, 1e5);
    double end = (x < 0.0 ? -1e6 * x : 0.0) + (x > 0.3 ? -1e6 * (x - 0.3) : 0.0);
    der_p1 = (8.4e4 * m1 * 1.4 - 1.4 * p1 * A * v) / (A * clamp(x, -0.01, 0.31) + 5e-5);
    der_p2 = (8.4e4 * m2 * 1.4 + 1.4 * p2 * A * v) / (A * clamp(0.3 - x, -0.01, 0.31) + 5e-5);
    der_x = v;
    der_v = (A * (p1 - p2) - F * tanh(v / 0.01) - 100.0 * v + end) / M;
}
