// SPDX-License-Identifier: Apache-2.0
/*
 * What must hold for any bytes, checked through the public headers alone (but for the dataset's, json.c,
 * recipe.c and coefficients.c, and libjpeg-turbo in plain.c). The fuzz targets call these checks, and so does
 * tests/replay, which needs no fuzzer. A check that fails says so on stderr and aborts: to a fuzzer that is a find.
 */
#ifndef FUZZ_CHECK_H
#define FUZZ_CHECK_H

#include <millrace/millrace.h>
#include <stdlib.h>

/* A heap that counts, fills new memory with a byte of its own, and can fail. Its hooks go to a decoder or encoder. */
typedef struct fuzz_heap {
    uint64_t calls;   /* allocations asked for */
    uint64_t fail_at; /* this one fails, counted from 1; 0: none */
    bool fail_on;     /* and all after it */
    bool spare;       /* the libraries' own allocations neither fail nor count as calls */
    int64_t blocks;   /* alive */
    uint64_t nbytes;  /* alive */
    uint64_t peak_nbytes;
    unsigned char fill; /* pixels that depend on it were never written */
    /* The hook is calling free, which may be wrapped: it has counted already. To a compiler free looks at nothing. */
    volatile bool inside;
} fuzz_heap;

mr_hooks fuzz_heap_hooks(fuzz_heap *heap);

/* For allocations that are not the hooks' (wrap.c): whether the next one is granted, and what became of it. */
bool fuzz_heap_grants_library(fuzz_heap *heap);
void fuzz_heap_took(fuzz_heap *heap, void *block);
void fuzz_heap_gives(fuzz_heap *heap, void *block);

/* With what a check is run. */
typedef struct fuzz_setting {
    mr_limits limits;
    uint64_t salt; /* another one draws other hints for the same bytes */
    bool every;    /* every allocation fails in its turn, not only some */
    /* From now on the libraries' own allocations go through this heap too (NULL: no longer). NULL where it cannot be.
     */
    void (*arm)(fuzz_heap *heap);
} fuzz_setting;

/* Limits small enough that no input is slow. */
fuzz_setting fuzz_setting_small(void);

/* Bytes of another form than `form` are left alone; MR_FORM_NONE takes all. */
void fuzz_check_decode(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes);
void fuzz_check_info(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes);

/* Our own JPEG decoder beside libjpeg-turbo. */
void fuzz_check_jpeg_own(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes);

/* A JPEG's coefficients, read and written. */
void fuzz_check_coefficients(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes);

/* A JPEG's row index, made, used and forged. */
void fuzz_check_index(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes);

/* Any bytes as an index file of a dataset; `form` does not matter. */
void fuzz_check_index_file(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes);

/* Any bytes as a dataset.json; `form` does not matter. */
void fuzz_check_manifest(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes);

/* Any bytes as a loader's state; `form` does not matter. */
void fuzz_check_state(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes);

/* Any bytes as a record file of others, scanned for an index; `form` does not matter. */
void fuzz_check_tfrecord(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes);
void fuzz_check_recordio(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes);
void fuzz_check_list(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes);

/* An image is made of the bytes, encoded, and decoded again. */
void fuzz_check_roundtrip(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes);

/* A JPEG to L3, an L3 to JPEG or L3; others are left alone. And what is verified, tile by tile. */
void fuzz_check_recode(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes);

/* The JSON reader; `form` is nothing to it. */
void fuzz_check_json(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes);

/* The annotations of a sample; likewise. */
void fuzz_check_annotation(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes);
/* Any bytes as a tar shard, scanned for an index; `form` does not matter. */
void fuzz_check_tar(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes);

/* Any bytes as the text of a recipe; `form` does not matter. */
void fuzz_check_recipe(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes);

/* Any bytes as a table of policies; `form` does not matter. */
void fuzz_check_hardware(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes);
void fuzz_check_hardware_failing(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes);
void fuzz_check_policy(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes);
void fuzz_check_policy_failing(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes);
/* A recipe made of the bytes, on an image made of them; `form` does not matter. */
void fuzz_check_steps(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes);

