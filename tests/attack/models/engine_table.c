/* An engine's torque from a table with kinks and one cliff, driving a stiff shaft: no indicator tells the corners.

   J1 w1' = M(w1) throttle - T,  phi' = w1 - w2,  T = c phi + d (w1 - w2),  J2 w2' = T - brake w2

   ---
   step 2e-3, stop 5, steps 600
   state w1 = 100, nominal 100, output
   state w2 = 100, nominal 100, output
   state phi = 0
   output T
   input throttle = 0.3, min 0, max 1
   input brake = 0.3, min 0, max 2
   parameter c = 2e3
   parameter d = 20, from 5, to 100
   constant J1 = 0.15
   constant J2 = 1.5
*/
#include "fmi2me.h"

static double table(double w) {
    static const double at[] = {0, 80, 120, 250, 400, 410, 700}, to[] = {60, 90, 180, 200, 190, 40, -20};
    if (w <= at[0]) return to[0];
    for (int i = 1; i < 7; i++)
        if (w < at[i]) return to[i - 1] + (to[i] - to[i - 1]) * (w - at[i - 1]) / (at[i] - at[i - 1]);
    return to[6];
}

DERIVATIVES {
    T = c * phi + d * (w1 - w2);
    der_w1 = (table(w1) * throttle - 10.0 * (1.0 - throttle) - T) / J1;
    der_w2 = (T - brake * w2) / J2;
    der_phi = w1 - w2;
}
