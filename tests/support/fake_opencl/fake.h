// SPDX-License-Identifier: Apache-2.0
/*
 * A fake libOpenCL, for tests: no hardware, no driver, no compiler. Kernels are known by their names and run by the
 * lockstep emulator (kernel/lane/emulate.h), each queue has a thread of its own, and everything that a program may do
 * wrong with OpenCL is looked for. What it is to be, and how it is to fail, is told by a text (settings.c), in the
 * environment as FAKE_OPENCL or by fake_opencl_configure.
 *
 *     settings.c    what it is told, and what it found wrong
 *     objects.c     platforms, devices, contexts, programs, kernels, events: made, counted, released
 *     memory.c      buffers: separate memory with canaries, mapped and unmapped
 *     queue.c       commands, the thread that does them, what happens to them on purpose
 *     calls.c       the functions of OpenCL
 *
 * It is stricter than drivers are: nothing is done before it is flushed; new memory is garbage, and so is what is
 * mapped to be written anew; on a discrete device host memory is a copy, which counts only while it is mapped.
 *
 * Objects are never given back to the heap (until fake_opencl_reset), so that the use of one that was released is seen.
 * One mutex holds for all of it. Kernels, copies and callbacks run without it.
 */
#ifndef TESTS_SUPPORT_FAKE_OPENCL_FAKE_H
#define TESTS_SUPPORT_FAKE_OPENCL_FAKE_H

#include "device/opencl/cl.h"
#include "kernel/lane/emulate.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAKE_API __attribute__((visibility("default")))

/* What OpenCL says where cl.h has no name for it, as the library never asks. */
enum {
    FAKE_NOT_AVAILABLE = -2,
    FAKE_NO_PROFILING = -7,
    FAKE_WAITED_FOR_ERROR = -14,
    FAKE_INVALID_VALUE = -30,
    FAKE_INVALID_CONTEXT = -34,
    FAKE_INVALID_HOST_PTR = -37,
    FAKE_INVALID_MEM = -38,
    FAKE_INVALID_BINARY = -42,
    FAKE_INVALID_PROGRAM = -44,
    FAKE_INVALID_EXECUTABLE = -45,
    FAKE_INVALID_KERNEL_NAME = -46,
    FAKE_INVALID_KERNEL = -48,
    FAKE_INVALID_ARG_INDEX = -49,
    FAKE_INVALID_ARG_SIZE = -51,
    FAKE_INVALID_KERNEL_ARGS = -52,
    FAKE_INVALID_GROUP = -54,
    FAKE_INVALID_EVENT = -58,
    FAKE_INVALID_QUEUE = -36,
    FAKE_QUEUED = 3,
    FAKE_RUNNING = 1,
};

typedef enum fake_kind { FAKE_DISCRETE, FAKE_INTEGRATED, FAKE_CPU } fake_kind;

/* Numbers of launches, reads and calls count from 1; 0: never. */
typedef struct fake_settings {
    int64_t platforms, devices; /* of each platform */
    int64_t kind;               /* fake_kind */
    int64_t doubles, exact, available, compiler, full, profiling;
    int64_t version; /* 12: OpenCL 1.2 */
    int64_t memory, alloc, units, lanes;
    int64_t build_fails;
    int64_t lost;            /* after so many launches; -1: never */
    int64_t lost_quiet;      /* calls go on to succeed, and commands fail */
    int64_t hang;            /* at this launch */
    int64_t resources;       /* at this launch: its call fails */
    int64_t resources_quiet; /* at this launch: the command fails */
    int64_t slow_ms;         /* every launch takes so much longer */
    int64_t jitter_us;       /* every launch takes at most so much longer, by the seed and its number */
    int64_t wrong;           /* this read or map to read gives a wrong byte */
    int64_t time_back;       /* the device's clock goes back during this launch */
    int64_t time_ahead;      /* it jumps ahead by a day */
    int64_t misaligned;      /* what is mapped begins at no multiple of 64 */
    int64_t seed;            /* of the emulator: -1: another one each launch */
} fake_settings;

typedef enum fake_type { FAKE_CONTEXT, FAKE_QUEUE, FAKE_MEM, FAKE_PROGRAM, FAKE_KERNEL, FAKE_EVENT } fake_type;

/* Every object begins with this. */
typedef struct fake_object {
    uint32_t magic;
    fake_type type;
    uint32_t number; /* of its type: for words */
    int refs;        /* 0: released */
    int busy;        /* commands that have not ended and use it */
    struct fake_object *next;
} fake_object;

struct cl_context_of {
    fake_object object;
};

struct cl_program_of {
    fake_object object;
    cl_context context;
    char *text; /* malloc'ed */
    bool built;
};

enum { FAKE_ARGS = 4, FAKE_MAPS = 8, FAKE_CALLBACKS = 4, FAKE_WAITS = 4096 };

struct cl_kernel_of {
    fake_object object;
    cl_program program;
    mr__lane_kernel own; /* of fake_opencl_kernel; no function: one of the library's */
    mr__kernel number;
    uint32_t lanes;
    cl_mem mems[2];
    uint32_t list;
    bool set[FAKE_ARGS];
};

typedef struct fake_map {
    uint8_t *to;
    size_t at, nbytes;
    cl_bitfield flags;
} fake_map;

