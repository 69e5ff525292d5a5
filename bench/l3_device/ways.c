// SPDX-License-Identifier: Apache-2.0
#include "l3_device.h"

#include "guest_tape.h"
#include "peer.h"

#include <stdlib.h>

static bool decode_peer(way *w, const picture *p, const mr_image *to)
{
    const bytes *b = &p->as[w->as];
    const bench_peer *peer = peer_of_form(b->info.form);
    return peer != NULL && peer->decode(b->at, b->nbytes, to) != PEER_FAILED;
}

static bool decode_ours(way *w, const picture *p, const mr_image *to)
{
    return mr_decoder_decode_into(w->decoder, p->as[w->as].at, p->as[w->as].nbytes, NULL, to) == 0;
}

static bool decode_2022(way *w, const picture *p, const mr_image *to)
{
    const l3_2022_kernels *kernels = l3_2022_can_avx2() ? l3_2022_avx2 : &l3_2022_portable;
    return l3_2022_decode(kernels, p->as[w->as].at, p->as[w->as].nbytes, to);
}

static void add(contest *c, const char *name, storing as, bool (*decode)(way *, const picture *, const mr_image *))
{
    way *w = &c->ways[c->count++];
    *w = (way){.name = name, .as = as, .decode = decode, .on_device = decode == NULL};
    w->decoder = decoder_under("", MR_JPEG_EITHER);
}

void contest_open(contest *c, const picture_set *set, stand *st, unsigned rounds, size_t batch)
{
    bool jpeg = set->source == MR_FORM_JPEG;
    size_t largest = 0;
    *c = (contest){.set = set, .stand = st, .rounds = rounds, .batch = batch};
    for (size_t i = 0; i < set->count; i++) {
        const mr_image *shape = &set->pictures[i].shape;
        size_t nbytes = (size_t)shape->width * shape->height * 3;
        largest = nbytes > largest ? nbytes : largest;
    }
    c->pixels = need(calloc(largest + 1, 1));
    add(c, jpeg ? "libjpeg-turbo" : "libpng", AS_SOURCE, decode_peer); // the first: what others are compared with
    add(c, jpeg ? "Millrace, jpeg" : "Millrace, png", AS_SOURCE, decode_ours);
    add(c, jpeg ? "Millrace, l3 (DCT)" : "Millrace, l3 (pixel)", AS_L3, decode_ours);
    add(c, "l3-2022", AS_L3_2022, decode_2022);
    add(c, jpeg ? "l3 (DCT)" : "l3 (pixel)", AS_L3, NULL);
    add(c, "l3-2022", AS_L3_2022, NULL);
    if (jpeg)
        add(c, "jpeg, entropy on the host", AS_SOURCE, NULL);
    add(c, "raw", AS_RAW, NULL);
}

void contest_close(contest *c)
{
    for (size_t i = 0; i < c->count; i++)
        mr_decoder_free(c->ways[i].decoder);
    free(c->pixels);
    *c = (contest){0};
}

/* --- pixels --- */

typedef struct subject {
    const way *way;
    const picture *picture;
} subject;

static int put_on_tape(const way *w, const picture *p, mr__tape_writer *writer, mr__sheet *sheet, mr__detail *detail)
{
    const bytes *b = &p->as[w->as];
    mr__tape_source source = {.bytes = b->at,
                              .nbytes = b->nbytes,
                              .info = &b->info,
                              .region = {0, 0, p->shape.width, p->shape.height},
                              .decoder = w->decoder,
                              .reduce = 1};
    if (w->as == AS_L3_2022)
        return guest_tape(writer->tape, b->at, b->nbytes, sheet, detail);
    return mr__tape_decode(writer, &source, sheet, detail);
}

static int write_subject(void *user, mr__tape_writer *writer, mr__sheet *sheet, mr__detail *detail)
{
    const subject *s = user;
    return put_on_tape(s->way, s->picture, writer, sheet, detail);
}

