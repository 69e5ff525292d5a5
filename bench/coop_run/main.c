// SPDX-License-Identifier: Apache-2.0
/* See bench/README.md. */
#include "coop_run.h"

#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define AIM 0.93

const char *const who_names[WHO_COUNT] = {"host alone",   "device alone", "both, apart", "auto",
                                          "naive-device", "intrabatch",   "interbatch",  "fusion"};

static const char *const forms[] = {"original", "l3", "raw"};
static const char *const recipes[] = {"rrc(224) flip normalize(imagenet)",
                                      "rrc(224) flip randaug(2, 9) normalize(imagenet)"};

void fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)fprintf(stderr, "coop: ");
    (void)vfprintf(stderr, format, args);
    (void)fprintf(stderr, "\n");
    va_end(args);
    exit(2);
}

static turn_result turn(const options *o, const contest *c, who w)
{
    turn_result r = turn_run(o, c, w);
    if (r.absent) {
        printf("%s\n", r.failed);
        exit(77);
    }
    if (r.failed[0] != 0)
        fail("%s, %s: %s: %s", c->form, c->recipe, who_names[w], r.failed);
    return r;
}

/* What is expected stands there before anything else is measured. */
static void predict(const options *o, contest *c)
{
    double host = turn(o, c, HOST_ALONE).rate, device = turn(o, c, DEVICE_ALONE).rate;
    c->sum = host + device;
    printf("\n%s, `%s`\n    host alone %.0f samples/s, device alone %.0f; predicted for both together: %.0f, of which "
           "the device has %.0f %%; aim: at least %.2f of the sum\n",
           c->form, c->recipe, host, device, c->sum, 100 * device / c->sum, AIM);
    (void)fflush(stdout);
}

void contest_run(const options *o, contest *c)
{
    predict(o, c);
    for (unsigned round = 0; round < o->rounds; round++)
        for (unsigned i = 0; i < WHO_COUNT; i++) {
            who w = (who)((i + round) % WHO_COUNT);
            turn_result r = turn(o, c, w);
            c->rate[w][round] = r.rate;
            c->share[w][round] = r.share;
            c->aside[w] += r.aside;
            if (r.aside != 0)
                memcpy(c->mishap[w], r.mishap, sizeof r.mishap);
            if (round == 0 && w == AUTO)
                printf("    threads kept on core 0: %u, on core 1: %u\n", r.on_host, r.on_device);
        }
}

static double median_of(const double *values, unsigned count)
{
    double sorted[ROUNDS_MAX];
    memcpy(sorted, values, count * sizeof *values);
    return median(sorted, count);
}

/* Of the rounds' ratios to the sum of the two alone in that round: sorted. */
static void ratios_of(const options *o, const contest *c, who w, double *ratios)
{
    for (unsigned i = 0; i < o->rounds; i++)
        ratios[i] = c->rate[w][i] / (c->rate[HOST_ALONE][i] + c->rate[DEVICE_ALONE][i]);
    (void)median(ratios, o->rounds);
}

bool contest_report(const options *o, contest *c)
{
    double kept = 0, ratios[ROUNDS_MAX];
    printf("\n| who | samples/s | of the sum | lowest, highest | the device's share | auto is faster by |\n"
           "| --- | ---: | ---: | ---: | ---: | ---: |\n");
    for (unsigned w = 0; w < WHO_COUNT; w++) {
        ratios_of(o, c, (who)w, ratios);
        double ratio = median_of(ratios, o->rounds);
        kept = w == AUTO ? ratio : kept;
        printf("| %s | %.0f | %.3f | %.3f, %.3f | %.0f %% |", who_names[w], median_of(c->rate[w], o->rounds), ratio,
               ratios[0], ratios[o->rounds - 1], 100 * median_of(c->share[w], o->rounds));
        for (unsigned i = 0; i < o->rounds; i++)
            ratios[i] = c->rate[AUTO][i] / c->rate[w][i];
        if (w <= AUTO)
            printf(" |\n");
        else
            printf(" %.2fx |\n", median_of(ratios, o->rounds));
    }
    for (unsigned w = AUTO; w < WHO_COUNT; w++)
        if (c->aside[w] != 0)
            printf("%s: the device was set aside %" PRIu64 " times in %u turns: it %s\n", who_names[w], c->aside[w],
                   o->rounds, c->mishap[w]);
    printf("auto: %.3f of the sum; aimed at: %.2f%s\n", kept, AIM, kept >= AIM ? "" : ", which it does NOT reach");
    (void)fflush(stdout);
    return kept >= AIM;
}

static void usage(FILE *file)
{
    fprintf(file, "usage: coop [OPTION...] DATASET\n"
                  "  --rounds N      in which everyone takes a turn [5]\n"
                  "  --seconds N     of a turn [4]\n"
                  "  --batch N       samples [64]\n"
                  "  --warm N        batches before threads are placed, and as many after, that do not count [6]\n"
                  "  --form NAME     only this [original, l3 and raw]\n"
                  "  --recipe TEXT   only this [one plain, one with randaug]\n"
                  "  --device NAME   beside the host [opencl:0]\n"
                  "  --quick         to see that it runs: a round of short turns; no aim is looked at\n");
}

static void parse(options *o, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(name, "--help") == 0) {
            usage(stdout);
            exit(0);
        } else if (strcmp(name, "--quick") == 0) {
            o->quick = true;
            o->rounds = 1;
            o->warm = 1;
            o->seconds = 0.05;
        } else if (strcmp(name, "--rounds") == 0)
            o->rounds = (unsigned)number_from_text(value, 1, ROUNDS_MAX), i++;
        else if (strcmp(name, "--seconds") == 0)
            o->seconds = (double)number_from_text(value, 1, 3600), i++;
        else if (strcmp(name, "--batch") == 0)
            o->batch = (unsigned)number_from_text(value, 1, 100000), i++;
        else if (strcmp(name, "--warm") == 0)
            o->warm = (unsigned)number_from_text(value, 1, 100000), i++;
        else if (strcmp(name, "--form") == 0)
            o->form = value, i++;
        else if (strcmp(name, "--recipe") == 0)
            o->recipe = value, i++;
        else if (strcmp(name, "--device") == 0)
            o->device = value, i++;
        else if (name[0] != '-' && o->dataset == NULL)
            o->dataset = name;
        else {
            usage(stderr);
            exit(2);
        }
    }
    if (o->dataset == NULL) {
        usage(stderr);
        exit(2);
    }
}

int main(int argc, char **argv)
{
    options o = {.device = "opencl:0", .rounds = 5, .batch = 64, .warm = 6, .seconds = 4, .seed = 7};
    bool good = true;
    parse(&o, argc, argv);
    (void)signal(SIGPIPE, SIG_IGN); // who is written to may have ended
    if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
        fail("it takes two cores");
    for (size_t f = 0; f < (o.form != NULL ? 1 : sizeof forms / sizeof *forms); f++)
        for (size_t r = 0; r < (o.recipe != NULL ? 1 : sizeof recipes / sizeof *recipes); r++) {
            contest *c = need(calloc(1, sizeof *c));
            c->form = o.form != NULL ? o.form : forms[f];
            c->recipe = o.recipe != NULL ? o.recipe : recipes[r];
            contest_run(&o, c);
            good = contest_report(&o, c) && good;
            free(c);
        }
    return good || o.quick ? 0 : 1;
}
