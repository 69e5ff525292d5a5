// SPDX-License-Identifier: Apache-2.0
#include "compare.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void contest_note(contest *c, const char *format, ...)
{
    va_list arguments;
    if (c->note_count == NOTES_MAX)
        return;
    va_start(arguments, format);
    vsnprintf(c->note[c->note_count++], sizeof c->note[0], format, arguments);
    va_end(arguments);
}

size_t add_coding(contest *c, const coding *what)
{
    if (c->coding_count == CODINGS_MAX)
        abort();
    c->coding[c->coding_count] = *what;
    return c->coding_count++;
}

racer *add_racer(contest *c, const char *name, const char *mask, size_t of)
{
    if (c->racer_count == RACERS_MAX)
        abort();
    racer *r = &c->racer[c->racer_count++];
    snprintf(r->name, sizeof r->name, "%s", name);
    snprintf(r->mask, sizeof r->mask, "%s", mask);
    r->coding = of;
    r->exact = r->runs[DISTINCT] = r->runs[HOT] = true;
    return r;
}

static size_t image_nbytes(const mr_image *shape)
{
    return mr_image_row_nbytes(shape) * shape->height;
}

static void slot_fini(slot *s)
{
    for (size_t k = 0; k < CODINGS_MAX; k++)
        free(s->stored[k].bytes);
    free(s->out);
    *s = (slot){.out = NULL};
}

/* Room that was written to once, so that nobody pays for its pages. */
static uint8_t *touched(size_t nbytes)
{
    uint8_t *memory = need(aligned_alloc(64, (nbytes + 63) / 64 * 64));
    memset(memory, 1, nbytes);
    return memory;
}

/* The pixels that everybody shall give: for a JPEG the library's own, else ours. */
static bool decode_reference(contest *c, mr_decoder *decoder, const item *it, slot *s)
{
    size_t nbytes = image_nbytes(&it->shape);
    s->shape = it->shape;
    s->shape.pixels = s->stored[0].bytes = need(malloc(nbytes));
    s->stored[0].nbytes = nbytes;
    if (c->is_jpeg)
        return peer_of_form(MR_FORM_JPEG)->decode(it->bytes, it->nbytes, &s->shape) == PEER_DECODED;
    return mr_decoder_decode_into(decoder, it->bytes, it->nbytes, NULL, &s->shape) == 0;
}

/* Stores one image in all ways, or leaves it out. */
static bool admit(contest *c, mr_decoder *decoder, const item *it, slot *s)
{
    bool fits = it->shape.depth == 8 && (it->shape.channels == 3 || (c->is_jpeg && it->shape.channels == 1));
    if (!fits || !decode_reference(c, decoder, it, s))
        return false;
    double ns[CODINGS_MAX] = {0};
    for (size_t k = 1; k < c->coding_count; k++) {
        coding *what = &c->coding[k];
        double start = thread_ns();
        if (!what->encode(what, it, &s->shape, &s->stored[k]))
            return false;
        ns[k] = thread_ns() - start;
    }
    for (size_t k = 0; k < c->coding_count; k++) {
        c->coding[k].nbytes += (double)s->stored[k].nbytes;
        c->coding[k].encode_ns += ns[k];
    }
    c->pixels += (double)it->shape.width * it->shape.height;
    c->pixel_nbytes += (double)s->stored[0].nbytes;
    return true;
}

static void admit_all(contest *c, mr_decoder *decoder, const item_set *set, const options *o)
{
    c->slots = need(calloc(set->count, sizeof *c->slots));
    c->source = need(calloc(set->count, sizeof *c->source));
    for (size_t i = 0; i < set->count && c->pictures < o->images; i++) {
        if ((set->items[i].form == MR_FORM_JPEG) != c->is_jpeg)
            continue;
        if (admit(c, decoder, &set->items[i], &c->slots[c->pictures])) {
            c->source[c->pictures++] = &set->items[i];
        } else {
            slot_fini(&c->slots[c->pictures]);
            c->left_out++;
        }
    }
    c->slot_count = c->pictures;
}

