// SPDX-License-Identifier: Apache-2.0
/* Which word may have been meant. */
#include "step/recipe_words.h"

#include <string.h>

/* Longer ones are near to nothing. */
enum { LETTERS = 32 };

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t mr__word_distance(const char *a, size_t a_nbytes, const char *b)
{
    size_t b_nbytes = strlen(b), rows[3][LETTERS + 1];
    if (a_nbytes > LETTERS || b_nbytes > LETTERS)
        return SIZE_MAX;
    size_t *before = rows[0], *last = rows[1], *row = rows[2];
    for (size_t k = 0; k <= b_nbytes; k++)
        before[k] = row[k] = k;
    for (size_t i = 1; i <= a_nbytes; i++) {
        size_t *oldest = before;
        before = last;
        last = row;
        row = oldest;
        row[0] = i;
        for (size_t k = 1; k <= b_nbytes; k++) {
            bool same = lower(a[i - 1]) == lower(b[k - 1]);
            row[k] = least(least(last[k], row[k - 1]) + 1, last[k - 1] + !same);
            if (i > 1 && k > 1 && lower(a[i - 1]) == lower(b[k - 2]) && lower(a[i - 2]) == lower(b[k - 1]))
                row[k] = least(row[k], before[k - 2] + 1);
        }
    }
    return row[b_nbytes];
}

bool mr__word_is_near(size_t distance, size_t nbytes)
{
    return distance <= (nbytes + 1) / 3 && distance < nbytes;
}

/* torchvision's words, mostly; some of other libraries. */
static const struct {
    const char *theirs, *ours;
} elsewhere[] = {
    {"randomresizedcrop", "rrc"},
    {"randomcrop", "crop"},
    {"centercrop", "center"},
    {"randomhorizontalflip", "flip"},
    {"horizontalflip", "flip"},
    {"hflip", "flip"},
    {"randomverticalflip", "vflip"},
    {"verticalflip", "vflip"},
    {"shorter", "short"},
    {"resizeshort", "short"},
    {"smallestmaxsize", "short"},
    {"greyscale", "grayscale"},
    {"randomgrayscale", "grayscale"},
    {"togray", "grayscale"},
    {"randomrotation", "rotate"},
    {"rotation", "rotate"},
    {"randomaffine", "affine"},
    {"randomperspective", "perspective"},
    {"elastictransform", "elastic"},
    {"randomzoomout", "zoomout"},
    {"randomioucrop", "ioucrop"},
    {"randomshortestsize", "shorts"},
    {"colorjitter", "jitter"},
    {"colourjitter", "jitter"},
    {"adjustbrightness", "brightness"},
    {"adjustcontrast", "contrast"},
    {"adjustsaturation", "saturation"},
    {"color", "saturation"},
    {"adjusthue", "hue"},
    {"adjustgamma", "gamma"},
    {"randominvert", "invert"},
    {"randomposterize", "posterize"},
    {"randomsolarize", "solarize"},
    {"randomequalize", "equalize"},
    {"randomautocontrast", "autocontrast"},
    {"randomadjustsharpness", "sharpness"},
    {"sharpen", "sharpness"},
    {"gaussianblur", "blur"},
    {"gaussiannoise", "noise"},
    {"randomchannelpermutation", "permute"},
    {"imagecompression", "jpeg"},
    {"randaugment", "randaug"},
    {"autoaugment", "autoaug"},
    {"trivialaugment", "trivialaug"},
    {"trivialaugmentwide", "trivialaug"},
    {"randomerasing", "erase"},
    {"erasing", "erase"},
    {"coarsedropout", "cutout"},
    {"sanitizeboundingboxes", "sanitize"},
    {"exif", "orient"},

    {"todtype", "dtype"},
    {"random", "noise"},
    {"numops", "ops"},
    {"nummagnitudebins", "bins"},
    {"distortionscale", "distortion"},
    {"kernelsize", "kernel"},
    {"angle", "degrees"},
    {"mixturewidth", "width"},
    {"chaindepth", "depth"},
    {"sampleroptions", "options"},
    {"minsize", "sizes"},
    {"maxsize", "max"},
    {"interpolation", "filter"},
    {"padding", "pad"},
    {"paddingmode", "border"},
    {"p", "chance"},
    {"probability", "chance"},
    {"aspect", "ratio"},
    {"area", "scale"},
    {"grey", "gray"},
    {"l", "gray"},
    {"float32", "f32"},
    {"float16", "f16"},
    {"bfloat16", "bf16"},
    {"uint8", "u8"},
    {"float", "f32"},
    {"constant", "fill"},
    {"replicate", "edge"},
    {"linear", "bilinear"},
    {"cubic", "bicubic"},
    {"channelslast", "nhwc"},
    {"chw", "nchw"},
    {"hwc", "nhwc"},
};

const char *mr__word_elsewhere(const char *word, size_t nbytes)
{
    char plain[LETTERS];
    size_t n = 0;
    for (size_t i = 0; i < nbytes; i++) {
        if (word[i] == '_')
            continue;
        if (n == sizeof plain)
            return NULL;
        plain[n++] = lower(word[i]);
    }
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
        if (strlen(elsewhere[i].theirs) == n && memcmp(elsewhere[i].theirs, plain, n) == 0)
            return elsewhere[i].ours;
    return NULL;
}
