// SPDX-License-Identifier: Apache-2.0
#include "dataset_race.h"

#include <string.h>

/* Of the rounds: the median, the lowest and the highest. */
typedef struct spread {
    double mid, low, high;
} spread;

static spread spread_of(const double *values, unsigned rounds)
{
    double sorted[ROUNDS_MAX];
    memcpy(sorted, values, rounds * sizeof *values);
    spread s = {.mid = median(sorted, rounds)};
    s.low = sorted[0];
    s.high = sorted[rounds - 1];
    return s;
}

/* How many times as fast as the first runner, by the clock on the wall. */
static spread times_first(const contest *c, const runner *than, unsigned rounds)
{
    double ratios[ROUNDS_MAX];
    for (unsigned i = 0; i < rounds; i++)
        ratios[i] = c->runners[0].wall_s[i] / than->wall_s[i];
    return spread_of(ratios, rounds);
}

static void print_contest(const options *o, const contest *c)
{
    printf("\n### %s: %llu images, %.1f MB\n\n", c->name, (unsigned long long)c->samples, (double)c->nbytes / 1e6);
    printf("| who | s | lowest | highest | MB/s | MB/s a core | core s | times the first | lowest | highest | aim |\n");
    printf("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
    for (size_t i = 0; i < c->count; i++) {
        const runner *who = &c->runners[i];
        spread s = spread_of(who->wall_s, o->rounds), times = times_first(c, who, o->rounds);
        double mb_per_s = (double)c->nbytes / 1e6 / s.mid;
        printf("| %s | %.3f | %.3f | %.3f | %.0f | %.0f | %.3f | %.2f | %.2f | %.2f | ", who->name, s.mid, s.low,
               s.high, mb_per_s, mb_per_s / o->threads, spread_of(who->core_s, o->rounds).mid, times.mid, times.low,
               times.high);
        if (i == 0)
            printf("- |\n");
        else
            printf("%.2f |\n", c->aim);
    }
}

static void print_readings(const options *o, const results *r)
{
    printf("\n### random access from the page cache: records of %.0f bytes (median), %llu reads a round\n\n",
           r->record_nbytes, (unsigned long long)o->reads);
    printf("| how | p50 us | lowest | highest | p90 us | p99 us | aim of p50 |\n");
    printf("| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n");
    for (size_t i = 0; i < r->reading_count; i++) {
        const reading *is = &r->readings[i];
        spread p50 = spread_of(is->p50, o->rounds);
        printf("| %s | %.1f | %.1f | %.1f | %.1f | %.1f | %s |\n", is->name, p50.mid / 1e3, p50.low / 1e3,
               p50.high / 1e3, spread_of(is->p90, o->rounds).mid / 1e3, spread_of(is->p99, o->rounds).mid / 1e3,
               is->aimed ? "under 30" : "-");
    }
}

static void print_openings(const options *o, const results *r)
{
    printf("\n### opening\n\n");
    printf("| what | samples | first s | again s | lowest | highest | resident MB before | after |\n");
    printf("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
    for (size_t i = 0; i < r->opening_count; i++) {
        const opening *is = &r->openings[i];
        spread s = spread_of(is->s, o->rounds);
        printf("| %s | %llu | ", is->name, (unsigned long long)is->samples);
        if (is->first_s != 0)
            printf("%.4f | ", is->first_s);
        else
            printf("- | ");
        printf("%.6f | %.6f | %.6f | %.1f | %.1f |\n", s.mid, s.low, s.high,
               spread_of(is->rss_before, o->rounds).mid / 1e6, spread_of(is->rss_after, o->rounds).mid / 1e6);
    }
}

void print_text(const options *o, results *r)
{
    printf("%u rounds, %u threads. Figures are medians of the rounds, with the lowest and the highest.\n", o->rounds,
           o->threads);
    for (size_t i = 0; i < r->contest_count; i++)
        print_contest(o, &r->contests[i]);
    printf("\nThe aim of verify is the lower of this and 2000 MB/s a core.\n");
    print_readings(o, r);
    print_openings(o, r);
}

static void put_rounds(const char *name, const double *values, unsigned rounds, const char *end)
{
    printf("\"%s\": [", name);
    for (unsigned i = 0; i < rounds; i++)
        printf("%s%.9g", i != 0 ? ", " : "", values[i]);
    printf("]%s", end);
}

static void put_contest(const options *o, const contest *c)
{
    printf("    {\"name\": \"%s\", \"samples\": %llu, \"nbytes\": %llu, \"aim\": %.2f, \"runners\": [", c->name,
           (unsigned long long)c->samples, (unsigned long long)c->nbytes, c->aim);
    for (size_t i = 0; i < c->count; i++) {
        const runner *who = &c->runners[i];
        spread times = times_first(c, who, o->rounds);
        printf("%s\n      {\"name\": \"%s\", \"times\": %.4f, \"times_lowest\": %.4f, \"times_highest\": %.4f, ",
               i != 0 ? "," : "", who->name, times.mid, times.low, times.high);
        printf("\"mb_per_s\": %.1f,\n       ", (double)c->nbytes / 1e6 / spread_of(who->wall_s, o->rounds).mid);
        put_rounds("wall_s", who->wall_s, o->rounds, ", ");
        put_rounds("core_s", who->core_s, o->rounds, "}");
    }
    printf("]}");
}

static void put_reading(const options *o, const reading *is)
{
    printf("    {\"name\": \"%s\", ", is->name);
    put_rounds("p50_ns", is->p50, o->rounds, ", ");
    put_rounds("p90_ns", is->p90, o->rounds, ", ");
    put_rounds("p99_ns", is->p99, o->rounds, "}");
}

static void put_opening(const options *o, const opening *is)
{
    printf("    {\"name\": \"%s\", \"samples\": %llu, \"first_s\": %.6f, ", is->name, (unsigned long long)is->samples,
           is->first_s);
    put_rounds("s", is->s, o->rounds, ", ");
    put_rounds("rss_before_nbytes", is->rss_before, o->rounds, ", ");
    put_rounds("rss_after_nbytes", is->rss_after, o->rounds, "}");
}

void print_json(const options *o, const results *r)
{
    printf("{\n  \"rounds\": %u,\n  \"threads\": %u,\n  \"record_nbytes\": %.0f,\n  \"contests\": [\n", o->rounds,
           o->threads, r->record_nbytes);
    for (size_t i = 0; i < r->contest_count; i++) {
        put_contest(o, &r->contests[i]);
        printf("%s\n", i + 1 < r->contest_count ? "," : "");
    }
    printf("  ],\n  \"readings\": [\n");
    for (size_t i = 0; i < r->reading_count; i++) {
        put_reading(o, &r->readings[i]);
        printf("%s\n", i + 1 < r->reading_count ? "," : "");
    }
    printf("  ],\n  \"openings\": [\n");
    for (size_t i = 0; i < r->opening_count; i++) {
        put_opening(o, &r->openings[i]);
        printf("%s\n", i + 1 < r->opening_count ? "," : "");
    }
    printf("  ]\n}\n");
}
