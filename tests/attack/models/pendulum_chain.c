/* Four pendula in a row, coupled by torsion springs, pushed at one end; small friction, large swings.

   phi'' = -g/l sin phi + k (neighbours) - d phi' + push

   ---
   step 5e-3, stop 5, steps 600
   state p1 = 0, output
   state w1 = 0
   state p2 = 0
   state w2 = 0
   state p3 = 0
   state w3 = 0
   state p4 = 0.5, output
   state w4 = 0, output
   input push = 0, min -15, max 15
   parameter k = 300
   parameter g = 9.81, from 3, to 30
   constant d = 0.4
*/
#include "fmi2me.h"

DERIVATIVES {
    der_p1 = w1;
    der_p2 = w2;
    der_p3 = w3;
    der_p4 = w4;
    der_w1 = push - g * sin(p1) + k * (p2 - p1) - d * w1;
    der_w2 = -g * sin(p2) + k * (p1 - 2.0 * p2 + p3) - d * w2;
    der_w3 = -g * sin(p3) + k * (p2 - 2.0 * p3 + p4) - d * w3;
    der_w4 = -g * sin(p4) + k * (p3 - p4) - d * w4;
}
