/* x' = -1000 (x - cos t) + u, y' = x - y, one source for FMI 2.0 and 3.0: FMI_VER says which. As the standard has it for
   sources of FMI 2.0, the names of the functions begin with that of the model. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#if FMI_VER == 2
#define FMI2_FUNCTION_PREFIX pair_
#include "fmi2Functions.h"
typedef fmi2Component Instance;
typedef fmi2Status Status;
#define FMI(name) pair_fmi2##name
#define OK fmi2OK
#define ERROR fmi2Error
#else
#define FMI3_FUNCTION_PREFIX pair_
#include "fmi3Functions.h"
typedef fmi3Instance Instance;
typedef fmi3Status Status;
#define FMI(name) fmi3##name
#define OK fmi3OK
#define ERROR fmi3Error
#endif

typedef struct { double time, x[2], u; } Model;
#define M ((Model*)instance)

static void derivatives(const Model* m, double* dx) {
    dx[0] = -1000 * (m->x[0] - cos(m->time)) + m->u;
    dx[1] = m->x[0] - m->x[1];
}

static Instance make(const char* token) {
    if (strcmp(token, "{pair}")) return NULL;
    Model* m = calloc(1, sizeof(Model));
    m->x[0] = 1;
    return m;
}

static Status get(const Model* m, unsigned reference, double* value) {
    double dx[2];
    derivatives(m, dx);
    switch (reference) {
        case 0: *value = m->time; return OK;
        case 1: case 2: *value = m->x[reference - 1]; return OK;
        case 3: case 4: *value = dx[reference - 3]; return OK;
        case 5: *value = m->u; return OK;
        default: return ERROR;
    }
}

static Status set(Model* m, unsigned reference, double value) {
    switch (reference) {
        case 1: case 2: m->x[reference - 1] = value; return OK;
        case 5: m->u = value; return OK;
        default: return ERROR;
    }
}

Status FMI(Terminate)(Instance instance) { return OK; }
Status FMI(Reset)(Instance instance) { memset(instance, 0, sizeof(Model)); M->x[0] = 1; return OK; }
Status FMI(ExitInitializationMode)(Instance instance) { return OK; }
Status FMI(EnterEventMode)(Instance instance) { return OK; }
Status FMI(EnterContinuousTimeMode)(Instance instance) { return OK; }
Status FMI(SetTime)(Instance instance, double time) { M->time = time; return OK; }
Status FMI(SetContinuousStates)(Instance instance, const double x[], size_t n) { memcpy(M->x, x, n * sizeof(double)); return OK; }
Status FMI(GetContinuousStates)(Instance instance, double x[], size_t n) { memcpy(x, M->x, n * sizeof(double)); return OK; }
Status FMI(GetNominalsOfContinuousStates)(Instance instance, double x[], size_t n) { for (size_t i = 0; i < n; i++) x[i] = 1; return OK; }
Status FMI(GetEventIndicators)(Instance instance, double z[], size_t n) { return OK; }
void FMI(FreeInstance)(Instance instance) { free(instance); }

#if FMI_VER == 2
fmi2Component FMI(Instantiate)(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                               const fmi2CallbackFunctions* functions, fmi2Boolean visible, fmi2Boolean logging) {
    return make(guid);
}
Status FMI(SetupExperiment)(Instance instance, fmi2Boolean a, fmi2Real b, fmi2Real start, fmi2Boolean c, fmi2Real d) { M->time = start; return OK; }
Status FMI(EnterInitializationMode)(Instance instance) { return OK; }
Status FMI(GetReal)(Instance instance, const fmi2ValueReference vr[], size_t n, fmi2Real v[]) {
    for (size_t i = 0; i < n; i++) if (get(M, vr[i], v + i)) return ERROR;
    return OK;
}
Status FMI(SetReal)(Instance instance, const fmi2ValueReference vr[], size_t n, const fmi2Real v[]) {
    for (size_t i = 0; i < n; i++) if (set(M, vr[i], v[i])) return ERROR;
    return OK;
}
Status FMI(GetDerivatives)(Instance instance, fmi2Real dx[], size_t n) { derivatives(M, dx); return OK; }
Status FMI(NewDiscreteStates)(Instance instance, fmi2EventInfo* info) { memset(info, 0, sizeof *info); return OK; }
Status FMI(CompletedIntegratorStep)(Instance instance, fmi2Boolean a, fmi2Boolean* b, fmi2Boolean* c) { *b = *c = 0; return OK; }
#else
fmi3Instance FMI(InstantiateModelExchange)(fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible,
                                           fmi3Boolean logging, fmi3InstanceEnvironment environment, fmi3LogMessageCallback log) {
    return make(token);
}
Status FMI(EnterInitializationMode)(Instance instance, fmi3Boolean a, fmi3Float64 b, fmi3Float64 start, fmi3Boolean c, fmi3Float64 d) { M->time = start; return OK; }
Status FMI(GetFloat64)(Instance instance, const fmi3ValueReference vr[], size_t n, fmi3Float64 v[], size_t nv) {
    for (size_t i = 0; i < n; i++) if (get(M, vr[i], v + i)) return ERROR;
    return OK;
}
Status FMI(SetFloat64)(Instance instance, const fmi3ValueReference vr[], size_t n, const fmi3Float64 v[], size_t nv) {
    for (size_t i = 0; i < n; i++) if (set(M, vr[i], v[i])) return ERROR;
    return OK;
}
Status FMI(GetContinuousStateDerivatives)(Instance instance, fmi3Float64 dx[], size_t n) { derivatives(M, dx); return OK; }
Status FMI(GetNumberOfContinuousStates)(Instance instance, size_t* n) { *n = 2; return OK; }
Status FMI(GetNumberOfEventIndicators)(Instance instance, size_t* n) { *n = 0; return OK; }
Status FMI(UpdateDiscreteStates)(Instance instance, fmi3Boolean* a, fmi3Boolean* b, fmi3Boolean* c, fmi3Boolean* d, fmi3Boolean* e, fmi3Float64* f) {
    *a = *b = *c = *d = *e = 0;
    return OK;
}
Status FMI(CompletedIntegratorStep)(Instance instance, fmi3Boolean a, fmi3Boolean* b, fmi3Boolean* c) { *b = *c = 0; return OK; }
#endif
