/*
 * A C program that imports an exported FMU on Linux and on Windows.
 *
 *     host run LIBRARY RESOURCES GUID H STEPS EVENTS REAL...    steps, then checks; see below
 *     host refuse LIBRARY RESOURCES GUID                        prints why fmi2Instantiate refused
 *
 * `run` prints a line of the given Reals for every step, then "rollback", "instances" and "located" with ok or failed,
 * then the number of events (an Integer whose value reference is EVENTS).
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef _WIN32
#include <windows.h>
static wchar_t *wide(const char *text)
{
    wchar_t *result = calloc(32768, sizeof *result);
    MultiByteToWideChar(CP_UTF8, 0, text, -1, result, 32768);
    return result;
}
static void *load(const char *path) { return LoadLibraryW(wide(path)); }
static void *symbol(void *library, const char *name) { return (void *)GetProcAddress(library, name); }
#else
#include <dlfcn.h>
static void *load(const char *path) { return dlopen(path, RTLD_NOW | RTLD_LOCAL); }
static void *symbol(void *library, const char *name) { return dlsym(library, name); }
#endif

typedef void (*logger_t)(void *, const char *, int, const char *, const char *, ...);
typedef struct {
    logger_t logger;
    void *(*allocate)(size_t, size_t);
    void (*release)(void *);
    void (*finished)(void *, int);
    void *environment;
} callbacks;

static void *(*instantiate)(const char *, int, const char *, const char *, const callbacks *, int, int);
static void (*free_instance)(void *);
static int (*setup)(void *, int, double, double, int, double);
static int (*enter)(void *), (*leave)(void *);
static int (*step)(void *, double, double, int);
static int (*get_real)(void *, const unsigned *, size_t, double *);
static int (*get_integer)(void *, const unsigned *, size_t, int *);
static int (*get_state)(void *, void **), (*set_state)(void *, void *), (*free_state)(void *, void **);

static void logger(void *environment, const char *name, int status, const char *category, const char *format, ...)
{
    va_list arguments;
    (void)environment, (void)name, (void)status, (void)category;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
}

static const callbacks host = {logger, calloc, free, NULL, NULL};

static void expect(int status, const char *call)
{
    if (status != 0) {
        printf("%s returned %d\n", call, status);
        exit(1);
    }
}

static void *start(const char *resources, const char *guid)
{
    void *fmu = instantiate("fmu", 1, guid, resources, &host, 0, 0);
    if (!fmu) {
        printf("fmi2Instantiate returned NULL\n");
        exit(1);
    }
    expect(setup(fmu, 0, 0.0, 0.0, 0, 0.0), "fmi2SetupExperiment");
    expect(enter(fmu), "fmi2EnterInitializationMode");
    expect(leave(fmu), "fmi2ExitInitializationMode");
    return fmu;
}

static unsigned references[16];
static size_t count;

/* Steps from..to-1; the Reals after each go to `into`. */
static void advance(void *fmu, double h, int from, int to, double *into)
{
    for (int k = from; k < to; k++) {
        expect(step(fmu, k * h, h, 1), "fmi2DoStep");
        expect(get_real(fmu, references, count, into + (size_t)k * count), "fmi2GetReal");
    }
}

static int run(int argc, char **argv)
{
    const char *resources = argv[3], *guid = argv[4];
    double h = atof(argv[5]);
    int steps = atoi(argv[6]), half = steps / 2;
    unsigned events_reference = (unsigned)strtoul(argv[7], NULL, 10);
    for (int i = 8; i < argc && count < 16; i++) references[count++] = (unsigned)strtoul(argv[i], NULL, 10);
    size_t size = (size_t)steps * count * sizeof(double);
    double *first = malloc(size), *again = malloc(size), *one = malloc(size), *other = malloc(size);

    /* The second half twice, from a saved state. */
    void *fmu = start(resources, guid), *state = NULL;
    advance(fmu, h, 0, half, first);
    expect(get_state(fmu, &state), "fmi2GetFMUstate");
    advance(fmu, h, half, steps, first);
    int events = 0;
    expect(get_integer(fmu, &events_reference, 1, &events), "fmi2GetInteger");
    memcpy(again, first, size);
    expect(set_state(fmu, state), "fmi2SetFMUstate");
    expect(free_state(fmu, &state), "fmi2FreeFMUstate");
    advance(fmu, h, half, steps, again);
    for (int k = 0; k < steps; k++)
        for (size_t i = 0; i < count; i++)
            printf("%.17g%c", first[(size_t)k * count + i], i + 1 < count ? ' ' : '\n');
    printf("rollback %s\n", memcmp(first, again, size) ? "failed" : "ok");
    free_instance(fmu);

    /* Two instances, step by step in turn. */
    void *a = start(resources, guid), *b = start(resources, guid);
    for (int k = 0; k < steps; k++) {
        advance(a, h, k, k + 1, one);
        advance(b, h, k, k + 1, other);
    }
    printf("instances %s\n", memcmp(first, one, size) || memcmp(first, other, size) ? "failed" : "ok");
    free_instance(a);
    free_instance(b);

    /* Without a resource location the library finds its own FMU. */
    fmu = start(NULL, guid);
    advance(fmu, h, 0, steps, again);
    printf("located %s\n", memcmp(first, again, size) ? "failed" : "ok");
    free_instance(fmu);
    printf("events %d\n", events);
    return 0;
}

static int run_host(int argc, char **argv)
{
    void *library = argc < 5 ? NULL : load(argv[2]);
    if (!library) {
        printf("cannot load %s\n", argc < 3 ? "nothing" : argv[2]);
        return 1;
    }
#define FIND(function, name) function = (void *)symbol(library, name)
    FIND(instantiate, "fmi2Instantiate");
    FIND(free_instance, "fmi2FreeInstance");
    FIND(setup, "fmi2SetupExperiment");
    FIND(enter, "fmi2EnterInitializationMode");
    FIND(leave, "fmi2ExitInitializationMode");
    FIND(step, "fmi2DoStep");
    FIND(get_real, "fmi2GetReal");
    FIND(get_integer, "fmi2GetInteger");
    FIND(get_state, "fmi2GetFMUstate");
    FIND(set_state, "fmi2SetFMUstate");
    FIND(free_state, "fmi2FreeFMUstate");
    if (!strcmp(argv[1], "refuse")) return instantiate("fmu", 1, argv[4], argv[3], &host, 0, 1) != NULL;
    return run(argc, argv);
}

#ifdef _WIN32
int wmain(int argc, wchar_t **wide_argv)
{
    char **argv = calloc((size_t)argc + 1, sizeof *argv);
    for (int i = 0; i < argc; i++) {
        argv[i] = calloc(32768, 1);
        WideCharToMultiByte(CP_UTF8, 0, wide_argv[i], -1, argv[i], 32768, NULL, NULL);
    }
    return run_host(argc, argv);
}
#else
int main(int argc, char **argv) { return run_host(argc, argv); }
#endif
