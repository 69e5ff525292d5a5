// SPDX-License-Identifier: Apache-2.0
/*
 * OpenCL with faults: a library that stands before the machine's own, which it is linked to, and answers itself where
 * FAULTY_OPENCL of the environment says so. What it has no word on is the real library's: dlsym finds that behind it.
 * For MILLRACE_OPENCL, or mr__cl_options.library. The words (tests/support/faulty_opencl.h has them, too), separated by
 * commas, are read at each clGetPlatformIDs, and counts begin there:
 *
 *     no-platform no-device two-devices      what is there; two-devices: the same one twice
 *     unavailable old embedded no-compiler big-endian inexact few-lanes small   what a device says of itself
 *     gpu                                    it says that it is one, with memory of its own
 *     no-text no-binary no-build             programs of text, of binaries, and building, fail
 *     no-buffer=N                            from buffer N on (0 is the first) there is no memory
 *     lost=N                                 from kernel N on they cannot be started
 *     dies=N                                 from play N on they end with an error
 *     hangs=N                                from play N on they never end
 */
#include "device/opencl/cl.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CL_INVALID_BINARY = -42, CL_PROGRAM_LOG = CL_PROGRAM_BUILD_LOG };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char faults[512];
static unsigned buffers, kernels, plays;

/* The real function of this name, of the type of ours. */
#define REAL(name) real_##name
#define DECLARE(result, name, arguments)                                                                               \
    static result(*REAL(name)) arguments;                                                                              \
    result cl##name arguments;
MR__CL_FUNCTIONS(DECLARE)

__attribute__((constructor)) static void find_real(void)
{
    void *library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
#define FIND(result, name, arguments)                                                                                  \
    if (library != NULL) {                                                                                             \
        void *address = dlsym(library, "cl" #name);                                                                    \
        memcpy(&REAL(name), &address, sizeof address);                                                                 \
    }
    MR__CL_FUNCTIONS(FIND)
}

/* Whether the word is among them; *number is what follows its "=". */
static bool has(const char *word, unsigned *number)
{
    size_t length = strlen(word);
    for (const char *at = faults; *at != 0; at += strcspn(at, ","), at += *at == ',') {
        if (strncmp(at, word, length) != 0 || (at[length] != 0 && at[length] != ',' && at[length] != '='))
            continue;
        if (number != NULL)
            *number = at[length] == '=' ? (unsigned)strtoul(at + length + 1, NULL, 10) : 0;
        return true;
    }
    return false;
}

/* Whether it is so from this one on; counts. */
static bool is_past(const char *word, unsigned *count)
{
    unsigned from;
    pthread_mutex_lock(&mutex);
    bool past = has(word, &from) && *count >= from;
    (*count)++;
    pthread_mutex_unlock(&mutex);
    return past;
}

cl_int clGetPlatformIDs(cl_uint most, cl_platform_id *platforms, cl_uint *count)
{
    const char *words = getenv("FAULTY_OPENCL");
    pthread_mutex_lock(&mutex);
    snprintf(faults, sizeof faults, "%s", words != NULL ? words : "");
    buffers = kernels = plays = 0;
    pthread_mutex_unlock(&mutex);
    if (has("no-platform", NULL))
        return CL_PLATFORM_NOT_FOUND_KHR;
    return REAL(GetPlatformIDs)(most, platforms, count);
}

cl_int clGetDeviceIDs(cl_platform_id platform, cl_bitfield type, cl_uint most, cl_device_id *devices, cl_uint *count)
{
    if (has("no-device", NULL))
        return CL_DEVICE_NOT_FOUND;
    cl_int error = REAL(GetDeviceIDs)(platform, type, most, devices, count);
    if (error == CL_SUCCESS && has("two-devices", NULL) && *count == 1 && most >= 2) {
        devices[1] = devices[0];
        *count = 2;
    }
    return error;
}

typedef struct lie {
    const char *word;
    cl_uint what;
    uint64_t number;
    const char *text; /* NULL: it is a number */
} lie;

cl_int clGetDeviceInfo(cl_device_id device, cl_uint what, size_t most, void *value, size_t *nbytes)
{
    static const lie lies[] = {
        {"unavailable", CL_DEVICE_AVAILABLE, 0, NULL},          {"old", CL_DEVICE_VERSION, 0, "OpenCL 1.1 of long ago"},
        {"embedded", CL_DEVICE_PROFILE, 0, "EMBEDDED_PROFILE"}, {"no-compiler", CL_DEVICE_COMPILER_AVAILABLE, 0, NULL},
        {"big-endian", CL_DEVICE_ENDIAN_LITTLE, 0, NULL},       {"inexact", CL_DEVICE_SINGLE_FP_CONFIG, 6, NULL},
        {"few-lanes", CL_DEVICE_MAX_WORK_GROUP_SIZE, 32, NULL}, {"small", CL_DEVICE_MAX_MEM_ALLOC_SIZE, 1 << 20, NULL},
        {"gpu", CL_DEVICE_TYPE, CL_DEVICE_TYPE_GPU, NULL},      {"gpu", CL_DEVICE_HOST_UNIFIED_MEMORY, 0, NULL},
    };
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        const lie *l = &lies[i];
        if (l->what != what || !has(l->word, NULL))
            continue;
        const void *from = l->text != NULL ? (const void *)l->text : (const void *)&l->number;
        size_t length = l->text != NULL ? strlen(l->text) + 1 : most < sizeof l->number ? most : sizeof l->number;
        if (value != NULL)
            memcpy(value, from, length < most ? length : most);
        if (nbytes != NULL)
            *nbytes = length;
        return CL_SUCCESS;
    }
    return REAL(GetDeviceInfo)(device, what, most, value, nbytes);
}

