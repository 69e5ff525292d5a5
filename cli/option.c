// SPDX-License-Identifier: Apache-2.0
/* Reads arguments by the tables of a command. */
#include "command.h"
#include "quantity.h"
#include "text.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const option options_common[] = {
    {.name = "help",
     .letter = 'h',
     .kind = OPTION_FLAG,
     .offset = offsetof(settings, help),
     .help = "Tell about this command and leave"},
    {0},
};

const option options_hints[] = {
    {.name = "region",
     .letter = 'r',
     .kind = OPTION_REGION,
     .offset = offsetof(settings, hints.region),
     .argument = "X,Y,WxH",
     .help = "Decode this part alone, in the pixels of the image that the other options give (reduced, oriented)"},
    {.name = "reduce",
     .letter = 0,
     .kind = OPTION_CHOICE,
     .offset = offsetof(settings, hints.reduce),
     .argument = "N",
     .help = "Divide width and height by N, which is 1, 2, 4 or 8",
     .initial = "1",
     .words = "1 2 4 8"},
    {.name = "channels",
     .letter = 'c',
     .kind = OPTION_CHOICE,
     .offset = offsetof(settings, hints.channels),
     .argument = "N",
     .help = "Give 1 (gray), 2 (gray and alpha), 3 (RGB) or 4 (RGB and alpha) channels",
     .initial = "as stored",
     .words = "1 2 3 4"},
    {.name = "depth",
     .letter = 'd',
     .kind = OPTION_CHOICE,
     .offset = offsetof(settings, hints.depth),
     .argument = "N",
     .help = "Give 8 or 16 bits a sample",
     .initial = "as stored",
     .words = "8 16"},
    {.name = "orient",
     .letter = 'o',
     .kind = OPTION_FLAG,
     .offset = offsetof(settings, hints.orient),
     .help = "Turn the image as its EXIF orientation says"},
    {.name = "accept-damaged",
     .letter = 'a',
     .kind = OPTION_FLAG,
     .offset = offsetof(settings, hints.accept_damaged),
     .help = "Take what can be decoded of a damaged or truncated image instead of an error"},
    OPTION_JPEG,
    {.name = "index",
     .letter = 0,
     .kind = OPTION_TEXT,
     .offset = offsetof(settings, index),
     .argument = "FILE",
     .help =
         "A JPEG's row index (millrace index): --region then begins in the middle of the JPEG. One of another file, "
         "or of one that has changed since, is an error; an empty file is no index. It is to be trusted as the JPEG "
         "is: who "
         "forges one can change pixels"},
    {.name = "no-limits",
     .letter = 0,
     .kind = OPTION_FLAG,
     .offset = offsetof(settings, no_limits),
     .help = "Lift the limits on pixels, bytes, scans and memory: only for files you trust"},
    {0},
};

static const option *find_option(const command *c, const char *name, size_t length, char letter)
{
    for (const option_group *g = c->groups; g->options != NULL; g++)
        for (const option *o = g->options; o->name != NULL; o++)
            if (name != NULL ? strlen(o->name) == length && strncmp(o->name, name, length) == 0
                             : o->letter != 0 && o->letter == letter)
                return o;
    return NULL;
}

void command_each_option(const command *c, option_visitor *visit, void *user)
{
    for (const option_group *g = c->groups; g->options != NULL; g++)
        for (const option *o = g->options; o->name != NULL; o++)
            visit(o, user);
}

/* `count` numbers with one of `between` after each but the last. */
static bool read_numbers(const char *text, const char *between, uint32_t *out, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t value;
        char digits[24];
        size_t length = i + 1 < count ? strcspn(text, between) : strlen(text);
        if (length >= sizeof digits || (i + 1 < count && text[length] == '\0'))
            return false;
        memcpy(digits, text, length);
        digits[length] = '\0';
        if (!number_read(digits, INT32_MAX, &value))
            return false;
        out[i] = (uint32_t)value;
        text += length + 1;
    }
    return true;
}

/* "4:2:0" and "420" both. */
static bool read_subsampling(const char *text, mr_subsampling *out)
{
    for (int s = MR_SUBSAMPLING_444; s < MR_SUBSAMPLING_OTHER; s++) {
        const char *name = mr_subsampling_name((mr_subsampling)s);
        const char short_name[] = {name[0], name[2], name[4], '\0'};
        if (strcmp(text, name) == 0 || strcmp(text, short_name) == 0) {
            *out = (mr_subsampling)s;
            return true;
        }
    }
    return false;
}

static bool read_rect(const option *o, const char *text, mr_rect *out)
{
    uint32_t n[4] = {0, 0, 0, 0};
    bool good = o->kind == OPTION_REGION ? read_numbers(text, ",xX", n, 4) : read_numbers(text, "xX", n + 2, 2);
    if (good && n[2] != 0 && n[3] != 0)
        *out = (mr_rect){n[0], n[1], n[2], n[3]};
    return good && n[2] != 0 && n[3] != 0;
}

