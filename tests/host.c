/*
 * A C program against the header that cbindgen writes: drives an exported FMU through dlopen and counts the
 * allocations inside fmi2DoStep.
 *
 *     host LIBRARY GUID RESOURCES STEPS H REFERENCE
 *
 * Prints one line: allocations while instantiating, allocations and releases in STEPS steps of H, and the Real
 * with the given value reference at the end.
 *
 * malloc and its kin are replaced here, in the executable, so the calls of the runtime and of the model inside come by. With
 * -DCLASH the host exports a function that some models are linked with: the model is then loaded with RTLD_DEEPBIND, and its malloc is
 * libc's own.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fmu_runtime.h"

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

static unsigned long allocations, releases;

void *malloc(size_t size) { allocations++; return __libc_malloc(size); }
void *calloc(size_t n, size_t size) { allocations++; return __libc_calloc(n, size); }
void *realloc(void *p, size_t size) { allocations++; return __libc_realloc(p, size); }
void *memalign(size_t align, size_t size) { allocations++; return __libc_memalign(align, size); }
void *aligned_alloc(size_t align, size_t size) { allocations++; return __libc_memalign(align, size); }
int posix_memalign(void **p, size_t align, size_t size)
{
    allocations++;
    *p = __libc_memalign(align, size);
    return *p ? 0 : ENOMEM;
}
void free(void *p) { releases += p != NULL; __libc_free(p); }

#ifdef CLASH
/* A host with a solver of its own. */
void *CVodeCreate(int method) { (void)method; return NULL; }
#endif

static void logger(void *env, const char *name, int32_t status, const char *category, const char *format, ...)
{
    va_list args;
    (void)env;
    fprintf(stderr, "%s [%s] %d: ", name, category, (int)status);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}

static void *find(void *library, const char *name)
{
    void *symbol = dlsym(library, name);
    if (!symbol) {
        fprintf(stderr, "no %s\n", name);
        exit(1);
    }
    return symbol;
}

/* The types of the functions come from the header: what it declares is what is called. */
#define FUNCTION(name) __typeof__(name) *name##_ = (__typeof__(name) *)find(library, #name)
#define CHECK(call)                                                   \
    do {                                                              \
        int status = (int)(call);                                     \
        if (status != 0) {                                            \
            fprintf(stderr, #call " returned %d\n", status);          \
            return 1;                                                 \
        }                                                             \
    } while (0)

int main(int argc, char **argv)
{
    if (argc != 7) {
        fprintf(stderr, "host LIBRARY GUID RESOURCES STEPS H REFERENCE\n");
        return 2;
    }
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    FUNCTION(fmi2GetVersion);
    FUNCTION(fmi2Instantiate);
    FUNCTION(fmi2FreeInstance);
    FUNCTION(fmi2SetupExperiment);
    FUNCTION(fmi2EnterInitializationMode);
    FUNCTION(fmi2ExitInitializationMode);
    FUNCTION(fmi2DoStep);
    FUNCTION(fmi2GetReal);
    FUNCTION(fmi2Terminate);

    const long steps = atol(argv[4]);
    const double h = atof(argv[5]);
    const uint32_t reference = (uint32_t)strtoul(argv[6], NULL, 10);
    if (strcmp(fmi2GetVersion_(), "2.0") != 0)
        return 1;

    Callbacks callbacks;
    memset(&callbacks, 0, sizeof callbacks);
    callbacks.logger = (__typeof__(callbacks.logger))logger;
    const unsigned long at_start = allocations;
    void *c = fmi2Instantiate_("host", 1, argv[2], argv[3], &callbacks, 0, 0);
    if (!c)
        return 1;
    const unsigned long instantiating = allocations - at_start;
    CHECK(fmi2SetupExperiment_(c, 0, 0.0, 0.0, 0, 0.0));
    CHECK(fmi2EnterInitializationMode_(c));
    CHECK(fmi2ExitInitializationMode_(c));

    const unsigned long a = allocations, r = releases;
    for (long k = 0; k < steps; k++)
        CHECK(fmi2DoStep_(c, (double)k * h, h, 1));
    const unsigned long in_steps = allocations - a, freed = releases - r;

    double value = 0.0;
    CHECK(fmi2GetReal_(c, &reference, 1, &value));
    CHECK(fmi2Terminate_(c));
    fmi2FreeInstance_(c);
    dlclose(library);
    printf("%lu %lu %lu %.17g\n", instantiating, in_steps, freed, value);
    return 0;
}
