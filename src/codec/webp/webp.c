// SPDX-License-Identifier: Apache-2.0
#include "codec/webp/webp.h"

#include "codec/exif.h"

#include <string.h>
#include <webp/decode.h>

static bool probe(const uint8_t *bytes, size_t nbytes)
{
    return nbytes >= 12 && memcmp(bytes, "RIFF", 4) == 0 && memcmp(bytes + 8, "WEBP", 4) == 0;
}

/* libwebp's own view of the header has to be ours. */
static int check_features(mr__call *call, const mr__webp_file *file)
{
    WebPBitstreamFeatures f;
    bool animated = (file->flags & MR__WEBP_ANIMATION) != 0;
    if (WebPGetFeatures(call->bytes, call->nbytes, &f) != VP8_STATUS_OK)
        return mr__call_fail(call, MR_ECORRUPT, "damaged WebP: libwebp does not accept the header up to byte %zu",
                             file->picture.pixels.at);
    bool same = f.width == (int)file->width && f.height == (int)file->height && (f.has_animation != 0) == animated;
    if (!animated)
        same = same && (f.has_alpha != 0) == mr__webp_has_alpha(file);
    if (!same)
        return mr__call_fail(call, MR_ECORRUPT, "damaged WebP: the header up to byte %zu contradicts itself",
                             file->picture.pixels.at);
    return 0;
}

static void warn_of_oddities(mr__call *call, const mr__webp_file *file)
{
    if (file->frames > 1)
        mr__call_warn(call, "WebP: an animation of %u frames, of which the first is taken", file->frames);
    if (call->nbytes > file->stated_end)
        mr__call_warn(call, "WebP: data after the end of the file, from byte %zu to %zu", file->stated_end,
                      call->nbytes);
    if (file->torn_at != 0 && call->nbytes >= file->stated_end)
        mr__call_warn(call, "WebP: the chunk at byte %zu is longer than the file; ignored", file->torn_at);
}

static int read_info(mr__call *call, mr_info *info)
{
    mr__webp_file file;
    int result = mr__webp_walk(call, &file);
    if (result == 0)
        result = check_features(call, &file);
    if (result != 0)
        return result;
    const mr__webp_picture *p = &file.picture;
    info->width = file.width;
    info->height = file.height;
    info->channels = mr__webp_has_alpha(&file) ? 4 : 3;
    info->depth = 8;
    info->color = p->lossless ? MR_COLOR_RGB : MR_COLOR_YCBCR;
    info->subsampling = p->lossless ? MR_SUBSAMPLING_NONE : MR_SUBSAMPLING_420;
    info->lossless = p->lossless;
    info->frames = file.frames;
    info->has_icc = file.icc.nbytes != 0;
    if (file.exif.nbytes != 0)
        info->orientation = mr__exif_orientation(call->bytes + file.exif.at, file.exif.nbytes);
    warn_of_oddities(call, &file);
    return 0;
}

static int read_icc(mr__call *call, mr__buffer *buffer, size_t *nbytes)
{
    mr__webp_file file;
    int result = mr__webp_walk(call, &file);
    if (result == 0)
        result = mr__call_reserve(call, buffer, file.icc.nbytes);
    if (result != 0)
        return result;
    memcpy(buffer->bytes, call->bytes + file.icc.at, file.icc.nbytes);
    *nbytes = file.icc.nbytes;
    return 0;
}

/* VP8L without its alpha flag may still hold alpha, which does not count: opaque alpha is then added outside. */
static bool gives(const mr_info *info, uint32_t channels, uint32_t depth, uint32_t reduce)
{
    return depth == 8 && reduce == 1 && (channels == 3 || (channels == 4 && (info->channels == 4 || !info->lossless)));
}

static void state_fini(void *state, const mr_hooks *hooks)
{
    mr__webp_state *s = state;
    mr__buffer_fini(&s->scratch, hooks);
}

const mr__codec mr__codec_webp = {.form = MR_FORM_WEBP,
                                  .name = "webp",
                                  .endings = "webp",
                                  .state_nbytes = sizeof(mr__webp_state),
                                  .state_fini = state_fini,
                                  .probe = probe,
                                  .info = read_info,
                                  .icc = read_icc,
                                  .gives = gives,
                                  .decode = mr__webp_decode,
                                  .encode = mr__webp_encode};
