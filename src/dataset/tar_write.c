// SPDX-License-Identifier: Apache-2.0
#include "dataset/tar_write.h"

#include "base/error.h"
#include "base/size.h"

#include <string.h>

/* The shortest record: "12 comment=\n". */
enum { COMMENT_MIN = 12, SIZE_DIGITS = 20 };

static const char pax_name[] = "././@PaxHeader";

/* What goes before a payload. */
typedef struct head {
    const char *name;
    size_t name_nbytes;
    char size[SIZE_DIGITS];
    size_t size_digits;
    unsigned lacks;
    size_t records_nbytes; /* of path and size */
    size_t comment_nbytes; /* of the record, 0: none */
    size_t pax_nbytes;     /* of all records; 0: no pax header */
} head;

static size_t write_decimal(char *to, uint64_t value)
{
    char digits[SIZE_DIGITS];
    size_t n = 0;
    do
        digits[n++] = (char)('0' + value % 10);
    while ((value /= 10) != 0);
    for (size_t i = 0; i < n; i++)
        to[i] = digits[n - 1 - i];
    return n;
}

/* `nbytes` is the length of all of it; what the value leaves is filled with spaces. */
static uint8_t *write_record(uint8_t *to, size_t nbytes, const char *key, const char *value, size_t value_nbytes)
{
    uint8_t *end = to + nbytes;
    to += write_decimal((char *)to, nbytes);
    *to++ = ' ';
    memcpy(to, key, strlen(key));
    to += strlen(key);
    *to++ = '=';
    memcpy(to, value, value_nbytes);
    to += value_nbytes;
    memset(to, ' ', (size_t)(end - 1 - to));
    end[-1] = '\n';
    return end;
}

/*
 * Pax header, k blocks of records and header end on the alignment. The comment fills them to the last byte: a record of
 * any length from COMMENT_MIN on can be made, and where there is less room than that, k is a round larger.
 */
static void plan_pax(head *h, uint64_t position, size_t alignment)
{
    if (alignment <= MR__TAR_BLOCK || (h->lacks == 0 && (position + MR__TAR_BLOCK) % alignment == 0)) {
        h->pax_nbytes = h->records_nbytes;
        return;
    }
    uint64_t fixed = position + 2 * MR__TAR_BLOCK;
    size_t room = alignment - (size_t)(fixed % alignment); /* 1 to 8 blocks, of 4096 */
    while (room < h->records_nbytes || (room != h->records_nbytes && room - h->records_nbytes < COMMENT_MIN))
        room += alignment;
    h->comment_nbytes = room - h->records_nbytes;
    h->pax_nbytes = room;
}

static void write_pax(const head *h, uint8_t *to)
{
    mr__tar_format(to, pax_name, sizeof pax_name - 1, h->pax_nbytes, 'x');
    to += MR__TAR_BLOCK;
    uint8_t *end = to + mr__tar_round(h->pax_nbytes);
    if (h->lacks & MR__TAR_LACKS_PATH)
        to = write_record(to, mr__tar_record_nbytes(4, h->name_nbytes), "path", h->name, h->name_nbytes);
    if (h->lacks & MR__TAR_LACKS_SIZE)
        to = write_record(to, mr__tar_record_nbytes(4, h->size_digits), "size", h->size, h->size_digits);
    if (h->comment_nbytes != 0)
        to = write_record(to, h->comment_nbytes, "comment", "", 0);
    memset(to, 0, (size_t)(end - to));
}

static bool is_possible(uint64_t position, const char *name, size_t name_nbytes, uint64_t nbytes, size_t alignment)
{
    bool aligned = alignment == 0 || (alignment >= MR__TAR_BLOCK && (alignment & (alignment - 1)) == 0 &&
                                      alignment <= MR__TAR_EXTRA_MAX / 2);
    return aligned && position % MR__TAR_BLOCK == 0 && position <= INT64_MAX && nbytes <= INT64_MAX &&
           name_nbytes != 0 && name_nbytes <= MR__TAR_PATH_MAX && memchr(name, '\0', name_nbytes) == NULL;
}

static int make_room(mr__buffer *to, const mr_hooks *hooks, size_t used, size_t more)
{
    size_t nbytes;
    return mr__size_add(used, more, &nbytes) ? mr__buffer_grow(to, hooks, used, nbytes) : MR_ENOMEM;
}

int mr__tar_write_head(mr__buffer *to, const mr_hooks *hooks, size_t *used, uint64_t position, const char *name,
                       size_t name_nbytes, uint64_t nbytes, size_t alignment)
{
    if (!is_possible(position, name, name_nbytes, nbytes, alignment))
        return MR_EARGUMENT;
    uint8_t own[MR__TAR_BLOCK];
    head h = {.name = name, .name_nbytes = name_nbytes};
    h.lacks = mr__tar_format(own, name, name_nbytes, nbytes, '0');
    h.size_digits = write_decimal(h.size, nbytes);
    if (h.lacks & MR__TAR_LACKS_PATH)
        h.records_nbytes += mr__tar_record_nbytes(4, name_nbytes);
    if (h.lacks & MR__TAR_LACKS_SIZE)
        h.records_nbytes += mr__tar_record_nbytes(4, h.size_digits);
    plan_pax(&h, position, alignment);
    size_t before = h.pax_nbytes != 0 ? MR__TAR_BLOCK + (size_t)mr__tar_round(h.pax_nbytes) : 0;
    int result = make_room(to, hooks, *used, before + MR__TAR_BLOCK);
    if (result != 0)
        return result;
    if (before != 0)
        write_pax(&h, to->bytes + *used);
    memcpy(to->bytes + *used + before, own, MR__TAR_BLOCK);
    *used += before + MR__TAR_BLOCK;
    return 0;
}

static int write_zeros(mr__buffer *to, const mr_hooks *hooks, size_t *used, size_t nbytes)
{
    int result = make_room(to, hooks, *used, nbytes);
    if (result != 0)
        return result;
    if (nbytes != 0)
        memset(to->bytes + *used, 0, nbytes);
    *used += nbytes;
    return 0;
}

int mr__tar_write_padding(mr__buffer *to, const mr_hooks *hooks, size_t *used, uint64_t nbytes)
{
    size_t beyond = (size_t)(nbytes % MR__TAR_BLOCK);
    return write_zeros(to, hooks, used, beyond != 0 ? MR__TAR_BLOCK - beyond : 0);
}

int mr__tar_write_end(mr__buffer *to, const mr_hooks *hooks, size_t *used)
{
    return write_zeros(to, hooks, used, 2 * MR__TAR_BLOCK);
}
