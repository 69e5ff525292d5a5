// SPDX-License-Identifier: Apache-2.0
#ifndef MILLRACE_RECIPE_H
#define MILLRACE_RECIPE_H

#include <millrace/resize.h>

/*
 * A recipe is the list of steps that turn a stored image into what a model is trained on. It has a text form:
 *
 *     rrc(224, scale=0.08..1) flip normalize(imagenet)
 *
 * and the same steps as structs. doc/recipe.md has every step, its parameters and its reference.
 */

/* The numbers are part of the ABI. */
typedef enum mr_step_kind {
    MR_STEP_NONE = 0,
    MR_STEP_ORIENT = 1,     /* orient: as EXIF says it is to be shown; the first step or none */
    MR_STEP_CONVERT = 2,    /* convert(rgb): channels and depth; before anything that changes pixels */
    MR_STEP_RESIZE = 3,     /* resize(224), resize(320x240): to this size */
    MR_STEP_SHORT = 4,      /* short(256): the shorter side to this, the other in proportion */
    MR_STEP_CENTER = 5,     /* center(224): the middle; what the image does not have is filled */
    MR_STEP_CROP = 6,       /* crop(32, pad=4): a random place */
    MR_STEP_RRC = 7,        /* rrc(224): a random part of random size and shape, resized */
    MR_STEP_PAD = 8,        /* pad(4), pad(to=512): a border */
    MR_STEP_FLIP = 9,       /* flip, flip(0.3): left and right exchanged, at random */
    MR_STEP_VFLIP = 10,     /* vflip: top and bottom */
    MR_STEP_NORMALIZE = 11, /* normalize(imagenet): (v - mean) / std of values from 0 to 1 */
    MR_STEP_LAYOUT = 12,    /* layout(nchw), layout(nhwc) */
    MR_STEP_DTYPE = 13,     /* dtype(u8), dtype(f32), dtype(f16), dtype(bf16) */
    MR_STEP_USER = 14       /* a function of the program's */
} mr_step_kind;

/* How a batch lies in memory: planes of channels, or pixels. */
typedef enum mr_batch_layout { MR_NCHW = 0, MR_NHWC = 1 } mr_batch_layout;

/* What a number of a batch is. */
typedef enum mr_dtype {
    MR_DTYPE_AUTO = 0, /* f32 after normalize, else u8 */
    MR_U8 = 1,
    MR_F32 = 2,
    MR_F16 = 3,
    MR_BF16 = 4
} mr_dtype;

/* What is put where a padded image has nothing. */
typedef enum mr_border {
    MR_BORDER_FILL = 0,
    MR_BORDER_EDGE = 1,
    MR_BORDER_REFLECT = 2,
    MR_BORDER_SYMMETRIC = 3
} mr_border;

/* Limits of a recipe. */
enum { MR_RECIPE_STEPS_MAX = 64, MR_RECIPE_SIDE_MAX = 16384 };

/*
 * A step of the program's own: from one image to another of the size that it says, 8 or 16 bits. `run` is called from
 * several threads at once, with images that do not overlap; it fills all of `to`. Another result than 0 makes the
 * sample a bad one. `draws` are its random numbers, the same for the same seed, epoch and sample.
 */
typedef struct mr_user_step {
    size_t struct_size;
    const char *name;       /* a word, for texts and reports; it is a part of the recipe's hash */
    uint64_t version;       /* so is this: to be changed with what the step does */
    uint32_t width, height; /* of what it gives; 0: as it came */
    uint32_t draws;         /* random numbers that it wants, at most 64 */
    double cost_ns;         /* of an image, about: for those who plan; 0: not known */
    uint64_t memory_nbytes; /* scratch that it is to be given, 64-byte aligned */
    void *user;
    int (*run)(void *user, const mr_image *from, const mr_image *to, const uint32_t *draws, void *scratch);
} mr_user_step;

