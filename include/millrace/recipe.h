// SPDX-License-Identifier: Apache-2.0
#ifndef MILLRACE_RECIPE_H
#define MILLRACE_RECIPE_H

#include <millrace/resize.h>

/*
 * A recipe is the list of steps that turn a stored image into what a model is trained on. It has a text form:
 *
 *     rrc(224, scale=0.08..1) flip normalize(imagenet)
 *
 * and the same steps as structs. doc/recipe.md and doc/steps.md have every step, its parameters and its reference.
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
    MR_STEP_USER = 14,      /* a function of the program's */

    MR_STEP_ROTATE = 15,      /* rotate(30): by -30 to 30 degrees */
    MR_STEP_AFFINE = 16,      /* affine(10, translate=0.1/0.1, scale=0.9..1.1, shear=5) */
    MR_STEP_SHEAR = 17,       /* shear(10), shear(-5..5/0..0): along x, along y; degrees */
    MR_STEP_TRANSLATE = 18,   /* translate(0.1/0.1): by such parts of the width and of the height at most */
    MR_STEP_PERSPECTIVE = 19, /* perspective(0.5): as seen from aside */
    MR_STEP_ELASTIC = 20,     /* elastic(50, sigma=5): as if drawn on rubber */
    MR_STEP_SCALEJITTER = 21, /* scalejitter(1024): fitted into this, times a random scale */
    MR_STEP_ZOOMOUT = 22,     /* zoomout: the image at a random place of a larger, filled one */
    MR_STEP_IOUCROP = 23,     /* ioucrop: a random part that keeps enough of some box */
    MR_STEP_SHORTS = 24,      /* shorts(480/512/544, max=1333): the shorter side to one of these */

    MR_STEP_BRIGHTNESS = 25,   /* brightness(0.4): times 0.6 to 1.4 */
    MR_STEP_CONTRAST = 26,     /* contrast(0.4) */
    MR_STEP_SATURATION = 27,   /* saturation(0.4) */
    MR_STEP_HUE = 28,          /* hue(0.1): turned by -0.1 to 0.1 of the circle */
    MR_STEP_JITTER = 29,       /* jitter(0.4, 0.4, 0.4, 0.1): the four above, in random order */
    MR_STEP_GRAYSCALE = 30,    /* grayscale, grayscale(0.1): gray in every channel */
    MR_STEP_GAMMA = 31,        /* gamma(0.8..1.2) */
    MR_STEP_INVERT = 32,       /* invert: 255 - v */
    MR_STEP_POSTERIZE = 33,    /* posterize(4): so many bits */
    MR_STEP_SOLARIZE = 34,     /* solarize(128): what is not below this is inverted */
    MR_STEP_EQUALIZE = 35,     /* equalize: all values about as often */
    MR_STEP_AUTOCONTRAST = 36, /* autocontrast: from 0 to 255 */
    MR_STEP_SHARPNESS = 37,    /* sharpness(2): 0 blurred, 1 as it is */
    MR_STEP_BLUR = 38,         /* blur(5, sigma=0.1..2): Gaussian */
    MR_STEP_JPEG = 39,         /* jpeg(50), jpeg(20..80): as if stored with this quality */
    MR_STEP_PERMUTE = 40,      /* permute: the channels in random order */
    MR_STEP_NOISE = 41,        /* noise(0.1): Gaussian */

    MR_STEP_RANDAUG = 42,    /* randaug(2, 9) */
    MR_STEP_AUTOAUG = 43,    /* autoaug(imagenet), autoaug(file="table.json") */
    MR_STEP_TRIVIALAUG = 44, /* trivialaug */
    MR_STEP_AUGMIX = 45,     /* augmix(3) */
    MR_STEP_ERASE = 46,      /* erase: a random rectangle; behind normalize in its numbers */
    MR_STEP_CUTOUT = 47,     /* cutout(16): a square, whose middle is anywhere */
    MR_STEP_MIXUP = 48,      /* mixup(0.2): of two samples of the batch, the mean with weights */
    MR_STEP_CUTMIX = 49,     /* cutmix(1): a rectangle of another sample of the batch */
    MR_STEP_SANITIZE = 50    /* sanitize: boxes that have become too small are left out */
} mr_step_kind;

