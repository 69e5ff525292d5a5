// SPDX-License-Identifier: Apache-2.0
/*
 * lend [OPTION...] DATASET: cores that two processes lend each other, each on a processor of its own. It says what it
 * expects before it measures. See bench/README.md.
 */
#include "lend_run.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "lend: ");
    vfprintf(stderr, format, args);
    fprintf(stderr, "\n");
    va_end(args);
    exit(1);
}

/* What rounds came to; without lending and with, in turn. */
typedef struct contest {
    const char *name;
    const char *recipes[RANKS];
    double predicted_step[2], predicted_spread[2];
    double step[2][ROUNDS_MAX], spread[2][ROUNDS_MAX], times[ROUNDS_MAX];
    double core_ms[RANKS], lent_s;
} contest;

static void say(const lend_options *o, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(const lend_options *o, const char *format, ...)
{
    va_list args;
    if (o->json)
        return;
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    fflush(stdout);
}

/* What a step takes if each rank has its core, and if cores are one pool; from what samples cost alone. */
static void predict(const lend_options *o, contest *c, const double cost_ms[RANKS])
{
    double a = cost_ms[0] * (double)o->batch, b = cost_ms[1] * (double)o->batch, most = a > b ? a : b;
    c->predicted_step[0] = most;
    c->predicted_step[1] = (a + b) / 2;
    c->predicted_spread[0] = a != b ? most : 0; // the cheap one has its batch ready when the step begins
    c->predicted_spread[1] = 0;
    say(o,
        "\n%s: prediction: %.1f ms a step without lending (the dearer rank alone), %.1f with (both cores one pool): "
        "%.2fx;\n  spread of ready times %s\n",
        c->name, c->predicted_step[0], c->predicted_step[1], c->predicted_step[0] / c->predicted_step[1],
        a != b ? "from one step to less than a fifth of that (-80 %)" : "small in both");
}

static void measure(const lend_options *o, contest *c)
{
    char name[64];
    snprintf(name, sizeof name, "bench-%u", (unsigned)getpid());
    for (unsigned i = 0; i < o->rounds; i++) {
        for (unsigned turn = 0; turn < 2; turn++) {
            unsigned with = (turn + i) % 2; // who is first takes turns
            pair_result r = pair_run(o, c->recipes, with != 0 ? name : NULL);
            c->step[with][i] = r.step_ms;
            c->spread[with][i] = r.spread_ms;
            c->lent_s += r.borrowed_s;
            for (unsigned rank = 0; with == 0 && rank < RANKS; rank++)
                c->core_ms[rank] = r.core_ms[rank];
        }
        c->times[i] = c->step[0][i] / c->step[1][i];
        say(o, "  round %u: step %.1f -> %.1f ms (%.2fx), spread %.1f -> %.1f ms\n", i + 1, c->step[0][i],
            c->step[1][i], c->times[i], c->spread[0][i], c->spread[1][i]);
    }
}

/* What a sample costs each of them when nobody lends. */
static void calibrate(const lend_options *o, const char *const recipes[RANKS], double cost_ms[RANKS])
{
    lend_options few = *o;
    few.steps = o->steps < 10 ? o->steps : 10;
    pair_result r = pair_run(&few, recipes, NULL);
    for (unsigned rank = 0; rank < RANKS; rank++)
        cost_ms[rank] = r.core_ms[rank];
}

static void report(const lend_options *o, contest *c, bool equal)
{
    unsigned n = (unsigned)o->rounds;
    double step[2], spread[2], times = median(c->times, n);
    for (unsigned i = 0; i < 2; i++) {
        step[i] = median(c->step[i], n);
        spread[i] = median(c->spread[i], n);
    }
    if (o->json) {
        printf("{\"name\": \"%s\", \"core_ms\": [%.4f, %.4f], \"predicted_step_ms\": [%.3f, %.3f], "
               "\"step_ms\": [%.3f, %.3f], \"times\": %.4f, \"lowest\": %.4f, \"highest\": %.4f, "
               "\"spread_ms\": [%.3f, %.3f], \"lent_seconds\": %.3f}",
               c->name, c->core_ms[0], c->core_ms[1], c->predicted_step[0], c->predicted_step[1], step[0], step[1],
               times, c->times[0], c->times[n - 1], spread[0], spread[1], c->lent_s);
        return;
    }
    printf("  measured, medians of %u rounds: %.1f -> %.1f ms a step, %.3fx (%.3f to %.3f; predicted %.2f, aim %s); "
           "spread %.1f -> %.1f ms (%+.0f %%%s); cores lent for %.1f s; costs %.2f to 1\n",
           n, step[0], step[1], times, c->times[0], c->times[n - 1], c->predicted_step[0] / c->predicted_step[1],
           equal ? ">= 0.99" : ">= 1.4", spread[0], spread[1], spread[0] > 0 ? (spread[1] / spread[0] - 1) * 100 : 0,
           equal ? "" : ", aim -80 %", c->lent_s, c->core_ms[0] / c->core_ms[1]);
}

/* The dear rank is the borrower, the cheap one the lender; whoever posts decides, so each is that at times. */
static void kill_some(const lend_options *o, const char *const recipes[RANKS])
{
    static const char *const names[RANKS] = {"borrower", "lender"};
    say(o, "\nSIGKILL of real loaders: prediction: the other one goes on within 1 s of its usual time for a batch, and "
           "nothing is left in shared memory\n");
    for (unsigned victim = 0; victim < RANKS; victim++) {
        double gap = 0, usual = 0;
        unsigned left = 0;
        for (unsigned i = 0; i < o->kills; i++) {
            kill_result r = pair_kill(o, recipes, victim, i * 5 + victim);
            gap = r.gap_ms > gap ? r.gap_ms : gap;
            usual += r.usual_ms / (double)o->kills;
            left += r.left;
        }
        if (o->json)
            printf("%s{\"killed\": \"%s\", \"times\": %llu, \"usual_ms\": %.3f, \"longest_ms\": %.3f, \"left\": %u}",
                   victim != 0 ? ", " : "", names[victim], o->kills, usual, gap, left);
        else
            printf("  %s killed %llu times: a batch of the other took %.1f ms before and %.1f ms at most after; left "
                   "behind: %u boards\n",
                   names[victim], o->kills, usual, gap, left);
    }
}

/* The unit test's lines: a million events, and kills in the midst of decisions. */
static void run_events(const lend_options *o)
{
    char line[512];
    say(o,
        "\nEvents (%s): prediction: every core held at most once; after each kill, the decider's too, cores are back "
        "within 1 s\n",
        o->events);
    snprintf(line, sizeof line, "'%s' 2>&1", o->events);
    FILE *from = popen(line, "r");
    bool any = false;
    if (from == NULL)
        fail("%s cannot be run", o->events);
    while (fgets(line, sizeof line, from) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (strstr(line, " events: ") == NULL && strncmp(line, "SIGKILL of", 10) != 0)
            continue;
        if (o->json)
            printf("%s\"%s\"", any ? ", " : "", line);
        else
            printf("  %s\n", line);
        any = true;
    }
    if (pclose(from) != 0 || !any)
        fail("%s failed", o->events);
}

static void usage(FILE *file)
{
    fprintf(file, "usage: lend [OPTION...] DATASET\n"
                  "  --rounds N      each without lending and with [5]\n"
                  "  --steps N       of a round [40]\n"
                  "  --warm N        steps before, that are not counted [6]\n"
                  "  --batch N       [64]\n"
                  "  --kills N       of each, the lender and the borrower; 0: none [6]\n"
                  "  --dear RECIPE   [rrc(490) flip blur(23) normalize(imagenet)]\n"
                  "  --cheap RECIPE  [rrc(224) flip]\n"
                  "  --events FILE   the program with a million events: build/tests/test_cores\n"
                  "  --json\n");
}

static bool parse_option(lend_options *o, const char *name, const char *value)
{
    if (strcmp(name, "--rounds") == 0)
        o->rounds = number_from_text(value, 1, ROUNDS_MAX);
    else if (strcmp(name, "--steps") == 0)
        o->steps = number_from_text(value, 1, STEPS_MAX);
    else if (strcmp(name, "--warm") == 0)
        o->warm = number_from_text(value, 0, STEPS_MAX);
    else if (strcmp(name, "--batch") == 0)
        o->batch = number_from_text(value, 1, 65536);
    else if (strcmp(name, "--kills") == 0)
        o->kills = number_from_text(value, 0, 1000);
    else if (strcmp(name, "--dear") == 0)
        o->dear = value;
    else if (strcmp(name, "--cheap") == 0)
        o->cheap = value;
    else if (strcmp(name, "--events") == 0)
        o->events = value;
    else
        return false;
    return true;
}

static bool parse(lend_options *o, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0)
            o->json = true;
        else if (i + 1 < argc && parse_option(o, argv[i], argv[i + 1]))
            i++;
        else if (argv[i][0] != '-' && o->dataset == NULL)
            o->dataset = argv[i];
        else
            return false;
    }
    return o->dataset != NULL;
}

