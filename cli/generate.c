// SPDX-License-Identifier: Apache-2.0
#include "command.h"
#include "text.h"
static int run(const settings *s, char **paths, size_t count)
{
    (void)s;
    (void)paths;
    (void)count;
    return EXIT_BAD_INPUT;
}
const command command_generate = {
    .name = "generate",
    .operands = "DIR",
    .summary = "Make a small set of photographic-looking images",
    .text = (const char *const[]){NULL},
    .groups = (const option_group[]){{"Help", options_common}, {NULL, NULL}},
    .examples = (const example[]){{NULL, NULL}},
    .operand_min = 1,
    .operand_max = 1,
    .operand = OPERAND_FOLDER,
    .run = run,
};
