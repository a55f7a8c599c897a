/* A gearbox with backlash whose load rubs: Coulomb friction with a Stribeck drop, by a steep tanh, behind two stiff contacts.

   J1 w1' = u - d w1 - T,  J2 w2' = T - F(w2),  T = k (gap -+ b) + c gap' outside of the gap, 0 in it

   ---
   step 1e-3, stop 1, steps 500
   state phi1 = 0
   state w1 = 0, output
   state phi2 = 0, output
   state w2 = 0, output
   input u = 0, min -4, max 4
   parameter J1 = 0.02
   parameter J2 = 0.08
   parameter Fc = 0.6, from 0.2, to 2
   constant k = 8e3
   constant c = 4
   constant b = 5e-3
*/
#include "fmi2me.h"

DERIVATIVES {
    double gap = phi1 - phi2;
    double T = gap > b ? k * (gap - b) + c * (w1 - w2) : gap < -b ? k * (gap + b) + c * (w1 - w2) : 0.0;
    double F = Fc * (1.0 + 0.5 * exp(-(w2 / 0.3) * (w2 / 0.3))) * tanh(w2 / 0.01) + 0.02 * w2;
    der_phi1 = w1;
    der_phi2 = w2;
    der_w1 = (u - 0.1 * w1 - T) / J1;
    der_w2 = (T - F) / J2;
}
