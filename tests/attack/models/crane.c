/* A crane's trolley with a long rope and a brake that holds below a velocity; fast drive, slow swing.

   ---
   step 0.01, stop 20, steps 800
   state x = 0, output
   state v = 0, output
   state phi = 0, output
   state w = 0
   state F = 0
   input u = 0, min -1500, max 1500
   parameter l = 8, from 3, to 20
   parameter m = 400, from 100, to 1500
   constant M = 500
*/
#include "fmi2me.h"

DERIVATIVES {
    double s = sin(phi), c = cos(phi), drag = 200.0 * tanh(v / 2e-3) + 50.0 * v;
    double a = (F - drag + m * s * (l * w * w + 9.81 * c)) / (M + m * s * s);
    der_F = (u - F) / 0.004;
    der_x = v;
    der_v = a;
    der_phi = w;
    der_w = -(a * c + 9.81 * s) / l - 0.05 * w;
}
