/* An accurate solution, by other means than fmu-build's: Radau IIA of order 5 (Hairer and Wanner, IV.8) with a full Newton iteration, error control
   and events located by repeated steps, on the very functions of the Model-Exchange interface.

     reference TOLERANCE < drive > rows

   drive: number of set values, then lines `reference value`; number of inputs and their references; number of outputs and their references; start time,
   number of steps, then lines `end-of-step inputs... slopes...`. rows: the outputs at the start and at the end of each step, before the inputs of that instant are
   set, as an importer reads them. Exit code 1: no solution (steps too small, too many events), with the reason. */
#define NO_NAMES
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fmi2me.h"

void *fmi2Instantiate(const char *, int, const char *, const char *, const void *, int, int);
int fmi2SetupExperiment(void *, int, double, double, int, double);
int fmi2EnterInitializationMode(void *);
int fmi2ExitInitializationMode(void *);
int fmi2SetReal(void *, const unsigned[], size_t, const double[]);
int fmi2GetReal(void *, const unsigned[], size_t, double[]);
int fmi2EnterEventMode(void *);
int fmi2NewDiscreteStates(void *, void *);
int fmi2EnterContinuousTimeMode(void *);
int fmi2SetTime(void *, double);
int fmi2SetContinuousStates(void *, const double[], size_t);
int fmi2GetContinuousStates(void *, double[], size_t);
int fmi2GetDerivatives(void *, double[], size_t);
int fmi2GetEventIndicators(void *, double[], size_t);

enum { N = STATES, M = 3 * STATES, D = STATES ? STATES : 1, Z = INDICATOR_COUNT, TRIALS = 400000, MOST_EVENTS = 100000 };
static const double C[3] = {0.1550510257216822, 0.6449489742783178, 1.0};
static const double A[3][3] = {{0.1968154772236604, -0.0655354258501984, 0.0237709743482202},
                               {0.3944243147390873, 0.2920734116652285, -0.0415487521259979},
                               {0.3764030627004673, 0.5124858261884216, 0.1111111111111111}};
/* 3.6378… = 1/γ: the real eigenvalue of A⁻¹; the weights of the error estimate. */
static const double REAL_POLE = 3.637834252744496;
static const double E[3] = {-10.04880939981862, 1.382142733160748, -1.0 / 3.0};

static void *fmu;
/* carry: what is left of a state's sum below its rounding (Kahan), so that 1e-10 m can be added to 7e6 m. */
static double tolerance, now, span[N + 1], origin[N + 1], noise[N + 1], carry[N + 1], largest_step;
static int event_count;
/* The inputs of this step: what they are at its beginning, and their slopes, if any has one. */
static unsigned *input;
static double *u, *slope, begin;
static int inputs, sloping;

static void stop(const char *why) {
    fprintf(stderr, "t = %g: %s\n", now, why);
    exit(1);
}
static void set_time(double t) {
    fmi2SetTime(fmu, t);
    if (sloping) {
        double at[inputs];
        for (int i = 0; i < inputs; i++) at[i] = u[i] + slope[i] * (t - begin);
        fmi2SetReal(fmu, input, (size_t)inputs, at);
    }
}
static void rhs(double t, const double *x, double *dx) {
    set_time(t);
    fmi2SetContinuousStates(fmu, x, N);
    fmi2GetDerivatives(fmu, dx, N);
}
static void crossings(double t, const double *x, double *z) {
    set_time(t);
    fmi2SetContinuousStates(fmu, x, N);
    fmi2GetEventIndicators(fmu, z, Z);
}
static int crossed(const double *a, const double *b) {
    for (int i = 0; i < Z; i++)
        if ((a[i] > 0.0) != (b[i] > 0.0)) return 1;
    return 0;
}
/* An error of this size counts as one: of what the state has changed since the start, not of its offset, as far as the rounding of
   states, and what it does to derivatives, allows. */
static double weight(int i, double x, double h) {
    return tolerance * (span[i] + 1e-6 * fabs(x)) + 1e-15 * fabs(x) + h * noise[i] + 1e-22;
}

