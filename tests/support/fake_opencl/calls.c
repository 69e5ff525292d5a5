// SPDX-License-Identifier: Apache-2.0
/* The functions of OpenCL that the library calls (src/device/opencl/cl.h), and the others of their families. */
#include "fake.h"

#define BINARY_HEAD "fake binary\n"
#define BUILD_LOG   "fake.cl:1:1: error: this program was told not to build\n"

/* Gives the mutex back: the last line of a function that makes something. */
static void *made(void *object, cl_int error, cl_int *to)
{
    fake_leave();
    if (to != NULL)
        *to = error;
    return error == CL_SUCCESS ? object : NULL;
}

static cl_int left(cl_int error)
{
    fake_leave();
    return error;
}

/* 1. Contexts, queues, devices. */

FAKE_API cl_int clGetDeviceInfo(cl_device_id device, cl_uint what, size_t most, void *value, size_t *nbytes)
{
    cl_int error = fake_enter(FAKE_GetDeviceInfo);
    return left(error == CL_SUCCESS ? fake_device_info(device, what, most, value, nbytes) : error);
}

FAKE_API cl_context clCreateContext(const intptr_t *properties, cl_uint count, const cl_device_id *devices,
                                    void (*notify)(const char *words, const void *more, size_t nbytes, void *user),
                                    void *user, cl_int *to)
{
    (void)properties;
    (void)notify;
    (void)user;
    cl_context context = NULL;
    cl_int error = fake_enter(FAKE_CreateContext);
    if (error == CL_SUCCESS && (count != 1 || fake_device_number(devices[0]) == UINT32_MAX))
        error = FAKE_INVALID_VALUE;
    if (error == CL_SUCCESS && (context = fake_make(FAKE_CONTEXT, sizeof *context)) == NULL)
        error = CL_OUT_OF_HOST_MEMORY;
    return made(context, error, to);
}

FAKE_API cl_command_queue clCreateCommandQueue(cl_context context, cl_device_id device, cl_bitfield properties,
                                               cl_int *to)
{
    cl_command_queue queue = NULL;
    cl_int error = fake_enter(FAKE_CreateCommandQueue);
    if (error == CL_SUCCESS && fake_use(context, FAKE_CONTEXT, FAKE_CreateCommandQueue) == NULL)
        error = FAKE_INVALID_CONTEXT;
    if (error == CL_SUCCESS && fake_device_number(device) == UINT32_MAX)
        error = FAKE_INVALID_VALUE;
    if (error == CL_SUCCESS && properties != 0 && (properties != CL_QUEUE_PROFILING_ENABLE || !fake.settings.profiling))
        error = CL_INVALID_QUEUE_PROPERTIES;
    if (error == CL_SUCCESS)
        queue = fake_queue_new(context, properties != 0, &error);
    return made(queue, error, to);
}

FAKE_API cl_int clFlush(cl_command_queue queue)
{
    cl_int error = fake_enter(FAKE_Flush);
    if (error == CL_SUCCESS && fake_use(queue, FAKE_QUEUE, FAKE_Flush) == NULL)
        error = FAKE_INVALID_QUEUE;
    if (error == CL_SUCCESS)
        fake_queue_flush(queue);
    return left(error);
}

/* One that fails waits all the same: there is nothing else that a program could do. */
FAKE_API cl_int clFinish(cl_command_queue queue)
{
    cl_int error = fake_enter(FAKE_Finish);
    if (fake_use(queue, FAKE_QUEUE, FAKE_Finish) == NULL)
        return left(FAKE_INVALID_QUEUE);
    fake_queue_flush(queue);
    while (!fake_queue_is_idle(queue))
        (void)pthread_cond_wait(&fake.changed, &fake.mutex);
    return left(error);
}

/* 2. Programs and kernels. */

static cl_program new_program(cl_context context, char *text)
{
    cl_program program = text != NULL ? fake_make(FAKE_PROGRAM, sizeof *program) : NULL;
    if (program == NULL) {
        free(text);
        return NULL;
    }
    program->context = context;
    program->text = text;
    return program;
}

