// SPDX-License-Identifier: Apache-2.0
/* What info, hash and index do: a line, or with --json an object, for each file; a bad one is told of, and the rest
 * goes on.
 */
#ifndef CLI_LISTING_H
#define CLI_LISTING_H

#include "image.h"
#include "json.h"

/* What was found out about one file; each subcommand fills in its own. */
typedef struct finding {
    mr_info info;
    uint64_t nbytes;
    uint64_t hash;
    uint32_t entries, step; /* of an index */
    mr_tile *tiles;         /* info.tiles of them, on the heap; NULL: not asked for */
    uint32_t damaged;       /* of these: the file is bad, but there is something to tell */
    bool truncated;         /* likewise */
} finding;

typedef struct listing {
    int (*look)(opened *o, const settings *s, const char *name, finding *found); /* 0 or o->code */
    bool (*put_line)(void *to, const finding *found, const char *name);          /* false: out of memory */
    void (*put_json)(json *j, const finding *found);                             /* after the name, which comes first */
    void *to;                                                                    /* for put_line */
} listing;

/* The exit code. */
int listing_run(const listing *l, const settings *s, char **names, size_t count);

/* --json, as listings take it. */
#define LISTING_JSON                                                                                                   \
    {                                                                                                                  \
        .name = "json", .letter = 'j', .kind = OPTION_FLAG, .offset = offsetof(settings, json),                        \
        .help = "Print one JSON array, an object a line for each file; a bad one has \"error\" in it"                  \
    }

#endif
