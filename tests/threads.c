/*
 * A C program that drives many instances of an exported FMU at once, one in each thread, then many one after the other.
 *
 *     threads LIBRARY GUID RESOURCES THREADS STEPS H REFERENCE INSTANCES
 *
 * Every instance saves and restores its state on the way. All must end with the same bits. For sanitizers, valgrind and other allocators:
 * nothing is replaced here. Prints the value.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fmu_runtime.h"

#define FUNCTIONS(do)                                                                                                  \
    do(fmi2Instantiate) do(fmi2FreeInstance) do(fmi2SetupExperiment) do(fmi2EnterInitializationMode)                   \
    do(fmi2ExitInitializationMode) do(fmi2DoStep) do(fmi2GetReal) do(fmi2Terminate) do(fmi2GetFMUstate)                \
    do(fmi2SetFMUstate) do(fmi2FreeFMUstate)
#define DECLARE(name) static __typeof__(name) *name##_;
FUNCTIONS(DECLARE)

static const char *guid, *resources;
static long steps;
static double h;
static uint32_t reference;

static void logger(void *env, const char *name, int32_t status, const char *category, const char *format, ...)
{
    (void)env, (void)name, (void)status, (void)category, (void)format; /* remarks of a model are no failures */
}

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        int status = (int)(call);                                                                                      \
        if (status != 0) {                                                                                             \
            fprintf(stderr, #call " returned %d\n", status);                                                           \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

static double life(long steps)
{
    Callbacks callbacks;
    memset(&callbacks, 0, sizeof callbacks);
    callbacks.logger = (__typeof__(callbacks.logger))logger;
    void *c = fmi2Instantiate_("host", 1, guid, resources, &callbacks, 0, 0), *state = NULL;
    if (!c) {
        fprintf(stderr, "fmi2Instantiate returned NULL\n");
        exit(1);
    }
    CHECK(fmi2SetupExperiment_(c, 0, 0.0, 0.0, 0, 0.0));
    CHECK(fmi2EnterInitializationMode_(c));
    CHECK(fmi2ExitInitializationMode_(c));
    for (long k = 0; k < steps; k++) {
        if (k % 100 == 50) {
            CHECK(fmi2GetFMUstate_(c, &state));
            CHECK(fmi2DoStep_(c, (double)k * h, h, 1));
            CHECK(fmi2SetFMUstate_(c, state));
        }
        CHECK(fmi2DoStep_(c, (double)k * h, h, 1));
    }
    double value = 0.0;
    CHECK(fmi2GetReal_(c, &reference, 1, &value));
    if (state)
        CHECK(fmi2FreeFMUstate_(c, &state));
    CHECK(fmi2Terminate_(c));
    fmi2FreeInstance_(c);
    return value;
}

static void *thread(void *value)
{
    *(double *)value = life(steps);
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc != 9) {
        fprintf(stderr, "threads LIBRARY GUID RESOURCES THREADS STEPS H REFERENCE INSTANCES\n");
        return 2;
    }
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
#define FIND(name)                                                                                                     \
    if (!(name##_ = (__typeof__(name) *)dlsym(library, #name)))                                                        \
        return 1;
    FUNCTIONS(FIND)
    guid = argv[2], resources = argv[3], steps = atol(argv[5]), h = atof(argv[6]);
    reference = (uint32_t)strtoul(argv[7], NULL, 10);
    const long count = atol(argv[4]), instances = atol(argv[8]);
    pthread_t *threads = calloc((size_t)count, sizeof *threads);
    double *values = calloc((size_t)count, sizeof *values);
    for (long i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, thread, &values[i]))
            return 1;
    for (long i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    for (long i = 1; i < count; i++)
        if (memcmp(&values[i], &values[0], sizeof *values) != 0) {
            fprintf(stderr, "instance %ld ends with %.17g, the first with %.17g\n", i, values[i], values[0]);
            return 1;
        }
    for (long i = 0; i < instances; i++)
        life(1);
    printf("%.17g\n", values[0]);
    free(threads);
    free(values);
    dlclose(library);
    return 0;
}
