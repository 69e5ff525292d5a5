// SPDX-License-Identifier: Apache-2.0
/* kernels --check [--seed N] | --time [TABLE]: see kernels.h. */
#include "kernels.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Every table. Adding one is its file and its line here. */
static const kernel_table *const tables[] = {
    &kernels_png_unfilter, &kernels_jpeg_pixels, &kernels_jpeg_scans, &kernels_jpeg_bands, &kernels_jpeg_forward,
    &kernels_l3_pixel,     &kernels_l3_unit,     &kernels_l3_encode,  &kernels_resample,   &kernels_crc32c,
    &kernels_finish,       &kernels_color,       &kernels_warp,       &kernels_filter,     &kernels_noise,
    &kernels_augmix,       &kernels_mix};

/* As in MILLRACE_CPU, upward. */
static const char *const levels[] = {"sse41", "avx2-slowpdep", "avx2", "avx512", "neon"};

enum { LEVELS = sizeof levels / sizeof *levels };

/* What is being run, for the word on a kernel that leaves its buffers. */
static char running[64];

static void on_fault(int signal_number)
{
    (void)signal_number;
    static const char text[] = " touched memory outside its buffers\n";
    ssize_t ignored = write(STDERR_FILENO, running, strlen(running));
    ignored += write(STDERR_FILENO, text, sizeof text - 1);
    (void)ignored;
    _exit(1);
}

typedef struct tally {
    size_t checked;
    size_t wrong;
} tally;

/* One kernel under all its instruction sets; levels that choose the same function count once. */
static void visit(const kernel *portable, kernel lists[LEVELS][KERNEL_LIST_MAX], size_t index, bool timing,
                  uint64_t seed, tally *t)
{
    kernel_function *before = portable->function;
    double base = timing ? kernel_time(portable) : 0;
    if (timing)
        printf("%-24s %-14s %8.2f\n", portable->name, "c", base);
    for (size_t level = 0; level < LEVELS; level++) {
        const kernel *variant = &lists[level][index];
        if (variant->function == before || variant->function == portable->function)
            continue;
        before = variant->function;
        snprintf(running, sizeof running, "%s_%s", variant->name, levels[level]);
        if (timing) {
            double speed = kernel_time(variant);
            printf("%-24s %-14s %8.2f %6.2fx\n", "", levels[level], speed, speed / base);
            continue;
        }
        t->checked++;
        t->wrong += !kernel_check(portable, variant, levels[level], seed);
    }
}

static void visit_table(const kernel_table *table, bool timing, uint64_t seed, tally *t)
{
    kernel portable[KERNEL_LIST_MAX];
    static kernel lists[LEVELS][KERNEL_LIST_MAX];
    size_t count = table->list(0, portable);
    for (size_t level = 0; level < LEVELS; level++) {
        mr__cpu_flags mask = 0;
        mr__cpu_mask_from_text(levels[level], &mask);
        table->list(mr__cpu_detect() & mask, lists[level]);
    }
    if (timing)
        printf("%s: bytes made per ns, and beside C\n", table->name);
    for (size_t i = 0; i < count; i++)
        visit(&portable[i], lists, i, timing, seed, t);
}

int main(int argc, char **argv)
{
    bool check = argc >= 2 && strcmp(argv[1], "--check") == 0;
    bool timing = (argc == 2 || argc == 3) && strcmp(argv[1], "--time") == 0;
    const char *only = timing && argc == 3 ? argv[2] : NULL;
    uint64_t seed = 1;
    if (check && argc == 4 && strcmp(argv[2], "--seed") == 0)
        seed = strtoull(argv[3], NULL, 10);
    else if ((argc != 2 || !check) && !timing) {
        fprintf(stderr, "usage: kernels --check [--seed N] | --time [TABLE]\n");
        return 2;
    }
    signal(SIGSEGV, on_fault);
    signal(SIGBUS, on_fault);
    tally t = {0, 0};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (only == NULL || strcmp(only, tables[i]->name) == 0)
            visit_table(tables[i], timing, seed, &t);
    if (timing && (only == NULL || strcmp(only, "augment") == 0))
        augment_time();
    if (check)
        printf("%zu kernels checked against C with seed %llu: %zu wrong\n", t.checked, (unsigned long long)seed,
               t.wrong);
    return t.wrong != 0;
}
