// SPDX-License-Identifier: Apache-2.0
#include "fake.h"

enum { MAGIC = 0x6b616566, DEVICES_MAX = 16 };

/* 1. Counting them. */

const char *fake_type_name(fake_type type)
{
    static const char *const names[] = {"context", "queue", "buffer", "program", "kernel", "event"};
    return names[type];
}

void *fake_make(fake_type type, size_t nbytes)
{
    fake_object *o = calloc(1, nbytes);
    if (o == NULL)
        return NULL;
    *o = (fake_object){.magic = MAGIC, .type = type, .number = ++fake.made[type], .refs = 1, .next = fake.objects};
    fake.objects = o;
    return o;
}

void *fake_use(const void *handle, fake_type type, fake_call call)
{
    fake_object *o = (fake_object *)(uintptr_t)handle;
    if (o == NULL || o->magic != MAGIC || o->type != type) {
        fake_wrong("%s is given something that is no %s", fake_call_name(call), fake_type_name(type));
        return NULL;
    }
    if (o->refs == 0) {
        fake_wrong("%s is given %s %u, which was released", fake_call_name(call), fake_type_name(type), o->number);
        return NULL;
    }
    return o;
}

/* Nobody has it any more. */
static void drop(fake_object *o)
{
    if (o->type == FAKE_MEM)
        fake_mem_drop((cl_mem)o);
    if (o->type == FAKE_PROGRAM) {
        free(((cl_program)o)->text);
        ((cl_program)o)->text = NULL;
    }
}

cl_int fake_retain(void *handle, fake_type type)
{
    fake_object *o = handle;
    if (o == NULL || o->magic != MAGIC || o->type != type || o->refs == 0) {
        fake_wrong("a %s is retained that is none, or was released", fake_type_name(type));
        return FAKE_INVALID_VALUE;
    }
    o->refs++;
    return CL_SUCCESS;
}

static bool is_in_use(const fake_object *o)
{
    if (o->type == FAKE_QUEUE)
        return !fake_queue_is_idle((const struct cl_queue_of *)o);
    return o->type == FAKE_MEM && o->busy != 0;
}

/* Drivers wait for what is in use; whoever counts on that has freed host memory too early sooner or later. */
cl_int fake_release(const void *handle, fake_type type, fake_call call)
{
    fake_object *o = fake_use(handle, type, call);
    if (o == NULL)
        return FAKE_INVALID_VALUE;
    if (--o->refs != 0)
        return CL_SUCCESS;
    if (is_in_use(o))
        fake_wrong("%s %u is released while commands use it", fake_type_name(type), o->number);
    if (type == FAKE_MEM && ((cl_mem)o)->map_count != 0 && !((cl_mem)o)->stays_mapped)
        fake_wrong("buffer %u is released while it is mapped", o->number);
    if (type == FAKE_QUEUE) {
        fake_queue_flush((cl_command_queue)o);
        ((cl_command_queue)o)->closing = true;
        (void)pthread_cond_broadcast(&fake.changed);
    }
    if (o->busy == 0)
        drop(o);
    return CL_SUCCESS;
}

void fake_unbusy(void *object)
{
    fake_object *o = object;
    if (o != NULL && --o->busy == 0 && o->refs == 0)
        drop(o);
}

/* 2. What they say of themselves. */

cl_int fake_answer(const void *from, size_t nbytes, size_t most, void *value, size_t *out_nbytes)
{
    if (value != NULL && most < nbytes)
        return FAKE_INVALID_VALUE;
    if (value != NULL)
        memcpy(value, from, nbytes);
    if (out_nbytes != NULL)
        *out_nbytes = nbytes;
    return CL_SUCCESS;
}

static cl_int answer_text(const char *text, size_t most, void *value, size_t *nbytes)
{
    return fake_answer(text, strlen(text) + 1, most, value, nbytes);
}

static struct cl_device_of {
    int nothing;
} devices[DEVICES_MAX];

static struct cl_platform_of {
    int nothing;
} platforms[DEVICES_MAX];

uint32_t fake_device_number(cl_device_id device)
{
    for (uint32_t i = 0; i < DEVICES_MAX; i++)
        if (device == &devices[i])
            return i;
    return UINT32_MAX;
}

static uint32_t platform_number(cl_platform_id platform)
{
    for (uint32_t i = 0; i < DEVICES_MAX && i < fake.settings.platforms; i++)
        if (platform == &platforms[i])
            return i;
    return UINT32_MAX;
}

FAKE_API cl_int clGetPlatformIDs(cl_uint most, cl_platform_id *to, cl_uint *count)
{
    cl_int error = fake_enter(FAKE_GetPlatformIDs);
    cl_uint there = (cl_uint)fake.settings.platforms;
    if (error == CL_SUCCESS && there == 0)
        error = CL_PLATFORM_NOT_FOUND_KHR;
    for (cl_uint i = 0; error == CL_SUCCESS && to != NULL && i < most && i < there; i++)
        to[i] = &platforms[i];
    if (error == CL_SUCCESS && count != NULL)
        *count = there;
    fake_leave();
    return error;
}

