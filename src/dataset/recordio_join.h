// SPDX-License-Identifier: Apache-2.0
/*
 * A record of RecordIO that is stored in parts (recordio_scan.c has the format), put together again: the magic number,
 * which was left out where the payload was cut, stands between its parts.
 */
#ifndef MR_DATASET_RECORDIO_JOIN_H
#define MR_DATASET_RECORDIO_JOIN_H

#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"

#define MR__RECORDIO_MAGIC 0xced7230au

enum {
    MR__RECORDIO_HEAD_NBYTES = 8,   /* of a part */
    MR__RECORDIO_LABEL_NBYTES = 24, /* what the payload begins with, before its list of labels */
    MR__RECORDIO_WHOLE = 0,         /* parts */
    MR__RECORDIO_FIRST = 1,
    MR__RECORDIO_MIDDLE = 2,
    MR__RECORDIO_LAST = 3,
};

/* Reads the head of a part; false: there is no magic number. */
static inline bool mr__recordio_head(const uint8_t head[MR__RECORDIO_HEAD_NBYTES], unsigned *part, uint64_t *nbytes)
{
    uint32_t length = mr__load_le32(head + 4);
    *part = length >> 29;
    *nbytes = length & ((UINT32_C(1) << 29) - 1);
    return mr__load_le32(head) == MR__RECORDIO_MAGIC;
}

/* With the zeros behind it. */
static inline uint64_t mr__recordio_padded(uint64_t nbytes)
{
    return (nbytes + 3) / 4 * 4;
}

/*
 * The image of a record whose parts are these bytes: from the magic of the first to the end of the last, without the
 * zeros behind it. It is in out->bytes then, *nbytes from *offset on. MR_ECORRUPT: they are no such record; MR_ENOMEM.
 */
int mr__recordio_join(const uint8_t *bytes, size_t record_nbytes, const mr_hooks *hooks, mr__buffer *out,
                      size_t *offset, size_t *nbytes);

#endif
