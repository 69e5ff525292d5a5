// SPDX-License-Identifier: Apache-2.0
/* What a decoder and an encoder have in common. */
#ifndef MR_CODEC_HANDLE_H
#define MR_CODEC_HANDLE_H

#include "base/meter.h"
#include "codec/codec.h"

/* The first member of both. */
typedef struct mr__handle {
    mr__meter meter; /* over the caller's hooks, with limits.memory_nbytes */
    mr_hooks hooks;  /* through the meter: for everything but the handle itself */
    mr_limits limits;
    mr__cpu_flags cpu;
    mr_jpeg_choice jpeg;
    mr__detail detail; /* of the last call */
    mr__states states;
} mr__handle;

/* A cleared object of nbytes that starts with a handle. MR_EARGUMENT for hooks or limits that make no sense. */
int mr__handle_new(size_t nbytes, const mr_hooks *hooks, const mr_limits *limits, mr__handle **out);

/* Frees the codecs' states; the handle can be used on. */
void mr__handle_trim(mr__handle *handle);

/* The object too; what else it holds has been freed. */
void mr__handle_free(mr__handle *handle);

/* Begins a call, with no detail. It points into the handle. */
mr__call mr__handle_call(mr__handle *handle, const void *bytes, size_t nbytes);

/*
 * What every call on stored bytes begins with: finds the codec, gets its state ready, parses the header. `info` needs
 * no struct_size. The states are the handle's, or others that are for reading alone.
 */
int mr__call_open(mr__call *call, mr__states *states, const mr__codec **codec, mr_info *info);

/*
 * Ends a call: what libraries took is off the meter. Returns true if the call failed only because of what was kept from
 * earlier images, so that it is worth trying again after a trim.
 */
bool mr__handle_end(mr__handle *handle, const mr__call *call, int result);

#endif
