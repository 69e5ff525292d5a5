// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "common.h"

#include <limits.h>
#include <malloc.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

double thread_ns(void)
{
    return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

double process_ns(void)
{
    return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

double wall_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, by_value);
    return count % 2 != 0 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

double quantile(double *values, size_t count, double share)
{
    qsort(values, count, sizeof *values, by_value);
    size_t at = (size_t)(share * (double)count);
    return values[at < count ? at : count - 1];
}

mr_image part_image(const mr_image *shape, mr_rect part, void *pixels)
{
    mr_image image = *shape;
    image.width = part.width;
    image.height = part.height;
    image.stride = (ptrdiff_t)mr_image_row_nbytes(&image);
    image.pixels = pixels;
    return image;
}

unsigned long long number_from_text(const char *text, unsigned long long least, unsigned long long most)
{
    char *end;
    unsigned long long value = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != 0 || value < least || value > most) {
        fprintf(stderr, "bench: %s is not a number from %llu to %llu\n", text, least, most);
        exit(2);
    }
    return value;
}

void keep_freed_memory(void)
{
#ifdef M_TRIM_THRESHOLD
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
    mallopt(M_MMAP_THRESHOLD, INT_MAX); // as far as it goes, which is 32 MB
    mallopt(M_TOP_PAD, 64 << 20);
#endif
}

/* The kernel's word comes first: the C library asks the processor, and under a hypervisor that can be far off. */
size_t cache_nbytes(void)
{
    size_t most = 0;
    for (int index = 0; index < 8; index++) {
        char path[64];
        unsigned long kilobytes = 0;
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", index);
        FILE *file = fopen(path, "r");
        if (file != NULL && fscanf(file, "%luK", &kilobytes) == 1 && kilobytes << 10 > most)
            most = kilobytes << 10;
        if (file != NULL)
            fclose(file);
    }
    long asked = sysconf(_SC_LEVEL3_CACHE_SIZE);
    return most != 0 ? most : asked > 0 ? (size_t)asked : (size_t)64 << 20;
}

_Static_assert(sizeof(cpu_set_t) <= sizeof((places){0}).mask, "a processor set fits");

void pin_thread(places *before)
{
    cpu_set_t set;
    int cpu = sched_getcpu();
    before->known = sched_getaffinity(0, sizeof set, &set) == 0 && cpu >= 0 && cpu < CPU_SETSIZE;
    if (!before->known)
        return;
    memcpy(before->mask, &set, sizeof set);
    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    sched_setaffinity(0, sizeof set, &set); // where it is not allowed, the figures are noisier, no more
}

void unpin_thread(const places *before)
{
    cpu_set_t set;
    if (!before->known)
        return;
    memcpy(&set, before->mask, sizeof set);
    sched_setaffinity(0, sizeof set, &set);
}
