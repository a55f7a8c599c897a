/* FMI 2.0 Model Exchange around the functions of fmi2me.h. Nothing of FMI's headers is needed to build it. */
#define NO_NAMES
#include <stdlib.h>
#include <string.h>

#include "fmi2me.h"

__attribute__((weak)) void initial(Model *self) { (void)self; }
__attribute__((weak)) void indicators(Model *self, double *z) { (void)self; (void)z; }
__attribute__((weak)) int events(Model *self) { (void)self; return 0; }

enum { OK = 0, ERROR = 3 };
typedef unsigned int Reference;
typedef const char *Text;
typedef struct {
    int newDiscreteStatesNeeded, terminateSimulation, nominalsOfContinuousStatesChanged, valuesOfContinuousStatesChanged;
    int nextEventTimeDefined;
    double nextEventTime;
} EventInfo;

static const double starts[COUNT] = STARTS;
static const double nominals[STATES + 1] = NOMINALS;

static void evaluate(Model *m) {
    if (m->dirty) {
        derivatives(m);
        m->dirty = 0;
    }
}

Text fmi2GetTypesPlatform(void) { return "default"; }
Text fmi2GetVersion(void) { return "2.0"; }
int fmi2SetDebugLogging(void *c, int on, size_t n, const Text names[]) { (void)c; (void)on; (void)n; (void)names; return OK; }

void *fmi2Instantiate(Text name, int type, Text guid, Text where, const void *callbacks, int visible, int logging) {
    (void)name; (void)where; (void)callbacks; (void)visible; (void)logging;
    static int instances = 0;
    if (type != 0 || strcmp(guid, GUID) || (ONCE && instances)) return NULL;
    Model *m = calloc(1, sizeof *m);
    if (!m) return NULL;
    instances += ONCE;
    memcpy(m->value, starts, sizeof starts);
    m->next = INFINITY;
    m->dirty = 1;
    return m;
}
void fmi2FreeInstance(void *c) { free(c); }
int fmi2SetupExperiment(void *c, int hasTolerance, double tolerance, double start, int hasStop, double stop) {
    (void)hasTolerance; (void)tolerance; (void)hasStop; (void)stop;
    ((Model *)c)->now = start;
    return OK;
}
int fmi2EnterInitializationMode(void *c) { initial(c); ((Model *)c)->dirty = 1; return OK; }
int fmi2ExitInitializationMode(void *c) { (void)c; return OK; }
int fmi2Terminate(void *c) { (void)c; return OK; }
int fmi2Reset(void *c) {
    Model *m = c;
    memcpy(m->value, starts, sizeof starts);
    m->now = 0.0;
    m->next = INFINITY;
    m->dirty = 1;
    return OK;
}

#define GET(NAME, TYPE) \
    int fmi2Get##NAME(void *c, const Reference r[], size_t n, TYPE to[]) { \
        evaluate(c); \
        for (size_t i = 0; i < n; i++) { \
            if (r[i] >= COUNT) return ERROR; \
            to[i] = (TYPE)((Model *)c)->value[r[i]]; \
        } \
        return OK; \
    }
#define SET(NAME, TYPE) \
    int fmi2Set##NAME(void *c, const Reference r[], size_t n, const TYPE from[]) { \
        Model *m = c; \
        for (size_t i = 0; i < n; i++) { \
            if (r[i] >= COUNT) return ERROR; \
            m->value[r[i]] = (double)from[i]; \
        } \
        m->dirty = 1; \
        return OK; \
    }
GET(Real, double)
GET(Integer, int)
GET(Boolean, int)
SET(Real, double)
SET(Integer, int)
SET(Boolean, int)
int fmi2GetString(void *c, const Reference r[], size_t n, Text to[]) { (void)c; (void)r; (void)to; return n ? ERROR : OK; }
int fmi2SetString(void *c, const Reference r[], size_t n, const Text from[]) { (void)c; (void)r; (void)from; return n ? ERROR : OK; }

int fmi2GetFMUstate(void *c, void **state) {
    if (!*state) *state = malloc(sizeof(Model));
    if (!*state) return ERROR;
    memcpy(*state, c, sizeof(Model));
    return OK;
}
int fmi2SetFMUstate(void *c, void *state) { memcpy(c, state, sizeof(Model)); return OK; }
int fmi2FreeFMUstate(void *c, void **state) { (void)c; free(*state); *state = NULL; return OK; }
int fmi2SerializedFMUstateSize(void *c, void *state, size_t *size) { (void)c; (void)state; *size = sizeof(Model); return OK; }
int fmi2SerializeFMUstate(void *c, void *state, char bytes[], size_t size) {
    (void)c;
    if (size < sizeof(Model)) return ERROR;
    memcpy(bytes, state, sizeof(Model));
    return OK;
}
int fmi2DeSerializeFMUstate(void *c, const char bytes[], size_t size, void **state) {
    if (size < sizeof(Model)) return ERROR;
    *state = NULL;
    if (fmi2GetFMUstate(c, state)) return ERROR;
    memcpy(*state, bytes, sizeof(Model));
    return OK;
}
int fmi2GetDirectionalDerivative(void *c, const Reference unknowns[], size_t n, const Reference knowns[], size_t k, const double seed[],
                                 double to[]) {
    (void)c; (void)unknowns; (void)n; (void)knowns; (void)k; (void)seed; (void)to;
    return ERROR;
}

int fmi2EnterEventMode(void *c) { (void)c; return OK; }
int fmi2NewDiscreteStates(void *c, EventInfo *info) {
    Model *m = c;
    double before[STATES + 1];
    memcpy(before, m->value, STATES * sizeof(double));
    evaluate(m);
    int changed = events(m);
    m->dirty = 1;
    info->newDiscreteStatesNeeded = changed;
    info->terminateSimulation = 0;
    info->nominalsOfContinuousStatesChanged = 0;
    info->valuesOfContinuousStatesChanged = memcmp(before, m->value, STATES * sizeof(double)) != 0;
    info->nextEventTimeDefined = isfinite(m->next);
    info->nextEventTime = isfinite(m->next) ? m->next : 0.0;
    return OK;
}
int fmi2EnterContinuousTimeMode(void *c) { (void)c; return OK; }
int fmi2CompletedIntegratorStep(void *c, int keeps, int *event, int *terminate) {
    (void)c; (void)keeps;
    *event = *terminate = 0;
    return OK;
}
int fmi2SetTime(void *c, double t) {
    ((Model *)c)->now = t;
    ((Model *)c)->dirty = 1;
    return OK;
}
int fmi2SetContinuousStates(void *c, const double x[], size_t n) {
    if (n != STATES) return ERROR;
    memcpy(((Model *)c)->value, x, n * sizeof(double));
    ((Model *)c)->dirty = 1;
    return OK;
}
int fmi2GetDerivatives(void *c, double dx[], size_t n) {
    if (n != STATES) return ERROR;
    evaluate(c);
    memcpy(dx, ((Model *)c)->value + STATES, n * sizeof(double));
    return OK;
}
int fmi2GetEventIndicators(void *c, double z[], size_t n) {
    if (n != INDICATOR_COUNT) return ERROR;
    evaluate(c);
    indicators(c, z);
    return OK;
}
int fmi2GetContinuousStates(void *c, double x[], size_t n) {
    if (n != STATES) return ERROR;
    memcpy(x, ((Model *)c)->value, n * sizeof(double));
    return OK;
}
int fmi2GetNominalsOfContinuousStates(void *c, double x[], size_t n) {
    (void)c;
    if (n != STATES) return ERROR;
    memcpy(x, nominals, n * sizeof(double));
    return OK;
}
