// SPDX-License-Identifier: Apache-2.0
#include "codec/codec.h"

#include <string.h>
#include <strings.h>

const mr__codec *const mr__codecs[] = {
    &mr__codec_jpeg, &mr__codec_png, &mr__codec_webp, &mr__codec_raw, &mr__codec_l3, &mr__codec_pnm,
};
const size_t mr__codec_count = sizeof mr__codecs / sizeof *mr__codecs;

_Static_assert(sizeof mr__codecs / sizeof *mr__codecs <= MR__CODEC_MAX, "mr__states has room for every codec");

const mr__codec *mr__codec_of_form(mr_form form)
{
    for (size_t i = 0; i < mr__codec_count; i++)
        if (mr__codecs[i]->form == form)
            return mr__codecs[i];
    return NULL;
}

const mr__codec *mr__codec_probe(const uint8_t *bytes, size_t nbytes)
{
    for (size_t i = 0; i < mr__codec_count; i++)
        if (mr__codecs[i]->probe(bytes, nbytes))
            return mr__codecs[i];
    return NULL;
}

const char *mr_form_name(mr_form form)
{
    const mr__codec *codec = mr__codec_of_form(form);
    return codec != NULL ? codec->name : "none";
}

static bool list_has(const char *list, const char *word)
{
    size_t length = strlen(word);
    while (length != 0 && *list != '\0') {
        size_t item = strcspn(list, " ");
        if (item == length && strncasecmp(list, word, length) == 0)
            return true;
        list += item + (list[item] == ' ');
    }
    return false;
}

mr_form mr_form_from_name(const char *name)
{
    for (size_t i = 0; i < mr__codec_count && name != NULL; i++)
        if (strcasecmp(mr__codecs[i]->name, name) == 0 || list_has(mr__codecs[i]->endings, name))
            return mr__codecs[i]->form;
    return MR_FORM_NONE;
}

mr_form mr_form_probe(const void *bytes, size_t nbytes)
{
    const mr__codec *codec = bytes != NULL ? mr__codec_probe(bytes, nbytes) : NULL;
    return codec != NULL ? codec->form : MR_FORM_NONE;
}

const char *mr_subsampling_name(mr_subsampling subsampling)
{
    static const char *const names[] = {"none", "4:4:4", "4:2:2", "4:2:0", "4:4:0", "4:1:1", "4:1:0", "4:4:1", "other"};
    return (unsigned)subsampling < sizeof names / sizeof *names ? names[subsampling] : "other";
}

const char *mr_color_name(mr_color color)
{
    static const char *const names[] = {"none", "gray", "rgb", "ycbcr", "cmyk", "ycck", "palette"};
    return (unsigned)color < sizeof names / sizeof *names ? names[color] : "none";
}
