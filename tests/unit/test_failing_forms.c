// SPDX-License-Identifier: Apache-2.0
/* WebP, PNM and raw when memory runs out, and whether what a codec charges is what its library takes. */
#include "test.h"

#include "codec/codec.h"
#include "failing_codec.h"
#include "handles.h"
#include "webp_file.h"

#include <stdlib.h>

/* Encodes and decodes one image, all with the hooks; what comes back must be right. */
typedef struct trip {
    mr_image image;
    mr_encode_options options;
    bool encode_only;
    failing_decoding decoding;
} trip;

static int run_trip(const mr_hooks *hooks, void *arg)
{
    trip *t = arg;
    mr_encoder_options options = {.struct_size = sizeof options, .hooks = hooks};
    mr_encoder *own;
    const void *bytes;
    size_t nbytes;
    int result = mr_encoder_new(&options, &own);
    if (result != 0)
        return result;
    result = mr_encoder_encode(own, &t->image, &t->options, &bytes, &nbytes);
    if (result == 0 && !t->encode_only) {
        t->decoding.file = (picture_file){(uint8_t *)bytes, nbytes};
        result = failing_decode(hooks, &t->decoding);
    }
    mr_encoder_free(own);
    return result;
}

/*
 * libwebp as Debian 12 has it (1.2.4 with the correction of 2023) frees a wild pointer when memory runs out while it
 * reads VP8L; later versions do not. And it says "damaged" when memory runs out for alpha. So those two are decoded
 * with failing hooks alone, in test_webp.c.
 */
static bool fails_well(bool lossless, uint32_t channels)
{
    return !lossless && channels == 3;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 8; i++) {
        trip t = {.image = picture_make(18, 14, i % 2 == 0 ? 3 : 4, 8, i)};
        t.options = (mr_encode_options){.struct_size = sizeof t.options,
                                        .form = i < 2   ? MR_FORM_RAW
                                                : i < 4 ? MR_FORM_PNM
                                                        : MR_FORM_WEBP,
                                        .lossless = i >= 6,
                                        .orientation = 3,
                                        .icc = "profile",
                                        .icc_nbytes = 7};
        t.decoding = (failing_decoding){.hints = {.region = {3, 2, 9, 8}}, .profile = true};
        t.decoding.icc_nbytes = t.options.form == MR_FORM_PNM ? 0 : 7; // which has none
        t.encode_only = i >= 4 && !fails_well(t.options.lossless, t.image.channels);
        failing_run(run_trip, &t);
        mr_image_fini(&t.image, NULL);
    }
}

/* A cut WebP: the search for its last row allocates too. */
static void every_allocation_of_accepted_damage_may_fail(void **state)
{
    (void)state;
    mr_image image = picture_make(30, 40, 3, 8, 1);
    mr_encode_options options = {.struct_size = sizeof options, .form = MR_FORM_WEBP};
    failing_decoding d = {.file = picture_encode(&image, &options), .hints = {.accept_damaged = true}};
    d.file.nbytes = d.file.nbytes * 3 / 4;
    failing_run(failing_decode, &d);
    free(d.file.bytes);
    mr_image_fini(&image, NULL);
}

/* The peak of a call, all of libwebp's memory in it. */
static size_t peak_of(failing_scenario *scenario, void *arg)
{
    mr_hooks hooks = failing_hooks();
    failing_begin(0, false);
    int result = scenario(&hooks, arg);
    failing_counts counts = failing_end();
    assert_int_equal(result, 0);
    return counts.peak_nbytes;
}

typedef struct limited {
    picture_file file;
    mr_image image;
    mr_encode_options options;
    uint64_t memory_nbytes;
    int result;
} limited;

static int decode_limited(const mr_hooks *hooks, void *arg)
{
    limited *l = arg;
    mr_decoder *own = handles_decoder(hooks, &(mr_limits){.memory_nbytes = l->memory_nbytes});
    l->result = picture_try(own, l->file.bytes, l->file.nbytes, NULL);
    mr_decoder_free(own);
    return 0;
}

static int encode_limited(const mr_hooks *hooks, void *arg)
{
    limited *l = arg;
    mr_encoder *own = handles_encoder(hooks, &(mr_limits){.memory_nbytes = l->memory_nbytes});
    const void *bytes;
    size_t nbytes;
    l->result = mr_encoder_encode(own, &l->image, &l->options, &bytes, &nbytes);
    mr_encoder_free(own);
    return 0;
}

/* With a limit just below the peak the call must be refused: no less is charged than taken. */
static void check_charge(failing_scenario *scenario, limited *l, const char *what)
{
    enum { HANDLE_NBYTES = 8 << 10 }; // the handle and the codec's state are not the image's
    l->memory_nbytes = 0;
    size_t peak = peak_of(scenario, l);
    assert_int_equal(l->result, 0);
    l->memory_nbytes = peak - HANDLE_NBYTES;
    scenario(NULL, l);
    if (l->result != MR_ELIMIT)
        fail_msg("%s takes %zu bytes, and passes with a limit of %llu", what, peak,
                 (unsigned long long)l->memory_nbytes);
}

static void what_is_charged_is_enough(void **state)
{
    (void)state;
    uint32_t width = test_quick() ? 60 : 150, height = test_quick() ? 44 : 110; // the most effort takes its time
    for (uint32_t i = 0; i < 8; i++) {
        limited l = {.image = picture_make(width, height, i % 2 == 0 ? 3 : 4, 8, i)};
        if (i >= 4) // noise is the worst
            picture_noise(l.image.pixels, (size_t)width * height * l.image.channels, i);
        l.options = (mr_encode_options){.struct_size = sizeof l.options, .form = MR_FORM_WEBP};
        l.options.lossless = i / 2 % 2 == 1;
        l.options.effort = i % 2 == 0 ? 9 : 6;
        check_charge(encode_limited, &l, l.options.lossless ? "encode lossless" : "encode lossy");
        l.file = picture_encode(&l.image, &l.options);
        check_charge(decode_limited, &l, l.options.lossless ? "decode lossless" : "decode lossy");
        free(l.file.bytes);
        mr_image_fini(&l.image, NULL);
    }
}

/* A small file that makes libwebp take a thousand times its size, and four hundred times its pixels. */
static void a_greedy_file_is_charged_for(void **state)
{
    (void)state;
    limited l = {.file = webp_greedy()};
    check_charge(decode_limited, &l, "decode a greedy file");
    l.memory_nbytes = 0;
    size_t peak = peak_of(decode_limited, &l);
    print_message("%zu bytes stored, %zu taken\n", l.file.nbytes, peak);
    assert_true(peak > 4 << 20);
    free(l.file.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(every_allocation_of_accepted_damage_may_fail),
        cmocka_unit_test(what_is_charged_is_enough),
        cmocka_unit_test(a_greedy_file_is_charged_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