static char *join(cl_uint count, const char **texts, const size_t *lengths)
{
    size_t nbytes = 1, at = 0;
    for (cl_uint i = 0; i < count; i++)
        nbytes += lengths != NULL && lengths[i] != 0 ? lengths[i] : strlen(texts[i]);
    char *text = calloc(1, nbytes);
    for (cl_uint i = 0; text != NULL && i < count; i++) {
        size_t length = lengths != NULL && lengths[i] != 0 ? lengths[i] : strlen(texts[i]);
        memcpy(text + at, texts[i], length);
        at += length;
    }
    return text;
}

FAKE_API cl_program clCreateProgramWithSource(cl_context context, cl_uint count, const char **texts,
                                              const size_t *lengths, cl_int *to)
{
    cl_program program = NULL;
    cl_int error = fake_enter(FAKE_CreateProgramWithSource);
    if (error == CL_SUCCESS && fake_use(context, FAKE_CONTEXT, FAKE_CreateProgramWithSource) == NULL)
        error = FAKE_INVALID_CONTEXT;
    if (error == CL_SUCCESS && (program = new_program(context, join(count, texts, lengths))) == NULL)
        error = CL_OUT_OF_HOST_MEMORY;
    return made(program, error, to);
}

FAKE_API cl_program clCreateProgramWithBinary(cl_context context, cl_uint count, const cl_device_id *devices,
                                              const size_t *lengths, const unsigned char **binaries, cl_int *statuses,
                                              cl_int *to)
{
    (void)devices;
    static const size_t head = sizeof BINARY_HEAD - 1;
    cl_program program = NULL;
    cl_int error = fake_enter(FAKE_CreateProgramWithBinary);
    if (error == CL_SUCCESS && fake_use(context, FAKE_CONTEXT, FAKE_CreateProgramWithBinary) == NULL)
        error = FAKE_INVALID_CONTEXT;
    if (error == CL_SUCCESS && (count != 1 || lengths[0] < head || memcmp(binaries[0], BINARY_HEAD, head) != 0))
        error = FAKE_INVALID_BINARY;
    if (statuses != NULL)
        *statuses = error;
    if (error == CL_SUCCESS) {
        const char *text = (const char *)binaries[0] + head;
        size_t length = lengths[0] - head;
        if ((program = new_program(context, join(length != 0, &text, &length))) == NULL)
            error = CL_OUT_OF_HOST_MEMORY;
    }
    return made(program, error, to);
}

FAKE_API cl_int clBuildProgram(cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
                               void (*notify)(cl_program program, void *user), void *user)
{
    (void)count;
    (void)devices;
    (void)options;
    cl_int error = fake_enter(FAKE_BuildProgram);
    if (error == CL_SUCCESS && fake_use(program, FAKE_PROGRAM, FAKE_BuildProgram) == NULL)
        error = FAKE_INVALID_PROGRAM;
    if (error == CL_SUCCESS && fake.settings.build_fails)
        error = CL_BUILD_PROGRAM_FAILURE;
    if (error == CL_SUCCESS)
        program->built = true;
    fake_leave();
    if (notify != NULL)
        notify(program, user);
    return error;
}

static cl_int give_binary(cl_program program, size_t most, void *value, size_t *nbytes)
{
    unsigned char *to;
    if (value == NULL || most < sizeof to)
        return FAKE_INVALID_VALUE;
    memcpy(&to, value, sizeof to);
    memcpy(to, BINARY_HEAD, sizeof BINARY_HEAD - 1);
    memcpy(to + sizeof BINARY_HEAD - 1, program->text, strlen(program->text));
    if (nbytes != NULL)
        *nbytes = sizeof to;
    return CL_SUCCESS;
}

FAKE_API cl_int clGetProgramInfo(cl_program program, cl_uint what, size_t most, void *value, size_t *nbytes)
{
    cl_int error = fake_enter(FAKE_GetProgramInfo);
    if (error == CL_SUCCESS && fake_use(program, FAKE_PROGRAM, FAKE_GetProgramInfo) == NULL)
        error = FAKE_INVALID_PROGRAM;
    if (error == CL_SUCCESS && !program->built)
        error = FAKE_INVALID_EXECUTABLE;
    if (error == CL_SUCCESS && what == CL_PROGRAM_BINARY_SIZES) {
        size_t size = sizeof BINARY_HEAD - 1 + strlen(program->text);
        error = fake_answer(&size, sizeof size, most, value, nbytes);
    } else if (error == CL_SUCCESS) {
        error = what == CL_PROGRAM_BINARIES ? give_binary(program, most, value, nbytes) : FAKE_INVALID_VALUE;
    }
    return left(error);
}

