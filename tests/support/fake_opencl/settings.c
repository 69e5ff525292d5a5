// SPDX-License-Identifier: Apache-2.0
/*
 * Settings are words: "kind=discrete lost=5 fail=clCreateBuffer:3:-4", with spaces or commas between. What a number is,
 * fake_settings says.
 */
#include "fake.h"

#include "fake_opencl.h"
#include <stdarg.h>
#include <stddef.h>
#include <time.h>

/* clang-format off */
#define DEFAULTS                                                                                                       \
    {.platforms = 1, .devices = 1, .kind = FAKE_DISCRETE, .doubles = 1, .exact = 1, .available = 1, .compiler = 1,     \
     .full = 1, .profiling = 1, .version = 12, .memory = INT64_C(2) << 30, .alloc = INT64_C(1) << 30, .units = 4,      \
     .lanes = 1024, .lost = -1, .seed = -1}
/* clang-format on */

fake_world fake = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER, .settings = DEFAULTS};

#define NAME(result, name, arguments) "cl" #name,
static const char *const call_names[] = {MR__CL_FUNCTIONS(NAME)};
#undef NAME

const char *fake_call_name(fake_call call)
{
    return call_names[call];
}

void fake_wrong(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fake.wrongs++;
    fprintf(stderr, "fake OpenCL: ");
    vfprintf(stderr, format, list);
    fprintf(stderr, "\n");
    va_end(list);
}

uint64_t fake_now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* 1. The words. */

static bool set_number(const char *name, size_t length, int64_t value)
{
#define FIELD(name)                                                                                                    \
    {                                                                                                                  \
#name, offsetof(fake_settings, name)                                                                           \
    }
    static const struct {
        const char *name;
        size_t at;
    } fields[] = {
        FIELD(platforms), FIELD(devices),   FIELD(doubles),         FIELD(exact),      FIELD(available),
        FIELD(compiler),  FIELD(full),      FIELD(profiling),       FIELD(version),    FIELD(memory),
        FIELD(alloc),     FIELD(units),     FIELD(lanes),           FIELD(lost),       FIELD(build_fails),
        FIELD(hang),      FIELD(resources), FIELD(resources_quiet), FIELD(slow_ms),    FIELD(lost_quiet),
        FIELD(wrong),     FIELD(time_back), FIELD(time_ahead),      FIELD(misaligned), FIELD(seed),
        FIELD(jitter_us),
    };
#undef FIELD
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (strlen(fields[i].name) == length && strncmp(fields[i].name, name, length) == 0) {
            memcpy((char *)&fake.settings + fields[i].at, &value, sizeof value);
            return true;
        }
    return false;
}

static bool set_kind(const char *word, size_t length)
{
    static const char *const kinds[] = {"discrete", "integrated", "cpu"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strlen(kinds[i]) == length && strncmp(kinds[i], word, length) == 0) {
            fake.settings.kind = (int64_t)i;
            return true;
        }
    return false;
}

/* "clCreateBuffer:3:-4" */
static bool add_fail(const char *word, size_t length)
{
    for (uint32_t i = 0; i < FAKE_CALLS; i++) {
        size_t name = strlen(call_names[i]);
        char *end;
        if (name >= length || strncmp(call_names[i], word, name) != 0 || word[name] != ':' || fake.fail_count == 8)
            continue;
        int64_t nth = strtoll(word + name + 1, &end, 10);
        if (*end != ':')
            return false;
        fake.fails[fake.fail_count].call = (fake_call)i;
        fake.fails[fake.fail_count].nth = nth;
        fake.fails[fake.fail_count++].error = (cl_int)strtol(end + 1, &end, 10);
        return end == word + length;
    }
    return false;
}

static bool set_word(const char *word, size_t length)
{
    const char *equals = memchr(word, '=', length);
    if (equals == NULL)
        return false;
    size_t name = (size_t)(equals - word), rest = length - name - 1;
    if (name == 4 && strncmp(word, "kind", 4) == 0)
        return set_kind(equals + 1, rest);
    if (name == 4 && strncmp(word, "fail", 4) == 0)
        return add_fail(equals + 1, rest);
    char *end;
    int64_t value = strtoll(equals + 1, &end, 10);
    return rest != 0 && end == word + length && set_number(word, name, value);
}

/* Whether all its words are known. */
static bool set_text(const char *text)
{
    bool all = true;
    while (*text != '\0') {
        size_t length = strcspn(text, " ,");
        if (length != 0 && !set_word(text, length)) {
            fake_wrong("it cannot be told '%.*s'", (int)length, text);
            all = false;
        }
        text += length + (text[length] != '\0');
    }
    return all;
}

static void read_environment(void)
{
    const char *text = getenv("FAKE_OPENCL");
    if (!fake.configured && text != NULL)
        (void)set_text(text);
    fake.configured = true;
}