/* Repeats all slots until what comes out is four times the last-level cache. */
static void spread(contest *c, const options *o)
{
    double wanted = 4 * (double)cache_nbytes();
    c->copies = o->copies != 0 ? o->copies : 1;
    while (o->copies == 0 && (double)c->copies * c->pixel_nbytes < wanted)
        c->copies++;
    c->slot_count = c->copies * c->pictures;
    c->slots = need(realloc(c->slots, c->slot_count * sizeof *c->slots));
    for (size_t i = 0; i < c->slot_count; i++) {
        slot *s = &c->slots[i], *first = &c->slots[i % c->pictures];
        if (s != first) {
            *s = (slot){.shape = first->shape};
            for (size_t k = 0; k < c->coding_count; k++)
                if (!blob_copy(first->stored[k].bytes, first->stored[k].nbytes, &s->stored[k]))
                    need(NULL);
        }
        s->shape.pixels = s->stored[0].bytes;
        s->out = touched(image_nbytes(&s->shape));
    }
}

/* For those who decode all and then cut. */
static void make_room(contest *c)
{
    size_t most = 1;
    for (size_t i = 0; i < c->pictures; i++)
        most = c->slots[i].stored[0].nbytes > most ? c->slots[i].stored[0].nbytes : most;
    for (size_t k = 0; k < c->racer_count; k++)
        if (c->racer[k].peer != NULL)
            c->racer[k].whole = touched(most);
}

/* Decodes one image, whole and a part, and holds it against the reference. */
static bool gives_the_pixels(const racer *r, const slot *s, mr_rect part)
{
    mr_image to = part_image(&s->shape, part, s->out), reference;
    memset(s->out, 0x55, image_nbytes(&to));
    if (!r->decode(r, s, part, &to))
        return false;
    return !r->exact ||
           (mr_image_crop(&s->shape, part, &reference) == 0 && mr_image_hash(&to) == mr_image_hash(&reference));
}

/* A racer with other pixels does not race. */
static void verify(contest *c, const options *o)
{
    for (size_t k = 0; k < c->racer_count; k++) {
        racer *r = &c->racer[k];
        size_t wrong = 0;
        for (size_t i = 0; i < c->pictures; i++) {
            const slot *s = &c->slots[i];
            mr_rect all = {0, 0, s->shape.width, s->shape.height};
            bool good = !r->runs[DISTINCT] || gives_the_pixels(r, s, all);
            for (unsigned round = 0; good && r->runs[REGIONS] && round < o->rounds; round++)
                good = gives_the_pixels(r, s, region_draw(o->seed, i, round, s->shape.width, s->shape.height));
            if (!good && wrong++ == 0)
                fprintf(stderr, "compare: %s: %s %s gives other pixels, or none%s%s\n", c->source[i]->path, r->name,
                        r->mask, r->decoder != NULL ? ": " : "",
                        r->decoder != NULL ? mr_decoder_detail(r->decoder) : "");
        }
        if (wrong != 0) {
            contest_note(c, "%s %s gives other pixels on %zu images, and is left out", r->name, r->mask, wrong);
            memset(r->runs, 0, sizeof r->runs);
            c->different += wrong;
        }
    }
}

/* The last part of a path, without slashes at its end. */
static void name_after(contest *c, const char *path)
{
    size_t end = strlen(path);
    while (end > 1 && path[end - 1] == '/')
        end--;
    size_t start = end;
    while (start > 0 && path[start - 1] != '/')
        start--;
    snprintf(c->name, sizeof c->name, "%.*s", (int)(end - start), path + start);
}

bool contest_run(contest *c, const item_set *set, const char *path, bool is_jpeg, const options *o)
{
    mr_decoder *decoder = NULL;
    *c = (contest){.is_jpeg = is_jpeg, .rounds = o->rounds};
    name_after(c, path);
    if (mr_decoder_new(NULL, &decoder) != 0)
        need(NULL);
    add_coding(c, &(coding){.name = "pixels", .made = "as they are"});
    (is_jpeg ? enter_jpegs : enter_pixels)(c, o);
    admit_all(c, decoder, set, o);
    mr_decoder_free(decoder);
    if (c->pictures == 0)
        return false;
    spread(c, o);
    make_room(c);
    verify(c, o);
    if (is_jpeg)
        weigh_jpegs(c);
    time_racers(c, o);
    time_encoders(c, o);
    return true;
}

void contest_free(contest *c)
{
    for (size_t i = 0; i < c->slot_count; i++)
        slot_fini(&c->slots[i]);
    for (size_t k = 0; k < c->racer_count; k++) {
        racer *r = &c->racer[k];
        mr_decoder_free(r->decoder);
        if (r->coder != NULL && r->coder->state_free != NULL)
            r->coder->state_free(r->state);
        free(r->whole);
    }
    free(c->slots);
    free(c->source);
}
