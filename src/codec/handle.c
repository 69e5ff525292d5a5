// SPDX-License-Identifier: Apache-2.0
#include "codec/handle.h"

#include <stdio.h>

int mr__handle_new(size_t nbytes, const mr_hooks *given_hooks, const mr_limits *given_limits, mr__handle **out)
{
    mr_hooks hooks;
    mr_limits limits;
    if (mr__hooks_init(&hooks, given_hooks) != 0 || mr__limits_init(&limits, given_limits) != 0)
        return MR_EARGUMENT;
    mr__handle *handle = mr__alloc_zero(&hooks, nbytes);
    if (handle == NULL)
        return MR_ENOMEM;
    mr__meter_init(&handle->meter, &hooks, limits.memory_nbytes);
    handle->hooks = mr__meter_hooks(&handle->meter);
    handle->limits = limits;
    handle->cpu = mr__cpu_detect();
    *out = handle;
    return 0;
}

void mr__handle_trim(mr__handle *handle)
{
    mr__states_fini(&handle->states, &handle->hooks);
}

void mr__handle_free(mr__handle *handle)
{
    mr__handle_trim(handle);
    mr_hooks hooks = handle->meter.under;
    mr__free(&hooks, handle);
}

mr__call mr__handle_call(mr__handle *handle, const void *bytes, size_t nbytes)
{
    mr__detail_clear(&handle->detail);
    return (mr__call){.name = "image",
                      .bytes = bytes,
                      .nbytes = nbytes,
                      .hooks = &handle->hooks,
                      .limits = &handle->limits,
                      .cpu = handle->cpu,
                      .jpeg = handle->jpeg,
                      .detail = &handle->detail,
                      .meter = &handle->meter,
                      .kept_nbytes = mr__meter_begin(&handle->meter)};
}

/* What the plan counts on, whatever a codec does. */
static bool is_possible(const mr_info *info)
{
    return info->width >= 1 && info->height >= 1 && info->channels >= 1 && info->channels <= 4 &&
           (info->depth == 8 || info->depth == 16) && info->orientation >= 1 && info->orientation <= 8;
}

/* Whoever gave us this will know it by its first bytes. */
static int refuse_unknown(mr__call *call)
{
    char text[8 * 3 + 1] = "";
    for (size_t i = 0; i < 8 && i < call->nbytes; i++)
        snprintf(text + 3 * i, 4, " %02x", call->bytes[i]);
    return mr__call_fail(call, MR_EFORMAT, "not an image in a known format: it begins with%s", text);
}

int mr__call_open(mr__call *call, mr__states *states, const mr__codec **codec, mr_info *info)
{
    if (call->bytes == NULL && call->nbytes != 0)
        return mr__call_fail(call, MR_EARGUMENT, "bytes is NULL");
    if (call->nbytes == 0)
        return mr__call_fail(call, MR_EFORMAT, "no data: 0 bytes");
    if (call->nbytes > call->limits->nbytes)
        return mr__call_fail(call, MR_ELIMIT, "%zu bytes of data: more than %llu, the limit (limits.nbytes)",
                             call->nbytes, (unsigned long long)call->limits->nbytes);
    *codec = mr__codec_probe(call->bytes, call->nbytes);
    if (*codec == NULL)
        return refuse_unknown(call);
    call->name = (*codec)->name;
    int result = mr__states_get(states, *codec, call);
    if (result != 0)
        return result;
    *info = (mr_info){.struct_size = sizeof *info, .form = (*codec)->form, .orientation = 1, .frames = 1};
    result = (*codec)->info(call, info);
    if (result == 0 && !is_possible(info))
        result = mr__call_fail(call, MR_EINTERNAL, "the %s codec read a header that cannot be", call->name);
    return result;
}

bool mr__handle_end(mr__handle *handle, const mr__call *call, int result)
{
    mr__meter_sub(&handle->meter, call->library_nbytes);
    return result != 0 && call->kept_nbytes != 0 && mr__meter_refused(&handle->meter);
}
