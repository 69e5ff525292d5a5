// SPDX-License-Identifier: Apache-2.0
/* Who takes part in which contest. */
#include "compare.h"

#include <stdlib.h>
#include <string.h>

static bool encode_by_coder(const coding *what, const item *source, const mr_image *image, blob *out)
{
    (void)source;
    return what->coder->encode(image, out);
}

static bool decode_by_coder(const racer *r, const slot *from, mr_rect part, const mr_image *to)
{
    (void)part;
    return r->coder->decode(r->state, &from->stored[r->coding], to);
}

static bool decode_ours(const racer *r, const slot *from, mr_rect part, const mr_image *to)
{
    const blob *stored = &from->stored[r->coding];
    mr_decode_hints hints = {.struct_size = sizeof hints, .region = part};
    return mr_decoder_decode_into(r->decoder, stored->bytes, stored->nbytes, &hints, to) == 0;
}

/* The whole, and of it a part where only that is wanted. */
static bool decode_by_peer(const racer *r, const slot *from, mr_rect part, const mr_image *to)
{
    const blob *stored = &from->stored[r->coding];
    if (part.width == from->shape.width && part.height == from->shape.height)
        return r->peer->decode(stored->bytes, stored->nbytes, to) != PEER_FAILED;
    mr_image whole = part_image(&from->shape, (mr_rect){0, 0, from->shape.width, from->shape.height}, r->whole), view;
    return r->peer->decode(stored->bytes, stored->nbytes, &whole) != PEER_FAILED &&
           mr_image_crop(&whole, part, &view) == 0 && mr_image_copy(&view, to) == 0;
}

static bool decode_part_by_peer(const racer *r, const slot *from, mr_rect part, const mr_image *to)
{
    const blob *stored = &from->stored[r->coding];
    return r->peer->decode_region(stored->bytes, stored->nbytes, part, to);
}

static bool copy_pixels(const racer *r, const slot *from, mr_rect part, const mr_image *to)
{
    mr_image view;
    if (part.width == from->shape.width && part.height == from->shape.height) {
        memcpy(to->pixels, from->stored[r->coding].bytes, from->stored[r->coding].nbytes);
        return true;
    }
    return mr_image_crop(&from->shape, part, &view) == 0 && mr_image_copy(&view, to) == 0;
}

static racer *add_ours(contest *c, const char *name, const char *mask, size_t of)
{
    racer *r = add_racer(c, name, mask, of);
    r->decode = decode_ours;
    r->decoder = decoder_under(mask, MR_JPEG_EITHER);
    r->runs[REGIONS] = c->is_jpeg;
    return r;
}

static void add_memcpy(contest *c)
{
    racer *r = add_racer(c, "memcpy", "", 0);
    r->decode = copy_pixels;
    r->runs[REGIONS] = c->is_jpeg;
}

static void add_coder_racer(contest *c, const coder *with, const char *name, const char *mask, size_t of)
{
    racer *r = add_racer(c, name, mask, of);
    r->decode = decode_by_coder;
    r->coder = with;
    r->state = with->state_new != NULL ? need(with->state_new()) : NULL;
}

static size_t add_coder_coding(contest *c, const coder *with)
{
    return add_coding(c, &(coding){.name = with->name, .made = with->made, .encode = encode_by_coder, .coder = with});
}

static bool encode_l3(const coding *what, const item *source, const mr_image *image, blob *out)
{
    mr_encoder *encoder = NULL;
    blob made;
    const char *why = "";
    bool good = l3_encode(&encoder, &what->l3, image, source->bytes, source->nbytes, &made, &why) &&
                blob_copy(made.bytes, made.nbytes, out);
    if (!good)
        fprintf(stderr, "compare: %s is left out: %s\n", source->path, why);
    mr_encoder_free(encoder);
    return good;
}

static void add_l3(contest *c, const char *name, const char *made, l3_how how, bool races, const options *o)
{
    size_t of = add_coding(c, &(coding){.name = name, .made = made, .encode = encode_l3, .l3 = how});
    for (size_t i = 0; races && i < o->mask_count; i++)
        add_ours(c, name, o->masks[i], of);
}

/* Says why, where there is none. */
static bool has_l3(contest *c)
{
    char why[128];
    bool good = l3_is_there(c->is_jpeg, why, sizeof why);
    if (!good)
        contest_note(c, "this build has no L3 of %s: %s", c->is_jpeg ? "JPEG files" : "pixels", why);
    return good;
}

void enter_pixels(contest *c, const options *o)
{
    if (coder_libpng != NULL) {
        size_t png = add_coder_coding(c, coder_libpng);
        add_coder_racer(c, coder_libpng, "libpng", "", png);
        add_ours(c, "millrace png", "", png);
    } else {
        contest_note(c, "libpng is not there, so that nothing can be said against PNG");
    }
    const coder *const others[] = {coder_qoi, coder_webp, coder_jxl};
    const char *const names[] = {"QOI", "libwebp", "libjxl"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (others[i] != NULL)
            add_coder_racer(c, others[i], names[i], "", add_coder_coding(c, others[i]));
        else
            contest_note(c, "%s is not there and is left out", names[i]);
    }
    size_t old = add_coder_coding(c, &coder_l3_2022);
    add_coder_racer(c, &coder_l3_2022, "l3-2022", "portable", old);
    if (coder_l3_2022_fast() != NULL)
        add_coder_racer(c, coder_l3_2022_fast(), "l3-2022", "avx2", old);
    if (has_l3(c)) {
        add_l3(c, "L3 fast", "millrace, preset fast", (l3_how){.preset = L3_FAST}, true, o);
        add_l3(c, "L3 default", "millrace, preset default", (l3_how){.preset = L3_DEFAULT}, true, o);
        add_l3(c, "L3 small", "millrace, preset small", (l3_how){.preset = L3_SMALL}, true, o);
    }
    add_memcpy(c);
}

static bool copy_source(const coding *what, const item *source, const mr_image *image, blob *out)
{
    (void)what;
    (void)image;
    return blob_copy(source->bytes, source->nbytes, out);
}

void enter_jpegs(contest *c, const options *o)
{
    size_t jpeg = add_coding(c, &(coding){.name = "JPEG", .made = "the files", .encode = copy_source});
    racer *r = add_racer(c, "libjpeg-turbo", "", jpeg);
    r->decode = decode_by_peer;
    r->peer = peer_of_form(MR_FORM_JPEG);
    r->runs[REGIONS] = true;
    r = add_racer(c, "libjpeg-turbo, own crop", "", jpeg);
    r->decode = decode_part_by_peer;
    r->peer = peer_of_form(MR_FORM_JPEG);
    r->exact = r->runs[DISTINCT] = r->runs[HOT] = false; // its columns at the edges differ from the whole decode
    r->runs[REGIONS] = true;
    add_ours(c, "millrace jpeg", "", jpeg);
    if (has_l3(c)) {
        add_l3(c, "L3", "millrace, DCT mode", (l3_how){.recode = true}, true, o);
        add_l3(c, "L3 with origin", "millrace, DCT mode, origin kept", (l3_how){.recode = true, .origin = true}, false,
               o);
    }
    add_memcpy(c);
}
