// SPDX-License-Identifier: Apache-2.0
/*
 * How fast L3 is made: by each preset, or recoded from JPEG, on one thread, pinned, and on several, which are not. Both
 * by processor time and by the clock on the wall, for on a busy machine only the first says something.
 */
#include "compare.h"

#include <string.h>

static bool pass(const contest *c, mr_encoder **encoder, const l3_how *how)
{
    blob out;
    const char *why;
    for (size_t i = 0; i < c->pictures; i++)
        if (!l3_encode(encoder, how, &c->slots[i].shape, c->source[i]->bytes, c->source[i]->nbytes, &out, &why))
            return false;
    return true;
}

static void time_line(contest *c, const coding *what, encode_line *line, unsigned round)
{
    l3_how how = what->l3;
    mr_encoder *encoder = NULL;
    places before;
    how.threads = line->threads;
    if (line->threads == 1)
        pin_thread(&before);
    double start = wall_ns(), process_start = process_ns();
    bool good = pass(c, &encoder, &how);
    double ns = wall_ns() - start, processor_ns = process_ns() - process_start;
    if (line->threads == 1)
        unpin_thread(&before);
    mr_encoder_free(encoder);
    line->wall_mb_per_s[round] = good ? c->pixel_nbytes * 1e3 / ns : 0;
    line->core_mb_per_s[round] = good ? c->pixel_nbytes * 1e3 / processor_ns : 0;
}

void time_encoders(contest *c, const options *o)
{
    const coding *what[LINES_MAX];
    for (size_t k = 1; k < c->coding_count; k++) {
        bool is_l3 = strncmp(c->coding[k].name, "L3", 2) == 0;
        for (unsigned threads = 1;
             is_l3 && threads <= o->threads && c->line_count<LINES_MAX; threads += o->threads> 1 ? o->threads - 1 : 1) {
            what[c->line_count] = &c->coding[k];
            encode_line *line = &c->line[c->line_count++];
            snprintf(line->name, sizeof line->name, "%s", c->coding[k].name);
            line->threads = threads;
        }
    }
    for (unsigned round = 0; round < o->rounds; round++)
        for (size_t i = 0; i < c->line_count; i++)
            time_line(c, what[i], &c->line[i], round);
}

double line_core_mb_per_s(const contest *c, const encode_line *line)
{
    double values[ROUNDS_MAX];
    memcpy(values, line->core_mb_per_s, sizeof values);
    return median(values, c->rounds);
}

double line_wall_mb_per_s(const contest *c, const encode_line *line)
{
    double values[ROUNDS_MAX];
    memcpy(values, line->wall_mb_per_s, sizeof values);
    return median(values, c->rounds);
}
