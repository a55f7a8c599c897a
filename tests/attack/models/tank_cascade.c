/* Five tanks, each empties into the next by a square root; they run dry, and the last one overflows at its brim.

   A h' = in - k sqrt(h) (nothing flows out of an empty tank)

   ---
   step 0.5, stop 300, steps 600
   state h1 = 0.5, output
   state h2 = 0.2
   state h3 = 0.1
   state h4 = 0.05
   state h5 = 0.1, output
   input inflow = 0.1, min 0, max 0.6
   parameter k = 0.3
   parameter A = 0.4
   constant small = 0.02
*/
#include "fmi2me.h"

static double out(double level) { return level > 0.0 ? sqrt(level) : 0.0; }

DERIVATIVES {
    double over = h5 > 1.0 ? 20.0 * (h5 - 1.0) : 0.0;
    der_h1 = (inflow - k * out(h1)) / A;
    der_h2 = (k * out(h1) - k * out(h2)) / small;
    der_h3 = (k * out(h2) - k * out(h3)) / A;
    der_h4 = (k * out(h3) - k * out(h4)) / small;
    der_h5 = (k * out(h4) - 0.5 * k * out(h5) - over) / A;
}