/* 0; or why it does not, with detail. */
static int gives_pixels(contest *c, way *w, const picture *p, mr__detail *detail)
{
    mr_image to = p->shape;
    to.pixels = c->pixels;
    to.stride = (ptrdiff_t)mr_image_row_nbytes(&to);
    if (!w->on_device)
        return w->decode(w, p, &to) && mr_image_hash(&to) == p->hash ? 0
                                                                     : mr__fail(detail, MR_ECORRUPT, "other pixels");
    playing how = {.play = opencl_play_tape, .user = &c->stand->cl};
    playing_decoded got;
    subject s = {w, p};
    uint64_t nbytes = 4 * (uint64_t)p->shape.width * p->shape.height + p->as[w->as].nbytes;
    int result = playing_sheet(&how, write_subject, &s, nbytes, &got, detail);
    if (result == 0 && (got.refused || mr_image_hash(&got.image) != p->hash))
        result = mr__fail(detail, MR_ECORRUPT, got.refused ? "a kernel refuses it" : "other pixels");
    free(got.image.pixels);
    return result;
}

void contest_check(contest *c)
{
    for (size_t i = 0; i < c->count; i++) {
        way *w = &c->ways[i];
        for (size_t k = 0; k < c->set->count && !w->dropped; k++) {
            mr__detail detail = {0};
            int result = gives_pixels(c, w, &c->set->pictures[k], &detail);
            if (result == 0)
                continue;
            fprintf(stderr, "l3-device: %s%s is left out: %s: %s\n", w->name, w->on_device ? " on the device" : "",
                    c->set->pictures[k].path, detail.text);
            w->dropped = true;
            c->wrong += result != MR_EUNSUPPORTED; // there is no kernel for it
        }
    }
}

/* --- times --- */

typedef struct sums {
    double host_ns, device_ns;
} sums;

static void fail_timing(const way *w, const char *why)
{
    fprintf(stderr, "l3-device: %s: %s\n", w->name, why);
    exit(1);
}

static void time_host(contest *c, way *w, sums *s)
{
    double begun = thread_ns();
    for (size_t i = 0; i < c->set->count; i++) {
        const picture *p = &c->set->pictures[i];
        mr_image to = p->shape;
        to.pixels = c->pixels;
        to.stride = (ptrdiff_t)mr_image_row_nbytes(&to);
        if (!w->decode(w, p, &to))
            fail_timing(w, p->path);
    }
    s->host_ns = thread_ns() - begun;
}

/* As many as fit, and no more than a batch: how many. */
static size_t write_batch(contest *c, const way *w, size_t first)
{
    stand *st = c->stand;
    size_t count = 0;
    int code = 0;
    stand_begin(st);
    while (first + count < c->set->count && count < c->batch && code == 0) {
        mr__detail detail;
        mr__sheet sheet;
        mr__tape_mark mark = mr__tape_open(&st->tape);
        code = put_on_tape(w, &c->set->pictures[first + count], &st->writer, &sheet, &detail);
        code = code == 0 ? mr__tape_code(&st->tape) : code;
        if (code == 0) {
            (void)mr__tape_close(&st->tape);
            count++;
        } else
            mr__tape_drop(&st->tape, mark);
        if (code != 0 && (code != MR_ENOMEM || count == 0))
            fail_timing(w, c->set->pictures[first].path);
    }
    return count;
}

/* Pixels stay where the device has them: whoever goes on with them is there, too. */
static void time_device(contest *c, way *w, sums *s)
{
    mr__detail detail;
    for (size_t first = 0; first < c->set->count;) {
        double begun = thread_ns();
        size_t count = write_batch(c, w, first);
        if (stand_play(c->stand, 0, &detail) != 0)
            fail_timing(w, detail.text);
        s->host_ns += thread_ns() - begun;
        s->device_ns += stand_kernel_ns(c->stand, MR__KERNELS_ALL);
        first += count;
    }
}

static void time_way(contest *c, way *w, unsigned round)
{
    sums s = {0};
    double images = (double)c->set->count, begun = wall_ns();
    if (w->on_device)
        time_device(c, w, &s);
    else
        time_host(c, w, &s);
    w->wall_ns[round] = (wall_ns() - begun) / images;
    w->host_ns[round] = s.host_ns / images;
    w->device_ns[round] = s.device_ns / images;
}

/* The first round is not counted: kernels are compiled in it, memory is touched. */
void contest_run(contest *c)
{
    for (unsigned round = 0; round <= c->rounds; round++)
        for (size_t i = 0; i < c->count; i++) {
            way *w = &c->ways[(i + round) % c->count];
            if (!w->dropped)
                time_way(c, w, round == 0 ? 0 : round - 1);
        }
}
