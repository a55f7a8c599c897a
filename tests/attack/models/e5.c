/* E5 (Enright, Hull and Lindberg 1975): a chemical pyrolysis whose species lie between 1e-3 and 1e-14; absolute tolerances say nothing about it.

   y1' = -A y1 - B y1 y3,  y2' = A y1 - M C y2 y3,  y3' = A y1 - B y1 y3 - M C y2 y3 + C y4,  y4' = B y1 y3 - C y4

   ---
   step 10, stop 3000
   state y1 = 1.76e-3, output
   state y2 = 0, output
   state y3 = 0, output
   state y4 = 0, output
   input feed = 0, drive 0 1e-6
   parameter A = 7.89e-10
   parameter B = 1.1e7
   parameter C = 1.13e3
   constant M = 1e6
*/
#include "fmi2me.h"

DERIVATIVES {
    der_y1 = feed - A * y1 - B * y1 * y3;
    der_y2 = A * y1 - M * C * y2 * y3;
    der_y4 = B * y1 * y3 - C * y4;
    der_y3 = der_y2 - der_y4;
}
