// SPDX-License-Identifier: Apache-2.0
#include "steps_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * How a step may be written. What is replaced:
 *
 *     #low,high#   a number        @low,high@   a whole one       ~low,high~   a range
 *     {a|b|c}      one of these    [...]        this or nothing   $            a filter for sampling
 */
static const char *const templates[] = {
    "resize(@1,60@x@1,60@, filter={bilinear|nearest|box|hamming|bicubic|lanczos})",
    "short(@1,60@)",
    "center(@1,60@x@1,60@, fill=@0,255@)",
    "crop(@1,40@x@1,40@, pad=@0,30@, border={fill|edge})",
    "rrc(@1,60@x@1,60@, scale=~0.0001,1~, ratio=~0.01,100~)",
    "pad(@0,9@/@0,9@/@0,9@/@0,9@, border={fill|edge|reflect|symmetric})",
    "flip(#0,1#)",
    "vflip(#0,1#)",
    "rotate(~-3600,3600~[, filter=$][, expand=yes][, center=#-65536,65536#/#-65536,65536#][, fill=@0,255@][, "
    "chance=#0,1#])",
    "affine(~-3600,3600~[, translate=#0,1#/#0,1#][, scale=~0.001,1000~][, shear=~-89,89~/~-89,89~][, filter=$][, "
    "center=#-65536,65536#/#-65536,65536#])",
    "shear(~-89,89~/~-89,89~[, filter=$][, center=#-70,70#/#-70,70#])",
    "translate(#0,1#/#0,1#[, filter=$])",
    "perspective(#0,1#, 1[, filter=$][, fill=@0,255@/@0,255@/@0,255@])",
    "elastic(#0,1000000#/#0,1000#[, sigma=#0,30#/#0,1000#][, filter=$])",
    "scalejitter(@1,60@x@1,60@, scale=~0.001,4~)",
    "zoomout(~1,4~, 1[, fill=@0,255@])",
    "ioucrop([scale=~0.01,1~])",
    "shorts(@1,60@/@1,60@[, max=@0,80@])",
    "brightness(~0,1000000~)",
    "contrast(~0,1000000~)",
    "saturation(~0,1000000~)",
    "hue(~-0.5,0.5~)",
    "jitter(~0,3~, ~0,1000~, ~0,3~, ~-0.5,0.5~)",
    "jitter(#0,1#, #0,1#, #0,1#, #0,0.5#)",
    "grayscale(1)",
    "gamma(~0,100~[, gain=#0,1000000#])",
    "invert(1)",
    "posterize(@0,8@, 1)",
    "solarize(@0,256@, 1)",
    "equalize(1)",
    "autocontrast(1)",
    "sharpness(#0,1000000#, 1)",
    "blur({1|3|5|7|9|23|101|1023}[/{1|3|5|31|1023}][, sigma=~0.001,1000~])",
    "jpeg(@1,100@)",
    "jpeg({1..100|20..80|100..100|1..1})",
    "permute",
    "noise(#0,1000#[, mean=#-1000,1000#][, wrap=yes])",
    "randaug(@1,4@, @0,30@[, filter=$][, fill=@0,255@])",
    "randaug(2, @0,6@, bins=7)",
    "trivialaug(@2,40@[, filter=$])",
    "autoaug({imagenet|cifar10|svhn}[, filter=$])",
    "augmix(@1,10@[, width=@1,10@][, depth=@0,3@][, alpha=#0.01,1000#][, few=yes][, filter=$])",
    "erase(1[, scale=~0.0001,1~][, ratio=~0.01,100~][, value=#-1000,1000#][, noise=yes])",
    "cutout(@1,100@, 1[, fill=@0,255@])",
    "sanitize",
};

enum { TEMPLATES = sizeof templates / sizeof *templates, STEPS_MOST = 6 };

typedef struct writer {
    steps_bytes *from;
    char *text;
    size_t length;
} writer;

