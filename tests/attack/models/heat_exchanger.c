/* A counterflow exchanger of three cells with thin walls: temperatures in kelvin, walls a thousand times faster; dependencies declared.

   hot:  M h_i' = m1 (h_{i-1} - h_i) - a (h_i - w_i);  wall: 0.002 w_i' = a (h_i - w_i) - b (w_i - c_i);  cold: counter to it

   ---
   step 0.1, stop 60, steps 600
   state h1 = 330, nominal 300
   state h2 = 330, nominal 300
   state h3 = 330, nominal 300, output
   state w1 = 310, nominal 300
   state w2 = 310, nominal 300
   state w3 = 310, nominal 300
   state c1 = 300, nominal 300, output
   state c2 = 300, nominal 300
   state c3 = 300, nominal 300
   input m1 = 1, min 0.05, max 3
   input m2 = 1, min 0.05, max 3
   input Th = 350, min 320, max 380
   parameter a = 0.8
   parameter b = 0.5
   constant M = 5
   depends der_h1: h1 w1 m1 Th
   depends der_h2: h1 h2 w2 m1
   depends der_h3: h2 h3 w3 m1
   depends der_w1: h1 w1 c1 m1 m2
   depends der_w2: h2 w2 c2 m1 m2
   depends der_w3: h3 w3 c3 m1 m2
   depends der_c1: c1 c2 w1 m2
   depends der_c2: c2 c3 w2 m2
   depends der_c3: c3 w3 m2
   depends h3: h3
   depends c1: c1
*/
#include "fmi2me.h"

DERIVATIVES {
    double *h = &h1, *w = &w1, *c = &c1, *dh = &der_h1, *dw = &der_w1, *dc = &der_c1;
    for (int i = 0; i < 3; i++) {
        double A = a * pow(fmax(m1, 1e-3), 0.8), B = b * pow(fmax(m2, 1e-3), 0.8);
        dh[i] = (m1 * ((i ? h[i - 1] : Th) - h[i]) - a * (h[i] - w[i])) / M;
        dw[i] = (A * (h[i] - w[i]) - B * (w[i] - c[i])) / 0.002;
        dc[i] = (m2 * ((i < 2 ? c[i + 1] : 290.0) - c[i]) + b * (w[i] - c[i])) / M;
    }
}
