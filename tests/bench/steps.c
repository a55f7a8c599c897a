/* Times the steps of an FMI 2.0 FMU, one by one.
 *
 *   steps cs    LIBRARY GUID RESOURCES START STEP COUNT VRS OUT
 *   steps cvode LIBRARY GUID RESOURCES START STEP COUNT VRS OUT SUNDIALS RTOL STATES INDICATORS RESTART
 *
 * cs:     fmi2DoStep of a Co-Simulation FMU.
 * cvode:  what a master would do with the Model-Exchange FMU itself: CVode (BDF, Newton, dense) up to the next
 *         communication point, with state, time and step events. SUNDIALS is the directory of FMPy's SUNDIALS 5.3
 *         libraries. With RESTART = 0 CVode may go beyond the communication point and interpolate, which is its
 *         cheapest use, possible while no input changes. With RESTART = 1 it stops there and starts anew, as it
 *         must when the master sets inputs.
 * VRS:    value references of the reals to record, a comma between two; "-" for none.
 * OUT:    OUT.cold and OUT.warm get the time of each step (ns, double), OUT.values the rows of reals, one more.
 *
 * The same run is made twice with two instances in this one process. Cold: nothing of it was ever executed before.
 * Warm: code and branch predictors know it, but the instance and its solver start anew and every step counts,
 * the first too. Only the step is timed, by code that is warm; the values are read between two steps. Memory is locked where that is
 * allowed, as a real-time master does. The price of reading the clock, printed as "clock", is in the times.
 * Prints one line of JSON; the exit code is 0 also if a step fails. OUT.warm is missing
 * if COUNT < 0, which asks for one run only, or if the FMU allows no second instance.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

typedef void *Component;
typedef struct {
    void (*logger)(void *, const char *, int, const char *, const char *, ...);
    void *(*allocate)(size_t, size_t);
    void (*release)(void *);
    void (*finished)(void *, int);
    void *environment;
} Callbacks;
typedef struct {
    int new_discrete_states_needed, terminate, nominals_changed, values_changed, next_event_time_defined;
    double next_event_time;
} EventInfo;

enum { WARNING = 1, CO_SIMULATION = 1, MODEL_EXCHANGE = 0, BDF = 2, NORMAL = 1, ROOT_RETURN = 2, CRASH = 99 };

static char complaint[400];

static void fail(const char *what, const char *detail) {
    fprintf(stderr, "steps: %s: %s\n", what, detail ? detail : "");
    exit(2);
}

/* Kept, and shown if a step fails. */
static void logger(void *environment, const char *instance, int status, const char *category, const char *format, ...) {
    (void)environment, (void)instance, (void)category;
    if (status <= WARNING || complaint[0]) return;
    va_list list;
    va_start(list, format);
    vsnprintf(complaint, sizeof complaint, format, list);
    va_end(list);
    for (char *c = complaint; *c; c++)
        if (*c == '"' || *c == '\\' || (unsigned char)*c < ' ') *c = ' ';
}

static void *symbol(void *library, const char *name) {
    void *found = dlsym(library, name);
    if (!found) fail("no function", name);
    return found;
}

static void *load(const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) fail("cannot load", dlerror());
    return library;
}

static void *get(size_t count, size_t size) {
    void *memory = calloc(count ? count : 1, size);
    if (!memory) fail("no memory", "");
    return memory;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* What two readings of the clock cost, in ns: the median of many. */
static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}
static double clock_price(void) {
    enum { TRIES = 2001 };
    static double price[TRIES];
    for (int i = 0; i < TRIES; i++) {
        double begin = now();
        price[i] = now() - begin;
    }
    qsort(price, TRIES, sizeof *price, ascending);
    return price[TRIES / 2];
}

/* What was asked for. */
static int cvode;
static const char *guid, *resources, *directory;
static double start, step;
static long count;
static size_t width;
static unsigned *reference;
static double *value;
static void *library;

/* The FMU. */
static Component fmu;
static int (*get_real)(Component, const unsigned *, size_t, double *);
static int (*do_step)(Component, double, double, int);

/* Model Exchange. */
static int (*enter_event_mode)(Component), (*new_discrete_states)(Component, EventInfo *), (*enter_continuous)(Component);
static int (*completed)(Component, int, int *, int *), (*set_time)(Component, double);
static int (*set_states)(Component, const double *, size_t), (*get_states)(Component, double *, size_t);
static int (*get_derivatives)(Component, double *, size_t), (*get_indicators)(Component, double *, size_t);
static int (*get_nominals)(Component, double *, size_t);
static EventInfo info;
static size_t states, indicators;
static long evaluations;

