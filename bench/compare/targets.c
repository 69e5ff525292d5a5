// SPDX-License-Identifier: Apache-2.0
/* The targets that L3 was designed to, each with what was measured here. Speeds are those over distinct images. */
#include "compare.h"

#include <string.h>
#include <strings.h>

/* Where targets are collected. */
typedef struct list {
    target *targets;
    size_t count, most;
} list;

static void add(list *l, const contest *c, const char *text, double wanted, bool at_most, bool is_measured,
                double measured)
{
    if (l->count == l->most)
        return;
    target *t = &l->targets[l->count++];
    *t = (target){.measured = measured, .wanted = wanted, .at_most = at_most, .is_measured = is_measured};
    snprintf(t->text, sizeof t->text, "%s", text);
    snprintf(t->set, sizeof t->set, "%s", c->name);
}

/* Under the instruction set the targets name: AVX2, with PDEP; on another processor its own best. */
static const racer *timed(const contest *c, const char *name, series s)
{
    const racer *r = find_racer(c, name, "avx2");
    if (r == NULL)
        r = find_racer(c, name, "neon");
    return r != NULL && r->runs[s] ? r : NULL;
}

static void add_times(list *l, const contest *c, const char *text, const char *name, const char *than, series s,
                      double wanted)
{
    const racer *r = timed(c, name, s), *other = find_racer(c, than, NULL);
    bool both = r != NULL && other != NULL && other->runs[s];
    add(l, c, text, wanted, false, both, both ? racer_times(c, r, other, s) : 0);
}

static void add_bytes(list *l, const contest *c, const char *text, const char *name, double wanted)
{
    const coding *what = find_coding(c, name), *of = find_coding(c, "PNG-6");
    bool both = what != NULL && of != NULL;
    add(l, c, text, wanted, true, both, both ? what->nbytes / of->nbytes : 0);
}

static void add_encoding(list *l, const contest *c, const char *text, const char *name)
{
    const encode_line *line = find_line(c, name, 1);
    add(l, c, text, 150, false, line != NULL, line != NULL ? line_core_mb_per_s(c, line) : 0);
}

static bool is_set(const contest *c, const char *name)
{
    return strcasecmp(c->name, name) == 0;
}

static void pixel_targets(list *l, const contest *c)
{
    double bytes = is_set(c, "kodak") ? 0.82 : is_set(c, "cityscapes") ? 0.94 : is_set(c, "kitti") ? 1.03 : 0;
    if (bytes != 0)
        add_bytes(l, c, "default: bytes of PNG-6", "L3 default", bytes);
    add_times(l, c, "default: times libpng", "L3 default", "libpng", DISTINCT, 25);
    add_times(l, c, "default: times the fastest PNG", "L3 default", "millrace png", DISTINCT, 9);
    add_times(l, c, "default: times QOI", "L3 default", "QOI", DISTINCT, 7);
    if (is_set(c, "kodak") || is_set(c, "cityscapes"))
        add_bytes(l, c, "fast: bytes of PNG-6", "L3 fast", is_set(c, "kodak") ? 1.00 : 1.04);
    add_times(l, c, "fast: speed of memcpy", "L3 fast", "memcpy", DISTINCT, 0.60);
    if (is_set(c, "kodak"))
        add_bytes(l, c, "small: bytes of PNG-6", "L3 small", 0.78);
    add_times(l, c, "small: times libpng", "L3 small", "libpng", DISTINCT, 15);
    add_encoding(l, c, "encoding, default: MB/s of RGB a core", "L3 default");
}

static void jpeg_targets(list *l, const contest *c)
{
    const size_line *size = find_size(c, "L3");
    add(l, c, "DCT: bytes of the JPEG files", 1.00, true, size != NULL, size != NULL ? size->total : 0);
    add(l, c, "DCT: share of images at 1.10 or less", 0.97, false, size != NULL, size != NULL ? size->within : 0);
    add_times(l, c, "DCT: whole, times libjpeg-turbo", "L3", "libjpeg-turbo", DISTINCT, 4);
    add_times(l, c, "DCT: regions, times libjpeg-turbo's own crop", "L3", "libjpeg-turbo, own crop", REGIONS, 5);
    add(l, c, "DCT: images with other pixels", 0, true, size != NULL, (double)c->different);
    add_encoding(l, c, "encoding, DCT with verification: MB/s of RGB a core, origin kept", "L3 with origin");
}

size_t list_targets(const contest *contests, size_t count, target *targets, size_t most)
{
    list l = {.targets = targets, .most = most};
    for (size_t i = 0; i < count; i++)
        (contests[i].is_jpeg ? jpeg_targets : pixel_targets)(&l, &contests[i]);
    return l.count;
}

bool target_met(const target *t)
{
    return t->is_measured && (t->at_most ? t->measured <= t->wanted : t->measured >= t->wanted);
}
