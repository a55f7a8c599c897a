/* A motor moves a load through a gear with backlash: two stiff contacts, no indicator tells where they are.

   J1 w1' = u - d w1 - T,  J2 w2' = T - load,  T = k (phi -+ b) + c (w1 - w2) outside of the gap, 0 in it

   ---
   step 1e-3, stop 2, steps 600
   state phi1 = 0
   state w1 = 0, output
   state phi2 = 0
   state w2 = 0, output
   output T
   input u = 0, min -5, max 5
   input load = 0, min -1, max 1
   parameter J1 = 0.01
   parameter J2 = 0.05
   parameter k = 5e3
   constant b = 0.01
   constant c = 2
*/
#include "fmi2me.h"

DERIVATIVES {
    double gap = phi1 - phi2;
    T = gap > b ? k * (gap - b) + c * (w1 - w2) : gap < -b ? k * (gap + b) + c * (w1 - w2) : 0.0;
    der_phi1 = w1;
    der_phi2 = w2;
    der_w1 = (u - 0.2 * w1 - T) / J1;
    der_w2 = (T - load - 0.1 * w2) / J2;
}