/* CVode. */
static void *solver, *x, *tolerances;
static double relative;
static int restart;
static int (*cv_ode)(void *, double, void *, double *, int), (*cv_reinit)(void *, double, void *);
static int (*cv_stop)(void *, double), (*cv_tolerances)(void *, double, void *);
static double *(*array)(void *);

static int derivatives(double t, void *y, void *dy, void *data) {
    (void)data;
    evaluations++;
    return set_time(fmu, t) > WARNING || set_states(fmu, array(y), states) > WARNING ||
           get_derivatives(fmu, array(dy), states) > WARNING;
}

static int roots(double t, void *y, double *out, void *data) {
    (void)data;
    return set_time(fmu, t) > WARNING || set_states(fmu, array(y), states) > WARNING ||
           get_indicators(fmu, out, indicators) > WARNING;
}

static void cv_complaint(int code, const char *module, const char *function, char *message, void *data) {
    logger(data, module, code < 0 ? 3 : 0, function, "%s", message);
}

static int iterate_events(void) {
    int rounds = 0;
    do {
        if (new_discrete_states(fmu, &info) > WARNING || info.terminate || ++rounds > 100) return 1;
    } while (info.new_discrete_states_needed);
    return enter_continuous(fmu) > WARNING;
}

static void set_tolerances(void) {
    double *absolute = array(tolerances);
    if (get_nominals(fmu, absolute, states) > WARNING)
        for (size_t i = 0; i < states; i++) absolute[i] = 1;
    for (size_t i = 0; i < states; i++) absolute[i] = relative * (absolute[i] > 0 ? absolute[i] : 1);
    cv_tolerances(solver, relative, tolerances);
}

static void start_cvode(void) {
    char path[4096];
    void *(*create)(int), *(*new_vector)(long), *(*new_matrix)(long, long), *(*new_linear)(void *, void *);
    int (*init)(void *, int (*)(double, void *, void *, void *), double, void *);
    int (*root_init)(void *, int, int (*)(double, void *, double *, void *));
    int (*set_linear)(void *, void *, void *), (*set_steps)(void *, long), (*no_warning)(void *);
    int (*set_fails)(void *, int);
    int (*set_handler)(void *, void (*)(int, const char *, const char *, char *, void *), void *);

    snprintf(path, sizeof path, "%s/sundials_nvecserial.so", directory);
    void *part = load(path);
    *(void **)&new_vector = symbol(part, "N_VNew_Serial");
    *(void **)&array = symbol(part, "N_VGetArrayPointer_Serial");
    snprintf(path, sizeof path, "%s/sundials_sunmatrixdense.so", directory);
    *(void **)&new_matrix = symbol(load(path), "SUNDenseMatrix");
    snprintf(path, sizeof path, "%s/sundials_sunlinsoldense.so", directory);
    *(void **)&new_linear = symbol(load(path), "SUNLinSol_Dense");
    snprintf(path, sizeof path, "%s/sundials_cvode.so", directory);
    part = load(path);
    *(void **)&create = symbol(part, "CVodeCreate");
    *(void **)&init = symbol(part, "CVodeInit");
    *(void **)&root_init = symbol(part, "CVodeRootInit");
    *(void **)&set_linear = symbol(part, "CVodeSetLinearSolver");
    *(void **)&set_steps = symbol(part, "CVodeSetMaxNumSteps");
    *(void **)&set_fails = symbol(part, "CVodeSetMaxErrTestFails");
    *(void **)&no_warning = symbol(part, "CVodeSetNoInactiveRootWarn");
    *(void **)&set_handler = symbol(part, "CVodeSetErrHandlerFn");
    *(void **)&cv_ode = symbol(part, "CVode");
    *(void **)&cv_reinit = symbol(part, "CVodeReInit");
    *(void **)&cv_stop = symbol(part, "CVodeSetStopTime");
    *(void **)&cv_tolerances = symbol(part, "CVodeSVtolerances");

    x = new_vector((long)states);
    tolerances = new_vector((long)states);
    get_states(fmu, array(x), states);
    solver = create(BDF);
    int bad = init(solver, derivatives, start, x);
    set_tolerances();
    if (indicators) bad |= root_init(solver, (int)indicators, roots);
    void *matrix = new_matrix((long)states, (long)states);
    bad |= set_linear(solver, new_linear(x, matrix), matrix) | set_steps(solver, 1000000);
    /* A diode's kink takes more than the seven that it allows itself. */
    bad |= set_fails(solver, 100);
    bad |= no_warning(solver) | set_handler(solver, cv_complaint, NULL);
    if (bad) fail("CVode", "cannot be set up");
}

