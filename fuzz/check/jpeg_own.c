// SPDX-License-Identifier: Apache-2.0
/*
 * Our own JPEG decoder beside libjpeg-turbo, whatever the bytes, whole and reduced, gray and colour:
 * 1. What ours takes libjpeg takes, with the same pixels, and does not warn of without ours doing so.
 * 2. What ours calls damaged or truncated libjpeg refuses. What libjpeg alone takes is unsupported by ours.
 * 3. A region that both take is the same; of what ours takes as a whole, it takes each region, which is that part.
 * 4. A second decode by ours is the same, whatever stood in new memory, and takes none if it succeeds.
 * 5. Where either may decode and damage is accepted, the pixels are libjpeg's.
 * 6. What ours takes a plain libjpeg takes, too, with the same pixels: no code of ours is around that one, whereas the
 *    libjpeg of 1 to 5 is called by our library. Of what is libjpeg's to decode, and of accepted damage, the pixels are
 *    the plain one's where it gives any.
 */
#include "check.h"

#include <string.h>

enum { OWN, OTHER, LIBJPEG, EITHER, DECODERS };

typedef struct subject {
    const uint8_t *bytes;
    size_t nbytes;
    fuzz_draw draw;
    fuzz_heap heap[DECODERS];
    mr_decoder *decoder[DECODERS];
} subject;

static fuzz_outcome decode(subject *s, int which, const mr_decode_hints *hints)
{
    return fuzz_decode(s->decoder[which], s->bytes, s->nbytes, hints);
}

/* The two need memory of different amounts, and count scans at different times. */
static bool met_limit(const fuzz_outcome *a, const fuzz_outcome *b)
{
    return a->result == MR_ELIMIT || b->result == MR_ELIMIT;
}

static bool is_damage(int result)
{
    return result == MR_ECORRUPT || result == MR_ETRUNCATED;
}

static void require_same(const fuzz_outcome *a, const fuzz_outcome *b, const char *what)
{
    FUZZ_REQUIRE(fuzz_same_shape(&a->image, &b->image) && a->hash == b->hash, "%s: other pixels", what);
}

/* 1 and 2 */
static void check_verdict(const fuzz_outcome *own, const fuzz_outcome *libjpeg)
{
    if (met_limit(own, libjpeg) || own->result == MR_EUNSUPPORTED)
        return;
    if (own->result == 0) {
        FUZZ_REQUIRE(libjpeg->result == 0, "ours takes what libjpeg does not: %s", libjpeg->detail);
        require_same(own, libjpeg, "ours and libjpeg");
        FUZZ_REQUIRE(own->warnings != 0 || libjpeg->warnings == 0, "%u warnings of libjpeg, none of ours",
                     libjpeg->warnings);
    } else if (is_damage(own->result)) {
        FUZZ_REQUIRE(libjpeg->result != 0, "libjpeg takes it, ours does not: %s", own->detail);
    } else {
        FUZZ_REQUIRE(own->result == libjpeg->result, "ours: %s (%s); libjpeg: %s (%s)", mr_error_name(own->result),
                     own->detail, mr_error_name(libjpeg->result), libjpeg->detail);
    }
}

/* 3 */
static void check_region(subject *s, const mr_decode_hints *hints, const fuzz_outcome *whole)
{
    mr_decode_hints part = *hints;
    mr_image crop;
    fuzz_outcome shape = fuzz_shape(s->decoder[OWN], s->bytes, s->nbytes, hints);
    if (shape.result != 0)
        return;
    mr_rect r = part.region = fuzz_draw_region(&s->draw, shape.image.width, shape.image.height);
    fuzz_outcome own = decode(s, OTHER, &part), libjpeg = decode(s, LIBJPEG, &part);
    if (own.result == 0 && libjpeg.result == 0)
        require_same(&own, &libjpeg, "a region by ours and by libjpeg");
    if (whole->result != 0)
        return;
    FUZZ_REQUIRE(own.result == 0, "the whole decodes, region %u,%u %ux%u does not: %s", r.x, r.y, r.width, r.height,
                 own.detail);
    FUZZ_REQUIRE(mr_image_crop(&whole->image, r, &crop) == 0, "no such region");
    FUZZ_REQUIRE(mr_image_hash(&crop) == own.hash, "region %u,%u %ux%u is not that part of the whole", r.x, r.y,
                 r.width, r.height);
}

