// SPDX-License-Identifier: Apache-2.0
#include "step/recipe_words.h"

#include <string.h>

/* A parameter of kinds before REAL, and of words; one that may stand without its name; one that has to be there. */
#define PARAM(word, sort, field)                                                                                       \
    {                                                                                                                  \
        .name = word, .kind = sort, .at = offsetof(mr_step, field)                                                     \
    }
#define PLAIN(word, sort, field)                                                                                       \
    {                                                                                                                  \
        .name = word, .kind = sort, .plain = true, .at = offsetof(mr_step, field)                                      \
    }
#define NEEDED(word, sort, field)                                                                                      \
    {                                                                                                                  \
        .name = word, .kind = sort, .plain = true, .needed = true, .at = offsetof(mr_step, field)                      \
    }

/* The kinds from REAL on have bounds. */
#define NUMBERS(word, sort, field, n, from, to)                                                                        \
    .name = word, .kind = sort, .at = offsetof(mr_step, field), .most = (n), .low = (from), .high = (to)
#define REAL(word, field, n, from, to)       NUMBERS(word, MR__VALUE_REAL, field, n, from, to)
#define WHOLE(word, field, n, from, to)      NUMBERS(word, MR__VALUE_WHOLE, field, n, from, to)
#define SPREAD(word, field, about, from, to) NUMBERS(word, MR__VALUE_SPREAD, field, 2, from, to), .middle = (about)
#define FACTORS(word, field)                 SPREAD(word, field, 1, 0, 1e6)
#define CHANCE                               PARAM("chance", MR__VALUE_CHANCE, chance)
#define PLAIN_CHANCE                         PLAIN("chance", MR__VALUE_CHANCE, chance)
#define SAMPLING                             PARAM("filter", MR__VALUE_SAMPLING, sampling)
#define FILL                                 PARAM("fill", MR__VALUE_FILL, fill)
#define DEGREES                              SPREAD("degrees", degrees, 0, -3600, 3600)
#define SHEARS                               NUMBERS("shear", MR__VALUE_SHEAR, shear, 4, -89, 89)
#define CENTER                                                                                                         \
    {                                                                                                                  \
        REAL("center", center, 2, -65536, 65536), .flag = offsetof(mr_step, has_center)                                \
    }

static const mr__param convert_params[] = {
    PLAIN("channels", MR__VALUE_CHANNELS, channels),
    PLAIN("depth", MR__VALUE_DEPTH, depth),
};
static const mr__param resize_params[] = {
    NEEDED("size", MR__VALUE_SIZE, width),
    PARAM("filter", MR__VALUE_FILTER, filter),
};
static const mr__param short_params[] = {
    NEEDED("size", MR__VALUE_SIDE, width),
    PARAM("filter", MR__VALUE_FILTER, filter),
};
static const mr__param center_params[] = {
    NEEDED("size", MR__VALUE_SIZE, width),
    PARAM("fill", MR__VALUE_FILL, fill),
};
static const mr__param crop_params[] = {
    NEEDED("size", MR__VALUE_SIZE, width),
    PARAM("pad", MR__VALUE_SIDES, pad),
    PARAM("border", MR__VALUE_BORDER, border),
    PARAM("fill", MR__VALUE_FILL, fill),
};
static const mr__param rrc_params[] = {
    NEEDED("size", MR__VALUE_SIZE, width),
    PARAM("scale", MR__VALUE_RANGE, scale_low),
    PARAM("ratio", MR__VALUE_RANGE, ratio_low),
    PARAM("filter", MR__VALUE_FILTER, filter),
};
static const mr__param pad_params[] = {
    PLAIN("pad", MR__VALUE_SIDES, pad),
    PARAM("to", MR__VALUE_SIZE, width),
    PARAM("border", MR__VALUE_BORDER, border),
    PARAM("fill", MR__VALUE_FILL, fill),
};
static const mr__param flip_params[] = {PLAIN("chance", MR__VALUE_CHANCE, chance)};
static const mr__param normalize_params[] = {
    PLAIN("preset", MR__VALUE_PRESET, mean),
    PARAM("mean", MR__VALUE_MEAN, mean),
    PARAM("std", MR__VALUE_STD, std),
};
static const mr__param layout_params[] = {NEEDED("layout", MR__VALUE_LAYOUT, layout)};
static const mr__param dtype_params[] = {NEEDED("dtype", MR__VALUE_DTYPE, dtype)};

