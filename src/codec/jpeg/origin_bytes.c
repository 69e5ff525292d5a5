// SPDX-License-Identifier: Apache-2.0
#include "codec/jpeg/origin.h"

#include "base/size.h"

#include <string.h>

int mr__origin_add(mr__origin_bytes *to, const void *bytes, size_t nbytes)
{
    size_t total;
    if (!mr__size_add(to->nbytes, nbytes, &total) ||
        mr__buffer_grow(&to->buffer, to->call->hooks, to->nbytes, total) != 0)
        return mr__call_no_memory(to->call);
    if (nbytes != 0)
        memcpy(to->buffer.bytes + to->nbytes, bytes, nbytes);
    to->nbytes = total;
    return 0;
}

int mr__origin_add_number(mr__origin_bytes *to, uint64_t number)
{
    uint8_t bytes[10];
    size_t n = 0;
    for (; number >= 128; number >>= 7)
        bytes[n++] = (uint8_t)(number | 128);
    bytes[n++] = (uint8_t)number;
    return mr__origin_add(to, bytes, n);
}

int mr__origin_add_signed(mr__origin_bytes *to, int32_t number)
{
    return mr__origin_add_number(to, (uint32_t)number << 1 ^ (uint32_t)(number >> 31));
}

bool mr__origin_take_number(mr__origin_span *from, uint64_t *number)
{
    uint64_t value = 0;
    for (uint32_t shift = 0; shift < 63 && from->next < from->end; shift += 7) {
        uint8_t byte = *from->next++;
        value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) {
            *number = value;
            return byte != 0 || shift == 0; // one way only to write a number
        }
    }
    return false;
}

bool mr__origin_take_signed(mr__origin_span *from, int32_t *number)
{
    uint64_t value;
    if (!mr__origin_take_number(from, &value) || value > UINT32_MAX)
        return false;
    *number = (int32_t)((uint32_t)(value >> 1) ^ -(uint32_t)(value & 1));
    return true;
}
