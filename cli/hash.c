// SPDX-License-Identifier: Apache-2.0
#include "command.h"
#include "listing.h"
#include "text.h"

#include <inttypes.h>
#include <stdio.h>

static const option options_hash[] = {LISTING_JSON, {0}};

static int look(opened *o, const settings *s, const char *name, finding *found)
{
    mr_image image;
    int result = opened_read(o, name);
    if (result == 0)
        result = opened_decode(o, s, &image);
    if (result == 0)
        found->hash = mr_image_hash(&image);
    return result;
}

static bool put_line(void *to, const finding *found, const char *name)
{
    (void)to;
    printf("%016" PRIx64 "  ", found->hash);
    put_escaped(stdout, name);
    putchar('\n');
    return true;
}

static void put_json(json *j, const finding *found)
{
    char text[20];
    snprintf(text, sizeof text, "%016" PRIx64, found->hash);
    json_text(j, "hash", text);
}

static int run(const settings *s, char **names, size_t count)
{
    const listing hashes = {.look = look, .put_line = put_line, .put_json = put_json};
    return listing_run(&hashes, s, names, count);
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