static const mr__param rotate_params[] = {
    {DEGREES, .plain = true, .needed = true}, SAMPLING, PARAM("expand", MR__VALUE_SWITCH, expand), CENTER, FILL, CHANCE,
};
static const mr__param affine_params[] = {
    {DEGREES, .plain = true, .needed = true},
    {REAL("translate", translate, 2, 0, 1)},
    PARAM("scale", MR__VALUE_RANGE, scale_low),
    {SHEARS},
    SAMPLING,
    CENTER,
    FILL,
    CHANCE,
};
static const mr__param shear_params[] = {
    {SHEARS, .plain = true, .needed = true}, SAMPLING, CENTER, FILL, CHANCE,
};
static const mr__param translate_params[] = {
    {REAL("translate", translate, 2, 0, 1), .plain = true, .needed = true},
    SAMPLING,
    FILL,
    CHANCE,
};
static const mr__param perspective_params[] = {
    {REAL("distortion", distortion, 1, 0, 1), .positive = true, .plain = true},
    PLAIN_CHANCE,
    SAMPLING,
    FILL,
};
static const mr__param elastic_params[] = {
    {REAL("alpha", alpha, 2, 0, 1e6), .positive = true, .plain = true},
    {REAL("sigma", sigma, 2, 0, 1000), .positive = true},
    SAMPLING,
    FILL,
    CHANCE,
};
static const mr__param scalejitter_params[] = {
    NEEDED("size", MR__VALUE_SIZE, width),
    PARAM("scale", MR__VALUE_RANGE, scale_low),
    PARAM("filter", MR__VALUE_FILTER, filter),
};
static const mr__param zoomout_params[] = {PLAIN("side", MR__VALUE_RANGE, side), PLAIN_CHANCE, FILL};
static const mr__param ioucrop_params[] = {
    PARAM("scale", MR__VALUE_RANGE, scale_low),
    PARAM("ratio", MR__VALUE_RANGE, ratio_low),
    {NUMBERS("options", MR__VALUE_LIST, list, MR_RECIPE_LIST_MAX, 0, 1e6)},
    {WHOLE("trials", trials, 1, 0, 1000), .positive = true},
};
static const mr__param shorts_params[] = {
    {NUMBERS("sizes", MR__VALUE_LIST, list, MR_RECIPE_LIST_MAX, 1, MR_RECIPE_SIDE_MAX), .plain = true, .needed = true},
    {WHOLE("max", max_side, 1, 0, MR_RECIPE_SIDE_MAX)},
    PARAM("filter", MR__VALUE_FILTER, filter),
};
static const mr__param brightness_params[] = {{FACTORS("brightness", brightness), .plain = true, .needed = true},
                                              CHANCE};
static const mr__param contrast_params[] = {{FACTORS("contrast", contrast), .plain = true, .needed = true}, CHANCE};
static const mr__param saturation_params[] = {{FACTORS("saturation", saturation), .plain = true, .needed = true},
                                              CHANCE};
static const mr__param hue_params[] = {{SPREAD("hue", hue, 0, -0.5, 0.5), .plain = true, .needed = true}, CHANCE};
static const mr__param jitter_params[] = {
    {FACTORS("brightness", brightness), .plain = true},
    {FACTORS("contrast", contrast), .plain = true},
    {FACTORS("saturation", saturation), .plain = true},
    {SPREAD("hue", hue, 0, -0.5, 0.5), .plain = true},
    CHANCE,
};
static const mr__param chance_params[] = {PLAIN_CHANCE};
static const mr__param gamma_params[] = {
    NEEDED("gamma", MR__VALUE_RANGE, gamma), {REAL("gain", gain, 1, 0, 1e6), .positive = true}, CHANCE};
static const mr__param posterize_params[] = {{WHOLE("bits", bits, 1, 0, 8), .plain = true, .needed = true},
                                             PLAIN_CHANCE};
static const mr__param solarize_params[] = {{WHOLE("threshold", threshold, 1, 0, 256), .plain = true, .needed = true},
                                            PLAIN_CHANCE};
static const mr__param sharpness_params[] = {{REAL("factor", factor, 1, 0, 1e6), .plain = true, .needed = true},
                                             PLAIN_CHANCE};