/* Gaussian elimination with partial pivoting; 0 if singular. */
static int factor(int n, double *a, int *pivot) {
    for (int k = 0; k < n; k++) {
        int p = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(a[i * n + k]) > fabs(a[p * n + k])) p = i;
        pivot[k] = p;
        if (!(fabs(a[p * n + k]) > 0.0)) return 0;
        for (int j = 0; p != k && j < n; j++) {
            double s = a[k * n + j];
            a[k * n + j] = a[p * n + j];
            a[p * n + j] = s;
        }
        for (int i = k + 1; i < n; i++) {
            double l = a[i * n + k] /= a[k * n + k];
            if (l != 0.0)
                for (int j = k + 1; j < n; j++) a[i * n + j] -= l * a[k * n + j];
        }
    }
    return 1;
}
static void solve(int n, const double *a, const int *pivot, double *b) {
    for (int k = 0; k < n; k++) {
        double s = b[pivot[k]];
        b[pivot[k]] = b[k];
        b[k] = s;
    }
    for (int k = 0; k < n; k++)
        for (int i = k + 1; i < n; i++) b[i] -= a[i * n + k] * b[k];
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++) b[i] -= a[i * n + j] * b[j];
        b[i] /= a[i * n + i];
    }
}

static double jacobian[N * N + 1], stages[M + 1];

static void linearise(double t, const double *x, const double *f) {
    double moved[N + 1], g[N + 1];
    memcpy(moved, x, N * sizeof *x);
    memset(noise, 0, sizeof noise);
    for (int j = 0; j < N; j++) {
        double d = 1e-7 * (span[j] + 1e-3 * fabs(x[j])) + 1e-14;
        moved[j] = x[j] + (f[j] < 0.0 ? -d : d);
        d = moved[j] - x[j];
        rhs(t, moved, g);
        for (int i = 0; i < N; i++) {
            jacobian[i * N + j] = (g[i] - f[i]) / d;
            noise[i] += 4e-16 * fabs(jacobian[i * N + j] * x[j]);
        }
        moved[j] = x[j];
    }
}

/* One step of length h from x to `to`, its stages in `stages`. The error over what is allowed, or a large number if Newton does not converge. */
static double radau(double t, const double *x, const double *f, double h, int fine, double *to) {
    static double matrix[M * M + 1], small[N * N + 1];
    static int pivot[M + 1], small_pivot[N + 1];
    double residual[M + 1], g[3][N + 1], at[N + 1], last = INFINITY;
    for (int r = 0; r < M; r++)
        for (int c = 0; c < M; c++) matrix[r * M + c] = (r == c) - h * A[r / D][c / D] * jacobian[(r % D) * N + c % D];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) small[i * N + j] = (i == j) * REAL_POLE / h - jacobian[i * N + j];
    if (!factor(M, matrix, pivot) || !factor(N, small, small_pivot)) return 1e9;
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < N; i++) stages[k * N + i] = 0.0;
    int converged = 0;
    for (int trial = 0; trial < 12 && !converged; trial++) {
        for (int k = 0; k < 3; k++) {
            for (int i = 0; i < N; i++) at[i] = x[i] + stages[k * N + i];
            rhs(t + C[k] * h, at, g[k]);
        }
        for (int k = 0; k < 3; k++)
            for (int i = 0; i < N; i++) {
                double sum = -stages[k * N + i];
                for (int l = 0; l < 3; l++) sum += h * A[k][l] * g[l][i];
                residual[k * N + i] = sum;
            }
        solve(M, matrix, pivot, residual);
        double size = 0.0;
        for (int r = 0; r < M; r++) {
            stages[r] += residual[r];
            double e = fabs(residual[r]) / weight(r % D, x[r % D], h);
            if (!(e <= size)) size = e;
        }
        if (!isfinite(size)) return 1e9;
        converged = size < 0.01;
        if (trial > 3 && !converged && size > 0.7 * last) {
            if (size < 0.3) converged = 1; /* rounding */
            else return 1e9;
        }
        last = size;
    }
    if (!converged) return 1e9;
    double e[N + 1], norm = 0.0;
    for (int i = 0; i < N; i++) {
        to[i] = x[i] + (stages[2 * N + i] + carry[i]);
        e[i] = f[i] + (E[0] * stages[i] + E[1] * stages[N + i] + E[2] * stages[2 * N + i]) / h;
    }
    solve(N, small, small_pivot, e);
    if (fine) { /* Hairer and Wanner (8.20): the estimate of a stiff mode is no larger than its error */
        for (int i = 0; i < N; i++) at[i] = x[i] + e[i];
        rhs(t, at, g[0]);
        for (int i = 0; i < N; i++) e[i] = g[0][i] + (E[0] * stages[i] + E[1] * stages[N + i] + E[2] * stages[2 * N + i]) / h;
        solve(N, small, small_pivot, e);
    }
    for (int i = 0; i < N; i++) {
        double s = fabs(e[i]) / weight(i, fmax(fabs(x[i]), fabs(to[i])), h);
        if (!(s <= norm)) norm = s;
    }
    return isfinite(norm) ? norm : 1e9;
}

