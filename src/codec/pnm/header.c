// SPDX-License-Identifier: Apache-2.0
#include "codec/pnm/pnm.h"

#include <string.h>

#define SIDE_MAX 0x7fffffffu

bool mr__pnm_is_space(int c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

int mr__pnm_next(mr__pnm_cursor *c)
{
    if (c->at >= c->nbytes)
        return -1;
    int byte = c->bytes[c->at++];
    if (byte != '#')
        return byte;
    while (c->at < c->nbytes) {
        byte = c->bytes[c->at++];
        if (byte == '\n' || byte == '\r')
            return byte;
    }
    return -1;
}

mr__pnm_found mr__pnm_number(mr__pnm_cursor *c, uint32_t *number, size_t *at)
{
    int byte = mr__pnm_next(c);
    while (mr__pnm_is_space(byte))
        byte = mr__pnm_next(c);
    *at = byte < 0 ? c->nbytes : c->at - 1;
    if (byte < 0)
        return MR__PNM_END;
    if (byte < '0' || byte > '9')
        return MR__PNM_JUNK;
    uint64_t value = 0;
    for (; byte >= '0' && byte <= '9'; byte = mr__pnm_next(c)) {
        value = value * 10 + (uint64_t)(byte - '0');
        if (value > UINT32_MAX)
            return MR__PNM_HUGE;
    }
    if (byte >= 0 && !mr__pnm_is_space(byte)) {
        *at = c->at - 1;
        return MR__PNM_JUNK;
    }
    c->cut = byte < 0;
    *number = (uint32_t)value;
    return MR__PNM_NUMBER;
}

static int check_range(mr__call *call, const char *what, uint32_t value, uint32_t max, size_t at)
{
    if (value < 1 || value > max)
        return mr__call_fail(call, MR_ECORRUPT, "damaged PNM: the %s at byte %zu is %u; it can be 1 to %u", what, at,
                             value, max);
    return 0;
}

static int read_field(mr__call *call, mr__pnm_cursor *c, const char *what, uint32_t max, uint32_t *out)
{
    size_t at;
    switch (mr__pnm_number(c, out, &at)) {
    case MR__PNM_NUMBER:
        return check_range(call, what, *out, max, at);
    case MR__PNM_END:
        return mr__call_fail(call, MR_ETRUNCATED, "truncated PNM: expected the %s at byte %zu", what, at);
    case MR__PNM_HUGE:
        return mr__call_fail(call, MR_ECORRUPT, "damaged PNM: the %s at byte %zu is more than %u", what, at, max);
    case MR__PNM_JUNK:
        break;
    }
    return mr__call_fail(call, MR_ECORRUPT, "damaged PNM: expected the %s, a number, at byte %zu, found byte value %u",
                         what, at, call->bytes[at]);
}

/* P1 to P6: width, height and, but for bits, maxval, then one white space. */
static int parse_pnm(mr__call *call, mr__pnm_cursor *c, int kind, mr__pnm_header *h)
{
    h->text = kind <= 3;
    h->bits = kind == 1 || kind == 4;
    h->channels = kind == 3 || kind == 6 ? 3 : 1;
    h->maxval = 1;
    int result = read_field(call, c, "width", SIDE_MAX, &h->width);
    if (result == 0)
        result = read_field(call, c, "height", SIDE_MAX, &h->height);
    if (result == 0 && !h->bits)
        result = read_field(call, c, "maxval", 65535, &h->maxval);
    if (result == 0 && c->cut)
        result = mr__call_fail(call, MR_ETRUNCATED, "truncated PNM: expected white space after the header at byte %zu",
                               c->nbytes);
    return result;
}

/* One line of a PAM header: where its words are. */
typedef struct line {
    size_t at; /* of the first word */
    size_t word_nbytes;
    size_t value_at; /* of what follows it, white space cut off on both sides */
    size_t value_nbytes;
} line;

/* The next line with a word in it that is no comment. */
static bool next_line(mr__pnm_cursor *c, line *out)
{
    const uint8_t *b = c->bytes;
    while (c->at < c->nbytes) {
        const uint8_t *newline = memchr(b + c->at, '\n', c->nbytes - c->at);
        if (newline == NULL)
            return false;
        size_t at = c->at, end = (size_t)(newline - b);
        c->at = end + 1;
        while (at < end && mr__pnm_is_space(b[at]))
            at++;
        while (at < end && mr__pnm_is_space(b[end - 1]))
            end--;
        if (at == end || b[at] == '#')
            continue;
        size_t word_end = at;
        while (word_end < end && !mr__pnm_is_space(b[word_end]))
            word_end++;
        size_t value = word_end;
        while (value < end && mr__pnm_is_space(b[value]))
            value++;
        *out = (line){at, word_end - at, value, end - value};
        return true;
    }
    return false;
}

static bool is_word(const uint8_t *bytes, size_t nbytes, const char *word)
{
    return strlen(word) == nbytes && memcmp(bytes, word, nbytes) == 0;
}

/* The fields of a PAM header, in the order of `pam_fields`. */
enum { PAM_WIDTH, PAM_HEIGHT, PAM_DEPTH, PAM_MAXVAL, PAM_FIELDS };
static const struct pam_field {
    const char *key;
    uint32_t max;
} pam_fields[PAM_FIELDS] = {{"WIDTH", SIDE_MAX}, {"HEIGHT", SIDE_MAX}, {"DEPTH", SIDE_MAX}, {"MAXVAL", 65535}};

typedef struct pam {
    uint32_t field[PAM_FIELDS]; /* 0: not given yet */
    size_t depth_at;
    line type; /* of TUPLTYPE; word_nbytes 0: not given */
} pam;

static int read_pam_number(mr__call *call, const line *l, int i, pam *p)
{
    if (p->field[i] != 0)
        return mr__call_fail(call, MR_ECORRUPT, "damaged PAM: a second %s at byte %zu", pam_fields[i].key, l->at);
    if (i == PAM_DEPTH)
        p->depth_at = l->value_at;
    mr__pnm_cursor c = {.bytes = call->bytes, .nbytes = l->value_at + l->value_nbytes, .at = l->value_at};
    int result = read_field(call, &c, pam_fields[i].key, pam_fields[i].max, &p->field[i]);
    if (result == MR_ETRUNCATED || (result == 0 && c.at != c.nbytes))
        result = mr__call_fail(call, MR_ECORRUPT, "damaged PAM: the %s at byte %zu is not one number",
                               pam_fields[i].key, l->value_at);
    return result;
}

static int read_pam_line(mr__call *call, const line *l, pam *p)
{
    const uint8_t *word = call->bytes + l->at;
    for (int i = 0; i < PAM_FIELDS; i++)
        if (is_word(word, l->word_nbytes, pam_fields[i].key))
            return read_pam_number(call, l, i, p);
    if (!is_word(word, l->word_nbytes, "TUPLTYPE"))
        return mr__call_fail(call, MR_ECORRUPT, "damaged PAM: an unknown header line at byte %zu", l->at);
    if (p->type.word_nbytes != 0)
        return mr__call_fail(call, MR_EUNSUPPORTED, "PAM with a second TUPLTYPE at byte %zu", l->at);
    p->type = *l;
    return 0;
}

/* Whether the tuple type, or without one the depth, is an image that we have. */
static int check_type(mr__call *call, const pam *p)
{
    static const struct {
        const char *name;
        uint32_t depth;
    } known[] = {{"BLACKANDWHITE", 1}, {"GRAYSCALE", 1},       {"BLACKANDWHITE_ALPHA", 2},
                 {"RGB", 3},           {"GRAYSCALE_ALPHA", 2}, {"RGB_ALPHA", 4}};
    uint32_t depth = p->field[PAM_DEPTH];
    if (p->type.value_nbytes == 0) {
        if (depth <= 4)
            return 0;
        return mr__call_fail(call, MR_EUNSUPPORTED, "PAM of depth %u at byte %zu; 1 to 4 are supported", depth,
                             p->depth_at);
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].depth == depth && is_word(call->bytes + p->type.value_at, p->type.value_nbytes, known[i].name))
            return 0;
    return mr__call_fail(call, MR_EUNSUPPORTED,
                         "PAM of depth %u with the TUPLTYPE at byte %zu; gray and RGB are supported, with and without "
                         "alpha",
                         depth, p->type.value_at);
}

