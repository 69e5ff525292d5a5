// SPDX-License-Identifier: Apache-2.0
/*
 * A codec made up for tests of the handles, and a table that has no other. A test that includes this defines the
 * table's symbols, so that the linker leaves src/codec/table.c out; include it in one file of a test, and not in
 * test_failing_NAME.c, which is linked from objects.
 */
#ifndef TESTS_SUPPORT_FAKE_CODEC_H
#define TESTS_SUPPORT_FAKE_CODEC_H

#include "codec/codec.h"
#include "test.h"

#include <string.h>

/* A stored image: "FAKE" and these, one byte each; the pixels follow from their places. */
enum { WIDTH = 4, HEIGHT, CHANNELS, DEPTH, ORIENTATION, ICC, MODE, FAKE_NBYTES };
enum mode { GOOD, BAD_HEADER, BAD_PIXELS, ODD, IMPOSSIBLE, HUGE_SIDE, HUNGRY, BAD_STATE };

typedef struct fake_state {
    mr__buffer work;
    int inits;
} fake_state;

static uint8_t byte_at(uint32_t x, uint32_t y, size_t i)
{
    return (uint8_t)(x * 37 + y * 101 + i * 13);
}

static int fake_state_init(mr__call *call, void *state)
{
    fake_state *s = state;
    assert_int_equal(s->inits++, 0); // cleared memory, once
    int result = mr__buffer_reserve(&s->work, call->hooks, 100);
    if (result != 0)
        return mr__call_fail(call, result, "no room for the fake codec");
    return call->nbytes > MODE && call->bytes[MODE] == BAD_STATE ? mr__call_fail(call, MR_ESYSTEM, "bad state") : 0;
}

static void fake_state_fini(void *state, const mr_hooks *hooks)
{
    mr__buffer_fini(&((fake_state *)state)->work, hooks);
}

static bool fake_probe(const uint8_t *bytes, size_t nbytes)
{
    return nbytes >= 4 && memcmp(bytes, "FAKE", 4) == 0;
}

static int fake_info(mr__call *call, mr_info *info)
{
    const uint8_t *b = call->bytes;
    assert_non_null(call->state);
    if (call->nbytes < FAKE_NBYTES)
        return mr__call_fail(call, MR_ETRUNCATED, "truncated FAKE: the header ends at byte %zu", call->nbytes);
    if (b[MODE] == BAD_HEADER)
        return mr__call_fail(call, MR_ECORRUPT, "damaged FAKE: bad header at byte %d", MODE);
    info->width = b[MODE] == HUGE_SIDE ? 0x80000000 : b[MODE] == IMPOSSIBLE ? 0 : b[WIDTH];
    info->height = b[HEIGHT];
    info->channels = b[CHANNELS];
    info->depth = b[DEPTH];
    info->orientation = b[ORIENTATION];
    info->has_icc = b[ICC] != 0;
    return 0;
}

static int fake_icc(mr__call *call, mr__buffer *buffer, size_t *nbytes)
{
    int result = mr__call_reserve(call, buffer, call->bytes[ICC]);
    if (result != 0)
        return result;
    memset(buffer->bytes, 0x1c, call->bytes[ICC]);
    *nbytes = call->bytes[ICC];
    return 0;
}

static int fake_decode(mr__call *call, const mr__request *request, const mr_image *to)
{
    uint8_t mode = call->bytes[MODE];
    if (mode == BAD_PIXELS && !request->accept_damaged)
        return mr__call_fail(call, MR_ECORRUPT, "damaged FAKE: bad pixels at byte %d", FAKE_NBYTES);
    if (mode == ODD || mode == BAD_PIXELS) {
        mr__call_warn(call, "odd FAKE: first oddity");
        mr__call_warn(call, "odd FAKE: second oddity");
    }
    int result = mr__call_reserve(call, &((fake_state *)call->state)->work, mode == HUNGRY ? 5000 : 50);
    if (result != 0)
        return result;
    size_t size = mr_image_pixel_nbytes(to);
    for (uint32_t y = 0; y < to->height; y++) {
        uint8_t *row = (uint8_t *)to->pixels + (ptrdiff_t)y * to->stride;
        for (size_t i = 0; i < to->width * size; i++)
            row[i] = byte_at(request->region.x + (uint32_t)(i / size), request->region.y + y, i % size);
    }
    return 0;
}

static int fake_encode(mr__call *call, const mr_image *image, const mr_encode_options *options, mr__buffer *out,
                       size_t *out_nbytes)
{
    int result = mr__call_reserve(call, out, FAKE_NBYTES);
    if (result != 0)
        return result;
    const uint8_t bytes[FAKE_NBYTES] = {'F',
                                        'A',
                                        'K',
                                        'E',
                                        (uint8_t)image->width,
                                        (uint8_t)image->height,
                                        (uint8_t)image->channels,
                                        (uint8_t)image->depth,
                                        (uint8_t)options->orientation,
                                        (uint8_t)options->quality,
                                        (uint8_t)options->effort};
    memcpy(out->bytes, bytes, sizeof bytes);
    *out_nbytes = FAKE_NBYTES;
    return 0;
}

static const mr__codec fake = {.form = MR_FORM_JPEG,
                               .name = "fake",
                               .endings = "fake",
                               .state_nbytes = sizeof(fake_state),
                               .state_init = fake_state_init,
                               .state_fini = fake_state_fini,
                               .probe = fake_probe,
                               .info = fake_info,
                               .icc = fake_icc,
                               .decode = fake_decode,
                               .encode = fake_encode};
static const mr__codec mute = {.form = MR_FORM_PNG, .name = "mute", .endings = "mute", .probe = fake_probe};

const mr__codec *const mr__codecs[] = {&fake, &mute};
const size_t mr__codec_count = 2;

const mr__codec *mr__codec_of_form(mr_form form)
{
    return form == fake.form ? &fake : form == mute.form ? &mute : NULL;
}

const mr__codec *mr__codec_probe(const uint8_t *bytes, size_t nbytes)
{
    return fake_probe(bytes, nbytes) ? &fake : NULL;
}

typedef struct stored {
    uint8_t bytes[FAKE_NBYTES];
} stored;

static inline stored make(uint8_t width, uint8_t height, uint8_t channels, uint8_t depth, uint8_t orientation,
                          enum mode mode)
{
    return (stored){{'F', 'A', 'K', 'E', width, height, channels, depth, orientation, 0, (uint8_t)mode}};
}

#endif