FAKE_API cl_int clGetProgramBuildInfo(cl_program program, cl_device_id device, cl_uint what, size_t most, void *value,
                                      size_t *nbytes)
{
    (void)device;
    cl_int error = fake_enter(FAKE_GetProgramBuildInfo);
    const char *log = fake.settings.build_fails ? BUILD_LOG : "";
    if (error == CL_SUCCESS && fake_use(program, FAKE_PROGRAM, FAKE_GetProgramBuildInfo) == NULL)
        error = FAKE_INVALID_PROGRAM;
    if (error == CL_SUCCESS)
        error =
            what == CL_PROGRAM_BUILD_LOG ? fake_answer(log, strlen(log) + 1, most, value, nbytes) : FAKE_INVALID_VALUE;
    return left(error);
}

/* Kernels of tests come before the library's; a program has those that its text has. */
static bool find_kernel(cl_program program, const char *name, cl_kernel kernel)
{
    char begin[96];
    if (strncmp(name, "mr_", 3) != 0)
        return false;
    name += 3;
    snprintf(begin, sizeof begin, "MR_KERNEL(%s)", name);
    if (strstr(program->text, begin) == NULL)
        return false;
    for (uint32_t i = 0; i < fake.own_count; i++)
        if (strcmp(fake.own[i].name, name) == 0) {
            kernel->own = fake.own[i];
            kernel->lanes = kernel->own.lanes;
            return true;
        }
    for (uint32_t k = 0; k < MR__KERNEL_COUNT; k++)
        if (strcmp(mr__kernel_name((mr__kernel)k), name) == 0) {
            kernel->number = (mr__kernel)k;
            kernel->lanes = mr__kernel_lanes((mr__kernel)k);
            return true;
        }
    return false;
}

FAKE_API cl_kernel clCreateKernel(cl_program program, const char *name, cl_int *to)
{
    cl_kernel kernel = NULL;
    struct cl_kernel_of found = {.lanes = 0};
    cl_int error = fake_enter(FAKE_CreateKernel);
    if (error == CL_SUCCESS && fake_use(program, FAKE_PROGRAM, FAKE_CreateKernel) == NULL)
        error = FAKE_INVALID_PROGRAM;
    if (error == CL_SUCCESS && !program->built)
        error = FAKE_INVALID_EXECUTABLE;
    if (error == CL_SUCCESS && !find_kernel(program, name, &found))
        error = FAKE_INVALID_KERNEL_NAME;
    if (error == CL_SUCCESS && (kernel = fake_make(FAKE_KERNEL, sizeof *kernel)) == NULL)
        error = CL_OUT_OF_HOST_MEMORY;
    if (error == CL_SUCCESS) {
        found.object = kernel->object;
        *kernel = found;
        kernel->program = program;
    }
    return made(kernel, error, to);
}

FAKE_API cl_int clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device, cl_uint what, size_t most, void *value,
                                         size_t *nbytes)
{
    (void)device;
    cl_int error = fake_enter(FAKE_GetKernelWorkGroupInfo);
    size_t lanes = (size_t)fake.settings.lanes;
    if (error == CL_SUCCESS && fake_use(kernel, FAKE_KERNEL, FAKE_GetKernelWorkGroupInfo) == NULL)
        error = FAKE_INVALID_KERNEL;
    if (error == CL_SUCCESS)
        error = what == CL_KERNEL_WORK_GROUP_SIZE ? fake_answer(&lanes, sizeof lanes, most, value, nbytes)
                                                  : FAKE_INVALID_VALUE;
    return left(error);
}

