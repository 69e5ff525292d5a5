// SPDX-License-Identifier: Apache-2.0
#include "codec/codec.h"

#include "base/log.h"

/* A small file can be wrong in millions of places; whoever reads the log has seen enough by then. */
enum { LOGGED_MAX = 16 };

void mr__call_warn(mr__call *call, const char *format, ...)
{
    if (call->warnings < LOGGED_MAX) {
        va_list args;
        va_start(args, format);
        mr__log_args(call->hooks, MR_LOG_WARNING, format, args);
        va_end(args);
    } else if (call->warnings == LOGGED_MAX) {
        mr__log(call->hooks, MR_LOG_WARNING, "%s: more than %d warnings of one image; the others are not logged",
                call->name, LOGGED_MAX);
    }
    if (call->warnings < UINT32_MAX)
        call->warnings++;
}

static int fail_limit(mr__call *call)
{
    return mr__call_fail(call, MR_ELIMIT,
                         "this %s needs more than %llu bytes of memory, the limit (limits.memory_nbytes)", call->name,
                         (unsigned long long)call->limits->memory_nbytes);
}

int mr__call_no_memory(mr__call *call)
{
    if (mr__meter_refused(call->meter))
        return fail_limit(call);
    return mr__call_fail(call, MR_ENOMEM, "out of memory: there was too little for this %s", call->name);
}

int mr__call_reserve(mr__call *call, mr__buffer *buffer, size_t nbytes)
{
    return mr__buffer_reserve(buffer, call->hooks, nbytes) == 0 ? 0 : mr__call_no_memory(call);
}

int mr__call_charge(mr__call *call, uint64_t nbytes)
{
    if (!mr__meter_add(call->meter, nbytes))
        return fail_limit(call);
    call->library_nbytes += nbytes;
    return 0;
}

int mr__call_fits(mr__call *call, uint64_t nbytes)
{
    if (!mr__meter_add(call->meter, nbytes))
        return fail_limit(call);
    mr__meter_sub(call->meter, nbytes);
    return 0;
}

int mr__call_check_pixels(mr__call *call, uint32_t width, uint32_t height)
{
    uint64_t limit = call->limits->pixels;
    if (width > INT32_MAX || height > INT32_MAX)
        return mr__call_fail(call, MR_ELIMIT, "%s of %u x %u: a side of more than 2147483647 pixels", call->name, width,
                             height);
    if ((uint64_t)width * height > limit)
        return mr__call_fail(call, MR_ELIMIT, "%s of %u x %u: more than %llu pixels, the limit (limits.pixels)",
                             call->name, width, height, (unsigned long long)limit);
    return 0;
}

static size_t index_of(const mr__codec *codec)
{
    size_t i = 0;
    while (mr__codecs[i] != codec)
        i++;
    return i;
}

int mr__states_get(mr__states *states, const mr__codec *codec, mr__call *call)
{
    void **slot = &states->state[index_of(codec)];
    if (*slot == NULL && codec->state_nbytes != 0) {
        void *state = mr__alloc_zero(call->hooks, codec->state_nbytes);
        if (state == NULL)
            return mr__call_no_memory(call);
        int result = codec->state_init != NULL ? codec->state_init(call, state) : 0;
        if (result != 0) {
            if (codec->state_fini != NULL)
                codec->state_fini(state, call->hooks);
            mr__free(call->hooks, state);
            return result;
        }
        *slot = state;
    }
    call->state = *slot;
    return 0;
}

void mr__states_fini(mr__states *states, const mr_hooks *hooks)
{
    for (size_t i = 0; i < mr__codec_count; i++) {
        if (states->state[i] == NULL)
            continue;
        if (mr__codecs[i]->state_fini != NULL)
            mr__codecs[i]->state_fini(states->state[i], hooks);
        mr__free(hooks, states->state[i]);
        states->state[i] = NULL;
    }
}
