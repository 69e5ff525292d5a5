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
