/* What a model of this folder is made of. Its file has a table of variables in its head, from which describe.py makes `sizes.h` and `names.h`: each name is a
   macro for a number of `self`, der_NAME that of a state's derivative. The functions below are the model; those that it does not define do nothing.
   fmi2me.c is the FMI 2.0 Model-Exchange interface around them. */
#include <math.h>
#include <stddef.h>

#include "sizes.h"

typedef struct {
    double now;           /* time */
    double next;          /* the next time event, INFINITY without one */
    double value[COUNT];  /* states, derivatives, everything else, in the order of the value references */
    int dirty;            /* something was set since the last evaluation */
} Model;

void initial(Model *self);                 /* once, after the parameters are set: states that follow from them */
void derivatives(Model *self);             /* der_x, and the outputs */
void indicators(Model *self, double *z);   /* their signs */
int events(Model *self);                   /* 1 if something changed: then it is called again */

#define INITIAL void initial(Model *self)
#define DERIVATIVES void derivatives(Model *self)
#define INDICATORS void indicators(Model *self, double *z)
#define EVENTS int events(Model *self)
#define TIME (self->now)
#define NEXT (self->next)
/* The time event that was asked for is here. */
#define DUE (self->now >= self->next - 1e-10)
/* A memory takes a value; `changed` is a local of EVENTS. */
#define TAKE(memory, to) do { double to_ = (to); if ((memory) != to_) { (memory) = to_; changed = 1; } } while (0)

static inline double sign(double a) { return (a > 0.0) - (a < 0.0); }
static inline double clamp(double a, double low, double high) { return a < low ? low : a > high ? high : a; }
/* sgn(a) sqrt|a|, its kink at zero as it is. */
static inline double root(double a) { return a < 0.0 ? -sqrt(-a) : sqrt(a); }

#ifndef NO_NAMES
#include "names.h"
#endif