cl_program clCreateProgramWithSource(cl_context context, cl_uint count, const char **texts, const size_t *lengths,
                                     cl_int *error)
{
    if (!has("no-text", NULL))
        return REAL(CreateProgramWithSource)(context, count, texts, lengths, error);
    *error = CL_OUT_OF_HOST_MEMORY;
    return NULL;
}

cl_program clCreateProgramWithBinary(cl_context context, cl_uint count, const cl_device_id *devices,
                                     const size_t *lengths, const unsigned char **binaries, cl_int *statuses,
                                     cl_int *error)
{
    if (!has("no-binary", NULL))
        return REAL(CreateProgramWithBinary)(context, count, devices, lengths, binaries, statuses, error);
    *statuses = *error = CL_INVALID_BINARY;
    return NULL;
}

cl_int clBuildProgram(cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
                      void (*notify)(cl_program program, void *user), void *user)
{
    if (has("no-build", NULL))
        return CL_BUILD_PROGRAM_FAILURE;
    return REAL(BuildProgram)(program, count, devices, options, notify, user);
}

cl_int clGetProgramBuildInfo(cl_program program, cl_device_id device, cl_uint what, size_t most, void *value,
                             size_t *nbytes)
{
    static const char words[] = "warning: something else\nkernels.cl:7: error: the compiler is out of sorts\nmore\n";
    if (what != CL_PROGRAM_LOG || !has("no-build", NULL))
        return REAL(GetProgramBuildInfo)(program, device, what, most, value, nbytes);
    if (value != NULL)
        memcpy(value, words, most < sizeof words ? most : sizeof words);
    if (nbytes != NULL)
        *nbytes = sizeof words;
    return CL_SUCCESS;
}

cl_mem clCreateBuffer(cl_context context, cl_bitfield flags, size_t nbytes, void *host, cl_int *error)
{
    if (!is_past("no-buffer", &buffers))
        return REAL(CreateBuffer)(context, flags, nbytes, host, error);
    *error = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    return NULL;
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint sides, const size_t *offset,
                              const size_t *global, const size_t *local, cl_uint count, const cl_event *after,
                              cl_event *event)
{
    if (is_past("lost", &kernels))
        return CL_OUT_OF_RESOURCES;
    return REAL(EnqueueNDRangeKernel)(queue, kernel, sides, offset, global, local, count, after, event);
}

/* Whom to tell, but not the truth. */
typedef struct listener {
    cl_event_callback *call;
    void *user;
} listener;

static void tell_death(cl_event event, cl_int status, void *user)
{
    listener *l = user;
    (void)status;
    l->call(event, CL_OUT_OF_RESOURCES, l->user);
    free(l);
}

cl_int clSetEventCallback(cl_event event, cl_int status, cl_event_callback *call, void *user)
{
    unsigned number = plays;
    bool dies = is_past("dies", &plays), hangs = is_past("hangs", &number);
    if (hangs)
        return CL_SUCCESS;
    listener *l = dies ? malloc(sizeof *l) : NULL;
    if (l == NULL)
        return REAL(SetEventCallback)(event, status, call, user);
    *l = (listener){call, user};
    return REAL(SetEventCallback)(event, status, tell_death, l);
}
