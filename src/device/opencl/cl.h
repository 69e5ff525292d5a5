// SPDX-License-Identifier: Apache-2.0
/*
 * The part of OpenCL 1.2 that is used here, in OpenCL's own names: types, numbers, functions. It is written down so
 * that a build needs no headers of OpenCL, and the library is loaded when it is asked for (cl_load.c).
 */
#ifndef MR_DEVICE_OPENCL_CL_H
#define MR_DEVICE_OPENCL_CL_H

#include "base/error.h"
#include "device/opencl/player.h"

typedef int32_t cl_int;
typedef uint32_t cl_uint;
typedef uint64_t cl_ulong, cl_bitfield;
typedef cl_uint cl_bool; /* 0 or 1 */
typedef struct cl_platform_of *cl_platform_id;
typedef struct cl_device_of *cl_device_id;
typedef struct cl_context_of *cl_context;
typedef struct cl_queue_of *cl_command_queue;
typedef struct cl_mem_of *cl_mem;
typedef struct cl_program_of *cl_program;
typedef struct cl_kernel_of *cl_kernel;
typedef struct cl_event_of *cl_event;
typedef void cl_event_callback(cl_event event, cl_int status, void *user);

enum {
    CL_SUCCESS = 0,
    CL_DEVICE_NOT_FOUND = -1,
    CL_MEM_OBJECT_ALLOCATION_FAILURE = -4,
    CL_OUT_OF_RESOURCES = -5,
    CL_OUT_OF_HOST_MEMORY = -6,
    CL_BUILD_PROGRAM_FAILURE = -11,
    CL_INVALID_QUEUE_PROPERTIES = -35,
    CL_INVALID_BUFFER_SIZE = -61,
    CL_PLATFORM_NOT_FOUND_KHR = -1001,

    CL_PLATFORM_VERSION = 0x0901,
    CL_PLATFORM_NAME = 0x0902,

    CL_DEVICE_TYPE = 0x1000,
    CL_DEVICE_MAX_COMPUTE_UNITS = 0x1002,
    CL_DEVICE_MAX_WORK_GROUP_SIZE = 0x1004,
    CL_DEVICE_MAX_MEM_ALLOC_SIZE = 0x1010,
    CL_DEVICE_SINGLE_FP_CONFIG = 0x101b,
    CL_DEVICE_GLOBAL_MEM_SIZE = 0x101f,
    CL_DEVICE_ENDIAN_LITTLE = 0x1026,
    CL_DEVICE_AVAILABLE = 0x1027,
    CL_DEVICE_COMPILER_AVAILABLE = 0x1028,
    CL_DEVICE_NAME = 0x102b,
    CL_DEVICE_VENDOR = 0x102c,
    CL_DRIVER_VERSION = 0x102d,
    CL_DEVICE_PROFILE = 0x102e,
    CL_DEVICE_VERSION = 0x102f,
    CL_DEVICE_EXTENSIONS = 0x1030,
    CL_DEVICE_DOUBLE_FP_CONFIG = 0x1032,
    CL_DEVICE_HOST_UNIFIED_MEMORY = 0x1035,

    CL_DEVICE_TYPE_CPU = 1 << 1,
    CL_DEVICE_TYPE_GPU = 1 << 2,
    CL_FP_DENORM = 1 << 0,
    CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT = 1 << 7,

    CL_QUEUE_PROFILING_ENABLE = 1 << 1,
    CL_MEM_READ_WRITE = 1 << 0,
    CL_MEM_USE_HOST_PTR = 1 << 3,
    CL_MEM_ALLOC_HOST_PTR = 1 << 4,
    CL_MAP_READ = 1 << 0,
    CL_MAP_WRITE = 1 << 1,
    CL_MAP_WRITE_INVALIDATE_REGION = 1 << 2,

    CL_PROGRAM_BINARY_SIZES = 0x1165,
    CL_PROGRAM_BINARIES = 0x1166,
    CL_PROGRAM_BUILD_LOG = 0x1183,
    CL_KERNEL_WORK_GROUP_SIZE = 0x11b0,
    CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE = 0x2033,
    CL_EVENT_COMMAND_EXECUTION_STATUS = 0x11d3,
    CL_PROFILING_COMMAND_START = 0x1282,
    CL_PROFILING_COMMAND_END = 0x1283,
    CL_COMPLETE = 0,
};