static int parse_pam(mr__call *call, mr__pnm_cursor *c, mr__pnm_header *h)
{
    pam p = {0};
    line l;
    for (;;) {
        if (!next_line(c, &l))
            return mr__call_fail(call, MR_ETRUNCATED, "truncated PAM: expected the line ENDHDR before byte %zu",
                                 c->nbytes);
        if (is_word(call->bytes + l.at, l.word_nbytes, "ENDHDR"))
            break;
        int result = read_pam_line(call, &l, &p);
        if (result != 0)
            return result;
    }
    for (int i = 0; i < PAM_FIELDS; i++)
        if (p.field[i] == 0)
            return mr__call_fail(call, MR_ECORRUPT, "damaged PAM: no %s before ENDHDR at byte %zu", pam_fields[i].key,
                                 l.at);
    h->width = p.field[PAM_WIDTH];
    h->height = p.field[PAM_HEIGHT];
    h->channels = p.field[PAM_DEPTH];
    h->maxval = p.field[PAM_MAXVAL];
    return check_type(call, &p);
}

int mr__pnm_parse(mr__call *call, mr__pnm_header *header)
{
    mr__pnm_cursor c = {.bytes = call->bytes, .nbytes = call->nbytes, .at = 2};
    *header = (mr__pnm_header){0};
    int kind = call->bytes[1] - '0';
    int result = kind == 7 ? parse_pam(call, &c, header) : parse_pnm(call, &c, kind, header);
    header->raster = c.at;
    return result;
}
