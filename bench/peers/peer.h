// SPDX-License-Identifier: Apache-2.0
/*
 * The plain libraries as a program without Millrace would use them: the peers of the benchmark, and the reference that
 * tests/replay holds our pixels against. Each decodes into pixels whose shape the caller knows already.
 */
#ifndef BENCH_PEER_H
#define BENCH_PEER_H

#include <millrace/codec.h>

typedef enum peer_result {
    PEER_FAILED = 0, /* or it does not have this shape */
    PEER_WARNED = 1, /* it decoded something, and had a word to say */
    PEER_DECODED = 2
} peer_result;

typedef struct bench_peer {
    const char *name;
    mr_form form;
    peer_result (*decode)(const void *bytes, size_t nbytes, const mr_image *to);
    /* The library's own way to a part, which need not equal that part of the whole; NULL where it has none. */
    bool (*decode_region)(const void *bytes, size_t nbytes, mr_rect region, const mr_image *to);
} bench_peer;

/* All that were built in; the first of a form is the one everybody uses. */
extern const bench_peer *const peers[];
extern const size_t peer_count;

/* The first of a form, NULL when there is none. */
const bench_peer *peer_of_form(mr_form form);

#endif