/* 2. Calls. */

/* What a device that is lost has to do with. */
static bool takes_device(fake_call call)
{
    const char *name = call_names[call] + 2;
    return strncmp(name, "Get", 3) != 0 && strncmp(name, "Release", 7) != 0 && strncmp(name, "Set", 3) != 0;
}

cl_int fake_enter(fake_call call)
{
    (void)pthread_mutex_lock(&fake.mutex);
    read_environment();
    fake.calls[call]++;
    for (uint32_t i = 0; i < fake.fail_count; i++)
        if (fake.fails[i].call == call && fake.fails[i].nth == fake.calls[call])
            return fake.fails[i].error;
    return fake.lost && !fake.settings.lost_quiet && takes_device(call) ? FAKE_NOT_AVAILABLE : CL_SUCCESS;
}

void fake_leave(void)
{
    (void)pthread_mutex_unlock(&fake.mutex);
}

/* 3. For tests. */

/* Queues that a test has left come to their end: hung ones go on, all threads end. */
static void end_queues(void)
{
    struct timespec until;
    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 20;
    fake.going_on = true;
    for (fake_object *o = fake.objects; o != NULL; o = o->next)
        if (o->type == FAKE_QUEUE) {
            fake_queue_flush((cl_command_queue)o);
            ((cl_command_queue)o)->closing = true;
        }
    (void)pthread_cond_broadcast(&fake.changed);
    while (fake.threads != 0 && pthread_cond_timedwait(&fake.changed, &fake.mutex, &until) == 0)
        ;
}

static void forget_objects(void)
{
    while (fake.threads == 0 && fake.objects != NULL) {
        fake_object *o = fake.objects;
        fake.objects = o->next;
        if (o->type == FAKE_MEM)
            fake_mem_drop((cl_mem)o);
        if (o->type == FAKE_PROGRAM)
            free(((cl_program)o)->text);
        free(o);
    }
}

FAKE_API void fake_opencl_reset(void)
{
    static const fake_settings defaults = DEFAULTS;
    (void)pthread_mutex_lock(&fake.mutex);
    end_queues();
    forget_objects();
    fake.settings = defaults;
    fake.configured = true;
    fake.fail_count = fake.own_count = 0;
    memset(fake.calls, 0, sizeof fake.calls);
    memset(fake.made, 0, sizeof fake.made);
    fake.launches_called = fake.launches = fake.reads = fake.wrongs = 0;
    fake.lost = fake.going_on = false;
    (void)pthread_mutex_unlock(&fake.mutex);
}

FAKE_API int fake_opencl_configure(const char *text)
{
    (void)pthread_mutex_lock(&fake.mutex);
    fake.configured = true;
    bool all = set_text(text);
    (void)pthread_mutex_unlock(&fake.mutex);
    return all ? 0 : -1;
}

FAKE_API void fake_opencl_go_on(void)
{
    (void)pthread_mutex_lock(&fake.mutex);
    fake.going_on = true;
    (void)pthread_cond_broadcast(&fake.changed);
    (void)pthread_mutex_unlock(&fake.mutex);
}

FAKE_API long long fake_opencl_count(const char *what)
{
    long long count = -1;
    (void)pthread_mutex_lock(&fake.mutex);
    if (strcmp(what, "launches") == 0)
        count = fake.launches;
    for (uint32_t i = 0; i < FAKE_CALLS; i++)
        if (strcmp(what, call_names[i]) == 0)
            count = fake.calls[i];
    (void)pthread_mutex_unlock(&fake.mutex);
    return count;
}

FAKE_API int fake_opencl_kernel(const mr__lane_kernel *kernel)
{
    (void)pthread_mutex_lock(&fake.mutex);
    bool room = fake.own_count < sizeof fake.own / sizeof *fake.own;
    if (room)
        fake.own[fake.own_count++] = *kernel;
    (void)pthread_mutex_unlock(&fake.mutex);
    return room ? 0 : -1;
}

static void check_object(const fake_object *o)
{
    if (o->refs != 0)
        fake_wrong("%s %u was never released", fake_type_name(o->type), o->number);
    if (o->type == FAKE_QUEUE && !fake_queue_is_idle((const struct cl_queue_of *)o))
        fake_wrong("queue %u has commands that have not ended", o->number);
    if (o->type == FAKE_EVENT && ((const struct cl_event_of *)o)->callback_count != 0)
        fake_wrong("event %u has a callback that was not called", o->number);
}

FAKE_API int fake_opencl_check(void)
{
    (void)pthread_mutex_lock(&fake.mutex);
    for (fake_object *o = fake.objects; o != NULL; o = o->next)
        check_object(o);
    int64_t wrongs = fake.wrongs;
    fake.wrongs = 0;
    (void)pthread_mutex_unlock(&fake.mutex);
    return (int)wrongs;
}
