// SPDX-License-Identifier: Apache-2.0
#include "dataset/recordio_join.h"

#include <string.h>

/* Where the image begins in a payload; false: it has none. */
static bool find_image(const uint8_t *payload, uint64_t nbytes, uint64_t *at)
{
    if (nbytes < MR__RECORDIO_LABEL_NBYTES)
        return false;
    *at = MR__RECORDIO_LABEL_NBYTES + UINT64_C(4) * mr__load_le32(payload);
    return *at < nbytes;
}

/* What comes out is shorter than what goes in: a magic number is put where a head of twice its length was. */
int mr__recordio_join(const uint8_t *bytes, size_t record_nbytes, const mr_hooks *hooks, mr__buffer *out,
                      size_t *offset, size_t *nbytes)
{
    unsigned part = MR__RECORDIO_WHOLE;
    uint64_t length, image;
    size_t at = 0, used = 0;
    if (mr__buffer_reserve(out, hooks, record_nbytes) != 0)
        return MR_ENOMEM;
    while (part != MR__RECORDIO_LAST) {
        bool first = at == 0;
        if (record_nbytes - at < MR__RECORDIO_HEAD_NBYTES || !mr__recordio_head(bytes + at, &part, &length) ||
            (first ? part != MR__RECORDIO_FIRST : part != MR__RECORDIO_MIDDLE && part != MR__RECORDIO_LAST))
            return MR_ECORRUPT;
        at += MR__RECORDIO_HEAD_NBYTES;
        uint64_t taken = part != MR__RECORDIO_LAST ? mr__recordio_padded(length) : length;
        if (taken > record_nbytes - at)
            return MR_ECORRUPT;
        if (!first) {
            mr__store_le32(out->bytes + used, MR__RECORDIO_MAGIC);
            used += 4;
        }
        memcpy(out->bytes + used, bytes + at, (size_t)length);
        used += (size_t)length;
        at += (size_t)taken;
    }
    if (at != record_nbytes || !find_image(out->bytes, used, &image))
        return MR_ECORRUPT;
    *offset = (size_t)image;
    *nbytes = used - (size_t)image;
    return 0;
}
