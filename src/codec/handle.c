// SPDX-License-Identifier: Apache-2.0
#include "codec/handle.h"

int mr__handle_init(mr__handle *handle, const mr_hooks *hooks, const mr_limits *limits)
{
    *handle = (mr__handle){.cpu = mr__cpu_detect()};
    int result = mr__hooks_init(&handle->hooks, hooks);
    if (result == 0)
        result = mr__limits_init(&handle->limits, limits);
    return result;
}

void mr__handle_trim(mr__handle *handle)
{
    mr__states_fini(&handle->states, &handle->hooks);
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
                      .detail = &handle->detail};
}
