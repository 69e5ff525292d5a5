// SPDX-License-Identifier: Apache-2.0
#include "dataset/example.h"

#include "base/bytes.h"

#include <string.h>

/* Wire types of protobuf. */
enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };
enum { VARINT_NBYTES_MAX = 10 };
#define FIELD_NUMBER_MAX ((UINT32_C(1) << 29) - 1)

/* A part of the file that is being read. */
typedef struct part {
    uint64_t at, end;
} part;

typedef struct field {
    uint32_t number;
    unsigned wire;
    uint64_t value; /* VARINT, FIXED32, FIXED64 */
    part body;      /* BYTES */
} field;

static int fail(mr__example *e, int code, uint64_t at, const char *problem)
{
    e->problem = problem;
    e->problem_at = at;
    return code;
}

/* Up to `most` bytes of the part, from its beginning on. */
static int look(mr__example *e, const part *p, size_t most, const uint8_t **bytes, size_t *got)
{
    size_t wanted = p->end - p->at < most ? (size_t)(p->end - p->at) : most;
    *bytes = mr__window_get(e->window, p->at, wanted, got);
    if (*bytes == NULL)
        return e->window->error == MR__WINDOW_NOMEM ? MR_ENOMEM : MR_EIO;
    if (*got < wanted)
        return fail(e, MR_ECORRUPT, p->at + *got, "the file ends there, it was cut while it was read");
    return 0;
}

static int read_varint(mr__example *e, part *p, uint64_t *value)
{
    const uint8_t *bytes;
    size_t got;
    int result = look(e, p, VARINT_NBYTES_MAX, &bytes, &got);
    if (result != 0)
        return result;
    uint64_t sum = 0;
    for (size_t i = 0; i < got; i++) {
        sum |= (uint64_t)(bytes[i] & 127) << 7 * i; // what does not fit 64 bits is dropped, as protobuf does
        if (bytes[i] < 128) {
            p->at += i + 1;
            *value = sum;
            return 0;
        }
    }
    return fail(e, MR_ECORRUPT, p->at,
                got == VARINT_NBYTES_MAX ? "a number has more than 10 bytes" : "a number is cut");
}

static int read_fixed(mr__example *e, part *p, size_t nbytes, uint64_t *value)
{
    const uint8_t *bytes;
    size_t got;
    int result = look(e, p, nbytes, &bytes, &got);
    if (result != 0)
        return result;
    if (got < nbytes)
        return fail(e, MR_ECORRUPT, p->at, "a number is cut");
    *value = nbytes == 4 ? mr__load_le32(bytes) : mr__load_le64(bytes);
    p->at += nbytes;
    return 0;
}

static int read_body(mr__example *e, part *p, part *body)
{
    uint64_t at = p->at, nbytes = 0;
    int result = read_varint(e, p, &nbytes);
    if (result != 0)
        return result;
    if (nbytes > p->end - p->at)
        return fail(e, MR_ECORRUPT, at, "a length reaches beyond what it is in");
    *body = (part){p->at, p->at + nbytes};
    p->at += nbytes;
    return 0;
}

/* 1: there is a field; 0: the part is at its end. */
static int next_field(mr__example *e, part *p, field *f)
{
    if (p->at == p->end)
        return 0;
    uint64_t at = p->at, tag = 0;
    int result = read_varint(e, p, &tag);
    if (result != 0)
        return result;
    *f = (field){.wire = (unsigned)(tag & 7)};
    if (tag >> 3 == 0 || tag >> 3 > FIELD_NUMBER_MAX)
        return fail(e, MR_ECORRUPT, at, "there is no field of such a number");
    f->number = (uint32_t)(tag >> 3);
    switch (f->wire) {
    case VARINT:
        result = read_varint(e, p, &f->value);
        break;
    case FIXED64:
        result = read_fixed(e, p, 8, &f->value);
        break;
    case FIXED32:
        result = read_fixed(e, p, 4, &f->value);
        break;
    case BYTES:
        result = read_body(e, p, &f->body);
        break;
    case 3:
    case 4:
        return fail(e, MR_EUNSUPPORTED, at, "there is a group, which is not supported");
    default:
        return fail(e, MR_ECORRUPT, at, "there is no such wire type");
    }
    return result != 0 ? result : 1;
}

void mr__example_fini(mr__example *example)
{
    mr__buffer_fini(&example->names, example->window->hooks);
    mr__buffer_fini(&example->numbers, example->window->hooks);
}

static const char *name_of(const mr__example *e, const mr__feature *feature)
{
    return (const char *)e->names.bytes + feature->name;
}

/* Behind the names, where it is not yet one of them. */
static int copy_name(mr__example *e, part name)
{
    size_t nbytes = (size_t)(name.end - name.at), got;
    if (name.end - name.at > MR__EXAMPLE_NAME_MAX - e->names_nbytes)
        return fail(e, MR_ELIMIT, name.at, "the names of the features are longer than a mebibyte");
    const uint8_t *bytes;
    int result = look(e, &name, nbytes, &bytes, &got);
    if (result != 0)
        return result;
    if (nbytes != 0 && memchr(bytes, '\0', nbytes) != NULL)
        return fail(e, MR_ECORRUPT, name.at, "the name of a feature has a zero in it");
    // The window's bytes stay: growing another buffer does not touch them.
    result = mr__buffer_grow(&e->names, e->window->hooks, e->names_nbytes, e->names_nbytes + nbytes + 1);
    if (result == 0 && nbytes != 0)
        memcpy(e->names.bytes + e->names_nbytes, bytes, nbytes);
    return result;
}

