/* Three tanks in a row joined by orifices: levels equalise, and the flow between them changes its sign there.

   A h1' = q - c sgn(h1-h2) sqrt(2g|h1-h2|), and so on; the third one empties through a valve

   ---
   step 0.5, stop 400, steps 600
   state h1 = 0.4, output
   state h2 = 0.2, output
   state h3 = 0.3, output
   output q12
   input q = 2e-5, min 0, max 2e-4
   input valve = 0.5, min 0, max 1
   parameter A = 0.0154, from 0.001, to 0.05
   parameter c = 5e-5
*/
#include "fmi2me.h"

DERIVATIVES {
    double q23 = c * root(19.62 * (h2 - h3)), out = valve * c * root(19.62 * h3);
    q12 = c * root(19.62 * (h1 - h2));
    der_h1 = (q - q12) / A;
    der_h2 = (q12 - q23) / A;
    der_h3 = (q23 - out) / A;
}
