// SPDX-License-Identifier: Apache-2.0
#include "command.h"
#include "image.h"
#include "json.h"
#include "text.h"

#include <inttypes.h>
#include <stdio.h>

static const option options_hash[] = {
    {.name = "json",
     .letter = 'j',
     .kind = OPTION_FLAG,
     .offset = offsetof(settings, json),
     .help = "Print one JSON array, an object a line for each file; a bad one has \"error\" in it"},
    {0},
};

static int hash(const settings *s, opened *o, const char *name, json *j)
{
    mr_image image = {0};
    uint64_t value = 0;
    int result = opened_read(o, name);
    if (result == 0)
        result = opened_decode(o, s, &image);
    if (result == 0)
        value = mr_image_hash(&image);
    if (s->json) {
        char text[20];
        snprintf(text, sizeof text, "%016" PRIx64, value);
        json_line(j);
        json_open(j, NULL, '{');
        json_name(j, name);
        if (result == 0)
            json_text(j, "hash", text);
        else
            json_error(j, o->code, o->error);
        json_close(j, '}');
    } else if (result == 0) {
        printf("%016" PRIx64 "  ", value);
        put_escaped(stdout, name);
        putchar('\n');
    }
    if (result != 0)
        complain(name, "%s", o->error);
    return result == 0 ? EXIT_GOOD : EXIT_BAD_INPUT;
}

static int run(const settings *s, char **names, size_t count)
{
    opened o;
    json j = {.stream = stdout};
    int result = EXIT_GOOD;
    if (!opened_init(&o, s, NULL))
        return EXIT_BAD_INPUT;
    if (s->json)
        json_open(&j, NULL, '[');
    for (size_t i = 0; i < count && !ferror(stdout); i++)
        if (hash(s, &o, names[i], &j) != EXIT_GOOD)
            result = EXIT_BAD_INPUT;
    if (s->json)
        fputs("\n]\n", stdout);
    opened_fini(&o);
    return result;
}

const command command_hash = {
    .name = "hash",
    .operands = "FILE...",
    .summary = "Print a hash of the decoded pixels",
    .text =
        (const char *const[]){
            "Prints 'HASH  NAME' for each file: 16 hexadecimal digits of XXH3-64 over width, height, channels and "
            "depth, then the pixels. Two files with one hash decode to the same image, whatever their forms.",
            "In a name, control characters, bytes that are not UTF-8 and backslashes are written as \\n, \\t, \\xNN "
            "and \\\\.",
            NULL},
    .groups =
        (const option_group[]){
            {"Options", options_hash}, {"How to decode", options_hints}, {"Help", options_common}, {NULL, NULL}},
    .examples = (const example[]){{"millrace hash photo.png photo.webp", "Do both hold the same pixels?"},
                                  {"millrace hash --region=10,20,64x64 photo.jpg", "Only a part, decoded alone"},
                                  {NULL, NULL}},
    .operand_min = 1,
    .operand_max = SIZE_MAX,
    .operand = OPERAND_FILE,
    .run = run,
};