#define CL_DEVICE_TYPE_ALL UINT64_C(0xffffffff)

/* Every function that is called, without its "cl": result, name, arguments. */
/* clang-format off */
#define MR__CL_FUNCTIONS(F)                                                                                            \
    F(cl_int, GetPlatformIDs, (cl_uint most, cl_platform_id *platforms, cl_uint *count))                               \
    F(cl_int, GetPlatformInfo, (cl_platform_id platform, cl_uint what, size_t most, void *value, size_t *nbytes))      \
    F(cl_int, GetDeviceIDs, (cl_platform_id platform, cl_bitfield type, cl_uint most, cl_device_id *devices,           \
                             cl_uint *count))                                                                          \
    F(cl_int, GetDeviceInfo, (cl_device_id device, cl_uint what, size_t most, void *value, size_t *nbytes))            \
    F(cl_context, CreateContext, (const intptr_t *properties, cl_uint count, const cl_device_id *devices,              \
                                  void (*notify)(const char *words, const void *more, size_t nbytes, void *user),      \
                                  void *user, cl_int *error))                                                          \
    F(cl_int, ReleaseContext, (cl_context context))                                                                    \
    F(cl_command_queue, CreateCommandQueue, (cl_context context, cl_device_id device, cl_bitfield properties,          \
                                             cl_int *error))                                                           \
    F(cl_int, ReleaseCommandQueue, (cl_command_queue queue))                                                           \
    F(cl_mem, CreateBuffer, (cl_context context, cl_bitfield flags, size_t nbytes, void *host, cl_int *error))         \
    F(cl_int, ReleaseMemObject, (cl_mem mem))                                                                          \
    F(cl_program, CreateProgramWithSource, (cl_context context, cl_uint count, const char **texts,                     \
                                            const size_t *lengths, cl_int *error))                                     \
    F(cl_program, CreateProgramWithBinary, (cl_context context, cl_uint count, const cl_device_id *devices,            \
                                            const size_t *lengths, const unsigned char **binaries, cl_int *statuses,   \
                                            cl_int *error))                                                            \
    F(cl_int, BuildProgram, (cl_program program, cl_uint count, const cl_device_id *devices, const char *options,      \
                             void (*notify)(cl_program program, void *user), void *user))                              \
    F(cl_int, GetProgramInfo, (cl_program program, cl_uint what, size_t most, void *value, size_t *nbytes))            \
    F(cl_int, GetProgramBuildInfo, (cl_program program, cl_device_id device, cl_uint what, size_t most, void *value,   \
                                    size_t *nbytes))                                                                   \
    F(cl_int, ReleaseProgram, (cl_program program))                                                                    \
    F(cl_kernel, CreateKernel, (cl_program program, const char *name, cl_int *error))                                  \
    F(cl_int, GetKernelWorkGroupInfo, (cl_kernel kernel, cl_device_id device, cl_uint what, size_t most, void *value,  \
                                       size_t *nbytes))                                                                \
    F(cl_int, ReleaseKernel, (cl_kernel kernel))                                                                       \
    F(cl_int, SetKernelArg, (cl_kernel kernel, cl_uint number, size_t nbytes, const void *value))                      \
    F(cl_int, EnqueueNDRangeKernel, (cl_command_queue queue, cl_kernel kernel, cl_uint sides, const size_t *offset,    \
                                     const size_t *global, const size_t *local, cl_uint count, const cl_event *after,  \
                                     cl_event *event))                                                                 \
    F(cl_int, EnqueueReadBuffer, (cl_command_queue queue, cl_mem mem, cl_bool wait, size_t at, size_t nbytes,          \
                                  void *to, cl_uint count, const cl_event *after, cl_event *event))                    \
    F(cl_int, EnqueueWriteBuffer, (cl_command_queue queue, cl_mem mem, cl_bool wait, size_t at, size_t nbytes,         \
                                   const void *from, cl_uint count, const cl_event *after, cl_event *event))           \
    F(void *, EnqueueMapBuffer, (cl_command_queue queue, cl_mem mem, cl_bool wait, cl_bitfield flags, size_t at,       \
                                 size_t nbytes, cl_uint count, const cl_event *after, cl_event *event, cl_int *error)) \
    F(cl_int, EnqueueUnmapMemObject, (cl_command_queue queue, cl_mem mem, void *at, cl_uint count,                     \
                                      const cl_event *after, cl_event *event))                                         \
    F(cl_int, EnqueueMarkerWithWaitList, (cl_command_queue queue, cl_uint count, const cl_event *after,                \
                                          cl_event *event))                                                            \
    F(cl_int, SetEventCallback, (cl_event event, cl_int status, cl_event_callback *call, void *user))                  \
    F(cl_int, GetEventInfo, (cl_event event, cl_uint what, size_t most, void *value, size_t *nbytes))                  \
    F(cl_int, GetEventProfilingInfo, (cl_event event, cl_uint what, size_t most, void *value, size_t *nbytes))         \
    F(cl_int, ReleaseEvent, (cl_event event))                                                                          \
    F(cl_int, Flush, (cl_command_queue queue))                                                                         \
    F(cl_int, Finish, (cl_command_queue queue))
