// SPDX-License-Identifier: Apache-2.0
#include "kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { SHORT_MAX = 200, LONG_MAX_NBYTES = 8000, LONG_TRIES = 40, ROOM = 16384, CANARY = 0xa5, TIME_NBYTES = 6144 };

/* A room between two pages that nobody may touch. */
typedef struct room {
    uint8_t *bytes;
    size_t nbytes;
    size_t page;
} room;

static room room_open(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    room r = {.page = page, .nbytes = (ROOM + page - 1) / page * page};
    uint8_t *all = mmap(NULL, r.nbytes + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED || mprotect(all + page, r.nbytes, PROT_READ | PROT_WRITE) != 0) {
        perror("kernels: mmap");
        exit(2);
    }
    r.bytes = all + page;
    return r;
}

static void room_close(room r)
{
    munmap(r.bytes - r.page, r.nbytes + 2 * r.page);
}

typedef enum place { PLACE_FRONT, PLACE_BACK, PLACE_ALIGNED } place;

/* A kernel that may use some bytes around its buffers has them there, and then relies on where they start. */
static uint8_t *place_at(const room *r, place where, size_t offset, size_t nbytes, size_t slack, size_t align)
{
    align = slack != 0 ? 32 : align != 0 ? align : 1;
    if (where == PLACE_FRONT)
        return r->bytes + slack;
    if (where == PLACE_BACK)
        return r->bytes + (r->nbytes - nbytes - slack) / align * align;
    return r->bytes + slack + (64 + offset) / align * align;
}

static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

/* Noise, or few and extreme values, which meet more of the equal-distance and wrap-around cases. */
static void fill(uint8_t *bytes, size_t nbytes, uint64_t *seed, bool extreme)
{
    static const uint8_t values[8] = {0, 1, 2, 127, 128, 129, 254, 255};
    for (size_t i = 0; i < nbytes; i++) {
        uint64_t r = next_random(seed);
        bytes[i] = extreme ? values[r % 8] : (uint8_t)r;
    }
}

typedef struct bench {
    room in[KERNEL_INPUTS];
    room out[2][KERNEL_OUTPUTS]; /* of the portable kernel, of the variant */
} bench;

static bench bench_open(void)
{
    bench b;
    for (size_t i = 0; i < KERNEL_INPUTS; i++)
        b.in[i] = room_open();
    for (size_t i = 0; i < 2 * KERNEL_OUTPUTS; i++)
        b.out[i / KERNEL_OUTPUTS][i % KERNEL_OUTPUTS] = room_open();
    return b;
}

static void bench_close(bench *b)
{
    for (size_t i = 0; i < KERNEL_INPUTS; i++)
        room_close(b->in[i]);
    for (size_t i = 0; i < 2 * KERNEL_OUTPUTS; i++)
        room_close(b->out[i / KERNEL_OUTPUTS][i % KERNEL_OUTPUTS]);
}

/* Whether an output is the same; where the kernel may not write beyond it, the whole room, canaries too. */
static bool equals(const bench *b, size_t i, const uint8_t *at, size_t nbytes, size_t slack)
{
    const room *c = &b->out[0][i], *variant = &b->out[1][i];
    size_t first = slack != 0 ? (size_t)(at - variant->bytes) : 0;
    return memcmp(c->bytes + first, variant->bytes + first, slack != 0 ? nbytes : c->nbytes) == 0;
}

/* One case: both kernels on the same bytes. */
static bool same(bench *b, const kernel *portable, const kernel *variant, size_t nbytes, place where, uint64_t *seed)
{
    const uint8_t *in[KERNEL_INPUTS] = {NULL};
    bool extreme = next_random(seed) % 2;
    for (size_t i = 0; i < portable->inputs; i++) {
        uint8_t *bytes =
            place_at(&b->in[i], where, next_random(seed) % 64, nbytes, portable->in_slack, portable->align);
        fill(bytes - portable->in_slack, nbytes + 2 * portable->in_slack, seed, extreme);
        if (portable->prepare != NULL)
            portable->prepare(bytes, i, nbytes);
        in[i] = bytes;
    }
    size_t offset[KERNEL_OUTPUTS];
    for (size_t i = 0; i < KERNEL_OUTPUTS; i++)
        offset[i] = next_random(seed) % 64;
    uint8_t *out[KERNEL_OUTPUTS] = {NULL};
    for (size_t v = 0; v < 2; v++) {
        const kernel *k = v == 0 ? portable : variant;
        for (size_t i = 0; i < portable->outputs; i++) {
            memset(b->out[v][i].bytes, CANARY, b->out[v][i].nbytes);
            out[i] = place_at(&b->out[v][i], where, offset[i], nbytes, portable->out_slack, portable->align);
        }
        k->call(k->function, out, in, nbytes);
    }
    for (size_t i = 0; i < portable->outputs; i++)
        if (!equals(b, i, out[i], nbytes, portable->out_slack))
            return false;
    return true;
}

bool kernel_check(const kernel *portable, const kernel *variant, const char *isa, uint64_t seed)
{
    static const char *const names[] = {"at the front", "at the back", "inside"};
    bench b = bench_open();
    bool good = true;
    for (size_t i = 1; good && i <= SHORT_MAX + LONG_TRIES; i++) {
        size_t nbytes = i <= SHORT_MAX ? i : SHORT_MAX + next_random(&seed) % (LONG_MAX_NBYTES - SHORT_MAX);
        nbytes -= nbytes % portable->unit;
        for (int where = PLACE_FRONT; nbytes != 0 && good && where <= PLACE_ALIGNED; where++) {
            good = same(&b, portable, variant, nbytes, (place)where, &seed);
            if (!good)
                fprintf(stderr, "%s_%s differs from C at %zu bytes, %s\n", variant->name, isa, nbytes, names[where]);
        }
    }
    bench_close(&b);
    return good;
}

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

double kernel_time(const kernel *k)
{
    enum { RUNS = 300, CALLS = 4 };
    bench b = bench_open();
    uint64_t seed = 1;
    size_t nbytes = TIME_NBYTES - TIME_NBYTES % k->unit;
    const uint8_t *in[KERNEL_INPUTS];
    uint8_t *out[KERNEL_OUTPUTS];
    // Not all at the same offset into a page: loads would then wait for stores that only look like theirs.
    for (size_t i = 0; i < KERNEL_INPUTS; i++) {
        uint8_t *bytes = b.in[i].bytes + k->in_slack + 448 * i;
        fill(bytes, nbytes, &seed, false);
        if (k->prepare != NULL)
            k->prepare(bytes, i, nbytes);
        in[i] = bytes;
    }
    for (size_t i = 0; i < KERNEL_OUTPUTS; i++)
        out[i] = b.out[0][i].bytes + k->out_slack + 448 * (KERNEL_INPUTS + i);
    double best = 1e18;
    for (int run = 0; run < RUNS; run++) {
        double start = now_ns();
        for (int call = 0; call < CALLS; call++)
            k->call(k->function, out, in, nbytes);
        double taken = (now_ns() - start) / CALLS;
        best = taken < best ? taken : best;
    }
    bench_close(&b);
    return (double)(nbytes * k->outputs) / best;
}
