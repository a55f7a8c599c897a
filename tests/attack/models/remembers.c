/* A junction whose pressure is iterated, beginning with the last evaluation's: what f says depends, within 1e-10, on who asked before.

   k1 root(p1 - p) = k2 root(p - p2) + 1e-4 p,  C p1' = q - k1 root(p1 - p),  C p2' = k2 root(p - p2) - 0.1 p2

   ---
   step 0.01, stop 10, steps 600
   state p1 = 2, output
   state p2 = 1, output
   memory p = 1.5
   output q1
   input q = 0.3, min 0, max 1
   parameter C = 0.2
   parameter k2 = 0.5
   constant k1 = 0.6
*/
#include "fmi2me.h"

static double flow(double k, double d) { return k * d / sqrt(sqrt(d * d + 1e-6)); }

DERIVATIVES {
    /* The balance falls with p: the secant between bounds, from the last one on. */
    double low = fmin(p1, p2) - 10.0, high = fmax(p1, p2) + 10.0;
    if (!(p > low && p < high)) p = 0.5 * (low + high);
    for (int i = 0; i < 60; i++) {
        double b = flow(k1, p1 - p) - flow(k2, p - p2) - 1e-4 * p;
        double e = 1e-7, slope = (flow(k1, p1 - p - e) - flow(k2, p + e - p2) - 1e-4 * (p + e) - b) / e;
        if (b > 0.0) low = p; else high = p;
        double next = p - b / slope;
        if (!(next > low && next < high)) next = 0.5 * (low + high);
        double moved = fabs(next - p);
        p = next;
        if (moved < 1e-11) break;
    }
    q1 = flow(k1, p1 - p);
    der_p1 = (q - q1) / C;
    der_p2 = (flow(k2, p - p2) - 0.1 * p2) / C;
}