struct cl_mem_of {
    fake_object object;
    cl_context context;
    cl_bitfield flags;
    size_t nbytes;
    uint8_t *host;   /* the program's, of CL_MEM_USE_HOST_PTR */
    uint8_t *block;  /* malloc'ed: canary, bytes, canary; NULL: the bytes are the host's */
    uint8_t *data;   /* what kernels see */
    uint8_t *shadow; /* malloc'ed: what is mapped, of a discrete device */
    fake_map maps[FAKE_MAPS];
    uint32_t map_count;
    bool stays_mapped; /* it could not be unmapped, which is not the program's fault */
};

typedef struct fake_callback {
    cl_event_callback *call;
    void *user;
} fake_callback;

struct cl_event_of {
    fake_object object;
    cl_int status;
    bool profiled;
    uint64_t start_ns, end_ns;
    fake_callback callbacks[FAKE_CALLBACKS];
    uint32_t callback_count;
};

typedef enum fake_work { FAKE_LAUNCH, FAKE_READ, FAKE_WRITE, FAKE_MAP, FAKE_UNMAP, FAKE_MARKER } fake_work;

typedef struct fake_command {
    fake_work work;
    cl_event event; /* always one */
    cl_event *after;
    uint32_t after_count;
    bool flushed;
    cl_mem mem;      /* of all but a launch and a marker; of a launch the arena */
    cl_mem out;      /* of a launch */
    fake_map region; /* of the buffer; and host memory */
    mr__lane_kernel own;
    mr__kernel kernel;
    uint32_t list, groups, lanes;
    cl_kernel object; /* of a launch */
    struct fake_command *next;
} fake_command;

struct cl_queue_of {
    fake_object object;
    cl_context context;
    bool profiling;
    fake_command *first, *last, *running;
    bool closing;
};

#define FAKE_CALL(result, name, arguments) FAKE_##name,
typedef enum fake_call { MR__CL_FUNCTIONS(FAKE_CALL) FAKE_CALLS } fake_call;
#undef FAKE_CALL

/* All there is. Its mutex is held by whoever touches it. */
typedef struct fake_world {
    pthread_mutex_t mutex;
    pthread_cond_t changed; /* a command was flushed or has ended, or hung ones are to go on */
    bool configured;
    fake_settings settings;
    struct {
        fake_call call;
        int64_t nth;
        cl_int error;
    } fails[8];
    uint32_t fail_count;
    int64_t calls[FAKE_CALLS];
    int64_t launches_called, launches, reads;
    uint64_t memory_used;
    bool lost, going_on;
    fake_object *objects; /* all that were made */
    uint32_t made[FAKE_EVENT + 1];
    int64_t threads; /* of queues */
    int64_t wrongs;
    mr__lane_kernel own[32]; /* kernels of tests */
    uint32_t own_count;
} fake_world;

extern fake_world fake;

/* The functions of OpenCL, as the library declares them. */
#define FAKE_DECLARE(result, name, arguments) FAKE_API result cl##name arguments;
MR__CL_FUNCTIONS(FAKE_DECLARE)
#undef FAKE_DECLARE

/* settings.c */

/* Something is wrong with the program: it is said, and counted. */
__attribute__((format(printf, 1, 2))) void fake_wrong(const char *format, ...);

/* Takes the mutex, and says which error was asked for. fake_leave gives it back. */
cl_int fake_enter(fake_call call);
void fake_leave(void);
const char *fake_call_name(fake_call call);
uint64_t fake_now_ns(void);

/* objects.c: with the mutex. */

void *fake_make(fake_type type, size_t nbytes);

/* The object, or NULL: it is none, or was released; that is wrong, and said. */
void *fake_use(const void *handle, fake_type type, fake_call call);
cl_int fake_retain(void *handle, fake_type type);
cl_int fake_release(const void *handle, fake_type type, fake_call call);

/* A command that used it has ended; what was released may be given back now. */
void fake_unbusy(void *object);
const char *fake_type_name(fake_type type);

/* Answers of GetInfo: CL_INVALID_VALUE where there is too little room. */
cl_int fake_answer(const void *from, size_t nbytes, size_t most, void *value, size_t *out_nbytes);
cl_int fake_device_info(cl_device_id device, cl_uint what, size_t most, void *value, size_t *nbytes);
uint32_t fake_device_number(cl_device_id device); /* UINT32_MAX: it is none */

/* memory.c: with the mutex, but for the copies. */

cl_mem fake_mem_new(cl_context context, cl_bitfield flags, size_t nbytes, void *host, cl_int *error);
void fake_mem_drop(cl_mem mem);
void fake_mem_check(cl_mem mem, const char *when); /* its canaries */
void *fake_map_pointer(cl_mem mem, size_t at);     /* where it will be; NULL: no memory */
void fake_map_copy(cl_mem mem, const fake_map *map);
void fake_unmap_copy(cl_mem mem, const fake_map *map);

/* queue.c: with the mutex. */

cl_command_queue fake_queue_new(cl_context context, bool profiling, cl_int *error);
void fake_queue_flush(cl_command_queue queue);

/* What is put into the queue; `command` is copied. Its event goes to *event, where that is not NULL. */
cl_int fake_put(cl_command_queue queue, const fake_command *command, cl_uint count, const cl_event *after, bool wait,
                cl_event *event);
cl_int fake_wait_for(cl_event event);
bool fake_queue_is_idle(const struct cl_queue_of *queue);

#endif
