// SPDX-License-Identifier: Apache-2.0
#include "dataset/tar_header.h"

#include <string.h>

/* Where the fields of a header stand. */
enum {
    NAME = 0,
    NAME_NBYTES = 100,
    MODE = 100,
    UID = 108,
    GID = 116,
    SIZE = 124,
    SIZE_NBYTES = 12,
    MTIME = 136,
    CHECKSUM = 148,
    CHECKSUM_NBYTES = 8,
    TYPE = 156,
    LINK = 157,
    MAGIC = 257,
    MAJOR = 329,
    MINOR = 337,
    PREFIX = 345,
    PREFIX_NBYTES = 155,
    STAR_PREFIX_NBYTES = 131, /* star has times behind it */
    SPARSE_EXTENDED = 482,    /* of GNU's sparse header */
    STAR_MAGIC = 508,
};

/* Octal digits, with spaces before them and a space or zero behind, unless the field is full. None at all are 0. */
static bool read_octal(const uint8_t *field, size_t nbytes, uint64_t *value)
{
    size_t i = 0;
    uint64_t v = 0;
    while (i < nbytes && field[i] == ' ')
        i++;
    for (; i < nbytes && field[i] >= '0' && field[i] <= '7'; i++) {
        if (v > (uint64_t)INT64_MAX >> 3)
            return false;
        v = v << 3 | (uint64_t)(field[i] - '0');
    }
    if (i < nbytes && field[i] != ' ' && field[i] != '\0')
        return false;
    *value = v;
    return true;
}

/* GNU's: the upper bit of the first byte is set, and the rest is a big-endian number. Negative ones give false. */
static bool read_number(const uint8_t *field, size_t nbytes, uint64_t *value)
{
    if ((field[0] & 0x80) == 0)
        return read_octal(field, nbytes, value);
    uint64_t v = field[0] & 0x7f;
    for (size_t i = 1; i < nbytes; i++) {
        if (v > (uint64_t)INT64_MAX >> 8)
            return false;
        v = v << 8 | field[i];
    }
    *value = v;
    return true;
}

/* As if the field of the checksum itself were spaces. */
static void sum_up(const uint8_t *block, uint32_t *plain, uint32_t *with_signs)
{
    uint32_t sum = 0, high = 0;
    for (size_t i = 0; i < MR__TAR_BLOCK; i++) {
        uint8_t byte = i >= CHECKSUM && i < CHECKSUM + CHECKSUM_NBYTES ? ' ' : block[i];
        sum += byte;
        high += byte >> 7;
    }
    *plain = sum;
    *with_signs = sum - 256 * high; /* modulo 2^32, as the stored number is taken too */
}

static bool check_sum(const uint8_t *block, mr__tar_header *header)
{
    uint32_t with_signs;
    uint64_t stored = 0;
    sum_up(block, &header->checksum, &with_signs);
    if (!read_octal(block + CHECKSUM, CHECKSUM_NBYTES, &stored))
        return false;
    header->stored_checksum = (uint32_t)stored;
    return header->stored_checksum == header->checksum || header->stored_checksum == with_signs;
}

static bool is_zero(const uint8_t *block)
{
    for (size_t i = 0; i < MR__TAR_BLOCK; i++)
        if (block[i] != 0)
            return false;
    return true;
}

static size_t field_nbytes(const uint8_t *field, size_t nbytes)
{
    const uint8_t *end = memchr(field, '\0', nbytes);
    return end != NULL ? (size_t)(end - field) : nbytes;
}

/* GNU's header has other things where ustar has the prefix; its magic ends in a space. */
static void read_name(const uint8_t *block, mr__tar_header *header)
{
    size_t prefix = 0, name = field_nbytes(block + NAME, NAME_NBYTES);
    if (memcmp(block + MAGIC, "ustar", 6) == 0) {
        bool star = memcmp(block + STAR_MAGIC, "tar", 4) == 0;
        prefix = field_nbytes(block + PREFIX, star ? STAR_PREFIX_NBYTES : PREFIX_NBYTES);
    }
    if (prefix != 0) {
        memcpy(header->name, block + PREFIX, prefix);
        header->name[prefix++] = '/';
    }
    memcpy(header->name + prefix, block + NAME, name);
    header->name_nbytes = prefix + name;
}

/* A header of v7 says that it is of a folder by a slash at the end of its name. */
static bool is_old_folder(const uint8_t *block)
{
    size_t name = field_nbytes(block + NAME, NAME_NBYTES);
    return name != 0 && block[NAME + name - 1] == '/';
}

