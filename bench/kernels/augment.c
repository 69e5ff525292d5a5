// SPDX-License-Identifier: Apache-2.0
/*
 * All of what is done to an image once it is decoded: crop to slot. 256 crops of around 269 x 267 and 256 slots, so
 * that neither is in a cache when it is needed; half of them flipped. The best of several passes over all of them.
 */
#include "step/augment.h"
#include "kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { IMAGES = 256, SIDE = 224, PASSES = 9 };

typedef struct crops {
    mr_image image[IMAGES];
    mr__chain chain[IMAGES];
    uint8_t *slots;
} crops;

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void *room_for(size_t nbytes, size_t align)
{
    void *room = NULL;
    if (posix_memalign(&room, align, nbytes) != 0)
        abort();
    return room;
}

/* `spread`: how many widths and heights there are around the usual ones. */
static crops *open_crops(uint32_t spread)
{
    crops *all = room_for(sizeof *all, 64);
    size_t slots_nbytes = (size_t)IMAGES * SIDE * SIDE * 3 * sizeof(float);
    uint32_t random = 1;
    all->slots = room_for(slots_nbytes, (size_t)2 << 20);
    madvise(all->slots, slots_nbytes, MADV_HUGEPAGE); /* as the loader's ring has it */
    memset(all->slots, 1, slots_nbytes);
    for (size_t i = 0; i < IMAGES; i++) {
        uint32_t width = 269 - spread / 2 + random / 65536 % spread;
        random = random * 1664525u + 1013904223u;
        uint32_t height = 267 - spread / 2 + random / 65536 % spread;
        random = random * 1664525u + 1013904223u;
        mr_image image = {width, height, 3, 8, (ptrdiff_t)width * 3, room_for((size_t)width * 3 * height, 64)};
        for (size_t b = 0; b < (size_t)width * 3 * height; b++)
            ((uint8_t *)image.pixels)[b] = (uint8_t)((random = random * 1664525u + 1013904223u) >> 24);
        all->image[i] = image;
        mr__chain_init(&all->chain[i], width, height, false, NULL);
        if (mr__chain_resize(&all->chain[i], SIDE, SIDE, MR_FILTER_BILINEAR, NULL) != 0)
            abort();
        if (mr__chain_flip(&all->chain[i], i % 2, false, NULL) != 0)
            abort();
    }
    return all;
}

static void close_crops(crops *all)
{
    for (size_t i = 0; i < IMAGES; i++)
        free(all->image[i].pixels);
    free(all->slots);
    free(all);
}

static mr__finish finish_of(mr_dtype dtype, mr_batch_layout layout)
{
    mr__finish f = {.depth = 8, .normalize = dtype != MR_U8};
    static const float mean[3] = {0.485f, 0.456f, 0.406f}, std[3] = {0.229f, 0.224f, 0.225f};
    memcpy(f.mean, mean, sizeof mean);
    memcpy(f.std, std, sizeof std);
    f.output = (mr_output){sizeof f.output, SIDE, SIDE, 3, layout, dtype, 0};
    f.output.sample_nbytes = (dtype == MR_U8 ? 1u : dtype == MR_F32 ? 4u : 2u) * (size_t)SIDE * SIDE * 3;
    return f;
}

static double time_ms(const crops *all, mr__cpu_flags cpu, mr_dtype dtype, mr_batch_layout layout)
{
    mr__finish finish = finish_of(dtype, layout);
    mr__augment *augment = NULL;
    mr_hooks hooks;
    mr__detail detail;
    double best[IMAGES], sum = 0;
    if (mr__hooks_init(&hooks, NULL) != 0 || mr__augment_new(&hooks, cpu, &finish, &augment) != 0)
        abort();
    for (int pass = 0; pass < PASSES; pass++)
        for (size_t i = 0; i < IMAGES; i++) {
            double start = now_ns();
            if (mr__augment_run(augment, &all->chain[i], &all->image[i], all->slots + i * finish.output.sample_nbytes,
                                &detail) != 0)
                abort();
            double taken = now_ns() - start;
            best[i] = pass == 0 || taken < best[i] ? taken : best[i];
        }
    for (size_t i = 0; i < IMAGES; i++)
        sum += best[i];
    mr__augment_free(augment);
    return sum / IMAGES / 1e6;
}

void augment_time(void)
{
    static const struct {
        const char *name;
        mr_dtype dtype;
        mr_batch_layout layout;
    } cases[] = {{"f32 nchw", MR_F32, MR_NCHW},
                 {"u8 nchw", MR_U8, MR_NCHW},
                 {"u8 nhwc", MR_U8, MR_NHWC},
                 {"f16 nchw", MR_F16, MR_NCHW},
                 {"bf16 nhwc", MR_BF16, MR_NHWC}};
    static const uint32_t spreads[] = {1, 16, 240};
    printf("augment: ms for a crop of about 269 x 267 to 224 x 224\n%-24s %8s %8s %8s %8s\n", "", "c", "best",
           "16 sizes", "240");
    crops *all[3];
    for (size_t i = 0; i < 3; i++)
        all[i] = open_crops(spreads[i]);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        printf("%-24s %8.3f", cases[i].name, time_ms(all[0], 0, cases[i].dtype, cases[i].layout));
        for (size_t s = 0; s < 3; s++)
            printf(" %8.3f", time_ms(all[s], mr__cpu_detect(), cases[i].dtype, cases[i].layout));
        printf("\n");
    }
    for (size_t i = 0; i < 3; i++)
        close_crops(all[i]);
}
