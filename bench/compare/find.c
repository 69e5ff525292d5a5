// SPDX-License-Identifier: Apache-2.0
#include "compare.h"

#include <string.h>

const racer *find_racer(const contest *c, const char *name, const char *mask)
{
    for (size_t k = 0; k < c->racer_count; k++)
        if (strcmp(c->racer[k].name, name) == 0 && (mask == NULL || strcmp(c->racer[k].mask, mask) == 0))
            return &c->racer[k];
    return NULL;
}

const coding *find_coding(const contest *c, const char *name)
{
    for (size_t k = 0; k < c->coding_count; k++)
        if (strcmp(c->coding[k].name, name) == 0)
            return &c->coding[k];
    return NULL;
}

const encode_line *find_line(const contest *c, const char *name, unsigned threads)
{
    for (size_t i = 0; i < c->line_count; i++)
        if (strcmp(c->line[i].name, name) == 0 && c->line[i].threads == threads)
            return &c->line[i];
    return NULL;
}

const size_line *find_size(const contest *c, const char *name)
{
    for (size_t i = 0; i < c->size_count; i++)
        if (strcmp(c->size[i].name, name) == 0)
            return &c->size[i];
    return NULL;
}