static cl_int set_arg(cl_kernel kernel, cl_uint number, size_t nbytes, const void *value)
{
    if (number >= FAKE_ARGS)
        return FAKE_INVALID_ARG_INDEX;
    if (number == 3) { // shared memory, which the emulator has itself
        kernel->set[number] = value == NULL && nbytes == MR__KERNEL_WORDS_NBYTES;
        return kernel->set[number] ? CL_SUCCESS : FAKE_INVALID_ARG_SIZE;
    }
    if (value == NULL || nbytes != (number < 2 ? sizeof(cl_mem) : sizeof kernel->list))
        return FAKE_INVALID_ARG_SIZE;
    if (number == 2) {
        memcpy(&kernel->list, value, nbytes);
    } else {
        memcpy(&kernel->mems[number], value, nbytes);
        if (fake_use(kernel->mems[number], FAKE_MEM, FAKE_SetKernelArg) == NULL)
            return FAKE_INVALID_MEM;
    }
    kernel->set[number] = true;
    return CL_SUCCESS;
}

FAKE_API cl_int clSetKernelArg(cl_kernel kernel, cl_uint number, size_t nbytes, const void *value)
{
    cl_int error = fake_enter(FAKE_SetKernelArg);
    if (error == CL_SUCCESS && fake_use(kernel, FAKE_KERNEL, FAKE_SetKernelArg) == NULL)
        error = FAKE_INVALID_KERNEL;
    return left(error == CL_SUCCESS ? set_arg(kernel, number, nbytes, value) : error);
}

/* 3. Commands. */

FAKE_API cl_mem clCreateBuffer(cl_context context, cl_bitfield flags, size_t nbytes, void *host, cl_int *to)
{
    cl_mem mem = NULL;
    cl_int error = fake_enter(FAKE_CreateBuffer);
    if (error == CL_SUCCESS && fake_use(context, FAKE_CONTEXT, FAKE_CreateBuffer) == NULL)
        error = FAKE_INVALID_CONTEXT;
    if (error == CL_SUCCESS)
        mem = fake_mem_new(context, flags, nbytes, host, &error);
    return made(mem, error, to);
}

static cl_int check_launch(cl_kernel kernel, cl_uint sides, const size_t *global, const size_t *local)
{
    if (!kernel->set[0] || !kernel->set[1] || !kernel->set[2] || !kernel->set[3])
        return FAKE_INVALID_KERNEL_ARGS;
    if (sides != 1 || local == NULL || local[0] != kernel->lanes || global[0] == 0 || global[0] % local[0] != 0)
        return FAKE_INVALID_GROUP;
    for (size_t i = 0; i < 2; i++)
        if (fake_use(kernel->mems[i], FAKE_MEM, FAKE_EnqueueNDRangeKernel) == NULL)
            return FAKE_INVALID_MEM;
    uint64_t turns = (uint64_t)(global[0] / local[0]) * sizeof(mr__lane_turn);
    if (kernel->list + turns > kernel->mems[0]->nbytes) {
        fake_wrong("a launch has its list outside of its arena");
        return FAKE_INVALID_VALUE;
    }
    return CL_SUCCESS;
}

FAKE_API cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint sides, const size_t *offset,
                                       const size_t *global, const size_t *local, cl_uint count, const cl_event *after,
                                       cl_event *event)
{
    (void)offset;
    cl_int error = fake_enter(FAKE_EnqueueNDRangeKernel);
    if (error == CL_SUCCESS && fake_use(queue, FAKE_QUEUE, FAKE_EnqueueNDRangeKernel) == NULL)
        error = FAKE_INVALID_QUEUE;
    if (error == CL_SUCCESS && fake_use(kernel, FAKE_KERNEL, FAKE_EnqueueNDRangeKernel) == NULL)
        error = FAKE_INVALID_KERNEL;
    if (error == CL_SUCCESS)
        error = check_launch(kernel, sides, global, local);
    if (error == CL_SUCCESS && ++fake.launches_called == fake.settings.resources)
        error = CL_OUT_OF_RESOURCES;
    if (error != CL_SUCCESS)
        return left(error);
    fake_command command = {.work = FAKE_LAUNCH,
                            .mem = kernel->mems[0],
                            .out = kernel->mems[1],
                            .own = kernel->own,
                            .kernel = kernel->number,
                            .list = kernel->list,
                            .groups = (uint32_t)(global[0] / local[0]),
                            .object = kernel};
    return left(fake_put(queue, &command, count, after, false, event));
}