static void read_type(const uint8_t *block, mr__tar_header *header)
{
    header->has_payload = true;
    switch (block[TYPE]) {
    case '\0':
        header->kind = is_old_folder(block) ? MR__TAR_OTHER : MR__TAR_FILE;
        header->has_payload = header->kind == MR__TAR_FILE;
        break;
    case '0':
    case '7': /* that should lie in one piece */
        header->kind = MR__TAR_FILE;
        break;
    case '1':
    case '2':
        header->kind = MR__TAR_LINK;
        header->has_payload = false;
        header->symbolic = block[TYPE] == '2';
        header->link_nbytes = field_nbytes(block + LINK, MR__TAR_LINK_MAX);
        memcpy(header->link, block + LINK, header->link_nbytes);
        break;
    case '3':
    case '4':
    case '5':
    case '6':
        header->kind = MR__TAR_OTHER;
        header->has_payload = false;
        break;
    case 'S':
        header->kind = MR__TAR_SPARSE;
        header->extended = block[SPARSE_EXTENDED] != 0;
        break;
    case 'M':
        header->kind = MR__TAR_CONTINUED;
        break;
    case 'x':
    case 'X': /* Solaris' */
        header->kind = MR__TAR_PAX;
        break;
    case 'g':
        header->kind = MR__TAR_PAX_GLOBAL;
        break;
    case 'L':
        header->kind = MR__TAR_LONG_NAME;
        break;
    case 'K':
        header->kind = MR__TAR_LONG_LINK;
        break;
    default:
        header->kind = MR__TAR_OTHER;
    }
}

void mr__tar_parse(const uint8_t block[MR__TAR_BLOCK], mr__tar_header *header)
{
    *header = (mr__tar_header){.kind = MR__TAR_BAD};
    if (is_zero(block)) {
        header->kind = MR__TAR_END;
        return;
    }
    if (!check_sum(block, header))
        return;
    read_type(block, header);
    read_name(block, header);
    if (header->has_payload && !read_number(block + SIZE, SIZE_NBYTES, &header->nbytes)) {
        header->kind = MR__TAR_BAD;
        header->no_size = true;
    }
}

bool mr__tar_sparse_extended(const uint8_t block[MR__TAR_BLOCK])
{
    enum { EXTENDED = 504 };
    return block[EXTENDED] != 0;
}

/* Digits alone, at least one. Stops at the first byte that is none. */
static bool read_decimal(const uint8_t *bytes, size_t nbytes, size_t *length, uint64_t *value)
{
    uint64_t v = 0;
    size_t i = 0;
    for (; i < nbytes && bytes[i] >= '0' && bytes[i] <= '9'; i++) {
        unsigned digit = (unsigned)(bytes[i] - '0');
        if (v > ((uint64_t)INT64_MAX - digit) / 10)
            return false;
        v = v * 10 + digit;
    }
    *length = i;
    *value = v;
    return i != 0;
}

static bool key_is(const uint8_t *key, size_t nbytes, const char *name)
{
    return nbytes == strlen(name) && memcmp(key, name, nbytes) == 0;
}

/* An empty value takes back what a global header said; there is nothing that we take from those. */
static const char *take_record(const uint8_t *key, size_t key_nbytes, const uint8_t *value, size_t value_nbytes,
                               mr__tar_pax *pax)
{
    static const char sparse[] = "GNU.sparse.";
    size_t length;
    if (key_nbytes >= sizeof sparse - 1 && memcmp(key, sparse, sizeof sparse - 1) == 0)
        pax->sparse = true;
    if (key_is(key, key_nbytes, "path") && value_nbytes != 0) {
        if (memchr(value, '\0', value_nbytes) != NULL)
            return "a path with a zero byte";
        pax->path = (const char *)value;
        pax->path_nbytes = value_nbytes;
    }
    if (key_is(key, key_nbytes, "size") && value_nbytes != 0) {
        if (!read_decimal(value, value_nbytes, &length, &pax->size) || length != value_nbytes)
            return "a size that is no number";
        pax->has_size = true;
    }
    return NULL;
}

