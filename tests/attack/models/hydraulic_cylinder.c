/* A servo cylinder: two chambers, square roots of pressure differences with the valve's sign, an end stop, friction.

   V/E pA' = Q(x) - A v,  V/E pB' = A v - Q,  m v' = A (pA - pB) - F(v) - load

   ---
   step 1e-3, stop 1, steps 600
   state x = 0, output
   state v = 0, output
   state pA = 5e6, nominal 1e7, output
   state pB = 5e6, nominal 1e7
   state y = 0
   input valve = 0, min -1, max 1
   input load = 0, min -8000, max 8000
   parameter m = 80
   parameter E = 1e9, from 3e8, to 3e9
   constant area = 1e-3
*/
#include "fmi2me.h"

DERIVATIVES {
    double open = 2.5e-7 * y, tank = 1e5, supply = 1.6e7;
    double QA = open > 0.0 ? open * root(supply - pA) : open * root(pA - tank);
    double QB = open > 0.0 ? open * root(pB - tank) : open * root(supply - pB);
    double stop = x > 0.2 ? 1e7 * (x - 0.2) + 2e4 * v : x < -0.2 ? 1e7 * (x + 0.2) + 2e4 * v : 0.0;
    double leak = 1e-13 * (pA - pB);
    der_x = v;
    der_v = (area * (pA - pB) - 300.0 * tanh(v / 5e-3) - 400.0 * v - stop - load) / m;
    der_pA = E / 5e-4 * (QA - area * v - leak);
    der_pB = E / 5e-4 * (area * v - QB + leak);
    der_y = (valve - y) / 2e-3;
}
