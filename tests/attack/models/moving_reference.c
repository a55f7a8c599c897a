/* Prothero and Robinson with time of its own: a stiff relaxation onto a curve that the model makes of the time, plus an input.

   x' = -L (x - g(t)) + g'(t) + u,  g = sin(w t);  y' = x - y

   ---
   step 0.02, stop 10, steps 600
   state x = 0, output
   state y = 0, output
   input u = 0, min -500, max 500
   parameter L = 1e3
   parameter w = 3
*/
#include "fmi2me.h"

DERIVATIVES {
    der_x = -L * (x - sin(w * TIME)) + w * cos(w * TIME) + u;
    der_y = x - y;
}