static const mr__param blur_params[] = {{WHOLE("kernel", kernel, 2, 1, 1023), .plain = true, .needed = true},
                                        PARAM("sigma", MR__VALUE_RANGE, sigma),
                                        CHANCE};
static const mr__param jpeg_params[] = {
    {NUMBERS("quality", MR__VALUE_QUALITY, quality, 2, 1, 100), .plain = true, .needed = true}, CHANCE};
static const mr__param permute_params[] = {CHANCE};
static const mr__param noise_params[] = {
    {REAL("sigma", sigma, 1, 0, 1e3), .positive = true, .plain = true},
    {REAL("mean", center_value, 1, -1e3, 1e3)},
    PARAM("wrap", MR__VALUE_SWITCH, unclipped),
    CHANCE,
};
static const mr__param randaug_params[] = {
    {WHOLE("ops", ops, 1, 1, 16), .plain = true},
    {WHOLE("magnitude", magnitude, 1, 0, 1000), .plain = true, .flag = offsetof(mr_step, has_magnitude)},
    {WHOLE("bins", bins, 1, 2, 1000)},
    SAMPLING,
    FILL,
};
static const mr__param autoaug_params[] = {PLAIN("policy", MR__VALUE_POLICY, policy),
                                           PARAM("file", MR__VALUE_PATH, path), SAMPLING, FILL};
static const mr__param trivialaug_params[] = {{WHOLE("bins", bins, 1, 2, 1000), .plain = true}, SAMPLING, FILL};
static const mr__param augmix_params[] = {
    {WHOLE("severity", magnitude, 1, 1, 10), .plain = true},
    {WHOLE("width", branches, 1, 1, 10)},
    {WHOLE("depth", ops, 1, 0, 3)},
    {REAL("alpha", alpha, 1, 0, 1e3), .positive = true},
    PARAM("few", MR__VALUE_SWITCH, few_ops),
    SAMPLING,
    FILL,
};
static const mr__param erase_params[] = {
    PLAIN_CHANCE,
    PARAM("scale", MR__VALUE_RANGE, scale_low),
    PARAM("ratio", MR__VALUE_RANGE, ratio_low),
    {REAL("value", value, 4, -1e6, 1e6)},
    PARAM("noise", MR__VALUE_SWITCH, random_fill),
};
static const mr__param cutout_params[] = {NEEDED("size", MR__VALUE_SIDE, width), PLAIN_CHANCE, FILL};
static const mr__param mix_params[] = {{REAL("alpha", alpha, 1, 0, 1e3), .positive = true, .plain = true},
                                       PLAIN_CHANCE};
static const mr__param sanitize_params[] = {
    {REAL("side", min_side, 1, 0, MR_RECIPE_SIDE_MAX), .positive = true},
    {REAL("area", min_area, 1, 0, 1e9), .positive = true},
};

#define PARAMS(list)                                                                                                   \
    {                                                                                                                  \
        list, sizeof(list) / sizeof *(list)                                                                            \
    }

