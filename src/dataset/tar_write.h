// SPDX-License-Identifier: Apache-2.0
/*
 * The blocks of a shard around its payloads (doc/format-dataset.md). The same names, sizes and alignment at the same
 * position give the same bytes.
 */
#ifndef MR_DATASET_TAR_WRITE_H
#define MR_DATASET_TAR_WRITE_H

#include "base/memory.h"
#include "dataset/tar_header.h"

enum { MR__TAR_ALIGNMENT = 4096 };

/*
 * Appends to the `*used` bytes of `to` what stands before a payload. `position` is the place of the first appended byte
 * in the shard, a multiple of a block. The payload begins at a multiple of `alignment` (0: of a block; or a power of
 * two from 512 on): a pax header is filled up by a comment where that is needed, and has the name and the size too
 * where the header cannot say them. MR_EARGUMENT: no name, one with a zero, one longer than MR__TAR_PATH_MAX, an
 * alignment or position that cannot be; MR_ENOMEM. Then nothing was appended.
 */
int mr__tar_write_head(mr__buffer *to, const mr_hooks *hooks, size_t *used, uint64_t position, const char *name,
                       size_t name_nbytes, uint64_t nbytes, size_t alignment);

/* Appends the zeros behind a payload of nbytes. */
int mr__tar_write_padding(mr__buffer *to, const mr_hooks *hooks, size_t *used, uint64_t nbytes);

/* Appends the two blocks of zeros that end an archive. */
int mr__tar_write_end(mr__buffer *to, const mr_hooks *hooks, size_t *used);

#endif
