// SPDX-License-Identifier: Apache-2.0
#include "l3_device.h"

#include <string.h>

static double median_of(const double *values, unsigned count)
{
    double sorted[ROUNDS_MAX];
    memcpy(sorted, values, count * sizeof *values);
    return median(sorted, count);
}

/* Of the rounds' ratios. */
static double ratio_of(const double *values, const double *than, unsigned count)
{
    double ratios[ROUNDS_MAX];
    for (unsigned i = 0; i < count; i++)
        ratios[i] = than[i] / values[i];
    return median(ratios, count);
}

static double kilobytes(const picture_set *set, storing as)
{
    double sum = 0;
    for (size_t i = 0; i < set->count; i++)
        sum += (double)set->pictures[i].as[as].nbytes;
    return sum / 1000 / (double)set->count;
}

void contest_report(const contest *c)
{
    const picture_set *set = c->set;
    const way *first = &c->ways[0];
    printf("\n%s: %zu images of %.2f megapixels", set->name, set->count, set->pixels / 1e6 / (double)set->count);
    if (set->left_out != 0)
        printf(", %zu left out (not 8-bit RGB, or not to be stored in all ways)", set->left_out);
    printf("\n\n| decoded by | what | kB an image | host core-us an image | host, of %s's | device us an image |\n"
           "| --- | --- | ---: | ---: | ---: | ---: |\n",
           first->name);
    for (size_t i = 0; i < c->count; i++) {
        const way *w = &c->ways[i];
        if (w->dropped)
            continue;
        printf("| %s | %s | %.1f | %.1f |", w->on_device ? "device" : "host", w->name, kilobytes(set, w->as),
               median_of(w->host_ns, c->rounds) / 1e3);
        if (first->dropped)
            printf(" |");
        else
            printf(" 1/%.1f |", ratio_of(w->host_ns, first->host_ns, c->rounds));
        if (w->on_device)
            printf(" %.1f |\n", median_of(w->device_ns, c->rounds) / 1e3);
        else
            printf(" |\n");
    }
}