static const mr__params params_of[] = {
    [MR_STEP_CONVERT] = PARAMS(convert_params),
    [MR_STEP_RESIZE] = PARAMS(resize_params),
    [MR_STEP_SHORT] = PARAMS(short_params),
    [MR_STEP_CENTER] = PARAMS(center_params),
    [MR_STEP_CROP] = PARAMS(crop_params),
    [MR_STEP_RRC] = PARAMS(rrc_params),
    [MR_STEP_PAD] = PARAMS(pad_params),
    [MR_STEP_FLIP] = PARAMS(flip_params),
    [MR_STEP_VFLIP] = PARAMS(flip_params),
    [MR_STEP_NORMALIZE] = PARAMS(normalize_params),
    [MR_STEP_LAYOUT] = PARAMS(layout_params),
    [MR_STEP_DTYPE] = PARAMS(dtype_params),
    [MR_STEP_ROTATE] = PARAMS(rotate_params),
    [MR_STEP_AFFINE] = PARAMS(affine_params),
    [MR_STEP_SHEAR] = PARAMS(shear_params),
    [MR_STEP_TRANSLATE] = PARAMS(translate_params),
    [MR_STEP_PERSPECTIVE] = PARAMS(perspective_params),
    [MR_STEP_ELASTIC] = PARAMS(elastic_params),
    [MR_STEP_SCALEJITTER] = PARAMS(scalejitter_params),
    [MR_STEP_ZOOMOUT] = PARAMS(zoomout_params),
    [MR_STEP_IOUCROP] = PARAMS(ioucrop_params),
    [MR_STEP_SHORTS] = PARAMS(shorts_params),
    [MR_STEP_BRIGHTNESS] = PARAMS(brightness_params),
    [MR_STEP_CONTRAST] = PARAMS(contrast_params),
    [MR_STEP_SATURATION] = PARAMS(saturation_params),
    [MR_STEP_HUE] = PARAMS(hue_params),
    [MR_STEP_JITTER] = PARAMS(jitter_params),
    [MR_STEP_GAMMA] = PARAMS(gamma_params),
    [MR_STEP_POSTERIZE] = PARAMS(posterize_params),
    [MR_STEP_SOLARIZE] = PARAMS(solarize_params),
    [MR_STEP_SHARPNESS] = PARAMS(sharpness_params),
    [MR_STEP_BLUR] = PARAMS(blur_params),
    [MR_STEP_JPEG] = PARAMS(jpeg_params),
    [MR_STEP_PERMUTE] = PARAMS(permute_params),
    [MR_STEP_NOISE] = PARAMS(noise_params),
    [MR_STEP_RANDAUG] = PARAMS(randaug_params),
    [MR_STEP_AUTOAUG] = PARAMS(autoaug_params),
    [MR_STEP_TRIVIALAUG] = PARAMS(trivialaug_params),
    [MR_STEP_AUGMIX] = PARAMS(augmix_params),
    [MR_STEP_ERASE] = PARAMS(erase_params),
    [MR_STEP_CUTOUT] = PARAMS(cutout_params),
    [MR_STEP_SANITIZE] = PARAMS(sanitize_params),
    [MR_STEP_GRAYSCALE] = PARAMS(chance_params),
    [MR_STEP_INVERT] = PARAMS(chance_params),
    [MR_STEP_EQUALIZE] = PARAMS(chance_params),
    [MR_STEP_AUTOCONTRAST] = PARAMS(chance_params),
    [MR_STEP_MIXUP] = PARAMS(mix_params),
    [MR_STEP_CUTMIX] = PARAMS(mix_params),
};

mr__params mr__params_of(mr_step_kind kind)
{
    size_t number = (size_t)kind;
    return number < sizeof params_of / sizeof *params_of ? params_of[number] : (mr__params){NULL, 0};
}

typedef struct preset {
    const char *name;
    float mean[4], std[4];
} preset;

/* doc/recipe.md says where they come from. */
static const preset presets[] = {
    {"imagenet", {0.485F, 0.456F, 0.406F, 0}, {0.229F, 0.224F, 0.225F, 0}},
    {"cifar10", {0.4914F, 0.4822F, 0.4465F, 0}, {0.247F, 0.2435F, 0.2616F, 0}},
    {"cifar100", {0.5071F, 0.4865F, 0.4409F, 0}, {0.2673F, 0.2564F, 0.2762F, 0}},
    {"clip", {0.48145466F, 0.4578275F, 0.40821073F, 0}, {0.26862954F, 0.26130258F, 0.27577711F, 0}},
    {"half", {0.5F, 0.5F, 0.5F, 0.5F}, {0.5F, 0.5F, 0.5F, 0.5F}},
};

enum { PRESETS = sizeof presets / sizeof *presets };

static const char *const border_words[] = {"fill", "edge", "reflect", "symmetric"};
static const char *const channel_words[] = {"gray", "rgb", "rgba"};
static const uint32_t channel_values[] = {1, 3, 4};
static const char *const sampling_words[] = {"nearest", "bilinear", "bicubic"};
static const char *const switch_words[] = {"no", "yes"};
static const char *const policy_words[] = {"imagenet", "cifar10", "svhn"};

static const char *word_of(const char *const *words, size_t count, size_t number)
{
    return number < count ? words[number] : NULL;
}