static double *x_now;
static double next_event = INFINITY;

static void handle_events(void) {
    struct { int needed, terminate, nominals, values, defined; double next; } info = {1, 0, 0, 0, 0, 0};
    fmi2EnterEventMode(fmu);
    for (int k = 0; info.needed; k++) {
        if (k > 100) stop("events without end at one instant");
        fmi2NewDiscreteStates(fmu, &info);
    }
    next_event = info.defined ? info.next : INFINITY;
    fmi2EnterContinuousTimeMode(fmu);
    fmi2GetContinuousStates(fmu, x_now, N);
    memset(carry, 0, sizeof carry);
    if (++event_count > MOST_EVENTS) stop("too many events");
}

/* From `now` to `end`, without time events in between. */
static void integrate(double end) {
    double f[N + 1], to[N + 1], half[N + 1], z0[Z + 1], z1[Z + 1], h = fmin(end - now, 1e-4 * largest_step);
    double *x = x_now;
    const double shortest = 1e-15 * fmax(fabs(end), largest_step);
    double forced = shortest;
    int trials = 0, repeated = 1;
    while (now < end) {
        crossings(now, x, z0);
        rhs(now, x, f);
        for (int i = 0; i < N; i++) {
            if (!isfinite(f[i])) stop("a derivative is no number");
            span[i] = fmax(span[i], fmin(fabs(f[i] * h), fabs(f[i]) * 1e-6 * largest_step));
        }
        linearise(now, x, f);
        for (;;) {
            if (++trials > TRIALS) stop("too many steps");
            int last = now + h * (1 + 1e-10) >= end;
            if (last) h = end - now;
            double e = N ? radau(now, x, f, h, repeated, to) : 0.0;
            if (e > 1.0) {
                h *= e >= 1e9 ? 0.25 : fmax(0.2, 0.9 * pow(e, -0.25));
                repeated = 1;
                if (h >= forced) continue;
                /* A discontinuity that no indicator shows: over it with the smallest step that moves something. */
                forced = h = 2.0 * forced;
                for (int i = 0; i < N; i++) to[i] = x[i] + (h * f[i] + carry[i]);
            } else if (h > 100.0 * forced) {
                forced = shortest;
            }
            crossings(now + h, to, z1);
            int found = crossed(z0, z1);
            for (int k = 0; Z && !found && k < 2; k++) { /* there and back within the step */
                double inner[Z + 1];
                for (int i = 0; i < N; i++) half[i] = x[i] + stages[k * N + i];
                crossings(now + C[k] * h, half, inner);
                if (N && crossed(z0, inner)) found = 1, h *= C[k], memcpy(to, half, sizeof to);
            }
            if (found && h > 2e-14 * fmax(fabs(now), largest_step)) {
                double low = 0.0, high = h;
                while (high - low > 1e-14 * fmax(fabs(now), largest_step) && high - low > 1e-9 * low * tolerance) {
                    double mid = 0.5 * (low + high);
                    if (N) radau(now, x, f, mid, 0, half);
                    crossings(now + mid, half, z1);
                    if (crossed(z0, z1)) high = mid, memcpy(to, half, sizeof to);
                    else low = mid;
                }
                h = high;
                last = 0;
                if (N) radau(now, x, f, h, 0, to);
            }
            now = last && !found ? end : now + h;
            for (int i = 0; i < N; i++) {
                carry[i] += (e > 1.0 ? h * f[i] : stages[2 * N + i]) - (to[i] - x[i]);
                x[i] = to[i];
            }
            for (int i = 0; i < N; i++) span[i] = fmax(span[i], fabs(x[i] - origin[i]));
            double grow = fmin(5.0, 0.9 * pow(fmax(e, 1e-10), -0.25));
            repeated = 0;
            set_time(now);
            fmi2SetContinuousStates(fmu, x, N);
            if (found) {
                handle_events();
                if (next_event < end) return;
                h = 1e-4 * largest_step;
            } else {
                h = fmin(h * (e > 1.0 ? 5.0 : grow), largest_step);
            }
            break;
        }
    }
}

