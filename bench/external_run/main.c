// SPDX-License-Identifier: Apache-2.0
/* See bench/README.md. */
#include "external.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct part {
    const char *name;
    void (*show)(report *r);
} part;

static const part parts[] = {{"agreement", show_agreement}, {"departures", show_departures}, {"cores", show_cores},
                             {"gains", show_gains},         {"fewer", show_fewer},           {"threads", show_threads}};

static void usage(FILE *file)
{
    fprintf(file,
            "usage: external [--quick] [--json] [--only agreement|departures|cores|gains|fewer|threads]\n"
            "All of it is simulated, in virtual time: the same on every run. Exit code 1: a prediction was missed.\n"
            "  --quick  a few points of each table\n"
            "  --json   instead of Markdown\n");
}

int main(int argc, char **argv)
{
    report r = {0};
    bool found = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0)
            r.json = true;
        else if (strcmp(argv[i], "--quick") == 0)
            r.quick = true;
        else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc)
            r.only = argv[++i];
        else {
            bool asked = strcmp(argv[i], "--help") == 0;
            usage(asked ? stdout : stderr);
            return asked ? 0 : 2;
        }
    }
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (r.only == NULL || strcmp(r.only, parts[i].name) == 0) {
            found = true;
            parts[i].show(&r);
        }
    if (!found) {
        usage(stderr);
        return 2;
    }
    report_end(&r);
    return r.apart != 0;
}
