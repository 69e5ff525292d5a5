// SPDX-License-Identifier: Apache-2.0
#include "dataset/cifar.h"

#include "base/bytes.h"
#include "base/hash.h"
#include "kernel/jpeg_pixels.h"

#include <string.h>

enum { HEAD_NBYTES = 64, HASH_AT = 56, PLANE_NBYTES = MR__CIFAR_SIDE * MR__CIFAR_SIDE };

static void write_head(uint8_t head[HEAD_NBYTES])
{
    memset(head, 0, HEAD_NBYTES);
    memcpy(head, "\x8aMRR\r\n\x1a\n", 8);
    mr__store_le16(head + 8, 1); // version
    head[10] = 3;                // channels
    head[11] = 8;                // depth
    head[12] = 1;                // orientation
    mr__store_le32(head + 16, MR__CIFAR_SIDE);
    mr__store_le32(head + 20, MR__CIFAR_SIDE);
    mr__store_le64(head + HASH_AT, mr__hash(head, HASH_AT));
}

int mr__cifar_wrap(const uint8_t planes[MR__CIFAR_NBYTES], mr__cpu_flags cpu, const mr_hooks *hooks, mr__buffer *out,
                   size_t *nbytes)
{
    if (mr__buffer_reserve(out, hooks, HEAD_NBYTES + MR__CIFAR_NBYTES) != 0)
        return MR_ENOMEM;
    write_head(out->bytes);
    mr__jpeg_pixels kernels;
    mr__jpeg_pixels_init(&kernels, cpu);
    kernels.interleave(planes, planes + PLANE_NBYTES, planes + 2 * PLANE_NBYTES, out->bytes + HEAD_NBYTES,
                       PLANE_NBYTES); // a whole number of vectors: none reaches beyond the planes
    *nbytes = HEAD_NBYTES + MR__CIFAR_NBYTES;
    return 0;
}