FAKE_API cl_int clGetPlatformInfo(cl_platform_id platform, cl_uint what, size_t most, void *value, size_t *nbytes)
{
    cl_int error = fake_enter(FAKE_GetPlatformInfo);
    if (error == CL_SUCCESS && platform_number(platform) == UINT32_MAX)
        error = FAKE_INVALID_VALUE;
    if (error == CL_SUCCESS)
        error = answer_text(what == CL_PLATFORM_NAME ? "Fake platform" : "OpenCL 1.2 fake", most, value, nbytes);
    fake_leave();
    return error;
}

/* A platform's devices come after those of the one before. */
FAKE_API cl_int clGetDeviceIDs(cl_platform_id platform, cl_bitfield type, cl_uint most, cl_device_id *to,
                               cl_uint *count)
{
    (void)type;
    cl_int error = fake_enter(FAKE_GetDeviceIDs);
    uint32_t number = platform_number(platform);
    cl_uint there = (cl_uint)fake.settings.devices, first = number * there;
    if (error == CL_SUCCESS && number == UINT32_MAX)
        error = FAKE_INVALID_VALUE;
    if (error == CL_SUCCESS && there == 0)
        error = CL_DEVICE_NOT_FOUND;
    for (cl_uint i = 0; error == CL_SUCCESS && to != NULL && i < most && i < there && first + i < DEVICES_MAX; i++)
        to[i] = &devices[first + i];
    if (error == CL_SUCCESS && count != NULL)
        *count = there;
    fake_leave();
    return error;
}

static cl_int device_text(uint32_t number, cl_uint what, size_t most, void *value, size_t *nbytes)
{
    static const char *const kinds[] = {"discrete", "integrated", "cpu"};
    const fake_settings *s = &fake.settings;
    char text[64] = "";
    switch (what) {
    case CL_DEVICE_NAME:
        snprintf(text, sizeof text, "Fake device %u (%s)", number, kinds[s->kind]);
        break;
    case CL_DEVICE_VERSION:
        snprintf(text, sizeof text, "OpenCL %d.%d fake", (int)s->version / 10, (int)s->version % 10);
        break;
    case CL_DEVICE_PROFILE:
        snprintf(text, sizeof text, "%s", s->full ? "FULL_PROFILE" : "EMBEDDED_PROFILE");
        break;
    case CL_DEVICE_EXTENSIONS:
        snprintf(text, sizeof text, "cl_khr_fake%s", s->doubles ? " cl_khr_fp64" : "");
        break;
    case CL_DEVICE_VENDOR:
        return answer_text("Fake", most, value, nbytes);
    case CL_DRIVER_VERSION:
        return answer_text("fake 1", most, value, nbytes);
    default:
        return FAKE_INVALID_VALUE;
    }
    return answer_text(text, most, value, nbytes);
}

typedef struct fact {
    cl_uint what;
    uint32_t nbytes;
    int64_t value;
} fact;

cl_int fake_device_info(cl_device_id device, cl_uint what, size_t most, void *value, size_t *nbytes)
{
    const fake_settings *s = &fake.settings;
    int64_t exact = CL_FP_DENORM | (s->exact ? CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT : 0);
    const fact facts[] = {
        {CL_DEVICE_TYPE, 8, s->kind == FAKE_CPU ? CL_DEVICE_TYPE_CPU : CL_DEVICE_TYPE_GPU},
        {CL_DEVICE_MAX_COMPUTE_UNITS, 4, s->units},
        {CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof(size_t), s->lanes},
        {CL_DEVICE_MAX_MEM_ALLOC_SIZE, 8, s->alloc},
        {CL_DEVICE_SINGLE_FP_CONFIG, 8, exact},
        {CL_DEVICE_GLOBAL_MEM_SIZE, 8, s->memory},
        {CL_DEVICE_ENDIAN_LITTLE, 4, 1},
        {CL_DEVICE_AVAILABLE, 4, s->available && !fake.lost},
        {CL_DEVICE_COMPILER_AVAILABLE, 4, s->compiler},
        {CL_DEVICE_DOUBLE_FP_CONFIG, 8, s->doubles ? exact : 0},
        {CL_DEVICE_HOST_UNIFIED_MEMORY, 4, s->kind != FAKE_DISCRETE},
    };
    uint32_t number = fake_device_number(device);
    if (number == UINT32_MAX)
        return FAKE_INVALID_VALUE;
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        if (facts[i].what == what) // little-endian: a shorter number is its first bytes
            return fake_answer(&facts[i].value, facts[i].nbytes, most, value, nbytes);
    return device_text(number, what, most, value, nbytes);
}