/* Whose table autoaug takes. */
typedef enum mr_autoaug {
    MR_AUTOAUG_IMAGENET = 0,
    MR_AUTOAUG_CIFAR10 = 1,
    MR_AUTOAUG_SVHN = 2,
    MR_AUTOAUG_FILE = 3 /* that of mr_step.path */
} mr_autoaug;

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

/* How a step that turns or bends an image looks up a pixel between pixels. */
typedef enum mr_sampling {
    MR_SAMPLING_AUTO = 0, /* as torchvision without an argument: bilinear for perspective, elastic and augmix, else
                             nearest */
    MR_SAMPLING_NEAREST = 1,
    MR_SAMPLING_BILINEAR = 2,
    MR_SAMPLING_BICUBIC = 3
} mr_sampling;

/* Limits of a recipe. */
enum { MR_RECIPE_STEPS_MAX = 64, MR_RECIPE_SIDE_MAX = 16384, MR_RECIPE_LIST_MAX = 16 };

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
    mr_filter filter;       /* RESIZE, SHORT, RRC, SCALEJITTER, SHORTS [bilinear] */
    double scale_low, scale_high; /* RRC: share of the area [0.08, 1]; both 0: the default. AFFINE, ERASE, ... */
    double ratio_low, ratio_high; /* RRC: width to height [3/4, 4/3]. ERASE, IOUCROP */
    bool has_chance;              /* that `chance` is given, of the steps that have one: FLIP, ROTATE, ... */
    double chance;                /* that anything is done; doc/steps.md has each one's default */
    uint32_t pad[4];              /* PAD, CROP: left, top, right, bottom */
    mr_border border;             /* PAD, CROP */
    uint8_t fill[4];              /* CENTER, CROP, PAD: of each channel [0] */
    uint32_t channels;            /* CONVERT: 1 gray, 3 RGB, 4 RGBA [3] */
    uint32_t depth;               /* CONVERT: 8 or 16 [8] */
    float mean[4], std[4];        /* NORMALIZE */
    mr_batch_layout layout;       /* LAYOUT */
    mr_dtype dtype;               /* DTYPE */
    const mr_user_step *user;     /* USER: copied, but what it points at stays the program's */

    /* Ranges are a low and a high end: a number of them is low + (high - low) d 2^-32 of a draw d. */
    double degrees[2];    /* ROTATE, AFFINE: counterclockwise for rotate, clockwise for affine, as torchvision */
    double translate[2];  /* AFFINE, TRANSLATE: at most so much of width and height [0, 0] */
    double shear[4];      /* AFFINE, SHEAR: degrees, a range along x and one along y [0] */
    mr_sampling sampling; /* ROTATE, AFFINE, ... ELASTIC and the policies: `filter` in the text */
    bool expand;          /* ROTATE: to a size that has all of it */
    bool has_center;      /* ROTATE, AFFINE, SHEAR: that `center` is given, else it is the image's */
    double center[2];     /* in pixels */
    double distortion;    /* PERSPECTIVE [0.5] */
    double alpha[2];      /* ELASTIC: along x and y [50]; AUGMIX, MIXUP, CUTMIX: the first [1] */
    double sigma[2];      /* ELASTIC: along x and y [5]; BLUR: a range [0.1, 2]; NOISE: the first [0.1] */
    double side[2];       /* ZOOMOUT: a range of the new sides to the old ones [1, 4] */
    double brightness[2]; /* BRIGHTNESS, JITTER: a range of factors; JITTER: 0, 0 for none, as in the next three */
    double contrast[2];   /* CONTRAST, JITTER */
    double saturation[2]; /* SATURATION, JITTER */
    double hue[2];        /* HUE, JITTER: within -0.5 to 0.5 */
    double gamma[2];      /* GAMMA: a range */
    double gain;          /* GAMMA [1] */
    uint32_t bits;        /* POSTERIZE: 0 to 8 */
    uint32_t threshold;   /* SOLARIZE: 0 to 256 */
    double factor;        /* SHARPNESS */
    uint32_t kernel[2];   /* BLUR: width and height, odd; height 0: as the width */
    uint32_t quality[2];  /* JPEG: a range within 1 to 100 */
    double center_value;  /* NOISE: its mean [0] */
    bool unclipped;       /* NOISE: values that leave 0 to 255 wrap around */
    uint32_t ops;         /* RANDAUG: how many one after the other [2]; AUGMIX: of each branch, 0: 1 to 3 at random */
    bool has_magnitude;   /* RANDAUG: that `magnitude` is given */
    uint32_t magnitude;   /* RANDAUG [9]; AUGMIX: severity, 1 to 10 [3] */
    uint32_t bins;        /* RANDAUG, TRIVIALAUG: how many magnitudes there are [31] */
    uint32_t branches;    /* AUGMIX [3] */
    bool few_ops;         /* AUGMIX: without brightness, color, contrast and sharpness */
    mr_autoaug policy;    /* AUTOAUG */
    const char *path;     /* AUTOAUG: a file with a table (doc/steps.md); read when the step is added, and not again */
    bool random_fill;     /* ERASE: noise in place of `value` */
    double value[4];      /* ERASE: of each channel: grey levels, or behind normalize its numbers [0] */
    double list[MR_RECIPE_LIST_MAX]; /* SHORTS: sides. IOUCROP: how much of a box at least [0, 0.1, 0.3, ... 0.9, 1] */
    uint32_t list_count;
    uint32_t max_side; /* SHORTS: of the longer side; 0: any */
    uint32_t trials;   /* IOUCROP [40] */
    double min_side;   /* SANITIZE: of a box that is kept [1] */
    double min_area;   /* SANITIZE [1] */
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