static bool read_value(const option *o, const char *text, settings *out)
{
    void *field = (char *)out + o->offset;
    uint64_t value;
    switch (o->kind) {
    case OPTION_FLAG:
        *(bool *)field = true;
        return true;
    case OPTION_CHOICE:
    case OPTION_NUMBER:
        if (!number_read(text, UINT32_MAX, &value) ||
            (o->kind == OPTION_NUMBER ? value < o->min || value > o->max : !list_has(o->words, text)))
            return false;
        *(uint32_t *)field = (uint32_t)value;
        return true;
    case OPTION_SEED:
        return number_read(text, UINT64_MAX, field);
    case OPTION_BYTES:
        if (!bytes_read(text, &value) || value == 0) /* which would be the default, or no limit */
            return false;
        *(uint64_t *)field = value;
        return true;
    case OPTION_DURATION:
        return duration_read(text, field);
    case OPTION_SHARE:
        return share_read(text, field);
    case OPTION_PART:
        return part_read(text, field);
    case OPTION_WORD:
        if (!list_has(o->words, text))
            return false;
        *(const char **)field = text;
        return true;
    case OPTION_TEXT:
        *(const char **)field = text;
        return true;
    case OPTION_REGION:
    case OPTION_SIZE:
        return read_rect(o, text, field);
    case OPTION_FORM:
        *(mr_form *)field = mr_form_from_name(text);
        return *(mr_form *)field != MR_FORM_NONE;
    case OPTION_SUBSAMPLING:
        return read_subsampling(text, field);
    }
    return false;
}

void option_words(const option *o, char *text, size_t nbytes)
{
    size_t used = 0;
    text[0] = '\0';
    if (o->kind != OPTION_FORM) {
        snprintf(text, nbytes, "%s", o->words != NULL ? o->words : "");
        return;
    }
    for (int form = 1; strcmp(mr_form_name((mr_form)form), "none") != 0 && used < nbytes; form++)
        used += (size_t)snprintf(text + used, nbytes - used, "%s%s", form > 1 ? " " : "", mr_form_name((mr_form)form));
}

/* How a value of a kind is written; NULL: the argument's name says it. */
static const char *way_of(option_kind kind)
{
    if (kind == OPTION_BYTES)
        return "a size like 500000, 256MiB or 200GB, above 0";
    if (kind == OPTION_DURATION)
        return "a time like 50ms, 1.5s or 2min";
    if (kind == OPTION_SHARE)
        return "a share like 0.1% or 0.001";
    return kind == OPTION_PART ? "a part of so many, from 0: 0/8 to 7/8" : NULL;
}

static int value_error(const command *c, const option *o, const char *text)
{
    char words[256], near[64], suggestion[96] = "";
    option_words(o, words, sizeof words);
    if (nearest_word(words, text, near, sizeof near) && strlen(near) > 1)
        snprintf(suggestion, sizeof suggestion, "; did you mean %s?", near);
    if (words[0] != '\0')
        complain(NULL, "%s: --%s cannot be '%s'%s (one of: %s)", c->name, o->name, text, suggestion, words);
    else if (o->kind == OPTION_NUMBER && o->max == UINT32_MAX)
        complain(NULL, "%s: --%s cannot be '%s' (a number from %" PRIu32 " up)", c->name, o->name, text, o->min);
    else if (o->kind == OPTION_NUMBER)
        complain(NULL, "%s: --%s cannot be '%s' (a number from %" PRIu32 " to %" PRIu32 ")", c->name, o->name, text,
                 o->min, o->max);
    else if (way_of(o->kind) != NULL)
        complain(NULL, "%s: --%s cannot be '%s' (%s)", c->name, o->name, text, way_of(o->kind));
    else
        complain(NULL, "%s: --%s cannot be '%s' (it is written --%s=%s)", c->name, o->name, text, o->name, o->argument);
    return EXIT_USAGE;
}

/* The number of an option, for settings.given. */
static unsigned number_of(const command *c, const option *wanted)
{
    unsigned number = 0;
    for (const option_group *g = c->groups; g->options != NULL; g++)
        for (const option *o = g->options; o->name != NULL; o++, number++)
            if (o == wanted)
                return number;
    return number;
}

static int take_value(const command *c, const option *o, const char *text, settings *out)
{
    if (!read_value(o, text, out))
        return value_error(c, o, text);
    out->given |= UINT64_C(1) << (number_of(c, o) & 63);
    return EXIT_GOOD;
}

bool option_is_given(const command *c, const settings *s, const char *name)
{
    const option *o = find_option(c, name, strlen(name), 0);
    return o != NULL && (s->given >> (number_of(c, o) & 63) & 1) != 0;
}

void option_forms(const option *o, char *text, size_t nbytes)
{
    size_t used = 0;
    const char *forms = o->forms != NULL ? o->forms : "", *lead = "";
    text[0] = '\0';
    while (*forms != '\0' && used < nbytes) {
        size_t length = strcspn(forms, " ");
        used += (size_t)snprintf(text + used, nbytes - used, "%s%.*s", lead, (int)length, forms);
        forms += length + (forms[length] == ' ');
        lead = strchr(forms, ' ') != NULL ? ", " : " and ";
    }
}

