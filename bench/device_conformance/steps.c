// SPDX-License-Identifier: Apache-2.0
#include "conformance.h"

#include "base/hash.h"
#include "step/step.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXTS_MAX = 6 };

/* Recipes of a step, with parameters at which it does something else each time. What makes one size stands behind it,
 * so that it is given images as they are; the policies' own size is that of training. */
typedef struct step_row {
    mr_step_kind kind;
    const char *texts[TEXTS_MAX];
} step_row;

/* Those that are not here: user, which is the program's code; and what takes a whole batch, targets or a file's head.
 */
static const step_row rows[] = {
    {MR_STEP_CONVERT, {"convert(gray) resize(23x50)", "convert(rgb) resize(23x50)", "convert(rgba) resize(23x50)"}},
    {MR_STEP_RESIZE,
     {"resize(31x17)", "resize(64, filter=lanczos)", "resize(9x130, filter=bicubic)", "resize(40x30, filter=nearest)",
      "resize(7x5, filter=box)", "resize(20) resize(30, filter=hamming) resize(10)"}},
    {MR_STEP_SHORT, {"short(24) center(24)", "short(40, filter=bicubic) crop(16)"}},
    {MR_STEP_CENTER, {"center(16)", "center(200x3, fill=7)", "center(33, fill=1/2/3)"}},
    {MR_STEP_CROP,
     {"crop(32, pad=4)", "crop(5, pad=90, border=edge)", "resize(20) crop(24, pad=4, border=reflect)", "crop(300x2)"}},
    {MR_STEP_RRC,
     {"rrc(32)", "rrc(24, filter=bicubic)", "rrc(11, scale=0.0001..1, ratio=0.01..100)", "rrc(16, filter=nearest)"}},
    {MR_STEP_PAD,
     {"pad(40/1/0/77) resize(33)", "resize(20) pad(5, border=reflect)", "resize(20) pad(5, border=symmetric)",
      "pad(3, border=edge) resize(20)", "resize(20) pad(to=30x41, fill=9)"}},
    {MR_STEP_FLIP, {"flip(1) resize(20)", "resize(20) flip", "flip flip(1) center(40)"}},
    {MR_STEP_VFLIP, {"vflip(1) resize(20)", "resize(20) vflip flip"}},
    {MR_STEP_NORMALIZE,
     {"rrc(32) normalize(imagenet)", "resize(20) flip(1) normalize(cifar10)",
      "resize(9) normalize(mean=0.1/0.2/0.3, std=2/3/4)"}},
    {MR_STEP_LAYOUT, {"rrc(32) normalize(imagenet) layout(nhwc)", "resize(20x11) layout(nhwc)", "rrc(9) layout(nchw)"}},
    {MR_STEP_DTYPE,
     {"rrc(32) normalize(imagenet) dtype(f16)", "rrc(32) dtype(bf16) layout(nhwc)", "resize(20) dtype(f32)",
      "resize(20) dtype(u8)", "rrc(21) normalize(imagenet) dtype(bf16)"}},
    {MR_STEP_ROTATE,
     {"rotate(30) resize(32)", "rotate(180, filter=bilinear) resize(32)",
      "rotate(75, filter=bicubic, fill=9) resize(32)", "rotate(45, expand=yes) resize(32)", "rotate(90..90) resize(32)",
      "rotate(20, center=3/5) resize(32)"}},
    {MR_STEP_AFFINE,
     {"affine(10, translate=0.1/0.1, scale=0.9..1.1, shear=5) resize(32)",
      "affine(90, scale=0.3..2, filter=bilinear, fill=7) resize(32)",
      "affine(5, shear=40, filter=bicubic) resize(32)"}},
    {MR_STEP_SHEAR, {"shear(10) resize(32)", "shear(-50..50/-20..20, filter=bilinear) resize(32)"}},
    {MR_STEP_TRANSLATE, {"translate(0.1/0.1) resize(32)", "translate(1/0.9, fill=5) resize(32)"}},
    {MR_STEP_PERSPECTIVE,
     {"perspective(0.5, 1) resize(32)", "perspective(0.2, 1, filter=nearest) resize(32)",
      "perspective(1, 1, filter=bicubic, fill=9) resize(32)"}},
    {MR_STEP_ELASTIC,
     {"elastic(50, sigma=5) resize(32)", "elastic(10, sigma=1, filter=nearest) resize(32)",
      "elastic(300/20, sigma=2/4, filter=bicubic, fill=8) resize(32)"}},
    {MR_STEP_SCALEJITTER, {"scalejitter(48) resize(32)", "scalejitter(64, scale=0.5..0.6) crop(32)"}},
    {MR_STEP_ZOOMOUT, {"zoomout(chance=1) resize(32)", "zoomout(1..8, 1, fill=3) resize(32)"}},
    {MR_STEP_SHORTS, {"shorts(24/32/40, max=70) resize(32)", "shorts(17) crop(17)"}},
    {MR_STEP_BRIGHTNESS, {"brightness(0.4) resize(32)", "brightness(0..3) resize(32)"}},
    {MR_STEP_CONTRAST, {"contrast(0.4) resize(32)", "contrast(0..3) resize(32)"}},
    {MR_STEP_SATURATION, {"saturation(0.4) resize(32)", "saturation(0..5) resize(32)"}},
    {MR_STEP_HUE, {"hue(0.1) resize(32)", "hue(0.5) resize(32)"}},
    {MR_STEP_JITTER, {"jitter(0.4, 0.4, 0.4, 0.1) resize(32)", "rrc(32) jitter(1, 1, 1, 0.5)"}},
    {MR_STEP_GRAYSCALE, {"grayscale resize(32)", "grayscale(0.5) rrc(32)"}},
    {MR_STEP_GAMMA, {"gamma(0.8..1.2) resize(32)", "gamma(0.1..4, gain=2) resize(32)"}},
    {MR_STEP_INVERT, {"invert(1) resize(32)", "rrc(32) invert"}},
    {MR_STEP_POSTERIZE, {"posterize(4, 1) resize(32)", "posterize(1, 1) resize(32)"}},
    {MR_STEP_SOLARIZE, {"solarize(128, 1) resize(32)", "solarize(3, 1) resize(32)"}},
    {MR_STEP_EQUALIZE, {"equalize(1) resize(32)", "rrc(32) equalize(1)"}},
    {MR_STEP_AUTOCONTRAST, {"autocontrast(1) resize(32)", "rrc(32) autocontrast(1)"}},
    {MR_STEP_SHARPNESS, {"sharpness(2, 1) resize(32)", "sharpness(0, 1) resize(32)", "rrc(32) sharpness(1.7, 1)"}},
    {MR_STEP_BLUR,
     {"blur(5) resize(32)", "blur(3, sigma=0.1..0.1) resize(32)", "blur(23/1, sigma=4..9) resize(32)",
      "rrc(32) blur(9)"}},
    {MR_STEP_JPEG, {"jpeg(50) resize(32)", "rrc(32) jpeg(1..100)", "jpeg(97) resize(20)"}},
    {MR_STEP_PERMUTE, {"permute resize(32)", "rrc(32) permute"}},
    {MR_STEP_NOISE, {"noise(0.1) resize(32)", "noise(0.4, mean=0.2, wrap=yes) resize(32)", "rrc(32) noise(0.02)"}},
    {MR_STEP_RANDAUG,
     {"randaug(2, 9) resize(32)", "rrc(64) flip randaug(5, 30) normalize(imagenet)",
      "rrc(64) randaug(3, 15, filter=bilinear)"}},
    {MR_STEP_AUTOAUG,
     {"autoaug(imagenet) resize(32)", "rrc(64) autoaug(cifar10)", "rrc(64) autoaug(svhn) normalize(imagenet)"}},
    {MR_STEP_TRIVIALAUG, {"trivialaug resize(32)", "rrc(64) flip trivialaug normalize(imagenet)"}},
    {MR_STEP_AUGMIX,
     {"augmix(3) resize(32)", "rrc(64) augmix(9) normalize(imagenet)", "rrc(40) augmix(5, width=5, few=yes)"}},
    {MR_STEP_ERASE,
     {"erase(1) resize(32)", "rrc(32) normalize(imagenet) erase(1)",
      "rrc(32) normalize(imagenet) erase(1, noise=yes) layout(nhwc)", "rrc(32) erase(1, noise=yes)",
      "rrc(32) normalize(imagenet) dtype(f16) erase(1, value=0.5)"}},
    {MR_STEP_CUTOUT, {"cutout(16) resize(32)", "rrc(32) cutout(8, fill=3)"}},
};