/*
 * Runs a recipe on images that the program has.
 *
 * Threads: one at a time; any number side by side.
 * Ownership: mr_applier_free frees it; it keeps a copy of the recipe.
 * Limits: those of recipes.
 */
typedef struct mr_applier mr_applier;

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

/*
 * Whether steps are fused (they are unless this says no): neighbours that are one pass over the pixels by definition
 * are made one, parts that nobody sees are not made. The pixels are the same to the last bit either way.
 */
MR_API int mr_recipe_set_fusing(mr_recipe *recipe, bool fuse);

/*
 * What is done to an image of this size with these draws, pass by pass, with the steps of each: lines for a person, as
 * snprintf would write them; returns the length they have. 0, with detail, where the recipe does not take the image.
 */
MR_API size_t mr_recipe_explain(mr_recipe *recipe, uint32_t width, uint32_t height, uint64_t seed, uint32_t epoch,
                                uint64_t key, char *text, size_t nbytes);

MR_API const char *mr_recipe_detail(const mr_recipe *recipe);

/* `hooks` may be NULL. MR_EARGUMENT, with the recipe's detail, where its steps do not fit together. */
MR_API int mr_applier_new(mr_recipe *recipe, const mr_hooks *hooks, mr_applier **out);
MR_API void mr_applier_free(mr_applier *applier);

/*
 * Fills `to`, of output.sample_nbytes bytes, with what a loader of this seed makes of the image in this epoch, `key`
 * being the sample's ordinal. The image is upright, and has the channels and depth that the recipe decodes to (RGB of 8
 * bits without convert). MR_EARGUMENT and others with detail.
 */
MR_API int mr_applier_run(mr_applier *applier, const mr_image *image, uint64_t seed, uint32_t epoch, uint64_t key,
                          void *to);
MR_API const char *mr_applier_detail(const mr_applier *applier);

/* "f32"; "nchw". */
MR_API const char *mr_dtype_name(mr_dtype dtype);
MR_API size_t mr_dtype_nbytes(mr_dtype dtype);
MR_API const char *mr_batch_layout_name(mr_batch_layout layout);

MR_END_DECLS

#endif