/* 4 */
static fuzz_outcome check_again(subject *s, const mr_decode_hints *hints, const fuzz_outcome *whole)
{
    uint64_t calls = s->heap[OWN].calls;
    fuzz_outcome again = decode(s, OWN, hints), other = decode(s, OTHER, hints);
    const fuzz_outcome *both[] = {&again, &other};
    for (int i = 0; i < 2; i++) {
        FUZZ_REQUIRE(both[i]->result == whole->result && strcmp(both[i]->detail, whole->detail) == 0,
                     "twice: \"%s\" and \"%s\"", whole->detail, both[i]->detail);
        FUZZ_REQUIRE(both[i]->warnings == whole->warnings, "%u and %u warnings", whole->warnings, both[i]->warnings);
        if (whole->result == 0)
            require_same(whole, both[i], i == 0 ? "a second time" : "with other bytes in new memory");
    }
    FUZZ_REQUIRE(whole->result != 0 || s->heap[OWN].calls == calls,
                 "a second decode of the same image took memory %llu times",
                 (unsigned long long)(s->heap[OWN].calls - calls));
    return again;
}

/* 6; returns whether there are pixels to compare. */
static bool check_plain(const subject *s, uint32_t reduce, const fuzz_outcome *taken, const char *who)
{
    mr_image plain;
    const mr_image *image = &taken->image;
    if (taken->result != 0)
        return true;
    FUZZ_REQUIRE(mr_image_init(&plain, image->width, image->height, image->channels, image->depth, NULL) == 0,
                 "no memory");
    int warnings = fuzz_plain_jpeg(s->bytes, s->nbytes, reduce != 0 ? reduce : 1, &plain);
    if (warnings >= 0) {
        FUZZ_REQUIRE(warnings == 0 || taken->warnings != 0, "%d warnings of a plain libjpeg, none of %s", warnings,
                     who);
        FUZZ_REQUIRE(mr_image_hash(&plain) == taken->hash, "%s and a plain libjpeg: other pixels", who);
    }
    mr_image_fini(&plain, NULL);
    return warnings >= 0;
}

/* 5 and 6 */
static void check_accepting(subject *s, const mr_decode_hints *hints)
{
    mr_decode_hints accepting = *hints;
    accepting.accept_damaged = true;
    fuzz_outcome either = decode(s, EITHER, &accepting), libjpeg = decode(s, LIBJPEG, &accepting);
    if (met_limit(&either, &libjpeg))
        return;
    FUZZ_REQUIRE(either.result == libjpeg.result, "accepting damage: %s (%s), by libjpeg %s (%s)",
                 mr_error_name(either.result), either.detail, mr_error_name(libjpeg.result), libjpeg.detail);
    if (either.result != 0)
        return;
    require_same(&either, &libjpeg, "accepting damage");
    FUZZ_REQUIRE(either.warnings != 0 || libjpeg.warnings == 0, "accepting damage: no warning");
    check_plain(s, hints->reduce, &libjpeg, "accepting damage");
}

static void check_all(subject *s, const mr_decode_hints *hints)
{
    fuzz_outcome own = decode(s, OWN, hints), libjpeg = decode(s, LIBJPEG, hints);
    check_verdict(&own, &libjpeg);
    FUZZ_REQUIRE(check_plain(s, hints->reduce, &own, "ours"), "ours takes what a plain libjpeg does not");
    if (own.result == MR_EUNSUPPORTED)
        check_plain(s, hints->reduce, &libjpeg, "what is handed over");
    if (own.result != MR_EUNSUPPORTED && own.result != MR_ELIMIT)
        own = check_again(s, hints, &own);
    check_region(s, hints, &own);
    check_accepting(s, hints);
}

void fuzz_check_jpeg_own(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes)
{
    static const mr_jpeg_choice choices[DECODERS] = {MR_JPEG_OWN, MR_JPEG_OWN, MR_JPEG_LIBJPEG, MR_JPEG_EITHER};
    (void)form;
    if (mr_form_probe(bytes, nbytes) != MR_FORM_JPEG)
        return;
    subject s = {.bytes = bytes, .nbytes = nbytes, .draw = fuzz_draw_init(setting, bytes, nbytes)};
    for (int i = 0; i < DECODERS; i++) {
        s.heap[i].fill = i == OWN ? 0x5a : 0xa5;
        s.decoder[i] = fuzz_decoder_new_jpeg(setting, &s.heap[i], choices[i]);
    }
    mr_decode_hints hints = {.struct_size = sizeof hints};
    check_all(&s, &hints);
    hints.reduce = UINT32_C(1) << fuzz_draw_below(&s.draw, 4);
    hints.channels = fuzz_draw_below(&s.draw, 2) == 0 ? 1 : 3;
    check_all(&s, &hints);
    for (int i = 0; i < DECODERS; i++) {
        mr_decoder_free(s.decoder[i]);
        FUZZ_REQUIRE(s.heap[i].blocks == 0, "%lld blocks are left", (long long)s.heap[i].blocks);
    }
}
