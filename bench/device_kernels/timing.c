// SPDX-License-Identifier: Apache-2.0
#include "device_kernels.h"

#include <stdlib.h>
#include <string.h>

void give_up(const char *what, const char *why)
{
    fprintf(stderr, "device-kernels: %s: %s\n", what, why);
    exit(2);
}

/* As many as fit: how many; 0: the first is left to the host. */
static size_t write_batch(session *s, put_image *put, void *user, size_t first)
{
    mr__tape *tape = &s->st.tape;
    size_t count = 0;
    int code = 0;
    stand_begin(&s->st);
    while (first + count < s->shelf.count && count < s->batch && code == 0) {
        mr__tape_mark mark = mr__tape_open(tape);
        code = put(user, s, first + count);
        code = code == 0 ? mr__tape_code(tape) : code;
        if (code == 0) {
            (void)mr__tape_close(tape);
            count++;
        } else
            mr__tape_drop(tape, mark);
    }
    if (count == 0 && code != ROW_MISSING)
        give_up("a tape", "not one image fits into the device's memory");
    return code == ROW_MISSING ? 0 : count;
}

bool time_device(session *s, row *r, unsigned round, put_image *put, void *user, size_t out_nbytes)
{
    double host = 0, device = 0;
    for (size_t first = 0, count; first < s->shelf.count; first += count) {
        mr__detail detail;
        double begun = thread_ns();
        count = write_batch(s, put, user, first);
        if (count == 0)
            return false;
        if (stand_play(&s->st, count * out_nbytes, &detail) != 0)
            give_up(r->name, detail.text);
        host += thread_ns() - begun;
        device += stand_kernel_ns(&s->st, MR__KERNELS_ALL);
        for (size_t k = 0; k < KERNELS; k++)
            r->kernel_ns[k] += stand_kernel_ns(&s->st, (mr__kernel)k);
    }
    r->kernel_images += (double)s->shelf.count;
    r->write_ns[round] = host / (double)s->shelf.count;
    r->device_ns[round] = device / (double)s->shelf.count;
    return true;
}

void print_head(const char *what)
{
    printf("\n| %s | host us | portable us | device us | device / host | host's part us | kernels, us |\n"
           "| --- | ---: | ---: | ---: | ---: | ---: | --- |\n",
           what);
}

static double median_us(const double *values, unsigned count)
{
    double sorted[ROUNDS_MAX];
    memcpy(sorted, values, count * sizeof *values);
    return median(sorted, count) / 1e3;
}

/* The dearest first. */
static void print_kernels(const row *r)
{
    bool told[KERNELS] = {false};
    for (size_t n = 0; n < KERNELS; n++) {
        size_t most = 0;
        for (size_t k = 1; k < KERNELS; k++)
            if (told[most] || (!told[k] && r->kernel_ns[k] > r->kernel_ns[most]))
                most = k;
        if (told[most] || r->kernel_ns[most] == 0)
            break;
        told[most] = true;
        printf("%s%s %.1f", n == 0 ? "" : ", ", mr__kernel_name((mr__kernel)most),
               r->kernel_ns[most] / r->kernel_images / 1e3);
    }
}

void print_row(const session *s, row *r)
{
    printf("| %s | %.1f | %.1f |", r->name, median_us(r->host_ns, s->rounds), median_us(r->portable_ns, s->rounds));
    if (r->missing) {
        printf(" left to the host | | | |\n");
        return;
    }
    double ratios[ROUNDS_MAX];
    for (unsigned i = 0; i < s->rounds; i++)
        ratios[i] = r->device_ns[i] / r->host_ns[i];
    printf(" %.1f | %.2f | %.1f | ", median_us(r->device_ns, s->rounds), median(ratios, s->rounds),
           median_us(r->write_ns, s->rounds));
    print_kernels(r);
    printf(" |\n");
    (void)fflush(stdout);
}