/* They take more than an image: loaded.c. */
static const mr_step_kind elsewhere[] = {MR_STEP_ORIENT, MR_STEP_USER,   MR_STEP_IOUCROP,
                                         MR_STEP_MIXUP,  MR_STEP_CUTMIX, MR_STEP_SANITIZE};

static const size sizes[] = {{61, 53}, {1, 1}, {1, 37}, {37, 1}, {64, 64}, {127, 3}, {5, 131}, {7680, 2}, {256, 192}};
static const size large = {7680, 4320};

static const char *const large_texts[] = {"rrc(224) flip normalize(imagenet)", "jitter(0.4, 0.4, 0.4, 0.1) resize(224)",
                                          "rotate(30, filter=bilinear) short(256) center(224) normalize(imagenet)",
                                          "rrc(3840x2160) flip randaug(2, 9) normalize(imagenet) dtype(f16)"};

/* A recipe and an image for it. */
typedef struct errand {
    mr_recipe *recipe;
    mr_image image;
    uint64_t key;
    size_t nbytes;
} errand;

static int make_on_host(const backend *b, const errand *e, uint8_t *out, mr__detail *detail)
{
    mr_applier *applier;
    if (setenv("MILLRACE_CPU", b->mask, 1) != 0 || (b->mask[0] == 0 && unsetenv("MILLRACE_CPU") != 0))
        return mr__fail(detail, MR_ENOMEM, "the environment");
    int code = mr_applier_new(e->recipe, NULL, &applier);
    (void)unsetenv("MILLRACE_CPU");
    if (code != 0)
        return mr__fail(detail, code, "%s", mr_recipe_detail(e->recipe));
    code = mr_applier_run(applier, &e->image, 1, 0, e->key, out);
    if (code != 0)
        (void)mr__fail(detail, code, "%s", mr_applier_detail(applier));
    mr_applier_free(applier);
    return code;
}