static void row(int n, const unsigned *references) {
    double y[n + 1];
    set_time(now);
    fmi2SetContinuousStates(fmu, x_now, N);
    fmi2GetReal(fmu, references, (size_t)n, y);
    for (int i = 0; i < n; i++) {
        if (!isfinite(y[i])) stop("an output is no number");
        printf("%.17g ", y[i]);
    }
    printf("\n");
}

static int count(void) {
    int n;
    if (scanf("%d", &n) != 1) stop("the drive is cut off");
    return n;
}
static double number(void) {
    double v;
    if (scanf("%lf", &v) != 1) stop("the drive is cut off");
    return v;
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    tolerance = atof(argv[1]);
    x_now = calloc(N + 1, sizeof(double));
    fmu = fmi2Instantiate("reference", 0, GUID, "", NULL, 0, 0);
    if (!fmu) stop("no instance");
    for (int n = count(); n > 0; n--) {
        unsigned r = (unsigned)count();
        double v = number();
        fmi2SetReal(fmu, &r, 1, &v);
    }
    inputs = count();
    input = calloc((size_t)inputs + 1, sizeof *input);
    for (int i = 0; i < inputs; i++) input[i] = (unsigned)count();
    int outputs = count();
    unsigned *output = calloc((size_t)outputs + 1, sizeof *output);
    for (int i = 0; i < outputs; i++) output[i] = (unsigned)count();
    now = number();
    int steps = count();
    u = calloc((size_t)inputs + 1, sizeof *u);
    slope = calloc((size_t)inputs + 1, sizeof *slope);
    double *before = calloc((size_t)inputs + 1, sizeof *u);
    fmi2SetupExperiment(fmu, 0, 0.0, now, 0, 0.0);
    for (int k = 0; k < steps; k++) {
        double end = number();
        for (int i = 0; i < inputs; i++) u[i] = number();
        int sloped = sloping;
        sloping = 0;
        for (int i = 0; i < inputs; i++) sloping |= (slope[i] = number()) != 0.0;
        begin = now;
        largest_step = end - now;
        if (!k) {
            fmi2EnterInitializationMode(fmu);
            fmi2SetReal(fmu, input, (size_t)inputs, u);
            fmi2ExitInitializationMode(fmu);
            handle_events();
            memcpy(origin, x_now, N * sizeof(double));
            row(outputs, output);
        } else if (sloped || memcmp(u, before, (size_t)inputs * sizeof *u)) {
            fmi2EnterEventMode(fmu);
            fmi2SetReal(fmu, input, (size_t)inputs, u);
            handle_events();
        }
        memcpy(before, u, (size_t)inputs * sizeof *u);
        while (now < end) {
            int timed = next_event <= end + 1e-9 * largest_step;
            integrate(timed ? fmin(next_event, end) : end);
            if (timed && now >= next_event - 1e-9 * largest_step) {
                set_time(fmax(now, next_event));
                handle_events();
                if (next_event <= now) stop("a time event that stays");
            }
        }
        row(outputs, output);
    }
    return 0;
}