static void run_contests(const lend_options *o)
{
    contest dear = {.name = "dear and cheap", .recipes = {o->dear, o->cheap}};
    contest equal = {.name = "equal costs", .recipes = {o->cheap, o->cheap}};
    double cost_ms[RANKS];
    calibrate(o, dear.recipes, cost_ms);
    say(o,
        "Ranks: `%s` and `%s`; %.3f and %.3f core-ms a sample, %.2f to 1; batch %llu, %llu steps a round, one core "
        "each.\n",
        o->dear, o->cheap, cost_ms[0], cost_ms[1], cost_ms[0] / cost_ms[1], o->batch, o->steps);
    predict(o, &dear, cost_ms);
    measure(o, &dear);
    if (o->json)
        printf("{\"contests\": [");
    report(o, &dear, false);
    cost_ms[0] = cost_ms[1];
    predict(o, &equal, cost_ms);
    measure(o, &equal);
    if (o->json)
        printf(", ");
    report(o, &equal, true);
}

int main(int argc, char **argv)
{
    int processors[RANKS];
    lend_options o = {.dear = "rrc(490) flip blur(23) normalize(imagenet)",
                      .cheap = "rrc(224) flip",
                      .rounds = 5,
                      .steps = 40,
                      .warm = 6,
                      .batch = 64,
                      .kills = 6};
    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        usage(stdout);
        return 0;
    }
    if (!parse(&o, argc, argv)) {
        usage(stderr);
        return 2;
    }
    if (!find_processors(processors)) {
        fprintf(stderr, "lend: this needs two processors, and there are not\n");
        return 77;
    }
    run_contests(&o);
    if (o.json)
        printf("], \"kills\": [");
    if (o.kills != 0)
        kill_some(&o, (const char *const[]){o.dear, o.cheap});
    if (o.json)
        printf("], \"events\": [");
    if (o.events != NULL)
        run_events(&o);
    if (o.json)
        printf("]}\n");
    return 0;
}