/* The same calls with one allocation failing, or all from one on. */
void fuzz_check_decode_failing(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes);
void fuzz_check_jpeg_own_failing(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes);
void fuzz_check_info_failing(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes);
void fuzz_check_recode_failing(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes);
void fuzz_check_coefficients_failing(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes);
void fuzz_check_index_failing(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes);
void fuzz_check_json_failing(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes);
void fuzz_check_annotation_failing(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes);
void fuzz_check_tar_failing(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes);
void fuzz_check_roundtrip_failing(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes);
void fuzz_check_index_file_failing(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes);
void fuzz_check_manifest_failing(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes);
void fuzz_check_state_failing(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes);
void fuzz_check_tfrecord_failing(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes);
void fuzz_check_recordio_failing(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes);
void fuzz_check_recipe_failing(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes);
void fuzz_check_steps_failing(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes);
void fuzz_check_list_failing(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes);

/* Says what does not hold, and aborts. */
#define FUZZ_REQUIRE(holds, ...)                                                                                       \
    do {                                                                                                               \
        if (!(holds))                                                                                                  \
            fuzz_fail(__FILE__, __LINE__, #holds, __VA_ARGS__);                                                        \
    } while (0)
__attribute__((noreturn, format(printf, 4, 5))) void fuzz_fail(const char *file, int line, const char *holds,
                                                               const char *format, ...);

/*
 * Draws. They come from the last eight bytes and the length, not from all bytes: a form's decoder does not care what
 * stands behind its end, so that a fuzzer can change the hints without the image and the image without the hints, and a
 * plain image file is a valid input.
 */
typedef struct fuzz_draw {
    uint64_t state;
} fuzz_draw;

fuzz_draw fuzz_draw_init(const fuzz_setting *setting, const uint8_t *bytes, size_t nbytes);
uint64_t fuzz_draw_u64(fuzz_draw *draw);
uint32_t fuzz_draw_below(fuzz_draw *draw, uint32_t n); /* 0 to n - 1 */

/* Every hint but the region; half of the time the defaults. */
mr_decode_hints fuzz_draw_hints(fuzz_draw *draw);
/* What a stored image of this form is to become. */
mr_encode_options fuzz_draw_recoding(fuzz_draw *draw, mr_form from);
mr_rect fuzz_draw_region(fuzz_draw *draw, uint32_t width, uint32_t height);

/* An image for a round trip and how to encode it. */
typedef struct fuzz_picture {
    mr_image image;
    mr_encode_options options;
    void *memory;
} fuzz_picture;

bool fuzz_picture_init(fuzz_picture *picture, const uint8_t *bytes, size_t nbytes);
void fuzz_picture_fini(fuzz_picture *picture);

mr_decoder *fuzz_decoder_new(const fuzz_setting *setting, fuzz_heap *heap);
mr_decoder *fuzz_decoder_new_jpeg(const fuzz_setting *setting, fuzz_heap *heap, mr_jpeg_choice choice);
mr_encoder *fuzz_encoder_new(const fuzz_setting *setting, fuzz_heap *heap);

/* One call and all it said. An out-parameter that was touched on failure, or a detail that is there on success or
 * missing on failure, is a find. */
typedef struct fuzz_outcome {
    int result;
    mr_image image; /* the decoder's pixels */
    uint64_t hash;
    uint32_t warnings;
    char detail[240];
} fuzz_outcome;

fuzz_outcome fuzz_decode(mr_decoder *decoder, const uint8_t *bytes, size_t nbytes, const mr_decode_hints *hints);
fuzz_outcome fuzz_shape(mr_decoder *decoder, const uint8_t *bytes, size_t nbytes, const mr_decode_hints *hints);
fuzz_outcome fuzz_info(mr_decoder *decoder, const uint8_t *bytes, size_t nbytes, mr_info *info);
fuzz_outcome fuzz_icc(mr_decoder *decoder, const uint8_t *bytes, size_t nbytes, const void **icc, size_t *icc_nbytes);
fuzz_outcome fuzz_recode(mr_encoder *encoder, const uint8_t *bytes, size_t nbytes, const mr_encode_options *options,
                         const void **out, size_t *out_nbytes, mr_recode_report *report);
fuzz_outcome fuzz_encode(mr_encoder *encoder, const fuzz_picture *picture, const void **out, size_t *out_nbytes);

/*
 * libjpeg-turbo's default decode at 1/reduce, into memory of the size that it must have; gray or RGB. Returns how many
 * warnings it gave, or -1 when it failed.
 */
int fuzz_plain_jpeg(const uint8_t *bytes, size_t nbytes, uint32_t reduce, const mr_image *to);

bool fuzz_same_shape(const mr_image *a, const mr_image *b);

#endif