const char *mr__word_at(mr__value_kind kind, size_t number, uint32_t *value)
{
    *value = (uint32_t)number;
    switch (kind) {
    case MR__VALUE_PRESET:
        return number < PRESETS ? presets[number].name : NULL;
    case MR__VALUE_FILTER:
        return number <= MR_FILTER_LANCZOS ? mr_filter_name((mr_filter)number) : NULL;
    case MR__VALUE_BORDER:
        return word_of(border_words, sizeof border_words / sizeof *border_words, number);
    case MR__VALUE_CHANNELS:
        *value = number < 3 ? channel_values[number] : 0;
        return word_of(channel_words, 3, number);
    case MR__VALUE_LAYOUT:
        return number <= MR_NHWC ? mr_batch_layout_name((mr_batch_layout)number) : NULL;
    case MR__VALUE_DTYPE:
        return number <= MR_BF16 ? mr_dtype_name((mr_dtype)number) : NULL;
    case MR__VALUE_SAMPLING:
        *value = (uint32_t)number + MR_SAMPLING_NEAREST;
        return word_of(sampling_words, 3, number);
    case MR__VALUE_SWITCH:
        return word_of(switch_words, 2, number);
    case MR__VALUE_POLICY:
        return word_of(policy_words, 3, number);
    default:
        return NULL;
    }
}

static void *field_of(mr_step *step, const mr__param *param)
{
    return (char *)step + param->at;
}

/* One number is for all; more are for the first channels, the others being 0. */
static double channel_number(const mr__value *value, size_t channel)
{
    return value->count == 1 ? value->numbers[0] : channel < value->count ? value->numbers[channel] : 0;
}

static void put_preset(mr_step *step, const mr__value *value)
{
    size_t number = (size_t)value->numbers[0];
    if (value->count == 0 || number >= PRESETS)
        return;
    memcpy(step->mean, presets[number].mean, sizeof step->mean);
    memcpy(step->std, presets[number].std, sizeof step->std);
}

static void put_word(mr_step *step, const mr__param *param, uint32_t word)
{
    mr__value_kind kind = param->kind;
    if (kind == MR__VALUE_FILTER)
        step->filter = (mr_filter)word;
    else if (kind == MR__VALUE_BORDER)
        step->border = (mr_border)word;
    else if (kind == MR__VALUE_CHANNELS)
        step->channels = word;
    else if (kind == MR__VALUE_LAYOUT)
        step->layout = (mr_batch_layout)word;
    else if (kind == MR__VALUE_DTYPE)
        step->dtype = (mr_dtype)word;
    else if (kind == MR__VALUE_SAMPLING)
        step->sampling = (mr_sampling)word;
    else if (kind == MR__VALUE_POLICY)
        step->policy = (mr_autoaug)word;
    else if (kind == MR__VALUE_SWITCH)
        *(bool *)field_of(step, param) = word != 0;
}

static void put_channels(mr_step *step, const mr__param *param, const mr__value *value)
{
    for (size_t i = 0; i < 4; i++)
        if (param->kind == MR__VALUE_FILL)
            step->fill[i] = (uint8_t)channel_number(value, i);
        else /* + 0: there is no -0 */
            ((float *)field_of(step, param))[i] = (float)channel_number(value, i) + 0.0F;
}

/* Of one number all sides, of two the first for left and right. */
static bool put_sides(mr_step *step, const mr__value *value)
{
    if (value->count == 3)
        return false;
    for (size_t i = 0; i < 4; i++)
        step->pad[i] = value->count != 0 ? (uint32_t)value->numbers[i % value->count] : 0;
    return true;
}

static void put_flag(mr_step *step, const mr__param *param, bool given)
{
    if (param->flag != 0)
        *(bool *)((char *)step + param->flag) = given;
}

/* As many numbers as there are fields; one is for all, none is 0. Of four channels three may be given. */
static bool put_reals(mr_step *step, const mr__param *param, const mr__value *value)
{
    if (value->count > 1 && value->count != param->most && (value->count != 3 || param->most != 4))
        return false;
    for (size_t i = 0; i < param->most; i++) {
        double number = value->count == 1 ? value->numbers[0] + 0.0 : i < value->count ? value->numbers[i] + 0.0 : 0;
        if (param->kind == MR__VALUE_REAL)
            ((double *)field_of(step, param))[i] = number;
        else
            ((uint32_t *)field_of(step, param))[i] = (uint32_t)number;
    }
    put_flag(step, param, value->count != 0);
    return true;
}