/* clang-format on */

typedef cl_int mr__cl_subgroup_info(cl_kernel kernel, cl_device_id device, cl_uint what, size_t in_nbytes,
                                    const void *in, size_t most, void *value, size_t *nbytes);

#define MR__CL_POINTER(result, name, arguments) result(*name) arguments;
typedef struct mr__cl {
    void *handle; /* of dlopen */
    MR__CL_FUNCTIONS(MR__CL_POINTER)
    mr__cl_subgroup_info *GetKernelSubGroupInfo; /* of OpenCL 2.1; NULL: it has none */
} mr__cl;
#undef MR__CL_POINTER

/* MR_EUNSUPPORTED with detail: it is not there, or lacks a function. */
int mr__cl_load(const mr__cl_options *options, mr__cl *cl, mr__detail *detail);
void mr__cl_unload(mr__cl *cl); /* all zero is accepted */

/* "CL_OUT_OF_RESOURCES"; "error -1234" into `words` where it has no name here. */
typedef struct mr__cl_error_words {
    char text[48];
} mr__cl_error_words;
mr__cl_error_words mr__cl_error_text(cl_int error);

/* What an error of OpenCL is to us: MR_ENOMEM or MR_EDEVICE; with detail. */
int mr__cl_code(cl_int error);
int mr__cl_fail(mr__detail *detail, const char *call, cl_int error);

/* A device and what holds for it. */
typedef struct mr__cl_found {
    cl_platform_id platform;
    cl_device_id device;
    mr__cl_entry entry;
    char platform_version[128];
    bool but_for_floats; /* usable, but that these may not be IEEE's */
} mr__cl_found;

/*
 * Calls `each` for every device, in the order that numbers them, until it returns false. MR_EUNSUPPORTED with detail:
 * there is none; what to do is in the words.
 */
int mr__cl_each(const mr__cl *cl, bool (*each)(void *user, const mr__cl_found *found), void *user, mr__detail *detail);

/* What else is needed of a player, to have something of one's own in its context. */
typedef struct mr__cl_inside {
    const mr__cl *cl;
    const mr_hooks *hooks;
    cl_context context;
    cl_device_id device;
    uint64_t alloc_nbytes; /* of one buffer, at most */
} mr__cl_inside;

mr__cl_inside mr__cl_player_inside(const mr__cl_player *player);

/* The next plays write into this memory, of which they get no pieces; NULL: as before. Nothing is being played. */
void mr__cl_deck_keep(mr__cl_deck *deck, cl_mem mem);

/* The kernels for one device. *subgroups: teams are sub-groups. MR_EDEVICE with detail: they could not be built. */
int mr__cl_program_build(const mr__cl *cl, const mr__cl_options *options, cl_context context, const mr__cl_found *found,
                         cl_program *program, bool *subgroups, mr__detail *detail);

#endif
