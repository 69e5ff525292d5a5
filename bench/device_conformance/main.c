// SPDX-License-Identifier: Apache-2.0
/* See bench/README.md. */
#include "conformance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void usage(FILE *file)
{
    fprintf(file, "usage: device-conformance [OPTION...]\n"
                  "  --only TEXT      only rows that have this in their name\n"
                  "  --library FILE   OpenCL's library [MILLRACE_OPENCL, else libOpenCL.so.1]\n"
                  "  --oclgrind       devices are slow and watch what kernels do: fewer cases, and no emulator\n"
                  "  --no-emulator    leave it out\n"
                  "  --no-devices     leave them out: under sanitizers that drivers are not made for\n"
                  "  --spoil          changes what the last backend makes: to see that it is found\n"
                  "  --quick          few cases of each row, and no large image: for tests\n");
}

int main(int argc, char **argv)
{
    static session s;
    const char *library = NULL;
    bool emulator = true, devices = true;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--only") == 0 && i + 1 < argc)
            s.only = argv[++i];
        else if (strcmp(argv[i], "--library") == 0 && i + 1 < argc)
            library = argv[++i];
        else if (strcmp(argv[i], "--oclgrind") == 0)
            s.oclgrind = s.quick = true;
        else if (strcmp(argv[i], "--no-emulator") == 0)
            emulator = false;
        else if (strcmp(argv[i], "--no-devices") == 0)
            devices = false;
        else if (strcmp(argv[i], "--spoil") == 0)
            s.spoil = true;
        else if (strcmp(argv[i], "--quick") == 0)
            s.quick = true;
        else {
            bool help = strcmp(argv[i], "--help") == 0;
            usage(help ? stdout : stderr);
            return help ? 0 : 2;
        }
    }
    backends_open(&s, library, emulator && !s.oclgrind, devices);
    run_steps(&s);
    run_forms(&s);
    if (!s.oclgrind) // loaders do not take it
        run_loaded(&s);
    backends_close(&s);
    printf("\n%lu rows. %lu times something was made beside the portable code; %lu times a device left it to the host; "
           "%lu differences.\n",
           s.rows, s.all_cases, s.all_left, s.all_different);
    return s.all_different == 0 && s.rows != 0 ? 0 : 1;
}
