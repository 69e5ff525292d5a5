// SPDX-License-Identifier: Apache-2.0
/* Decoding: the shelf's JPEG files, and L3 and raw made of them. */
#include "device_kernels.h"

#include <stdlib.h>
#include <string.h>

typedef enum storing { AS_JPEG, AS_L3_DCT, AS_L3_PIXEL, AS_L3_FAST, AS_L3_SMALL, AS_RAW, STORINGS } storing;

static const char *const names[STORINGS] = {"jpeg to RGB (the device: from the coefficients on)",
                                            "l3, DCT mode",
                                            "l3, pixel mode",
                                            "l3, pixel mode, fast",
                                            "l3, pixel mode, small",
                                            "raw"};

typedef struct stored {
    uint8_t *bytes;
    size_t nbytes;
    mr_info info;
} stored;

/* All images in one form. */
typedef struct store {
    stored *images;
    mr_decoder *decoder[3]; /* of the host, without instruction sets, for heads */
    uint8_t *room;
} store;

static void store_image(stored *to, mr_encoder *encoder, const item *file, const mr_image *pixels, storing as)
{
    mr_encode_options options = {.struct_size = sizeof options,
                                 .form = as == AS_RAW ? MR_FORM_RAW : MR_FORM_L3,
                                 .preset = as == AS_L3_FAST    ? MR_L3_FAST
                                           : as == AS_L3_SMALL ? MR_L3_SMALL
                                                               : MR_L3_DEFAULT,
                                 .without_origin = true};
    const void *bytes = file->bytes;
    size_t nbytes = file->nbytes;
    int code = as == AS_JPEG ? 0
               : as == AS_L3_DCT
                   ? mr_encoder_recode(encoder, file->bytes, file->nbytes, &options, &bytes, &nbytes, NULL)
                   : mr_encoder_encode(encoder, pixels, &options, &bytes, &nbytes);
    if (code != 0)
        give_up(file->path, mr_encoder_detail(encoder));
    to->bytes = need(malloc(nbytes));
    to->nbytes = nbytes;
    memcpy(to->bytes, bytes, nbytes);
}

static void store_open(store *st, const session *s, storing as)
{
    mr_encoder *encoder;
    size_t largest = 0;
    if (mr_encoder_new(NULL, &encoder) != 0)
        need(NULL);
    st->images = need(calloc(s->shelf.count, sizeof *st->images));
    st->decoder[0] = decoder_under("", MR_JPEG_EITHER);
    st->decoder[1] = decoder_under("portable", MR_JPEG_EITHER);
    st->decoder[2] = decoder_under("", MR_JPEG_EITHER);
    for (size_t i = 0; i < s->shelf.count; i++) {
        stored *image = &st->images[i];
        size_t nbytes = mr_image_row_nbytes(&s->shelf.pixels[i]) * s->shelf.pixels[i].height;
        store_image(image, encoder, &s->shelf.files.items[i], &s->shelf.pixels[i], as);
        image->info.struct_size = sizeof image->info;
        if (mr_decoder_info(st->decoder[0], image->bytes, image->nbytes, &image->info) != 0)
            give_up(names[as], mr_decoder_detail(st->decoder[0]));
        largest = nbytes > largest ? nbytes : largest;
    }
    st->room = need(calloc(largest + 1, 1));
    mr_encoder_free(encoder);
}

static void store_close(store *st, const session *s)
{
    for (size_t i = 0; i < s->shelf.count; i++)
        free(st->images[i].bytes);
    for (size_t i = 0; i < 3; i++)
        mr_decoder_free(st->decoder[i]);
    free(st->images);
    free(st->room);
}

static double time_host(const session *s, store *st, mr_decoder *decoder)
{
    double begun = thread_ns();
    for (size_t i = 0; i < s->shelf.count; i++) {
        mr_image to = s->shelf.pixels[i];
        to.pixels = st->room;
        to.stride = (ptrdiff_t)mr_image_row_nbytes(&to);
        if (mr_decoder_decode_into(decoder, st->images[i].bytes, st->images[i].nbytes, NULL, &to) != 0)
            give_up("decoding", mr_decoder_detail(decoder));
    }
    return (thread_ns() - begun) / (double)s->shelf.count;
}

static int put_stored(void *user, session *s, size_t i)
{
    store *st = user;
    const stored *image = &st->images[i];
    mr__sheet sheet;
    mr__detail detail = {0};
    mr__tape_source source = {.bytes = image->bytes,
                              .nbytes = image->nbytes,
                              .info = &image->info,
                              .region = {0, 0, image->info.width, image->info.height},
                              .decoder = st->decoder[2],
                              .reduce = 1};
    int code = mr__tape_decode(&s->st.writer, &source, &sheet, &detail);
    if (code != 0 && code != MR_ENOMEM && code != MR_EUNSUPPORTED)
        give_up("a tape", detail.text);
    return code == MR_EUNSUPPORTED ? ROW_MISSING : code;
}

void run_decoders(session *s)
{
    print_head("decoding");
    for (size_t as = 0; as < STORINGS; as++) {
        row *r = need(calloc(1, sizeof *r));
        store st;
        (void)snprintf(r->name, sizeof r->name, "%s", names[as]);
        store_open(&st, s, (storing)as);
        for (unsigned round = 0; round <= s->rounds; round++) { // the first is not counted
            unsigned at = round == 0 ? 0 : round - 1;
            r->host_ns[at] = time_host(s, &st, st.decoder[0]);
            r->portable_ns[at] = time_host(s, &st, st.decoder[1]);
            if (round == 1)
                memset(r->kernel_ns, 0, sizeof r->kernel_ns), r->kernel_images = 0;
            r->missing = r->missing || !time_device(s, r, at, put_stored, &st, 0);
        }
        print_row(s, r);
        store_close(&st, s);
        free(r);
    }
}