static bool put_spread(double *to, const mr__param *param, const mr__value *value)
{
    double first = value->count > 0 ? value->numbers[0] : 0;
    to[0] = value->count == 1 ? param->middle - first : first + 0.0;
    to[1] = value->count == 1 ? param->middle + first : value->count > 1 ? value->numbers[1] + 0.0 : 0;
    if (param->middle != 0 && value->count == 1 && to[0] < 0)
        to[0] = 0; /* a factor */
    return value->count <= 2;
}

static bool put_shear(mr_step *step, const mr__param *param, const mr__value *value)
{
    mr__value x = {{value->numbers[0], value->numbers[1]}, value->count < 2 ? value->count : 2};
    (void)put_spread(step->shear, param, &x);
    for (size_t i = 2; i < 4; i++)
        step->shear[i] = value->count == 4 ? value->numbers[i] + 0.0 : 0;
    return value->count != 3 && value->count <= 4;
}

static void put_list(mr_step *step, const mr__value *value)
{
    for (size_t i = 0; i < MR_RECIPE_LIST_MAX; i++)
        step->list[i] = i < value->count ? value->numbers[i] + 0.0 : 0;
    step->list_count = (uint32_t)value->count;
}

bool mr__param_put(mr_step *step, const mr__param *param, const mr__value *value)
{
    double first = value->count > 0 ? value->numbers[0] : 0, last = value->count > 1 ? value->numbers[1] : first;
    switch (param->kind) {
    case MR__VALUE_SIZE:
        step->width = (uint32_t)first;
        step->height = (uint32_t)last;
        return value->count <= 2;
    case MR__VALUE_SIDE:
        step->width = (uint32_t)first;
        return value->count <= 1;
    case MR__VALUE_RANGE:
        ((double *)field_of(step, param))[0] = first + 0.0;
        ((double *)field_of(step, param))[1] = last + 0.0;
        return value->count <= 2;
    case MR__VALUE_CHANCE:
        step->has_chance = value->count != 0;
        step->chance = first + 0.0;
        return value->count <= 1;
    case MR__VALUE_SIDES:
        return put_sides(step, value);
    case MR__VALUE_FILL:
    case MR__VALUE_MEAN:
    case MR__VALUE_STD:
        put_channels(step, param, value);
        return true;
    case MR__VALUE_DEPTH:
        step->depth = (uint32_t)first;
        return value->count <= 1;
    case MR__VALUE_REAL:
    case MR__VALUE_WHOLE:
    case MR__VALUE_QUALITY:
        return put_reals(step, param, value);
    case MR__VALUE_SPREAD:
        return put_spread(field_of(step, param), param, value);
    case MR__VALUE_SHEAR:
        return put_shear(step, param, value);
    case MR__VALUE_LIST:
        put_list(step, value);
        return true;
    case MR__VALUE_PATH:
        return true;
    case MR__VALUE_PRESET:
        put_preset(step, value);
        return value->count <= 1;
    default:
        put_word(step, param, (uint32_t)first);
        return value->count <= 1;
    }
}

/* Channels that the preset does not have are whatever the step makes of them: they do not count. */
static mr__value get_preset(const mr_step *step)
{
    for (size_t i = 0; i < PRESETS; i++) {
        bool same = true;
        for (size_t c = 0; c < 4; c++)
            same = same && (presets[i].std[c] == 0 ||
                            (presets[i].mean[c] == step->mean[c] && presets[i].std[c] == step->std[c]));
        if (same)
            return (mr__value){{(double)i}, 1};
    }
    return (mr__value){{0}, 0};
}

static const void *field_in(const mr_step *step, const mr__param *param)
{
    return (const char *)step + param->at;
}

static double get_word(const mr_step *step, const mr__param *param)
{
    switch (param->kind) {
    case MR__VALUE_SAMPLING:
        return (double)(uint32_t)step->sampling;
    case MR__VALUE_POLICY:
        return (double)(uint32_t)step->policy;
    case MR__VALUE_SWITCH:
        return *(const bool *)field_in(step, param) ? 1 : 0;
    case MR__VALUE_FILTER:
        return (double)(uint32_t)step->filter;
    case MR__VALUE_BORDER:
        return (double)(uint32_t)step->border;
    case MR__VALUE_CHANNELS:
        return (double)step->channels;
    case MR__VALUE_LAYOUT:
        return (double)(uint32_t)step->layout;
    default:
        return (double)(uint32_t)step->dtype;
    }
}

