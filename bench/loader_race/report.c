// SPDX-License-Identifier: Apache-2.0
#include "loader_race.h"

#include <string.h>

/* Of the rounds: the median, the lowest and the highest. */
typedef struct spread {
    double mid, low, high;
} spread;

/* One figure of a round; of two racers where it compares them. */
typedef double measure(const figures *f, const figures *than);

static double images_per_s(const figures *f, const figures *than)
{
    (void)than;
    return (double)f->samples / f->wall_s;
}

static double core_us(const figures *f, const figures *than)
{
    (void)than;
    return f->core_s * 1e6 / (double)f->samples;
}

static double open_ms(const figures *f, const figures *than)
{
    (void)than;
    return f->open_s * 1e3;
}

static double first_ms(const figures *f, const figures *than)
{
    (void)than;
    return f->first_s * 1e3;
}

static double times(const figures *f, const figures *than)
{
    return images_per_s(f, NULL) / images_per_s(than, NULL);
}

static double times_by_core(const figures *f, const figures *than)
{
    return core_us(than, NULL) / core_us(f, NULL);
}

static double more_core_us(const figures *f, const figures *than)
{
    return core_us(f, NULL) - core_us(than, NULL);
}

static spread spread_of(const options *o, const racer *r, const racer *than, measure *of)
{
    double values[ROUNDS_MAX];
    for (unsigned i = 0; i < o->rounds; i++)
        values[i] = of(&r->round[i], than != NULL ? &than->round[i] : NULL);
    spread s = {.mid = median(values, o->rounds)};
    s.low = values[0];
    s.high = values[o->rounds - 1];
    return s;
}

static double mid(const options *o, const racer *r, measure *of)
{
    return spread_of(o, r, NULL, of).mid;
}

static void put_aim(double aim)
{
    if (aim != 0)
        printf("%.2f |", aim);
    else
        printf("- |");
}