static cl_int check_region(fake_call call, cl_command_queue queue, cl_mem mem, size_t at, size_t nbytes)
{
    if (fake_use(queue, FAKE_QUEUE, call) == NULL)
        return FAKE_INVALID_QUEUE;
    if (fake_use(mem, FAKE_MEM, call) == NULL)
        return FAKE_INVALID_MEM;
    if (nbytes != 0 && at <= mem->nbytes && nbytes <= mem->nbytes - at)
        return CL_SUCCESS;
    fake_wrong("%s of %zu bytes at %zu: buffer %u has %zu", fake_call_name(call), nbytes, at, mem->object.number,
               mem->nbytes);
    return FAKE_INVALID_VALUE;
}

static cl_int put_copy(fake_call call, cl_command_queue queue, cl_mem mem, const fake_command *command, cl_bool wait,
                       cl_uint count, const cl_event *after, cl_event *event)
{
    cl_int error = fake_enter(call);
    if (error == CL_SUCCESS)
        error = check_region(call, queue, mem, command->region.at, command->region.nbytes);
    return left(error == CL_SUCCESS ? fake_put(queue, command, count, after, wait != 0, event) : error);
}

FAKE_API cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem mem, cl_bool wait, size_t at, size_t nbytes,
                                    void *to, cl_uint count, const cl_event *after, cl_event *event)
{
    fake_command command = {.work = FAKE_READ, .mem = mem, .region = {.to = to, .at = at, .nbytes = nbytes}};
    return put_copy(FAKE_EnqueueReadBuffer, queue, mem, &command, wait, count, after, event);
}

FAKE_API cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem mem, cl_bool wait, size_t at, size_t nbytes,
                                     const void *from, cl_uint count, const cl_event *after, cl_event *event)
{
    uint8_t *bytes = (uint8_t *)(uintptr_t)from; // it is read only
    fake_command command = {.work = FAKE_WRITE, .mem = mem, .region = {.to = bytes, .at = at, .nbytes = nbytes}};
    return put_copy(FAKE_EnqueueWriteBuffer, queue, mem, &command, wait, count, after, event);
}

FAKE_API void *clEnqueueMapBuffer(cl_command_queue queue, cl_mem mem, cl_bool wait, cl_bitfield flags, size_t at,
                                  size_t nbytes, cl_uint count, const cl_event *after, cl_event *event, cl_int *to)
{
    fake_command command = {.work = FAKE_MAP, .mem = mem, .region = {.at = at, .nbytes = nbytes, .flags = flags}};
    cl_int error = fake_enter(FAKE_EnqueueMapBuffer);
    if (error == CL_SUCCESS)
        error = check_region(FAKE_EnqueueMapBuffer, queue, mem, at, nbytes);
    if (error == CL_SUCCESS && (command.region.to = fake_map_pointer(mem, at)) == NULL)
        error = CL_OUT_OF_HOST_MEMORY;
    if (error == CL_SUCCESS)
        error = fake_put(queue, &command, count, after, wait != 0, event);
    return made(command.region.to, error, to);
}

FAKE_API cl_int clEnqueueUnmapMemObject(cl_command_queue queue, cl_mem mem, void *at, cl_uint count,
                                        const cl_event *after, cl_event *event)
{
    fake_command command = {.work = FAKE_UNMAP, .mem = mem, .region = {.to = at}};
    cl_int error = fake_enter(FAKE_EnqueueUnmapMemObject);
    cl_int given = check_region(FAKE_EnqueueUnmapMemObject, queue, mem, 0, 1);
    if (given == CL_SUCCESS && error != CL_SUCCESS)
        mem->stays_mapped = true;
    if (given != CL_SUCCESS || error != CL_SUCCESS)
        return left(given != CL_SUCCESS ? given : error);
    return left(fake_put(queue, &command, count, after, false, event));
}