const char *mr__tar_pax_read(const uint8_t *bytes, size_t nbytes, mr__tar_pax *pax, size_t *at)
{
    size_t i = 0;
    while (i < nbytes && bytes[i] != 0) { /* some writers count the zeros of the last block too */
        size_t digits;
        uint64_t length;
        *at = i;
        if (!read_decimal(bytes + i, nbytes - i, &digits, &length) || i + digits == nbytes || bytes[i + digits] != ' ')
            return "a record that does not begin with its length";
        if (length > nbytes - i)
            return "a record that is longer than the header";
        if (length < digits + 4 || bytes[i + (size_t)length - 1] != '\n') /* " k=\n" */
            return "a record that does not end where its length says";
        const uint8_t *key = bytes + i + digits + 1;
        const uint8_t *end = bytes + i + length - 1;
        const uint8_t *equals = memchr(key, '=', (size_t)(end - key));
        if (equals == NULL || equals == key)
            return "a record without a keyword and a value";
        const char *problem = take_record(key, (size_t)(equals - key), equals + 1, (size_t)(end - equals - 1), pax);
        if (problem != NULL)
            return problem;
        i += (size_t)length;
    }
    return NULL;
}

static size_t digits_of(size_t value)
{
    size_t digits = 1;
    for (; value >= 10; value /= 10)
        digits++;
    return digits;
}

size_t mr__tar_record_nbytes(size_t key_nbytes, size_t value_nbytes)
{
    size_t rest = key_nbytes + value_nbytes + 3; /* space, equals sign, line end */
    size_t nbytes = rest + digits_of(rest);
    return rest + digits_of(nbytes); /* one more digit where its own length made it longer */
}

/* `digits` of them, and the zero behind. */
static void write_octal(uint8_t *field, size_t digits, uint64_t value)
{
    field[digits] = '\0';
    while (digits-- != 0) {
        field[digits] = (uint8_t)('0' + (value & 7));
        value >>= 3;
    }
}

/* Where the name can be cut: the prefix ends before the slash that is found, the name begins behind it. 0: nowhere. */
static size_t find_cut(const char *name, size_t nbytes)
{
    for (size_t i = nbytes - NAME_NBYTES - 1; i <= PREFIX_NBYTES && i + 1 < nbytes; i++)
        if (name[i] == '/' && i != 0)
            return i;
    return 0;
}

static bool is_ascii(const char *name, size_t nbytes)
{
    for (size_t i = 0; i < nbytes; i++)
        if ((uint8_t)name[i] >= 0x80)
            return false;
    return true;
}

/* False: what stands there is a likeness, for readers that know nothing of pax. */
static bool write_name(uint8_t *block, const char *name, size_t nbytes)
{
    bool ascii = is_ascii(name, nbytes);
    size_t cut = 0;
    if (ascii && nbytes <= NAME_NBYTES) {
        memcpy(block + NAME, name, nbytes);
        return true;
    }
    if (ascii && nbytes <= PREFIX_NBYTES + 1 + NAME_NBYTES && (cut = find_cut(name, nbytes)) != 0) {
        memcpy(block + PREFIX, name, cut);
        memcpy(block + NAME, name + cut + 1, nbytes - cut - 1);
        return true;
    }
    size_t kept = nbytes < NAME_NBYTES ? nbytes : NAME_NBYTES;
    for (size_t i = 0; i < kept; i++) {
        char byte = name[nbytes - kept + i];
        block[NAME + i] = (uint8_t)byte < 0x80 ? (uint8_t)byte : '_';
    }
    return false;
}

unsigned mr__tar_format(uint8_t block[MR__TAR_BLOCK], const char *name, size_t name_nbytes, uint64_t nbytes, char type)
{
    enum { OCTAL = 7, LONG_OCTAL = 11, SUM_OCTAL = 6, READABLE = 0644 };
    unsigned lacks = 0;
    memset(block, 0, MR__TAR_BLOCK);
    if (!write_name(block, name, name_nbytes))
        lacks |= MR__TAR_LACKS_PATH;
    if (nbytes >> 3 * LONG_OCTAL != 0) {
        lacks |= MR__TAR_LACKS_SIZE;
        nbytes = 0;
    }
    write_octal(block + MODE, OCTAL, READABLE);
    write_octal(block + UID, OCTAL, 0);
    write_octal(block + GID, OCTAL, 0);
    write_octal(block + SIZE, LONG_OCTAL, nbytes);
    write_octal(block + MTIME, LONG_OCTAL, 0);
    block[TYPE] = (uint8_t)type;
    memcpy(block + MAGIC, "ustar\00000", 8);
    write_octal(block + MAJOR, OCTAL, 0);
    write_octal(block + MINOR, OCTAL, 0);
    uint32_t sum, with_signs;
    sum_up(block, &sum, &with_signs);
    write_octal(block + CHECKSUM, SUM_OCTAL, sum);
    block[CHECKSUM + CHECKSUM_NBYTES - 1] = ' ';
    return lacks;
}
