/* Michaelis and Menten in full: enzyme, substrate, complex, product; bound within microseconds, turned over within minutes.

   S' = feed - k1 E S + k2 X,  E' = -k1 E S + (k2 + k3) X,  X' = k1 E S - (k2 + k3) X,  P' = k3 X - 0.01 P

   ---
   step 0.1, stop 60, steps 600
   state S = 1, output
   state E = 0.01
   state X = 0, output
   state P = 0, output
   input feed = 0, min 0, max 0.2
   parameter k1 = 1e5
   parameter k2 = 1e3
   parameter k3 = 50
   flag quick
*/
#include "fmi2me.h"

DERIVATIVES {
    double bind = k1 * E * S - k2 * X, turn = k3 * X;
    der_S = feed - bind;
    der_E = -bind + turn;
    der_X = bind - turn;
    der_P = turn - 0.01 * P;
}