/* The name that copy_name has just put behind the others. */
static int add_feature(mr__example *e, uint64_t at, size_t name_nbytes, part body)
{
    const uint8_t *name = e->names.bytes + e->names_nbytes;
    mr__feature *to = e->features;
    while (to < e->features + e->count &&
           (to->name_nbytes != name_nbytes || memcmp(e->names.bytes + to->name, name, name_nbytes) != 0))
        to++;
    if (to == e->features + MR__EXAMPLE_FEATURE_MAX)
        return fail(e, MR_ELIMIT, at, "there are more features than 259, as many as a sample may have");
    if (to == e->features + e->count) {
        *to = (mr__feature){.name = e->names_nbytes, .name_nbytes = name_nbytes};
        e->names_nbytes += name_nbytes;
        e->count++;
    }
    to->offset = body.at;
    to->nbytes = body.end - body.at;
    return 0;
}

/* One entry of the map. What it lacks is empty. */
static int read_entry(mr__example *e, part entry)
{
    part name = {entry.at, entry.at}, value = {entry.end, entry.end};
    uint64_t at = entry.at;
    field f;
    int more;
    while ((more = next_field(e, &entry, &f)) > 0) {
        if (f.wire == BYTES && f.number == 1)
            name = f.body;
        else if (f.wire == BYTES && f.number == 2)
            value = f.body;
    }
    int result = more != 0 ? more : copy_name(e, name);
    return result != 0 ? result : add_feature(e, at, (size_t)(name.end - name.at), value);
}

static int read_features(mr__example *e, part features, size_t *entries)
{
    field f;
    int more;
    while ((more = next_field(e, &features, &f)) > 0) {
        if (f.wire != BYTES || f.number != 1)
            continue;
        if (++*entries > MR__EXAMPLE_ENTRY_MAX)
            return fail(e, MR_ELIMIT, f.body.at, "there are more than 65536 entries in its features");
        int result = read_entry(e, f.body);
        if (result != 0)
            return result;
    }
    return more;
}

int mr__example_read(mr__example *example, uint64_t offset, uint64_t nbytes)
{
    part all = {offset, offset + nbytes};
    size_t entries = 0;
    field f;
    int more;
    example->count = example->names_nbytes = 0;
    while ((more = next_field(example, &all, &f)) > 0) {
        int result = f.wire == BYTES && f.number == 1 ? read_features(example, f.body, &entries) : 0;
        if (result != 0)
            return result;
    }
    return more;
}

const mr__feature *mr__example_find(const mr__example *example, const char *name)
{
    size_t nbytes = strlen(name);
    bool begins = nbytes != 0 && name[nbytes - 1] == '/';
    for (const mr__feature *f = example->features; f < example->features + example->count; f++)
        if ((begins ? f->name_nbytes > nbytes : f->name_nbytes == nbytes) &&
            memcmp(name_of(example, f), name, nbytes) == 0)
            return f;
    return NULL;
}

/* Behind the numbers that are there. */
static int add_number(mr__example *e, size_t most, mr__feature_value *value, uint64_t at, uint64_t bits)
{
    if (value->count >= most)
        return fail(e, MR_ELIMIT, at, "a feature has more values than a label may have");
    size_t used = value->count * 8;
    int result = mr__buffer_grow(&e->numbers, e->window->hooks, used, used + 8);
    if (result != 0)
        return result;
    if (value->kind == MR__FEATURE_FLOATS) {
        uint32_t narrow = (uint32_t)bits;
        float number;
        memcpy(&number, &narrow, sizeof number);
        double wide = number;
        memcpy(&bits, &wide, sizeof bits);
    }
    mr__store_le64(e->numbers.bytes + used, bits);
    value->count++;
    return 0;
}

static int read_packed(mr__example *e, part packed, size_t most, mr__feature_value *value)
{
    int result = 0;
    while (result == 0 && packed.at < packed.end) {
        uint64_t at = packed.at, bits = 0;
        result = value->kind == MR__FEATURE_INTS ? read_varint(e, &packed, &bits) : read_fixed(e, &packed, 4, &bits);
        if (result == 0)
            result = add_number(e, most, value, at, bits);
    }
    return result;
}

/* The values of one list, behind those of the lists before it. */
static int read_list(mr__example *e, part list, size_t most, mr__feature_value *value)
{
    unsigned wire = value->kind == MR__FEATURE_INTS ? VARINT : value->kind == MR__FEATURE_FLOATS ? FIXED32 : BYTES;
    field f;
    int more, result = 0;
    uint64_t at = list.at;
    while (result == 0 && (more = next_field(e, &list, &f)) != 0) {
        if (more < 0)
            return more;
        if (f.number == 1 && f.wire == wire && wire == BYTES) {
            if (value->count++ == 0) {
                value->offset = f.body.at;
                value->nbytes = f.body.end - f.body.at;
            }
        } else if (f.number == 1 && f.wire == wire) {
            result = add_number(e, most, value, at, f.value);
        } else if (f.number == 1 && f.wire == BYTES) {
            result = read_packed(e, f.body, most, value);
        }
        at = list.at;
    }
    return result;
}

int mr__example_value(mr__example *example, const mr__feature *feature, size_t most, mr__feature_value *value)
{
    part all = {feature->offset, feature->offset + feature->nbytes};
    field f;
    int more;
    *value = (mr__feature_value){.kind = MR__FEATURE_NONE};
    while ((more = next_field(example, &all, &f)) > 0) {
        if (f.wire != BYTES || f.number > 3)
            continue;
        if (value->kind != (mr__feature_kind)f.number)
            *value = (mr__feature_value){.kind = (mr__feature_kind)f.number};
        int result = read_list(example, f.body, most, value);
        if (result != 0)
            return result;
    }
    return more;
}
