/* A rod of n cells between ends that are held at u: x_j' = 50 gain (x_(j-1) - 2 x_j + x_(j+1)), in FMI 3.0. The states are an array
   whose length n is a structural parameter; the gain is a Float32; a clock samples the cell in the middle and counts (Int64). */
#include <stdlib.h>
#include <string.h>
#include "fmi3Functions.h"

typedef struct {
    double time, u[2], held;
    double* x;
    uint64_t n;
    int64_t count;
    float gain;
    bool in_event, ticks, configuring;
} Model;
#define M ((Model*)instance)

static void resize(Model* m, uint64_t n) {
    m->n = n;
    m->x = realloc(m->x, n * sizeof(double));
    for (uint64_t j = 0; j < n; j++) m->x[j] = 1;
}

static void derivatives(const Model* m, double* dx) {
    for (uint64_t j = 0; j < m->n; j++) {
        double left = j ? m->x[j - 1] : m->u[0], right = j + 1 < m->n ? m->x[j + 1] : m->u[1];
        dx[j] = 50 * m->gain * (left - 2 * m->x[j] + right);
    }
}

fmi3Instance fmi3InstantiateModelExchange(fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible,
                                          fmi3Boolean logging, fmi3InstanceEnvironment environment, fmi3LogMessageCallback log) {
    if (strcmp(token, "{rod3}")) {
        log(environment, fmi3Error, "logStatusError", "the token is not this model's");
        return NULL;
    }
    Model* m = calloc(1, sizeof(Model));
    m->gain = 1;
    resize(m, 5);
    return m;
}

void fmi3FreeInstance(fmi3Instance instance) {
    free(M->x);
    free(instance);
}

fmi3Status fmi3Reset(fmi3Instance instance) {
    double* x = M->x;
    memset(instance, 0, sizeof(Model));
    M->x = x;
    M->gain = 1;
    resize(M, 5);
    return fmi3OK;
}

fmi3Status fmi3EnterConfigurationMode(fmi3Instance instance) { M->configuring = true; return fmi3OK; }
fmi3Status fmi3ExitConfigurationMode(fmi3Instance instance) { M->configuring = false; return fmi3OK; }

fmi3Status fmi3EnterInitializationMode(fmi3Instance instance, fmi3Boolean tolerance_defined, fmi3Float64 tolerance,
                                       fmi3Float64 start, fmi3Boolean stop_defined, fmi3Float64 stop) {
    M->time = start;
    return fmi3OK;
}

fmi3Status fmi3ExitInitializationMode(fmi3Instance instance) { M->in_event = true; return fmi3OK; }
fmi3Status fmi3EnterEventMode(fmi3Instance instance) { M->in_event = true; return fmi3OK; }
fmi3Status fmi3EnterContinuousTimeMode(fmi3Instance instance) { M->in_event = false; return fmi3OK; }
fmi3Status fmi3Terminate(fmi3Instance instance) { return fmi3OK; }

/* Time is set in Continuous-Time Mode only. */
fmi3Status fmi3SetTime(fmi3Instance instance, fmi3Float64 time) {
    if (M->in_event) return fmi3Error;
    M->time = time;
    return fmi3OK;
}

fmi3Status fmi3GetFloat64(fmi3Instance instance, const fmi3ValueReference vr[], size_t n, fmi3Float64 v[], size_t nv) {
    const fmi3Float64* end = v + nv;
    for (size_t i = 0; i < n; i++) switch (vr[i]) {
        case 0: *v++ = M->time; break;
        case 1: memcpy(v, M->x, M->n * sizeof(double)); v += M->n; break;
        case 2: derivatives(M, v); v += M->n; break;
        case 3: *v++ = M->u[0]; *v++ = M->u[1]; break;
        case 6: *v++ = M->held; break;
        case 8: *v++ = M->x[M->n / 2]; break;
        default: return fmi3Error;
    }
    return v == end ? fmi3OK : fmi3Error;
}