static int cvode_step(double t, double step) {
    double to = t + step, at = t, noise = 1e-14 * (1 + fabs(to));
    if (restart) cv_reinit(solver, t, x);
    while (at + noise < to) {
        int cut = info.next_event_time_defined && info.next_event_time <= to + noise;
        double target = cut ? info.next_event_time : to;
        if (restart) cv_stop(solver, target);
        else if (info.next_event_time_defined) cv_stop(solver, info.next_event_time);
        int flag = 0;
        if (target > at + noise) {
            flag = cv_ode(solver, target, x, &at, NORMAL);
            if (flag < 0) return 100 - flag;
        }
        int enter = 0, terminate = 0;
        if (set_time(fmu, at) > WARNING || set_states(fmu, array(x), states) > WARNING) return 3;
        if (completed(fmu, 1, &enter, &terminate) > WARNING || terminate) return 3;
        if (flag == ROOT_RETURN || enter || (cut && at + noise >= target)) {
            if (enter_event_mode(fmu) > WARNING || iterate_events()) return 3;
            get_states(fmu, array(x), states);
            if (info.nominals_changed) set_tolerances();
            cv_reinit(solver, at, x);
        }
    }
    return 0;
}

static Component instance(void) {
    static const Callbacks callbacks = {logger, calloc, free, NULL, NULL};
    Component (*instantiate)(const char *, int, const char *, const char *, const Callbacks *, int, int);
    *(void **)&instantiate = symbol(library, "fmi2Instantiate");
    return instantiate("steps", cvode ? MODEL_EXCHANGE : CO_SIMULATION, guid, resources, &callbacks, 0, 0);
}

static void initialize(void) {
    int (*setup)(Component, int, double, double, int, double), (*enter)(Component), (*leave)(Component);
    *(void **)&setup = symbol(library, "fmi2SetupExperiment");
    *(void **)&enter = symbol(library, "fmi2EnterInitializationMode");
    *(void **)&leave = symbol(library, "fmi2ExitInitializationMode");
    if (setup(fmu, 0, 0, start, 0, 0) > WARNING || enter(fmu) > WARNING || leave(fmu) > WARNING)
        fail("initialization", complaint);
    if (!cvode) return;
    memset(&info, 0, sizeof info);
    evaluations = 0;
    if (iterate_events()) fail("initial events", complaint);
    start_cvode();
}

/* A crash in a step ends the run, and is told. */
static sigjmp_buf before;
static void crash(int number) {
    (void)number;
    siglongjmp(before, 1);
}

static int cs_step(double t, double step) {
    return do_step(fmu, t, step, 1);
}
static int idle(double t, double step) {
    (void)t, (void)step;
    return 0;
}

/* Steps with their times, and the values after each; returns how many succeeded. */
static __attribute__((noinline)) long take(long steps, int (*advance)(double, double), double *time, int *status, size_t values) {
    for (volatile long done = 0; done < steps; done++) {
        double t = start + (double)done * step;
        volatile double begin = now();
        *status = sigsetjmp(before, 0) ? CRASH : advance(t, step);
        time[done] = now() - begin;
        if (*status > WARNING) return done;
        if (values) get_real(fmu, reference, values, value + (size_t)(done + 1) * values);
    }
    return steps;
}

static long run(double *time, int *status) {
    initialize();
    if (width) get_real(fmu, reference, width, value);
    /* The stopwatch is not what shall be cold: it takes the time of nothing first. */
    take(count < 64 ? count : 64, idle, time, status, 0);
    return take(count, cvode ? cvode_step : cs_step, time, status, width);
}

static void write_numbers(const char *stem, const char *suffix, const double *number, size_t numbers) {
    char path[4096];
    snprintf(path, sizeof path, "%s.%s", stem, suffix);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(number, sizeof *number, numbers, file) != numbers || fclose(file)) fail("cannot write", path);
}

