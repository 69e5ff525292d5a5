// SPDX-License-Identifier: Apache-2.0
#include "codec/handle.h"

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
                      .detail = &handle->detail,
                      .meter = &handle->meter,
                      .kept_nbytes = mr__meter_begin(&handle->meter)};
}

bool mr__handle_end(mr__handle *handle, const mr__call *call, int result)
{
    mr__meter_sub(&handle->meter, call->library_nbytes);
    return result != 0 && call->kept_nbytes != 0 && mr__meter_refused(&handle->meter);
}
