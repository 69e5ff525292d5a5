// SPDX-License-Identifier: Apache-2.0
/*
 * A text is what stands before its first group, the group, and the rest, which is looked at in the same way. A group
 * goes from a brace to the one that closes it, and has a comma or two dots in between that no inner group has. The list
 * of a text is the product of the lists of its parts: backslashes stay in there until the end.
 */
#include "dataset/braces.h"

#include "base/size.h"

#include <stdlib.h>
#include <string.h>

typedef struct span {
    const char *text;
    size_t nbytes;
} span;

typedef struct expansion {
    const mr_hooks *hooks;
    mr__detail *detail;
    const char *whole; /* for messages */
} expansion;

/* first, first + step, ..., count of them; with at least `width` characters. */
typedef struct sequence {
    int64_t first, step;
    uint64_t count;
    size_t width;
    bool letters;
} sequence;

static int expand(const expansion *e, span text, unsigned depth, mr__names *to);

static int fail_memory(const expansion *e)
{
    return mr__fail(e->detail, MR_ENOMEM, "out of memory for the names that %.100s stands for", e->whole);
}

static int fail_many(const expansion *e)
{
    return mr__fail(e->detail, MR_ELIMIT, "%.100s stands for more than %d names, or more than %d MiB of them", e->whole,
                    MR__NAMES_MAX, MR__NAMES_NBYTES_MAX >> 20);
}

/* Room for one more name, with its zero. */
static int make_room(const expansion *e, mr__names *to, size_t name_nbytes)
{
    if (to->count == MR__NAMES_MAX || name_nbytes >= MR__NAMES_NBYTES_MAX - to->nbytes)
        return fail_many(e);
    if (mr__buffer_grow(&to->buffer, e->hooks, to->nbytes, to->nbytes + name_nbytes + 1) != 0)
        return fail_memory(e);
    return 0;
}

/* The name a and b give together. */
static int append(const expansion *e, mr__names *to, span a, span b)
{
    int result = make_room(e, to, a.nbytes + b.nbytes);
    if (result != 0)
        return result;
    uint8_t *end = to->buffer.bytes + to->nbytes;
    memcpy(end, a.text, a.nbytes);
    memcpy(end + a.nbytes, b.text, b.nbytes);
    end[a.nbytes + b.nbytes] = '\0';
    to->nbytes += a.nbytes + b.nbytes + 1;
    to->count++;
    return 0;
}

