// SPDX-License-Identifier: Apache-2.0
#include "seeds_recipe.h"

#include <stdio.h>
#include <string.h>

void fuzz_seeds_recipe(void (*save)(const char *name, const void *bytes, size_t nbytes))
{
    static const char *const texts[] = {
        "",
        "orient rrc(224, scale=0.08..1) flip normalize(imagenet)",
        "short(256) center(224) normalize(mean=0.485/0.456/0.406, std=0.229/0.224/0.225) layout(nchw) dtype(f32)",
        "convert(gray, 16) resize(320x240, filter=bicubic) normalize(half) dtype(bf16)",
        "crop(32, pad=4, border=reflect, fill=1/2/3) flip(0.25) vflip(1/3) layout(nhwc)",
        "rrc(192x224, ratio=3/4..4/3, filter=lanczos)\n\tpad(1/2/3/4, border=symmetric)\n dtype(u8)",
        "short(600) crop(512x480, pad=100) pad(to=640, fill=114)",
        "resize(8) pad(2, border=edge) crop(4) center(9, fill=7) flip rrc(5) vflip(0) resize(16384x1)",
        "normalize(mean=-1e-5, std=1.5e+3)",
        "rotate(30, filter=bilinear, expand=yes, center=3/4.5, fill=1/2/3, chance=0.5) affine(-10..20, "
        "translate=0.1/0.2, "
        "scale=0.5..2, shear=-5..5/0..3) rrc(9)",
        "shear(10) translate(0.1/0.1) perspective(0.5, 1, filter=bicubic) elastic(50/40, sigma=5/4) center(20)",
        "scalejitter(64, scale=0.5..2) zoomout(1..4, 0.5) ioucrop(options=0/0.5/2, trials=3) shorts(480/512, max=900) "
        "sanitize(side=2, area=5) resize(7)",
        "rrc(8) brightness(0.4) contrast(0.5..1.5) saturation(0.4) hue(0.1) jitter(0.4, 0.4, 0.4, 0.1) grayscale(0.1)",
        "rrc(8) gamma(0.8..1.2, gain=2) invert posterize(4) solarize(128) equalize autocontrast(1) sharpness(2, 0.3)",
        "rrc(8) blur(5/7, sigma=0.1..2) jpeg(20..80) permute noise(0.1, mean=0.2, wrap=yes) cutout(4, 1, fill=9)",
        "randaug(2, 9, bins=31, filter=bilinear) autoaug(cifar10) trivialaug(31) augmix(3, width=3, depth=2, alpha=1, "
        "few=yes) rrc(8) normalize(half) erase(1, scale=0.1..0.2, ratio=1/3..3, value=1/2/3, noise=no)",
        "rrc(8) mixup(0.2) cutmix(1, 0.5)",
        "autoaug(file=\"table.json\") rrc(8)",
        "flip, vflip",
        "rcc(224)",
        "rrc(224, scael=1)",
        "flip(0.5",
        "user(mine)",
        "flip(\xc3\xa9)",
        "resize(999999999999999999999999) flip(1/0)",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char name[32];
        snprintf(name, sizeof name, "recipe-%zu.txt", i);
        save(name, texts[i], strlen(texts[i]));
    }
}

void fuzz_seeds_policy(void (*save)(const char *name, const void *bytes, size_t nbytes))
{
    static const char *const texts[] = {
        "[[[\"Contrast\", 0.8320659688593578, 0.49884310562180767], [\"TranslateX\", 0.41849883971249136, "
        "0.394023086494538]]]",
        "{\"comment\": \"all\", \"policies\": [[[\"ShearX\", 1, 0.5], [\"ShearY\", 1, 0], [\"TranslateY\", 1, 1]], "
        "[],\n"
        "[[\"Rotate\", 1, 0.1], [\"AutoContrast\", 0.5], [\"Invert\", 1, null], [\"Equalize\", 0], [\"Solarize\", 1, "
        "0.3]]]}",
        "{\"stages\": [[[\"Posterize\", 0.1, 0.9], [\"Color\", 0.2, 0.3], [\"Brightness\", 0, 0.3]],\n"
        "[[\"Sharpness\", 0.5, 0.7], [\"Cutout\", 0.1, 1], [\"CutoutAbs\", 0.1, 0.5], [\"Posterize2\", 1, 0.5]]]}",
        "[[[\"TranslateXAbs\", 1, 0.1], [\"TranslateYAbs\", 1e-3, 0.1], [\"Flip\", 1], [\"Identity\", 1], "
        "[\"RandFlip\", 1]]]",
        "{\"stages\":[[[\"RandCutout\",1]],[[\"RandCrop\",1]],[[\"RandResizeCrop_imagenet\",1]],[[\"RandCutout60\",1]]]"
        "}",
        "[[[\"Sh\\u0065arX\", 0.5, 0.5]]]",
        "[[[\"Rotate\", 1, 2]]]",
        "{\"stages\": [[]]}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char name[32];
        snprintf(name, sizeof name, "policy-%zu.json", i);
        save(name, texts[i], strlen(texts[i]));
    }
}
