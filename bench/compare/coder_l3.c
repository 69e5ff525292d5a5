// SPDX-License-Identifier: Apache-2.0
/* Where L3 comes in: the only file here that knows its calls. */
#include "coder.h"

#include <millrace/system.h>
#include <stdlib.h>
#include <string.h>

/* Those that have kernels of it; each only where the processor has all it allows, or it would be another's figures. */
void l3_masks(char *list, size_t room)
{
    static const struct {
        const char *mask, *needs;
    } all[] = {
        {"portable", ""}, {"avx2-slowpdep", "avx2"}, {"avx2", "fast-pdep"}, {"avx512", "avx512"}, {"neon", "neon"}};
    char cpu[256];
    mr_cpu_text(cpu, sizeof cpu);
    list[0] = '\0';
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        size_t used = strlen(list);
        if (strstr(cpu, all[i].needs) != NULL)
            snprintf(list + used, room - used, "%s%s", used == 0 ? "" : ",", all[i].mask);
    }
}

static mr_l3_preset preset_of(const l3_how *how)
{
    return how->preset == L3_FAST ? MR_L3_FAST : how->preset == L3_SMALL ? MR_L3_SMALL : MR_L3_DEFAULT;
}

bool l3_encode(mr_encoder **encoder, const l3_how *how, const mr_image *image, const void *jpeg, size_t jpeg_nbytes,
               blob *out, const char **why)
{
    mr_encode_options options = {.struct_size = sizeof options,
                                 .form = MR_FORM_L3,
                                 .preset = preset_of(how),
                                 .without_origin = !how->origin,
                                 .threads = how->threads};
    mr_recode_report report = {.struct_size = sizeof report};
    const void *bytes = NULL;
    *why = "no memory";
    if (*encoder == NULL && mr_encoder_new(NULL, encoder) != 0)
        return false;
    int result = how->recode ? mr_encoder_recode(*encoder, jpeg, jpeg_nbytes, &options, &bytes, &out->nbytes, &report)
                             : mr_encoder_encode(*encoder, image, &options, &bytes, &out->nbytes);
    *why = result != 0 ? mr_encoder_detail(*encoder) : report.why;
    if (result != 0 || (how->recode && !report.exact))
        return false;
    out->bytes = (uint8_t *)bytes;
    return true;
}

/* What is tried out: handles, and a small picture. */
typedef struct trial {
    mr_encoder *source, *encoder;
    mr_decoder *decoder;
    mr_image image;
    uint8_t pixels[16 * 16 * 3];
} trial;

/* Makes L3 of the picture, by way of a JPEG where that is what shall be recoded, and decodes it. */
static bool try_out(trial *t, bool recode, const char **why)
{
    mr_encode_options options = {.struct_size = sizeof options, .form = MR_FORM_JPEG};
    const void *jpeg = NULL;
    size_t nbytes = 0;
    blob out;
    mr_image to;
    *why = "no memory";
    if (mr_encoder_new(NULL, &t->source) != 0 || mr_decoder_new(NULL, &t->decoder) != 0 ||
        (recode && mr_encoder_encode(t->source, &t->image, &options, &jpeg, &nbytes) != 0))
        return false;
    if (!l3_encode(&t->encoder, &(l3_how){.recode = recode}, &t->image, jpeg, nbytes, &out, why))
        return false;
    bool good = mr_decoder_decode(t->decoder, out.bytes, out.nbytes, NULL, &to) == 0;
    *why = mr_decoder_detail(t->decoder);
    return good;
}

bool l3_is_there(bool recode, char *why, size_t room)
{
    trial t = {.image = {.width = 16, .height = 16, .channels = 3, .depth = 8, .stride = 48}};
    const char *text = "it has no such form";
    t.image.pixels = t.pixels;
    for (size_t i = 0; i < sizeof t.pixels; i++)
        t.pixels[i] = (uint8_t)(i * i / 7);
    bool good = mr_form_from_name("l3") != MR_FORM_NONE && try_out(&t, recode, &text);
    snprintf(why, room, "%s", good ? "" : text);
    mr_encoder_free(t.source);
    mr_encoder_free(t.encoder);
    mr_decoder_free(t.decoder);
    return good;
}