uint8_t steps_byte(steps_bytes *from)
{
    if (from->nbytes == 0)
        return 0;
    from->nbytes--;
    return *from->bytes++;
}

static void put(writer *w, const char *text, size_t nbytes)
{
    if (nbytes >= STEPS_TEXT_NBYTES - w->length)
        nbytes = STEPS_TEXT_NBYTES - 1 - w->length;
    memcpy(w->text + w->length, text, nbytes);
    w->length += nbytes;
    w->text[w->length] = '\0';
}

/* An end, zero, one, something next to an end, or anything between. */
static double draw(writer *w, double low, double high)
{
    unsigned byte = steps_byte(w->from);
    double share = (double)(steps_byte(w->from) | steps_byte(w->from) << 8) / 65535;
    double anything = low + (high - low) * share;
    switch (byte % 10) {
    case 0:
        return low;
    case 1:
        return high;
    case 2:
        return low <= 0 && high >= 0 ? 0 : low;
    case 3:
        return low <= 1 && high >= 1 ? 1 : high;
    case 4:
        return low + (high - low) * 1e-7;
    case 5: /* by their size, where they go over many */
        return low > 0 ? low * pow(high / low, share) : anything / 1000;
    default:
        return anything;
    }
}

static void put_number(writer *w, double value)
{
    char text[40];
    put(w, text, (size_t)snprintf(text, sizeof text, "%.9g", value));
}

/* The numbers of "low,high" followed by `end`; what comes after it. */
static const char *read_bounds(const char *at, double *low, double *high)
{
    char *end;
    *low = strtod(at, &end);
    *high = strtod(end + 1, &end);
    return end + 1;
}

static const char *put_drawn(writer *w, const char *at)
{
    double low, high;
    char kind = *at;
    at = read_bounds(at + 1, &low, &high);
    double a = draw(w, low, high);
    if (kind == '@')
        a = floor(a);
    if (kind == '~') {
        double b = draw(w, low, high);
        put_number(w, a < b ? a : b);
        put(w, "..", 2);
        a = a < b ? b : a;
    }
    put_number(w, a);
    return at;
}

static const char *put_choice(writer *w, const char *at)
{
    size_t count = 1, length = strcspn(at, "}");
    for (size_t i = 0; i < length; i++)
        count += at[i] == '|';
    size_t chosen = steps_byte(w->from) % count;
    const char *word = at + 1;
    for (; chosen > 0; chosen--)
        word += strcspn(word, "|") + 1;
    put(w, word, strcspn(word, "|}"));
    return at + length + 1;
}

static void put_template(writer *w, const char *at)
{
    static const char sampling[] = "{nearest|bilinear|bicubic}";
    while (*at != '\0')
        if (strchr("#@~", *at) != NULL)
            at = put_drawn(w, at);
        else if (*at == '{')
            at = put_choice(w, at);
        else if (*at == '$') {
            put_choice(w, sampling);
            at++;
        } else if (*at == '[')
            at += steps_byte(w->from) % 2 == 0 ? strcspn(at, "]") + 1 : 1;
        else {
            put(w, at, *at != ']');
            at++;
        }
}

void steps_text(steps_bytes *from, char text[STEPS_TEXT_NBYTES])
{
    static const char *const ends[] = {"", "normalize(half)", "normalize(half) erase(1)", "dtype(f16)",
                                       "normalize(half) erase(1, noise=yes) dtype(bf16) layout(nhwc)"};
    writer w = {.from = from, .text = text};
    text[0] = '\0';
    if (steps_byte(from) % 4 == 0)
        put(&w, "convert(gray) ", 14);
    unsigned count = 1 + steps_byte(from) % STEPS_MOST;
    for (unsigned i = 0; i < count; i++) {
        put_template(&w, templates[steps_byte(from) % TEMPLATES]);
        put(&w, " ", 1);
    }
    put_template(&w, "center(@1,70@x@1,70@) ");
    const char *end = ends[steps_byte(from) % (sizeof ends / sizeof *ends)];
    put(&w, end, strlen(end));
}
