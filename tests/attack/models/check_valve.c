/* An oscillating pump behind a check valve charges an accumulator: the valve's kink has no indicator, its flow a square root.

   V1 p1' = E (Q(t) - q), q = k sqrt(p1 - p2) where p1 > p2, else leakage;  C p2' = q - load

   ---
   step 1e-3, stop 1, steps 600
   state p1 = 50e5, nominal 1e6, output
   state p2 = 50e5, nominal 1e6, output
   output q
   input pump = 0, min -1e-3, max 1e-3
   input load = 0, min 0, max 4e-4
   parameter k = 4e-7
   parameter C = 1e-10
   constant E = 1.4e9
   constant V = 5e-4
*/
#include "fmi2me.h"

DERIVATIVES {
    double d = p1 - p2;
    q = d > 0.0 ? k * sqrt(d) : 1e-13 * d;
    der_p1 = E / V * (pump - q - 1e-10 * (p1 - 50e5));
    der_p2 = (q - load) / C;
}
