/* A level controller sampled every 0.25 s holds its value between samples; the plant's actuator is fast.

   act' = (u_k - act)/0.01,  T x' = act - sqrt(x),  u_k = kp (r - x) + I_k

   ---
   step 0.1, stop 30, steps 600
   state act = 0
   state x = 0.3, output
   memory u = 0, output
   memory I = 0.5
   input r = 0.5, min 0.1, max 2
   parameter T = 1.5
   parameter kp = 1.5, from 0.5, to 3
   constant Ts = 0.25
*/
#include "fmi2me.h"

INITIAL { NEXT = TIME; }
DERIVATIVES {
    der_act = (u - act) / 0.01;
    der_x = (act - root(x)) / T;
}
EVENTS {
    if (DUE) {
        double e = r - x;
        I = clamp(I + 0.5 * Ts * e, 0.0, 3.0);
        u = clamp(kp * e + I, 0.0, 3.0);
        NEXT = Ts * floor(TIME / Ts + 1.5);
    }
    return 0;
}