int mr__names_add(mr__names *names, const mr_hooks *hooks, const char *name, mr__detail *detail)
{
    const expansion e = {.hooks = hooks, .detail = detail, .whole = name};
    return append(&e, names, (span){name, strlen(name)}, (span){"", 0});
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int mr__names_sort(mr__names *names, const mr_hooks *hooks)
{
    const char **list = mr__alloc_array(hooks, names->count + 1, sizeof *list);
    uint8_t *bytes = mr__alloc(hooks, names->nbytes + 1), *to = bytes;
    size_t count = 0;
    if (list != NULL && bytes != NULL) {
        for (const char *name = NULL; (name = mr__names_next(names, name)) != NULL;)
            list[count++] = name;
        qsort(list, count, sizeof *list, compare_names);
        for (size_t i = 0; i < count; i++) {
            size_t nbytes = strlen(list[i]) + 1;
            memcpy(to, list[i], nbytes);
            to += nbytes;
        }
        if (names->nbytes != 0)
            memcpy(names->buffer.bytes, bytes, names->nbytes);
    }
    int result = list != NULL && bytes != NULL ? 0 : MR_ENOMEM;
    mr__free(hooks, (void *)list);
    mr__free(hooks, bytes);
    return result;
}

/* Each of `a`, with each of `b` behind it. */
static int multiply(const expansion *e, const mr__names *a, const mr__names *b, mr__names *to)
{
    for (const char *x = NULL; (x = mr__names_next(a, x)) != NULL;)
        for (const char *y = NULL; (y = mr__names_next(b, y)) != NULL;) {
            int result = append(e, to, (span){x, strlen(x)}, (span){y, strlen(y)});
            if (result != 0)
                return result;
        }
    return 0;
}

/*
 * Where the group that opens before `at` closes; text.nbytes if it does not. A closing brace counts only behind a comma
 * or dots: "{a}b,c}" is a group of two, as bash has it.
 */
static size_t find_close(span text, size_t at)
{
    size_t level = 0;
    bool parts = false;
    for (size_t i = at; i < text.nbytes; i++) {
        char c = text.text[i];
        if (c == '\\')
            i++;
        else if (c == '}' && level == 0 && parts)
            return i;
        else if (c == '{')
            level++;
        else if (c == '}' && level != 0)
            level--;
        else if (c == ',' && level == 0)
            parts = true;
        else if (c == '.' && level == 0 && i + 1 < text.nbytes && text.text[i + 1] == '.')
            parts = parts || (i + 2 < text.nbytes && text.text[i + 2] != '}');
    }
    return text.nbytes;
}

/* The first group: its opening and closing brace. False: there is none. */
static bool find_group(span text, size_t *open, size_t *close)
{
    for (size_t i = 0; i < text.nbytes; i++) {
        if (text.text[i] == '\\')
            i++;
        else if (text.text[i] == '{' && !(i == 0 && text.nbytes > 1 && text.text[1] == '}')) {
            *open = i;
            *close = find_close(text, i + 1);
            if (*close < text.nbytes)
                return true;
        }
    }
    return false;
}

/* The first comma from `at` on, outside of inner braces if `outside`; text.nbytes if there is none. */
static size_t find_comma(span text, size_t at, bool outside)
{
    size_t level = 0;
    for (size_t i = at; i < text.nbytes; i++) {
        char c = text.text[i];
        if (c == '\\')
            i++;
        else if (c == ',' && (level == 0 || !outside))
            return i;
        else if (c == '{')
            level++;
        else if (c == '}' && level != 0)
            level--;
    }
    return text.nbytes;
}

static int expand_list(const expansion *e, span group, unsigned depth, mr__names *to)
{
    for (size_t at = 0; at <= group.nbytes;) {
        size_t comma = find_comma(group, at, true);
        int result = expand(e, (span){group.text + at, comma - at}, depth + 1, to);
        if (result != 0)
            return result;
        at = comma + 1;
    }
    return 0;
}

/* A whole number with an optional sign. */
static bool read_number(span text, int64_t *value)
{
    size_t sign = text.nbytes != 0 && (text.text[0] == '-' || text.text[0] == '+');
    bool negative = sign && text.text[0] == '-';
    uint64_t v = 0;
    for (size_t i = sign; i < text.nbytes; i++) {
        unsigned digit = (unsigned)(text.text[i] - '0');
        if (digit > 9 || v > ((uint64_t)INT64_MAX - digit) / 10)
            return false;
        v = v * 10 + digit;
    }
    *value = negative ? -(int64_t)v : (int64_t)v;
    return text.nbytes > sign;
}

static bool has_zeros(span number)
{
    size_t sign = number.text[0] == '-';
    return number.nbytes > sign + 1 && number.text[sign] == '0';
}

static bool is_letter(span text)
{
    char c = (char)(text.text[0] | 0x20);
    return text.nbytes == 1 && c >= 'a' && c <= 'z';
}

/* The part up to the next two dots, or the end; *rest is what is behind them (text NULL: nothing). */
static span cut_at_dots(span text, span *rest)
{
    for (size_t i = 0; i + 1 < text.nbytes; i++)
        if (text.text[i] == '.' && text.text[i + 1] == '.') {
            *rest = (span){text.text + i + 2, text.nbytes - i - 2};
            return (span){text.text, i};
        }
    *rest = (span){NULL, 0};
    return text;
}

/* The step goes where the end is, whatever its sign; 0 is 1. */
static void set_count(sequence *s, int64_t last, int64_t step)
{
    uint64_t way = s->first <= last ? (uint64_t)last - (uint64_t)s->first : (uint64_t)s->first - (uint64_t)last;
    uint64_t stride = step < 0 ? (uint64_t)-step : step == 0 ? 1 : (uint64_t)step;
    s->count = way / stride;
    s->step = s->first <= last ? (int64_t)stride : -(int64_t)stride;
}

/* "first..last", "first..last..step": numbers, or letters of one case. `count` is one less than there are. */
static bool read_sequence(span group, sequence *s)
{
    span last_text, step_text, rest;
    span first_text = cut_at_dots(group, &last_text);
    int64_t last, step = 1;
    if (last_text.text == NULL || first_text.nbytes == 0)
        return false;
    last_text = cut_at_dots(last_text, &step_text);
    if (last_text.nbytes == 0)
        return false;
    if (step_text.text != NULL) {
        step_text = cut_at_dots(step_text, &rest);
        if (rest.text != NULL || !read_number(step_text, &step))
            return false;
    }
    *s = (sequence){0};
    if (read_number(first_text, &s->first) && read_number(last_text, &last)) {
        if (has_zeros(first_text) || has_zeros(last_text))
            s->width = first_text.nbytes > last_text.nbytes ? first_text.nbytes : last_text.nbytes;
    } else if (is_letter(first_text) && is_letter(last_text) &&
               ((first_text.text[0] ^ last_text.text[0]) & 0x20) == 0) {
        s->letters = true;
        s->first = first_text.text[0];
        last = last_text.text[0];
    } else {
        return false;
    }
    set_count(s, last, step);
    return true;
}

/* Zeros stand between the sign and the number, and the sign counts for the width. */
static int append_number(const expansion *e, mr__names *to, int64_t value, size_t width)
{
    enum { DIGITS = 20 };
    char digits[DIGITS];
    size_t n = 0, sign = value < 0;
    uint64_t v = value < 0 ? (uint64_t)-value : (uint64_t)value;
    do
        digits[DIGITS - ++n] = (char)('0' + v % 10);
    while ((v /= 10) != 0);
    size_t zeros = width > n + sign ? width - n - sign : 0;
    int result = make_room(e, to, sign + zeros + n);
    if (result != 0)
        return result;
    uint8_t *end = to->buffer.bytes + to->nbytes;
    memset(end, '-', sign);
    memset(end + sign, '0', zeros);
    memcpy(end + sign + zeros, digits + DIGITS - n, n);
    end[sign + zeros + n] = '\0';
    to->nbytes += sign + zeros + n + 1;
    to->count++;
    return 0;
}

static int expand_sequence(const expansion *e, const sequence *s, mr__names *to)
{
    if (s->count >= MR__NAMES_MAX)
        return fail_many(e);
    for (uint64_t i = 0; i <= s->count; i++) {
        int64_t value = s->first + (int64_t)i * s->step; /* not beyond the last, which fits */
        char letter = (char)value;
        int result =
            s->letters ? append(e, to, (span){&letter, 1}, (span){"", 0}) : append_number(e, to, value, s->width);
        if (result != 0)
            return result;
    }
    return 0;
}

/* `group` is without its braces. A sequence that is none stays, braces and all. */
static int expand_group(const expansion *e, span group, unsigned depth, mr__names *to)
{
    sequence s;
    if (find_comma(group, 0, false) < group.nbytes)
        return expand_list(e, group, depth, to);
    if (read_sequence(group, &s))
        return expand_sequence(e, &s, to);
    return append(e, to, (span){group.text - 1, group.nbytes + 2}, (span){"", 0});
}

/* *all becomes all of it with the list of this group behind each. */
static int add_group(const expansion *e, span before, span group, unsigned depth, mr__names *all)
{
    mr__names heads = {{0}, 0, 0}, tails = {{0}, 0, 0}, more = {{0}, 0, 0};
    mr__names literal = {{0}, 0, 0};
    int result = append(e, &literal, before, (span){"", 0});
    if (result == 0)
        result = multiply(e, all, &literal, &heads);
    if (result == 0)
        result = expand_group(e, group, depth, &tails);
    if (result == 0)
        result = multiply(e, &heads, &tails, &more);
    mr__names_fini(&literal, e->hooks);
    mr__names_fini(&heads, e->hooks);
    mr__names_fini(&tails, e->hooks);
    mr__names_fini(all, e->hooks);
    *all = more;
    return result;
}

/* Appends the list of `text` to `to`. */
static int expand(const expansion *e, span text, unsigned depth, mr__names *to)
{
    mr__names all = {{0}, 0, 0}, last = {{0}, 0, 0};
    size_t open, close;
    if (depth > MR__BRACES_DEPTH_MAX)
        return mr__fail(e->detail, MR_ELIMIT, "braces more than %d deep in %.100s", MR__BRACES_DEPTH_MAX, e->whole);
    int result = append(e, &all, (span){"", 0}, (span){"", 0});
    while (result == 0 && find_group(text, &open, &close)) {
        span group = {text.text + open + 1, close - open - 1};
        result = add_group(e, (span){text.text, open}, group, depth, &all);
        text = (span){text.text + close + 1, text.nbytes - close - 1};
    }
    if (result == 0)
        result = append(e, &last, text, (span){"", 0});
    if (result == 0)
        result = multiply(e, &all, &last, to);
    mr__names_fini(&all, e->hooks);
    mr__names_fini(&last, e->hooks);
    return result;
}

/* What is left of a name when its backslashes have done their work. */
static size_t unescape(char *name)
{
    size_t n = 0;
    for (const char *c = name; *c != '\0'; c++) {
        if (*c == '\\' && c[1] != '\0' && strchr("{},\\", c[1]) != NULL)
            c++;
        name[n++] = *c;
    }
    name[n] = '\0';
    return n;
}

int mr__names_expand(mr__names *names, const mr_hooks *hooks, const char *text, mr__detail *detail)
{
    expansion e = {hooks, detail, text};
    size_t nbytes = strlen(text), old_nbytes = names->nbytes, old_count = names->count;
    if (nbytes > MR__BRACES_NBYTES_MAX)
        return mr__fail(detail, MR_ELIMIT, "a name of %zu bytes: %.60s...", nbytes, text);
    int result = expand(&e, (span){text, nbytes}, 0, names);
    if (result != 0) {
        names->nbytes = old_nbytes;
        names->count = old_count;
        return result;
    }
    size_t from = old_nbytes, to = old_nbytes;
    while (from < names->nbytes) {
        char *name = (char *)names->buffer.bytes + from;
        size_t whole = strlen(name) + 1, left = unescape(name) + 1;
        memmove(names->buffer.bytes + to, name, left);
        from += whole;
        to += left;
    }
    names->nbytes = to;
    return 0;
}

const char *mr__names_next(const mr__names *names, const char *name)
{
    const char *bytes = (const char *)names->buffer.bytes;
    size_t next = name != NULL ? (size_t)(name - bytes) + strlen(name) + 1 : 0;
    return next < names->nbytes ? bytes + next : NULL;
}

void mr__names_fini(mr__names *names, const mr_hooks *hooks)
{
    mr__buffer_fini(&names->buffer, hooks);
    *names = (mr__names){.count = 0};
}