int options_check_form(const command *c, const settings *s, mr_form form)
{
    char forms[128];
    for (const option_group *g = c->groups; g->options != NULL; g++)
        for (const option *o = g->options; o->name != NULL; o++) {
            if (o->forms == NULL || !option_is_given(c, s, o->name) || list_has(o->forms, mr_form_name(form)))
                continue;
            option_forms(o, forms, sizeof forms);
            complain(NULL, "%s: --%s is for %s, not for %s", c->name, o->name, forms, mr_form_name(form));
            return EXIT_USAGE;
        }
    return EXIT_GOOD;
}

/* The names of all options, for a suggestion. */
static void add_name(const option *o, void *user)
{
    char *list = user;
    size_t used = strlen(list);
    if (!o->hidden)
        snprintf(list + used, 1024 - used, "%s ", o->name);
}

static int unknown_option(const command *c, const char *shown, const char *name)
{
    char list[1024] = "", near[64];
    command_each_option(c, add_name, list);
    if (name != NULL && nearest_word(list, name, near, sizeof near))
        complain(NULL, "%s: unknown option %s; did you mean --%s? (millrace %s --help lists them)", c->name, shown,
                 near, c->name);
    else
        complain(NULL, "%s: unknown option %s (millrace %s --help lists them)", c->name, shown, c->name);
    return EXIT_USAGE;
}

/* --name, --name=value, --name value. */
static int parse_long(const command *c, char ***next, settings *out)
{
    char *name = **next + 2;
    size_t length = strcspn(name, "=");
    char *value = name[length] == '=' ? name + length + 1 : NULL;
    const option *o = find_option(c, name, length, 0);
    if (o == NULL) {
        char bare[64];
        snprintf(bare, sizeof bare, "%.*s", (int)(length < 63 ? length : 63), name);
        char shown[70];
        snprintf(shown, sizeof shown, "--%s", bare);
        return unknown_option(c, shown, bare);
    }
    if (o->kind == OPTION_FLAG && value != NULL) {
        complain(NULL, "%s: --%s takes no value", c->name, o->name);
        return EXIT_USAGE;
    }
    if (o->kind != OPTION_FLAG && value == NULL && (value = *++*next) == NULL) {
        complain(NULL, "%s: --%s needs a value: --%s=%s", c->name, o->name, o->name, o->argument);
        return EXIT_USAGE;
    }
    return take_value(c, o, value, out);
}

/* -f, -fj, -q90, -q 90. */
static int parse_short(const command *c, char ***next, settings *out)
{
    for (char *letter = **next + 1; *letter != '\0'; letter++) {
        const option *o = find_option(c, NULL, 0, *letter);
        if (o == NULL) {
            const char shown[] = {'-', *letter, '\0'};
            return unknown_option(c, shown, NULL);
        }
        if (o->kind == OPTION_FLAG) {
            take_value(c, o, NULL, out);
            continue;
        }
        char *value = letter[1] != '\0' ? letter + 1 : *++*next;
        if (value == NULL) {
            complain(NULL, "%s: -%c needs a value: --%s=%s", c->name, o->letter, o->name, o->argument);
            return EXIT_USAGE;
        }
        return take_value(c, o, value, out);
    }
    return EXIT_GOOD;
}

/* Defaults stand in the table and nowhere else. "as stored" and the like are no values: zero stays. */
static void set_initial(const option *o, void *user)
{
    if (o->initial != NULL && o->kind != OPTION_FLAG && !o->described)
        read_value(o, o->initial, user);
}

static int check_operands(const command *c, const settings *s, char **operands, size_t count)
{
    if (s->help || (count >= c->operand_min && count <= c->operand_max))
        return EXIT_GOOD;
    if (count < c->operand_min)
        complain(NULL, "%s: %s is missing: millrace %s [OPTION]... %s", c->name,
                 count == 0 ? c->operands : strrchr(c->operands, ' ') + 1, c->name, c->operands);
    else
        complain(NULL, "%s: '%s' is one too many: millrace %s [OPTION]... %s", c->name, operands[c->operand_max],
                 c->name, c->operands);
    return EXIT_USAGE;
}

int options_parse(const command *c, char **arguments, settings *out, size_t *operand_count)
{
    size_t count = 0;
    int result = EXIT_GOOD;
    char **next = arguments;
    *out = (settings){.hints.struct_size = sizeof out->hints, .encode.struct_size = sizeof out->encode};
    command_each_option(c, set_initial, out);
    for (; *next != NULL && result == EXIT_GOOD; next++) {
        if (strcmp(*next, "--") == 0)
            break;
        if (strncmp(*next, "--", 2) == 0)
            result = parse_long(c, &next, out);
        else if (**next == '-' && (*next)[1] != '\0')
            result = parse_short(c, &next, out);
        else
            arguments[count++] = *next;
    }
    if (result != EXIT_GOOD)
        return result;
    if (*next != NULL) /* all after -- */
        while (*++next != NULL)
            arguments[count++] = *next;
    *operand_count = count;
    return check_operands(c, out, arguments, count);
}
