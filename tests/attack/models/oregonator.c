/* Oregonator (Field and Noyes 1974; Hairer and Wanner IV.10): a relaxation oscillation over five decades, its rate changed by an input.

   x' = s (y - x y + x - q x^2),  y' = (f z - y - x y) / s,  z' = w (x - z)

   ---
   step 0.25, stop 400
   state x = 4
   state y = 1.1, output
   state z = 4
   output logx
   input rate = 1, min 0.5, max 2
   parameter s = 77.27, from 30, to 150
   constant q = 8.375e-6
   constant w = 0.161
*/
#include "fmi2me.h"

DERIVATIVES {
    der_x = s * (y - x * y + x - q * x * x);
    der_y = (rate * z - y - x * y) / s;
    der_z = w * (x - z);
    logx = log10(fmax(x, 1e-12));
}