static void describe(const char *name, double *time, long done) {
    double sum = 0, worst = 0;
    long at = 0;
    for (long i = 0; i < done; i++) {
        sum += time[i];
        if (time[i] > worst) worst = time[i], at = i;
    }
    qsort(time, (size_t)done, sizeof *time, ascending);
    if (done)
        printf("\"%s\": {\"mean\": %.1f, \"p50\": %.0f, \"p99.9\": %.0f, \"max\": %.0f, \"worst\": %ld}, ", name,
               sum / (double)done, time[(done - 1) / 2], time[(long)(0.999 * (double)(done - 1) + 0.5)], worst, at);
}

int main(int words, char **word) {
    cvode = words > 1 && !strcmp(word[1], "cvode");
    if (words != (cvode ? 15 : 10) || (!cvode && strcmp(word[1], "cs"))) fail("usage", "see the top of steps.c");
    guid = word[3], resources = word[4], start = atof(word[5]), step = atof(word[6]), count = labs(atol(word[7]));
    int once = word[7][0] == '-';
    reference = get(strlen(word[8]) + 1, sizeof *reference);
    if (strcmp(word[8], "-"))
        for (char *next = strtok(word[8], ","); next; next = strtok(NULL, ","))
            reference[width++] = (unsigned)strtoul(next, NULL, 10);
    double *cold = get((size_t)count, sizeof *cold), *warm = get((size_t)count, sizeof *warm);
    value = get(((size_t)count + 1) * width, sizeof *value);

    /* Some libraries use it without asking for it. */
    if (!dlopen("libm.so.6", RTLD_NOW | RTLD_GLOBAL)) fail("cannot load", dlerror());
    library = load(word[2]);
    *(void **)&get_real = symbol(library, "fmi2GetReal");
    if (cvode) {
        directory = word[10], relative = atof(word[11]);
        states = (size_t)atol(word[12]), indicators = (size_t)atol(word[13]), restart = atoi(word[14]);
        *(void **)&enter_event_mode = symbol(library, "fmi2EnterEventMode");
        *(void **)&new_discrete_states = symbol(library, "fmi2NewDiscreteStates");
        *(void **)&enter_continuous = symbol(library, "fmi2EnterContinuousTimeMode");
        *(void **)&completed = symbol(library, "fmi2CompletedIntegratorStep");
        *(void **)&set_time = symbol(library, "fmi2SetTime");
        *(void **)&set_states = symbol(library, "fmi2SetContinuousStates");
        *(void **)&get_states = symbol(library, "fmi2GetContinuousStates");
        *(void **)&get_derivatives = symbol(library, "fmi2GetDerivatives");
        *(void **)&get_indicators = symbol(library, "fmi2GetEventIndicators");
        *(void **)&get_nominals = symbol(library, "fmi2GetNominalsOfContinuousStates");
    } else {
        *(void **)&do_step = symbol(library, "fmi2DoStep");
    }
    int locked = mlockall(MCL_CURRENT | MCL_FUTURE) == 0;
    double price = clock_price();

    signal(SIGSEGV, crash);
    Component first = fmu = instance();
    if (!first) fail("fmi2Instantiate", complaint);
    int status = 0;
    long done = run(cold, &status);
    write_numbers(word[9], "cold", cold, (size_t)done);
    write_numbers(word[9], "values", value, ((size_t)done + 1) * width);
    if (!once && status <= WARNING) {
        fmu = instance();
        if (!fmu) {
            /* Only one at a time. */
            void (*release)(Component);
            *(void **)&release = symbol(library, "fmi2FreeInstance");
            release(first);
            fmu = instance();
        }
        /* cswrapper keeps the inner instance even then. */
        once = !fmu;
        if (fmu) {
            done = run(warm, &status);
            write_numbers(word[9], "warm", warm, (size_t)done);
        }
    }
    printf("{\"steps\": %ld, \"status\": %d, \"message\": \"%s\", \"clock\": %g, \"locked\": %s, ", done, status,
           status > WARNING ? complaint : "", price, locked ? "true" : "false");
    describe("cold", cold, done);
    describe("warm", warm, once ? 0 : done);
    printf("\"evaluations\": %ld}\n", evaluations);
    fflush(stdout);
    /* Without fmi2FreeInstance: the next process starts anew anyway, and a crash there would tell nothing about steps. */
    _exit(0);
}