static mr__value get_numbers(const mr_step *step, const mr__param *param)
{
    bool whole = param->kind == MR__VALUE_WHOLE || param->kind == MR__VALUE_QUALITY;
    mr__value value = {{0}, param->kind == MR__VALUE_LIST ? step->list_count : param->most};
    value.count = value.count < MR__VALUE_NUMBERS ? value.count : MR__VALUE_NUMBERS;
    for (size_t i = 0; i < value.count; i++)
        value.numbers[i] =
            whole ? (double)((const uint32_t *)field_in(step, param))[i] : ((const double *)field_in(step, param))[i];
    if (param->flag != 0 && !*(const bool *)((const char *)step + param->flag))
        value.count = 0;
    return value;
}

mr__value mr__param_get(const mr_step *step, const mr__param *param)
{
    const float *channels = param->kind == MR__VALUE_STD ? step->std : step->mean;
    const double *range = field_in(step, param);
    switch (param->kind) {
    case MR__VALUE_SIZE:
        return (mr__value){{step->width, step->height}, 2};
    case MR__VALUE_SIDE:
        return (mr__value){{step->width}, 1};
    case MR__VALUE_RANGE:
        return (mr__value){{range[0], range[1]}, 2};
    case MR__VALUE_CHANCE:
        return (mr__value){{step->chance}, step->has_chance || step->chance != 0};
    case MR__VALUE_SIDES:
        return (mr__value){{step->pad[0], step->pad[1], step->pad[2], step->pad[3]}, 4};
    case MR__VALUE_FILL:
        return (mr__value){{step->fill[0], step->fill[1], step->fill[2], step->fill[3]}, 4};
    case MR__VALUE_MEAN:
    case MR__VALUE_STD:
        return (mr__value){{(double)channels[0], (double)channels[1], (double)channels[2], (double)channels[3]}, 4};
    case MR__VALUE_DEPTH:
        return (mr__value){{step->depth}, 1};
    case MR__VALUE_REAL:
    case MR__VALUE_WHOLE:
    case MR__VALUE_QUALITY:
    case MR__VALUE_SPREAD:
    case MR__VALUE_SHEAR:
    case MR__VALUE_LIST:
        return get_numbers(step, param);
    case MR__VALUE_PATH:
        return (mr__value){{0}, 0};
    case MR__VALUE_PRESET:
        return get_preset(step);
    case MR__VALUE_POLICY: /* a file is said by its name */
        return (mr__value){{get_word(step, param)}, step->policy != MR_AUTOAUG_FILE};
    default:
        return (mr__value){{get_word(step, param)}, 1};
    }
}

static bool is_bounded(mr__value_kind kind)
{
    return kind >= MR__VALUE_REAL && kind <= MR__VALUE_LIST;
}

int mr__param_check(const mr_step *step, const mr__param *param, const char *name, mr__detail *detail)
{
    mr__value value = mr__param_get(step, param);
    bool spread = param->kind == MR__VALUE_SPREAD || param->kind == MR__VALUE_SHEAR;
    for (size_t i = 0; i < value.count && is_bounded(param->kind); i++) {
        double number = value.numbers[i];
        bool none = number == 0 && !param->needed; /* not given */
        if (!none && !(number >= param->low && number <= param->high))
            return mr__fail(detail, MR_EARGUMENT, "%s: %s is from %g to %g, not %g", name, param->name, param->low,
                            param->high, number);
        if (spread && i % 2 == 1 && value.numbers[i - 1] > number)
            return mr__fail(detail, MR_EARGUMENT, "%s: %s=%g..%g ends before it begins", name, param->name,
                            value.numbers[i - 1], number);
    }
    if (param->kind == MR__VALUE_RANGE && param->needed && !(value.numbers[1] > 0))
        return mr__fail(detail, MR_EARGUMENT, "%s: %s has to be more than 0", name, param->name);
    return 0;
}

bool mr__value_equal(const mr__value *a, const mr__value *b)
{
    bool same = a->count == b->count;
    for (size_t i = 0; i < a->count && same; i++)
        same = a->numbers[i] == b->numbers[i];
    return same;
}
