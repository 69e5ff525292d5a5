// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE // sched_setaffinity, syscall
#include "device/cpu/placement.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A set of as many processors as we count with. */
typedef struct processor_set {
    uint8_t bits[MR__PROCESSORS_MAX / 8];
} processor_set;

static bool has(const processor_set *set, uint32_t n)
{
    return (set->bits[n / 8] >> (n % 8) & 1) != 0;
}

static bool read_number(const char **text, uint32_t *value)
{
    uint32_t n = 0;
    const char *at = *text;
    for (; *at >= '0' && *at <= '9' && n < MR__PROCESSORS_MAX; at++)
        n = n * 10 + (uint32_t)(*at - '0');
    bool any = at != *text && n < MR__PROCESSORS_MAX;
    *text = at;
    *value = n;
    return any;
}

bool mr__processor_list(const char *text, uint16_t *processor, uint32_t *count)
{
    *count = 0;
    for (;;) {
        uint32_t first, last;
        if (!read_number(&text, &first))
            return false;
        last = first;
        if (*text == '-' && (text++, !read_number(&text, &last)))
            return false;
        if (last < first || last - first >= MR__PROCESSORS_MAX - *count)
            return false;
        for (uint32_t n = first; n <= last; n++)
            processor[(*count)++] = (uint16_t)n;
        if (*text != ',')
            return *text == '\0' || *text == '\n';
        text++;
    }
}

static int read_node(mr__placement *p, uint32_t node, mr__detail *detail)
{
    char path[80], text[4096];
    snprintf(path, sizeof path, "/sys/devices/system/node/node%u/cpulist", node);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0)
        close(fd);
    text[got > 0 ? got : 0] = '\0';
    if (got <= 0 || !mr__processor_list(text, p->processor, &p->count))
        return mr__fail(detail, MR_EARGUMENT, "there is no NUMA node %u with processors here (%s)", node, path);
    return 0;
}

/* Leaves only those that this process may use. */
static void intersect(mr__placement *p, const processor_set *allowed)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < p->count; i++)
        if (has(allowed, p->processor[i]))
            p->processor[kept++] = p->processor[i];
    p->count = kept;
}

int mr__placement_init(mr__placement *p, mr_pinning pinning, bool has_node, uint32_t node, mr__detail *detail)
{
    processor_set allowed;
    memset(&allowed, 0, sizeof allowed);
    p->count = 0;
    p->one_each = pinning == MR_PIN_CORES;
    if (pinning == MR_PIN_NONE && !has_node)
        return 0;
    if (sched_getaffinity(0, sizeof allowed, (void *)&allowed) != 0)
        return mr__fail(detail, MR_ESYSTEM, "the system does not say which processors may be used");
    for (uint32_t n = 0; n < MR__PROCESSORS_MAX; n++)
        p->processor[p->count++] = (uint16_t)n;
    int result = has_node ? read_node(p, node, detail) : 0;
    if (result != 0)
        return result;
    intersect(p, &allowed);
    if (p->count == 0)
        return mr__fail(detail, MR_EARGUMENT, "this process may use no processor of NUMA node %u", node);
    return 0;
}

void mr__placement_apply(const mr__placement *p, uint32_t n)
{
    processor_set set;
    memset(&set, 0, sizeof set);
    for (uint32_t i = 0; i < p->count; i++)
        if (!p->one_each || i == n % p->count)
            set.bits[p->processor[i] / 8] |= (uint8_t)(1u << (p->processor[i] % 8));
    if (p->count != 0)
        (void)sched_setaffinity(0, sizeof set, (const void *)&set);
}

void mr__memory_advise(void *block, size_t nbytes, bool has_node, uint32_t node)
{
    const size_t large = (size_t)2 << 20, page = 4096;
    size_t skip = (page - (uintptr_t)block % page) % page;
    if (nbytes < 2 * large || skip >= nbytes)
        return;
    uint8_t *from = (uint8_t *)block + skip;
    size_t some = (nbytes - skip) / page * page;
    (void)madvise(from, some, MADV_HUGEPAGE);
    unsigned long nodes[16] = {0};
    const unsigned bits = 8 * sizeof *nodes;
    if (has_node && node < 16 * bits) {
        nodes[node / bits] = 1ul << (node % bits);
        (void)syscall(SYS_mbind, from, some, 1 /* MPOL_PREFERRED */, nodes, 16ul * bits, 0);
    }
}
