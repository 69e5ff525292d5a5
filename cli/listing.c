// SPDX-License-Identifier: Apache-2.0
#include "listing.h"
#include "source.h"
#include "text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_object(const listing *l, json *j, const char *name, const opened *o, const finding *found)
{
    json_line(j);
    json_open(j, NULL, '{');
    json_name(j, name);
    if (found != NULL)
        l->put_json(j, found);
    else
        json_error(j, o->code, o->error);
    json_close(j, '}');
}

/* What the decoder met and --accept-damaged let pass. */
static void log_line(void *user, mr_log_level level, const char *text)
{
    const char *const *name = user;
    (void)level;
    remark(*name, "%s", text);
}

static void explain_better(opened *o, const char *name)
{
    char text[sizeof o->error];
    int code = strcmp(name, "-") != 0 ? source_explain(name, text, sizeof text) : 0;
    if (code == 0)
        return;
    o->code = code;
    snprintf(o->error, sizeof o->error, "%s", text);
}

int listing_run(const listing *l, const settings *s, char **names, size_t count)
{
    opened o;
    json j = {.stream = stdout};
    int result = EXIT_GOOD;
    const char *name = NULL;
    const mr_hooks hooks = {.struct_size = sizeof hooks, .user = &name, .log = log_line};
    if (!opened_init(&o, s, s->hints.accept_damaged ? &hooks : NULL))
        return EXIT_BAD_INPUT;
    if (s->json)
        json_open(&j, NULL, '[');
    for (size_t i = 0; i < count && !ferror(stdout); i++) {
        finding found = {0};
        name = names[i];
        bool good = l->look(&o, s, names[i], &found) == 0;
        if (!good && o.code == MR_EFORMAT)
            explain_better(&o, name);
        if (s->json)
            put_object(l, &j, names[i], &o, good ? &found : NULL);
        else if (good && !l->put_line(l->to, &found, names[i]))
            good = opened_fail(&o, ENOMEM) == 0;
        if (!good)
            complain(names[i], "%s", o.error);
        else if (found.damaged != 0 || found.truncated)
            complain(names[i], "%s: %" PRIu32 " of %" PRIu32 " tiles are not whole",
                     found.truncated ? "truncated" : "damaged", found.damaged, found.info.tiles);
        if (!good || found.damaged != 0 || found.truncated)
            result = EXIT_BAD_INPUT;
        free(found.tiles);
    }
    if (s->json)
        fputs("\n]\n", stdout);
    opened_fini(&o);
    return result;
}