fmi3Status fmi3SetFloat64(fmi3Instance instance, const fmi3ValueReference vr[], size_t n, const fmi3Float64 v[], size_t nv) {
    const fmi3Float64* end = v + nv;
    for (size_t i = 0; i < n; i++) switch (vr[i]) {
        case 1: memcpy(M->x, v, M->n * sizeof(double)); v += M->n; break;
        case 3: M->u[0] = *v++; M->u[1] = *v++; break;
        default: return fmi3Error;
    }
    return v == end ? fmi3OK : fmi3Error;
}

fmi3Status fmi3GetFloat32(fmi3Instance instance, const fmi3ValueReference vr[], size_t n, fmi3Float32 v[], size_t nv) {
    if (n != 1 || nv != 1 || vr[0] != 4) return fmi3Error;
    v[0] = M->gain;
    return fmi3OK;
}

fmi3Status fmi3SetFloat32(fmi3Instance instance, const fmi3ValueReference vr[], size_t n, const fmi3Float32 v[], size_t nv) {
    if (n != 1 || nv != 1 || vr[0] != 4) return fmi3Error;
    M->gain = v[0];
    return fmi3OK;
}

fmi3Status fmi3GetInt64(fmi3Instance instance, const fmi3ValueReference vr[], size_t n, fmi3Int64 v[], size_t nv) {
    if (n != 1 || nv != 1 || vr[0] != 5) return fmi3Error;
    v[0] = M->count;
    return fmi3OK;
}

fmi3Status fmi3GetUInt64(fmi3Instance instance, const fmi3ValueReference vr[], size_t n, fmi3UInt64 v[], size_t nv) {
    if (n != 1 || nv != 1 || vr[0] != 7) return fmi3Error;
    v[0] = M->n;
    return fmi3OK;
}

fmi3Status fmi3SetUInt64(fmi3Instance instance, const fmi3ValueReference vr[], size_t n, const fmi3UInt64 v[], size_t nv) {
    if (n != 1 || nv != 1 || vr[0] != 7 || !M->configuring) return fmi3Error;
    resize(M, v[0]);
    return fmi3OK;
}

fmi3Status fmi3SetClock(fmi3Instance instance, const fmi3ValueReference vr[], size_t n, const fmi3Clock v[]) {
    if (n != 1 || vr[0] != 9 || !M->in_event) return fmi3Error;
    M->ticks = v[0];
    return fmi3OK;
}

fmi3Status fmi3UpdateDiscreteStates(fmi3Instance instance, fmi3Boolean* again, fmi3Boolean* terminate, fmi3Boolean* nominals,
                                    fmi3Boolean* states, fmi3Boolean* next_defined, fmi3Float64* next) {
    if (!M->in_event) return fmi3Error;
    if (M->ticks) {
        M->count++;
        M->held = M->x[M->n / 2];
    }
    M->ticks = *again = *terminate = *nominals = *states = *next_defined = false;
    return fmi3OK;
}

fmi3Status fmi3SetContinuousStates(fmi3Instance instance, const fmi3Float64 x[], size_t n) {
    memcpy(M->x, x, n * sizeof(double));
    return n == M->n ? fmi3OK : fmi3Error;
}

fmi3Status fmi3GetContinuousStates(fmi3Instance instance, fmi3Float64 x[], size_t n) {
    memcpy(x, M->x, n * sizeof(double));
    return n == M->n ? fmi3OK : fmi3Error;
}

fmi3Status fmi3GetContinuousStateDerivatives(fmi3Instance instance, fmi3Float64 dx[], size_t n) {
    derivatives(M, dx);
    return n == M->n ? fmi3OK : fmi3Error;
}

fmi3Status fmi3GetNominalsOfContinuousStates(fmi3Instance instance, fmi3Float64 x[], size_t n) {
    for (size_t j = 0; j < n; j++) x[j] = 1;
    return fmi3OK;
}

fmi3Status fmi3GetEventIndicators(fmi3Instance instance, fmi3Float64 z[], size_t n) { return n ? fmi3Error : fmi3OK; }
fmi3Status fmi3GetNumberOfContinuousStates(fmi3Instance instance, size_t* n) { *n = M->n; return fmi3OK; }
fmi3Status fmi3GetNumberOfEventIndicators(fmi3Instance instance, size_t* n) { *n = 0; return fmi3OK; }