static void print_race(const options *o, const contest *c)
{
    const racer *loop = &c->racers[0];
    printf("\n### %s: `%s`, batch %u, %u threads, %s\n\n", c->title, c->recipe, o->batch, o->threads,
           c->validation ? "sequential" : "shuffled");
    printf(
        "| who | images/s | lowest | highest | core ms an image | times the loop | lowest | highest | by core time | "
        "aim | open ms | first batch ms |\n");
    printf("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
    for (size_t i = 0; i < c->count; i++) {
        const racer *r = &c->racers[i];
        if (r->absent)
            continue;
        spread s = spread_of(o, r, NULL, images_per_s);
        printf("| %s | %.0f | %.0f | %.0f | %.3f | ", r->name, s.mid, s.low, s.high, mid(o, r, core_us) / 1e3);
        if (loop->absent) {
            printf("- | - | - | - | ");
        } else {
            s = spread_of(o, r, loop, times);
            printf("%.2f | %.2f | %.2f | %.2f | ", s.mid, s.low, s.high, spread_of(o, r, loop, times_by_core).mid);
        }
        put_aim(r->aim);
        printf(" %.1f | %.1f |\n", mid(o, r, open_ms), mid(o, r, first_ms));
    }
}

static void print_overhead_head(const options *o)
{
    printf("\n### overhead: the loader beside its own stages alone, and %u threads beside one\n\n", o->threads);
    printf(
        "| data | loader images/s | stages alone | of them | lowest | highest | aim | core us a sample | stages alone "
        "| bookkeeping us | lowest | highest | at most | threads over one | lowest | highest | aim | stages alone |\n");
    printf("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | "
           "---: | ---: | ---: |\n");
}

static void print_overhead(const options *o, const contest *c)
{
    const racer *loader = &c->racers[0], *alone = &c->racers[1], *loader_1 = &c->racers[2], *alone_1 = &c->racers[3];
    if (loader->absent)
        return;
    spread share = spread_of(o, loader, alone, times), more = spread_of(o, loader, alone, more_core_us);
    spread over = spread_of(o, loader, loader_1, times);
    printf("| %s, `%s` | %.0f | %.0f | %.3f | %.3f | %.3f | %.2f | ", c->title, c->recipe, mid(o, loader, images_per_s),
           mid(o, alone, images_per_s), share.mid, share.low, share.high, loader->aim);
    printf("%.2f | %.2f | %.2f | %.2f | %.2f | %.1f | ", mid(o, loader, core_us), mid(o, alone, core_us), more.mid,
           more.low, more.high, c->us_aim);
    printf("%.2f | %.2f | %.2f | ", over.mid, over.low, over.high);
    put_aim(o->threads == 2 ? loader_1->aim : 0);
    printf(" %.2f |\n", spread_of(o, alone, alone_1, times).mid);
}

/* Figures from memory are wanted: what came from the disk is told. */
static void print_disk(const options *o, const contest *c)
{
    for (size_t i = 0; i < c->count; i++) {
        uint64_t reads = 0;
        for (unsigned round = 0; round < o->rounds; round++)
            reads += c->racers[i].round[round].from_disk;
        if (reads != 0)
            printf("\n%s, %s: %llu reads were not from the page cache.\n", c->title, c->racers[i].name,
                   (unsigned long long)reads);
    }
}

void print_text(const options *o, const contest *contests, size_t count)
{
    bool overhead = false;
    printf("%u rounds. Figures are medians of the rounds, with the lowest and the highest.\n", o->rounds);
    for (size_t i = 0; i < count; i++) {
        if (!contests[i].overhead) {
            print_race(o, &contests[i]);
            continue;
        }
        if (!overhead)
            print_overhead_head(o);
        overhead = true;
        print_overhead(o, &contests[i]);
    }
    for (size_t i = 0; i < count; i++)
        print_disk(o, &contests[i]);
}

static void put_rounds(const options *o, const racer *r, const char *name, measure *of)
{
    printf(", \"%s\": [", name);
    for (unsigned i = 0; i < o->rounds; i++)
        printf("%s%.9g", i != 0 ? ", " : "", of(&r->round[i], NULL));
    printf("]");
}

static void put_racer(const options *o, const contest *c, const racer *r)
{
    const racer *first = &c->racers[0];
    printf("\n      {\"name\": \"%s\", \"data\": \"%s\", \"threads\": %u, \"samples\": %llu", r->name, r->path,
           r->threads, (unsigned long long)r->round[0].samples);
    if (!first->absent) {
        spread s = spread_of(o, r, first, times);
        printf(", \"times_first\": %.4f, \"lowest\": %.4f, \"highest\": %.4f, \"times_first_by_core\": %.4f", s.mid,
               s.low, s.high, spread_of(o, r, first, times_by_core).mid);
    }
    put_rounds(o, r, "images_per_second", images_per_s);
    put_rounds(o, r, "core_us", core_us);
    put_rounds(o, r, "open_ms", open_ms);
    put_rounds(o, r, "first_batch_ms", first_ms);
    printf("}");
}

void print_json(const options *o, const contest *contests, size_t count)
{
    printf("{\n  \"rounds\": %u, \"threads\": %u, \"batch\": %u,\n  \"contests\": [", o->rounds, o->threads, o->batch);
    for (size_t i = 0; i < count; i++) {
        const contest *c = &contests[i];
        const char *between = "";
        printf("%s\n    {\"table\": \"%s\", \"title\": \"%s\", \"recipe\": \"%s\", \"racers\": [", i != 0 ? "," : "",
               c->table, c->title, c->recipe);
        for (size_t k = 0; k < c->count; k++)
            if (!c->racers[k].absent) {
                printf("%s", between);
                put_racer(o, c, &c->racers[k]);
                between = ",";
            }
        printf("]}");
    }
    printf("\n  ]\n}\n");
}