FAKE_API cl_int clEnqueueMarkerWithWaitList(cl_command_queue queue, cl_uint count, const cl_event *after,
                                            cl_event *event)
{
    fake_command command = {.work = FAKE_MARKER};
    cl_int error = fake_enter(FAKE_EnqueueMarkerWithWaitList);
    if (error == CL_SUCCESS && fake_use(queue, FAKE_QUEUE, FAKE_EnqueueMarkerWithWaitList) == NULL)
        error = FAKE_INVALID_QUEUE;
    return left(error == CL_SUCCESS ? fake_put(queue, &command, count, after, false, event) : error);
}

/* 4. Events. */

/* As other drivers do: of an event that has ended, in the thread that asks. */
FAKE_API cl_int clSetEventCallback(cl_event event, cl_int status, cl_event_callback *call, void *user)
{
    cl_int error = fake_enter(FAKE_SetEventCallback);
    if (error == CL_SUCCESS && fake_use(event, FAKE_EVENT, FAKE_SetEventCallback) == NULL)
        error = FAKE_INVALID_EVENT;
    if (error == CL_SUCCESS && (status != CL_COMPLETE || call == NULL || event->callback_count == FAKE_CALLBACKS))
        error = FAKE_INVALID_VALUE;
    if (error != CL_SUCCESS)
        return left(error);
    cl_int is = event->status;
    if (is > CL_COMPLETE)
        event->callbacks[event->callback_count++] = (fake_callback){call, user};
    fake_leave();
    if (is <= CL_COMPLETE)
        call(event, is, user);
    return CL_SUCCESS;
}

FAKE_API cl_int clGetEventInfo(cl_event event, cl_uint what, size_t most, void *value, size_t *nbytes)
{
    cl_int error = fake_enter(FAKE_GetEventInfo);
    if (error == CL_SUCCESS && fake_use(event, FAKE_EVENT, FAKE_GetEventInfo) == NULL)
        error = FAKE_INVALID_EVENT;
    if (error == CL_SUCCESS)
        error = what == CL_EVENT_COMMAND_EXECUTION_STATUS
                    ? fake_answer(&event->status, sizeof event->status, most, value, nbytes)
                    : FAKE_INVALID_VALUE;
    return left(error);
}

FAKE_API cl_int clGetEventProfilingInfo(cl_event event, cl_uint what, size_t most, void *value, size_t *nbytes)
{
    cl_int error = fake_enter(FAKE_GetEventProfilingInfo);
    if (error == CL_SUCCESS && fake_use(event, FAKE_EVENT, FAKE_GetEventProfilingInfo) == NULL)
        error = FAKE_INVALID_EVENT;
    if (error == CL_SUCCESS && (!event->profiled || event->status != CL_COMPLETE))
        error = FAKE_NO_PROFILING;
    if (error == CL_SUCCESS) {
        uint64_t ns = what == CL_PROFILING_COMMAND_END ? event->end_ns : event->start_ns;
        error = fake_answer(&ns, sizeof ns, most, value, nbytes);
    }
    return left(error);
}

/* 5. Keeping and releasing. */

#define FAMILY(Type, type, handle)                                                                                     \
    FAKE_API cl_int clRetain##Type(handle object);                                                                     \
    FAKE_API cl_int clRetain##Type(handle object)                                                                      \
    {                                                                                                                  \
        (void)pthread_mutex_lock(&fake.mutex);                                                                         \
        return left(fake_retain(object, type));                                                                        \
    }                                                                                                                  \
    FAKE_API cl_int clRelease##Type(handle object)                                                                     \
    {                                                                                                                  \
        cl_int error = fake_enter(FAKE_Release##Type);                                                                 \
        return left(error == CL_SUCCESS ? fake_release(object, type, FAKE_Release##Type) : error);                     \
    }

FAMILY(Context, FAKE_CONTEXT, cl_context)
FAMILY(CommandQueue, FAKE_QUEUE, cl_command_queue)
FAMILY(MemObject, FAKE_MEM, cl_mem)
FAMILY(Program, FAKE_PROGRAM, cl_program)
FAMILY(Kernel, FAKE_KERNEL, cl_kernel)
FAMILY(Event, FAKE_EVENT, cl_event)
