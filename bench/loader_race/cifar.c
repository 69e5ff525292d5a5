// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "loader_race.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RECORD_NBYTES = 3073, CLASSES = 10 };

/* Noise is as good as pictures: nothing of it is compressed. */
static void fill(uint8_t *record, uint64_t *state)
{
    for (size_t i = 1; i < RECORD_NBYTES; i++) {
        *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        record[i] = (uint8_t)(*state >> 56);
    }
}

void make_cifar(const char *path, uint64_t records)
{
    char part[PATH_NBYTES];
    uint8_t record[RECORD_NBYTES];
    uint64_t state = 1;
    if (access(path, R_OK) == 0)
        return;
    if (snprintf(part, sizeof part, "%s.part", path) >= (int)sizeof part)
        fail("%s: too long a name", path);
    FILE *file = fopen(part, "wb");
    bool good = file != NULL;
    for (uint64_t i = 0; good && i < records; i++) {
        record[0] = (uint8_t)(i % CLASSES);
        fill(record, &state);
        good = fwrite(record, 1, sizeof record, file) == sizeof record;
    }
    good = file != NULL && fclose(file) == 0 && good && rename(part, path) == 0;
    if (!good)
        fail("%s cannot be written", path);
}
