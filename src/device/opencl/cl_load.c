// SPDX-License-Identifier: Apache-2.0
#include "device/opencl/cl.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *path_of(const mr__cl_options *options)
{
    const char *environment = getenv("MILLRACE_OPENCL");
    if (options->library != NULL)
        return options->library;
    return environment != NULL && environment[0] != 0 ? environment : "libOpenCL.so.1";
}

static int not_there(const char *path, mr__detail *detail)
{
    const char *why = dlerror();
    if (strcmp(path, "libOpenCL.so.1") == 0)
        return mr__fail(detail, MR_EUNSUPPORTED,
                        "there is no OpenCL on this machine (libOpenCL.so.1). It comes with the driver of a GPU; for "
                        "processors: apt-get install ocl-icd-libopencl1 pocl-opencl-icd");
    return mr__fail(detail, MR_EUNSUPPORTED, "the OpenCL library that was asked for cannot be loaded: %s",
                    why != NULL ? why : path);
}

/* A function is not an object to C, so its address goes by its bytes. */
static bool find(void *handle, const char *name, void *pointer, size_t nbytes)
{
    void *address = dlsym(handle, name);
    memcpy(pointer, &address, nbytes);
    return address != NULL;
}

int mr__cl_load(const mr__cl_options *options, mr__cl *cl, mr__detail *detail)
{
    const char *path = path_of(options), *missing = NULL;
    /* Drivers have threads that outlive the last of our handles: their code stays. */
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    *cl = (mr__cl){0};
    if (handle == NULL)
        return not_there(path, detail);
#define FIND(result, name, arguments)                                                                                  \
    if (!find(handle, "cl" #name, &cl->name, sizeof cl->name))                                                         \
        missing = "cl" #name;
    MR__CL_FUNCTIONS(FIND)
#undef FIND
    (void)find(handle, "clGetKernelSubGroupInfo", &cl->GetKernelSubGroupInfo, sizeof cl->GetKernelSubGroupInfo);
    cl->handle = handle;
    if (missing == NULL)
        return 0;
    mr__cl_unload(cl);
    return mr__fail(detail, MR_EUNSUPPORTED, "%s is older than OpenCL 1.2: it has no %s", path, missing);
}

void mr__cl_unload(mr__cl *cl)
{
    if (cl->handle != NULL)
        (void)dlclose(cl->handle);
    *cl = (mr__cl){0};
}

static const char *name_of(cl_int error)
{
    static const char *const first[] = {
        "CL_SUCCESS",
        "CL_DEVICE_NOT_FOUND",
        "CL_DEVICE_NOT_AVAILABLE",
        "CL_COMPILER_NOT_AVAILABLE",
        "CL_MEM_OBJECT_ALLOCATION_FAILURE",
        "CL_OUT_OF_RESOURCES",
        "CL_OUT_OF_HOST_MEMORY",
        "CL_PROFILING_INFO_NOT_AVAILABLE",
        "CL_MEM_COPY_OVERLAP",
        "CL_IMAGE_FORMAT_MISMATCH",
        "CL_IMAGE_FORMAT_NOT_SUPPORTED",
        "CL_BUILD_PROGRAM_FAILURE",
        "CL_MAP_FAILURE",
        "CL_MISALIGNED_SUB_BUFFER_OFFSET",
        "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST",
        "CL_COMPILE_PROGRAM_FAILURE",
        "CL_LINKER_NOT_AVAILABLE",
        "CL_LINK_PROGRAM_FAILURE",
    };
    static const char *const second[] = {
        "CL_INVALID_VALUE",           "CL_INVALID_DEVICE_TYPE",
        "CL_INVALID_PLATFORM",        "CL_INVALID_DEVICE",
        "CL_INVALID_CONTEXT",         "CL_INVALID_QUEUE_PROPERTIES",
        "CL_INVALID_COMMAND_QUEUE",   "CL_INVALID_HOST_PTR",
        "CL_INVALID_MEM_OBJECT",      "CL_INVALID_IMAGE_FORMAT_DESCRIPTOR",
        "CL_INVALID_IMAGE_SIZE",      "CL_INVALID_SAMPLER",
        "CL_INVALID_BINARY",          "CL_INVALID_BUILD_OPTIONS",
        "CL_INVALID_PROGRAM",         "CL_INVALID_PROGRAM_EXECUTABLE",
        "CL_INVALID_KERNEL_NAME",     "CL_INVALID_KERNEL_DEFINITION",
        "CL_INVALID_KERNEL",          "CL_INVALID_ARG_INDEX",
        "CL_INVALID_ARG_VALUE",       "CL_INVALID_ARG_SIZE",
        "CL_INVALID_KERNEL_ARGS",     "CL_INVALID_WORK_DIMENSION",
        "CL_INVALID_WORK_GROUP_SIZE", "CL_INVALID_WORK_ITEM_SIZE",
        "CL_INVALID_GLOBAL_OFFSET",   "CL_INVALID_EVENT_WAIT_LIST",
        "CL_INVALID_EVENT",           "CL_INVALID_OPERATION",
        "CL_INVALID_GL_OBJECT",       "CL_INVALID_BUFFER_SIZE",
    };
    enum { FIRST = sizeof first / sizeof *first, SECOND = sizeof second / sizeof *second, SECOND_FROM = 30 };
    if (error <= 0 && error > -FIRST)
        return first[-error];
    if (error <= -SECOND_FROM && error > -SECOND_FROM - SECOND)
        return second[-error - SECOND_FROM];
    return error == CL_PLATFORM_NOT_FOUND_KHR ? "CL_PLATFORM_NOT_FOUND_KHR" : NULL;
}

mr__cl_error_words mr__cl_error_text(cl_int error)
{
    mr__cl_error_words words;
    const char *name = name_of(error);
    if (name != NULL)
        snprintf(words.text, sizeof words.text, "%s", name);
    else
        snprintf(words.text, sizeof words.text, "error %d", (int)error);
    return words;
}

int mr__cl_code(cl_int error)
{
    bool memory =
        error == CL_MEM_OBJECT_ALLOCATION_FAILURE || error == CL_OUT_OF_HOST_MEMORY || error == CL_INVALID_BUFFER_SIZE;
    return memory ? MR_ENOMEM : MR_EDEVICE;
}

int mr__cl_fail(mr__detail *detail, const char *call, cl_int error)
{
    return mr__fail(detail, mr__cl_code(error), "OpenCL: %s failed: %s", call, mr__cl_error_text(error).text);
}
