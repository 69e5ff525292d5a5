// SPDX-License-Identifier: Apache-2.0
#include "step/recipe_words.h"

#include <string.h>

#define PARAM(name, kind, field)                                                                                       \
    {                                                                                                                  \
        name, kind, false, false, offsetof(mr_step, field)                                                             \
    }
#define PLAIN(name, kind, field)                                                                                       \
    {                                                                                                                  \
        name, kind, true, false, offsetof(mr_step, field)                                                              \
    }
#define NEEDED(name, kind, field)                                                                                      \
    {                                                                                                                  \
        name, kind, true, true, offsetof(mr_step, field)                                                               \
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

#define PARAMS(list) ((mr__params){list, sizeof(list) / sizeof *(list)})

mr__params mr__params_of(mr_step_kind kind)
{
    switch (kind) {
    case MR_STEP_CONVERT:
        return PARAMS(convert_params);
    case MR_STEP_RESIZE:
        return PARAMS(resize_params);
    case MR_STEP_SHORT:
        return PARAMS(short_params);
    case MR_STEP_CENTER:
        return PARAMS(center_params);
    case MR_STEP_CROP:
        return PARAMS(crop_params);
    case MR_STEP_RRC:
        return PARAMS(rrc_params);
    case MR_STEP_PAD:
        return PARAMS(pad_params);
    case MR_STEP_FLIP:
    case MR_STEP_VFLIP:
        return PARAMS(flip_params);
    case MR_STEP_NORMALIZE:
        return PARAMS(normalize_params);
    case MR_STEP_LAYOUT:
        return PARAMS(layout_params);
    case MR_STEP_DTYPE:
        return PARAMS(dtype_params);
    default:
        return (mr__params){NULL, 0};
    }
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

static void put_word(mr_step *step, mr__value_kind kind, uint32_t word)
{
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
    case MR__VALUE_PRESET:
        put_preset(step, value);
        return value->count <= 1;
    default:
        put_word(step, param->kind, (uint32_t)first);
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

static double get_word(const mr_step *step, mr__value_kind kind)
{
    switch (kind) {
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

mr__value mr__param_get(const mr_step *step, const mr__param *param)
{
    const float *channels = param->kind == MR__VALUE_STD ? step->std : step->mean;
    bool scale = param->at == offsetof(mr_step, scale_low);
    switch (param->kind) {
    case MR__VALUE_SIZE:
        return (mr__value){{step->width, step->height}, 2};
    case MR__VALUE_SIDE:
        return (mr__value){{step->width}, 1};
    case MR__VALUE_RANGE:
        return scale ? (mr__value){{step->scale_low, step->scale_high}, 2}
                     : (mr__value){{step->ratio_low, step->ratio_high}, 2};
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
    case MR__VALUE_PRESET:
        return get_preset(step);
    default:
        return (mr__value){{get_word(step, param->kind)}, 1};
    }
}

bool mr__value_equal(const mr__value *a, const mr__value *b)
{
    bool same = a->count == b->count;
    for (size_t i = 0; i < a->count && same; i++)
        same = a->numbers[i] == b->numbers[i];
    return same;
}
