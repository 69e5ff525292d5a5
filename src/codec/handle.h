// SPDX-License-Identifier: Apache-2.0
/* What a decoder and an encoder have in common. */
#ifndef MR_CODEC_HANDLE_H
#define MR_CODEC_HANDLE_H

#include "codec/codec.h"

typedef struct mr__handle {
    mr_hooks hooks;
    mr_limits limits;
    mr__cpu_flags cpu;
    mr__detail detail; /* of the last call */
    mr__states states;
} mr__handle;

/* MR_EARGUMENT for hooks or limits that make no sense. */
int mr__handle_init(mr__handle *handle, const mr_hooks *hooks, const mr_limits *limits);

/* Frees the codecs' states; the handle can be used on. */
void mr__handle_trim(mr__handle *handle);

/* Begins a call, with no detail and nothing charged to it. It points into the handle. */
mr__call mr__handle_call(mr__handle *handle, const void *bytes, size_t nbytes);

#endif