static int make_errand(backend *b, const void *what, uint64_t *hash, mr__detail *detail)
{
    const errand *e = what;
    size_t room = e->nbytes / 4096 * 4096 + 4096;
    uint8_t *out = aligned_alloc(4096, room);
    if (out == NULL)
        return mr__fail(detail, MR_ENOMEM, "out of memory for a sample");
    memset(out, 0x5a, room);
    int code = b->mask != NULL ? make_on_host(b, e, out, detail)
                               : playing_recipe(&b->how, e->recipe, &e->image, e->key, out, e->nbytes, detail);
    if (code == 0) // with what stands behind it: nobody writes there
        *hash = mr__hash(out, room);
    free(out);
    return code;
}

static void try_text(session *s, const char *text, size z, unsigned keys)
{
    mr_output output = {.struct_size = sizeof output};
    errand e;
    char label[200];
    if (mr_recipe_new(NULL, &e.recipe) != 0)
        give_up(text, "out of memory");
    if (mr_recipe_parse(e.recipe, text) != 0 || mr_recipe_output(e.recipe, &output) != 0)
        give_up(text, mr_recipe_detail(e.recipe));
    e.nbytes = output.sample_nbytes;
    for (unsigned i = 0; i < keys; i++) {
        e.key = 1000 * i + z.width;
        e.image = paint(z.width, z.height, output.channels, 8, i % 3 == 2 ? PICTURE_NOISE : PICTURE_MIXED, e.key);
        (void)snprintf(label, sizeof label, "`%s` of %u x %u, key %llu", text, z.width, z.height,
                       (unsigned long long)e.key);
        row_try(s, make_errand, &e, label);
        mr_image_fini(&e.image, NULL);
    }
    mr_recipe_free(e.recipe);
}

/* Of gray images too, where the recipe can. */
static void try_gray(session *s, const char *text, size z)
{
    char gray[300];
    mr_recipe *recipe;
    mr_output output = {.struct_size = sizeof output};
    (void)snprintf(gray, sizeof gray, "convert(gray) %s", text);
    if (mr_recipe_new(NULL, &recipe) != 0)
        give_up(text, "out of memory");
    bool can = mr_recipe_parse(recipe, gray) == 0 && mr_recipe_output(recipe, &output) == 0;
    mr_recipe_free(recipe);
    if (can)
        try_text(s, gray, z, 1);
}

static void run_row(session *s, const step_row *row)
{
    const size_t count = sizeof sizes / sizeof *sizes;
    if (!row_begin(s, mr__step_type_of(row->kind)->name))
        return;
    for (size_t t = 0; t < TEXTS_MAX && row->texts[t] != NULL; t++) {
        for (size_t i = 0; i < (s->quick ? 3 : count); i++)
            try_text(s, row->texts[t], sizes[i], s->quick ? 1 : 3);
        try_gray(s, row->texts[t], sizes[0]);
    }
    row_end(s);
}

/* A step that the table has and nobody tries is a difference too. */
static void look_for_all(session *s)
{
    for (size_t number = 1; number <= mr__step_type_count; number++) {
        bool there = false;
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            there = there || rows[i].kind == (mr_step_kind)number;
        for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
            there = there || elsewhere[i] == (mr_step_kind)number;
        if (there)
            continue;
        fprintf(stderr, "no row has the step %s\n", mr__step_type_of((mr_step_kind)number)->name);
        s->all_different++;
    }
}

void run_steps(session *s)
{
    look_for_all(s);
    table_head(s, "step");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        run_row(s, &rows[i]);
    if (s->quick || !row_begin(s, "recipes on an image of 8K"))
        return;
    for (size_t i = 0; i < sizeof large_texts / sizeof *large_texts; i++)
        try_text(s, large_texts[i], large, 1);
    row_end(s);
}