/* One step with its parameters. Zero is the default of every field, written in brackets. */
typedef struct mr_step {
    size_t struct_size;
    mr_step_kind kind;
    uint32_t width, height; /* RESIZE, CENTER, CROP, RRC; PAD with to. SHORT: width alone. Height 0: as the width */
    mr_filter filter;       /* RESIZE, SHORT, RRC [bilinear] */
    double scale_low, scale_high; /* RRC: share of the area [0.08, 1]; both 0: the default */
    double ratio_low, ratio_high; /* RRC: width to height [3/4, 4/3] */
    bool has_chance;              /* FLIP, VFLIP: that `chance` is given */
    double chance;                /* [0.5] */
    uint32_t pad[4];              /* PAD, CROP: left, top, right, bottom */
    mr_border border;             /* PAD, CROP */
    uint8_t fill[4];              /* CENTER, CROP, PAD: of each channel [0] */
    uint32_t channels;            /* CONVERT: 1 gray, 3 RGB, 4 RGBA [3] */
    uint32_t depth;               /* CONVERT: 8 or 16 [8] */
    float mean[4], std[4];        /* NORMALIZE */
    mr_batch_layout layout;       /* LAYOUT */
    mr_dtype dtype;               /* DTYPE */
    const mr_user_step *user;     /* USER: copied, but what it points at stays the program's */
} mr_step;

/* What a recipe gives for every sample. */
typedef struct mr_output {
    size_t struct_size;
    uint32_t width, height, channels;
    mr_batch_layout layout;
    mr_dtype dtype;       /* never AUTO */
    size_t sample_nbytes; /* of one sample: what a slot has for it */
} mr_output;

/*
 * Threads: one at a time while it is made; any number once it is.
 * Ownership: mr_recipe_free frees it and the texts it gave; loaders keep a copy of their own.
 * Limits: MR_RECIPE_STEPS_MAX steps, sides of MR_RECIPE_SIDE_MAX.
 */
typedef struct mr_recipe mr_recipe;

MR_BEGIN_DECLS

/* An empty recipe. `hooks` may be NULL. */
MR_API int mr_recipe_new(const mr_hooks *hooks, mr_recipe **out);
MR_API void mr_recipe_free(mr_recipe *recipe);

/*
 * Adds the steps of a text. MR_EARGUMENT with a detail that says what is wrong, at which character, and which word may
 * have been meant; MR_ELIMIT for more than 65536 bytes or MR_RECIPE_STEPS_MAX steps. Nothing is added then.
 */
MR_API int mr_recipe_parse(mr_recipe *recipe, const char *text);

/* Where in the text the last mr_recipe_parse failed: bytes from its beginning. */
MR_API size_t mr_recipe_error_at(const mr_recipe *recipe);

/* Adds one step. MR_EARGUMENT, with detail, for parameters that make no sense. Fields that its kind does not have do
 * not count. */
MR_API int mr_recipe_add(mr_recipe *recipe, const mr_step *step);

MR_API size_t mr_recipe_count(const mr_recipe *recipe);

/* Set step->struct_size before the call; defaults are filled in. MR_EARGUMENT beyond the last. */
MR_API int mr_recipe_step(const mr_recipe *recipe, size_t number, mr_step *step);

/*
 * What it gives; MR_EARGUMENT, with detail, where the steps do not fit together: the size is not the same for every
 * image, a step does not take the channels or depth that it is given, normalize and u8.
 */
MR_API int mr_recipe_output(mr_recipe *recipe, mr_output *output);

/* The text that gives this recipe when parsed, in its shortest form. User steps are written user(NAME), which does not
 * parse. The recipe's, until it is changed. NULL: out of memory. */
MR_API const char *mr_recipe_text(mr_recipe *recipe);

/* XXH3-64 of that text with every default written out: the same for two recipes that do the same by the same steps. */
MR_API uint64_t mr_recipe_hash(mr_recipe *recipe);

/*
 * A copy for eyes: the same draws and pixels, without normalize, as u8 NHWC. *out is the caller's.
 */
MR_API int mr_recipe_visible(const mr_recipe *recipe, mr_recipe **out);

MR_API const char *mr_recipe_detail(const mr_recipe *recipe);

/* "f32"; "nchw". */
MR_API const char *mr_dtype_name(mr_dtype dtype);
MR_API size_t mr_dtype_nbytes(mr_dtype dtype);
MR_API const char *mr_batch_layout_name(mr_batch_layout layout);

MR_END_DECLS

#endif
