// SPDX-License-Identifier: Apache-2.0
/* The tail of an L3 image: doc/format-l3.md, "Tail". */
#include "base/bytes.h"
#include "base/hash.h"
#include "base/size.h"
#include "codec/l3/l3.h"

#include <string.h>

enum { AT_RESERVED = 4, AT_LENGTH = 8, AT_HASH = 16, SECTION_NBYTES = 24 };

/* Names as numbers, in whose order the sections stand. */
#define NAME_ICC    0x49434320u /* "ICC " */
#define NAME_ORIGIN 0x4f524947u /* "ORIG" */

typedef struct section {
    uint32_t name;
    const uint8_t *bytes;
    size_t nbytes;
} section;

static uint64_t section_hash(const uint8_t *head, const uint8_t *content, size_t nbytes)
{
    mr__hasher hasher;
    mr__hasher_init(&hasher);
    mr__hasher_add(&hasher, head, AT_HASH);
    mr__hasher_add(&hasher, content, nbytes);
    return mr__hasher_value(&hasher);
}

/* The section at *at, which is moved behind it. The tail ends where the file does. */
static int read_section(mr__call *call, size_t *at, section *s)
{
    const uint8_t *b = call->bytes + *at;
    size_t left = call->nbytes - *at;
    if (left < SECTION_NBYTES)
        return mr__call_fail(call, MR_ECORRUPT,
                             "damaged L3 image: %zu bytes are left at byte %zu, too few for a section", left, *at);
    uint64_t nbytes = mr__load_le64(b + AT_LENGTH);
    if (nbytes > left - SECTION_NBYTES)
        return mr__call_fail(call, MR_ECORRUPT, "damaged L3 image: the section at byte %zu is longer than the file",
                             *at);
    if (section_hash(b, b + SECTION_NBYTES, (size_t)nbytes) != mr__load_le64(b + AT_HASH))
        return mr__call_fail(call, MR_ECORRUPT, "damaged L3 image: the hash of the section at byte %zu does not match",
                             *at);
    if (mr__load_le32(b + AT_RESERVED) != 0)
        return mr__call_fail(call, MR_ECORRUPT, "damaged L3 image: a reserved byte at byte %zu is not 0",
                             *at + AT_RESERVED);
    if (nbytes == 0 && (mr__load_be32(b) == NAME_ICC || mr__load_be32(b) == NAME_ORIGIN))
        return mr__call_fail(call, MR_ECORRUPT, "damaged L3 image: the section at byte %zu is empty", *at);
    *s = (section){mr__load_be32(b), b + SECTION_NBYTES, (size_t)nbytes};
    *at += SECTION_NBYTES + (size_t)nbytes;
    return 0;
}

static int check_flag(mr__call *call, bool said, bool found, const char *what)
{
    if (said == found)
        return 0;
    return mr__call_fail(call, MR_ECORRUPT, "damaged L3 image: byte 15 says it has %s%s, and its tail %s",
                         said ? "an " : "no ", what, found ? "has one" : "has none");
}

int mr__l3_tail_read(mr__call *call, const mr__l3_head *head, mr__l3_tail *tail)
{
    *tail = (mr__l3_tail){0};
    size_t at = (size_t)head->tail_at;
    uint64_t least = 0;
    while (at < call->nbytes) {
        section s = {0};
        size_t begin = at;
        int result = read_section(call, &at, &s);
        if (result != 0)
            return result;
        if (s.name < least)
            return mr__call_fail(call, MR_ECORRUPT,
                                 "damaged L3 image: the section at byte %zu is there twice, or out of order", begin);
        least = (uint64_t)s.name + 1;
        if (s.name == NAME_ICC) {
            tail->icc = s.bytes;
            tail->icc_nbytes = s.nbytes;
        } else if (s.name == NAME_ORIGIN) {
            tail->origin = s.bytes;
            tail->origin_nbytes = s.nbytes;
        }
    }
    int result = check_flag(call, head->has_icc, tail->icc != NULL, "ICC profile");
    return result != 0 ? result : check_flag(call, head->has_origin, tail->origin != NULL, "origin");
}

int mr__l3_tail_read_mild(mr__call *call, const mr__l3_head *head, mr__l3_tail *tail, mr__detail *why)
{
    mr__detail_clear(why);
    int result = mr__l3_tail_read(call, head, tail);
    // the profile comes first: once it is there, or there is none, what is missing is the origin alone
    bool is_origin = head->has_origin && tail->origin == NULL && head->has_icc == (tail->icc != NULL);
    if (result != MR_ECORRUPT || !is_origin)
        return result;
    *why = *call->detail;
    mr__detail_clear(call->detail);
    return 0;
}

uint64_t mr__l3_tail_nbytes(const mr__l3_tail *tail)
{
    return (tail->icc != NULL ? SECTION_NBYTES + (uint64_t)tail->icc_nbytes : 0) +
           (tail->origin != NULL ? SECTION_NBYTES + (uint64_t)tail->origin_nbytes : 0);
}

static int write_section(mr__call *call, const section *s, mr__buffer *out, size_t *out_nbytes)
{
    uint8_t *b;
    int result = mr__l3_append(call, out, out_nbytes, s->nbytes + SECTION_NBYTES, &b);
    if (result != 0)
        return result;
    mr__store_be32(b, s->name);
    mr__store_le32(b + AT_RESERVED, 0);
    mr__store_le64(b + AT_LENGTH, s->nbytes);
    mr__store_le64(b + AT_HASH, section_hash(b, s->bytes, s->nbytes));
    if (s->nbytes != 0)
        memcpy(b + SECTION_NBYTES, s->bytes, s->nbytes);
    return 0;
}

int mr__l3_tail_write(mr__call *call, const mr__l3_tail *tail, mr__buffer *out, size_t *out_nbytes)
{
    int result = 0;
    if (tail->icc != NULL)
        result = write_section(call, &(section){NAME_ICC, tail->icc, tail->icc_nbytes}, out, out_nbytes);
    if (result == 0 && tail->origin != NULL)
        result = write_section(call, &(section){NAME_ORIGIN, tail->origin, tail->origin_nbytes}, out, out_nbytes);
    return result;
}

int mr__l3_append(mr__call *call, mr__buffer *out, size_t *out_nbytes, size_t nbytes, uint8_t **at)
{
    size_t total;
    if (!mr__size_add(*out_nbytes, nbytes, &total))
        return mr__call_fail(call, MR_ELIMIT, "the L3 image does not fit the address space");
    if (mr__buffer_grow(out, call->hooks, *out_nbytes, total) != 0)
        return mr__call_no_memory(call);
    *at = out->bytes + *out_nbytes;
    *out_nbytes = total;
    return 0;
}
