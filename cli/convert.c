// SPDX-License-Identifier: Apache-2.0
#include "command.h"
#include "image.h"
#include "recoding.h"
#include "resizing.h"
#include "text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static const option options_convert[] = {
    {.name = "form",
     .letter = 'F',
     .kind = OPTION_FORM,
     .offset = offsetof(settings, encode.form),
     .argument = "FORM",
     .help = "Write this form, whatever the name of OUT ends in",
     .initial = "by the ending of OUT"},
    {.name = "quality",
     .letter = 'q',
     .kind = OPTION_NUMBER,
     .offset = offsetof(settings, encode.quality),
     .argument = "N",
     .help = "Quality, 1 (small) to 100 (good)",
     .forms = "jpeg webp",
     .initial = "90",
     .min = 1,
     .max = 100},
    {.name = "subsampling",
     .letter = 's',
     .kind = OPTION_SUBSAMPLING,
     .offset = offsetof(settings, encode.subsampling),
     .argument = "RATIO",
     .help = "How color is stored: 444 (all of it), 422, 440, 420 (a quarter of it), 411, 441 or 410",
     .forms = "jpeg",
     .initial = "420",
     .words = "444 422 440 420 411 441 410"},
    {.name = "progressive",
     .letter = 'p',
     .kind = OPTION_FLAG,
     .offset = offsetof(settings, encode.progressive),
     .help = "Write it progressive",
     .forms = "jpeg"},
    {.name = "lossless",
     .letter = 'l',
     .kind = OPTION_FLAG,
     .offset = offsetof(settings, encode.lossless),
     .help = "Lose nothing (of these only webp could)",
     .forms = "webp png pnm raw l3"},
    {.name = "effort",
     .letter = 'e',
     .kind = OPTION_NUMBER,
     .offset = offsetof(settings, encode.effort),
     .argument = "N",
     .help = "Effort to be small, 1 (fast) to 9 (small)",
     .forms = "png webp",
     .initial = "6",
     .min = 1,
     .max = 9},
    {.name = "preset",
     .kind = OPTION_WORD,
     .offset = offsetof(settings, preset),
     .argument = "WORD",
     .help = "What to aim at: fast (to decode), default or small; every reader reads all three",
     .forms = "l3",
     .initial = "default",
     .words = "fast default small"},
    {.name = "no-origin",
     .kind = OPTION_FLAG,
     .offset = offsetof(settings, encode.without_origin),
     .help = "Leave out what it takes to write the JPEG it is made from again, byte for byte",
     .forms = "l3"},
    {.name = "threads",
     .letter = 't',
     .kind = OPTION_NUMBER,
     .offset = offsetof(settings, encode.threads),
     .argument = "N",
     .help = "Encode on N threads; the bytes are the same for any number",
     .forms = "l3",
     .initial = "as many as this process may use",
     .min = 1,
     .max = 4096},
    {.name = "strict",
     .letter = 0,
     .kind = OPTION_FLAG,
     .offset = offsetof(settings, strict),
     .help = "Refuse, with exit code 1, what would otherwise lose something with a note: alpha, 16 bits, a profile, an "
             "orientation, frames, the coefficients that an L3 has of a JPEG"},
    {.name = "json",
     .letter = 'j',
     .kind = OPTION_FLAG,
     .offset = offsetof(settings, json),
     .help = "Print one JSON object on what was written: its bytes, whether it is exact (made without pixels), its "
             "origin, and why not"},
    {.name = "force",
     .letter = 'f',
     .kind = OPTION_FLAG,
     .offset = offsetof(settings, force),
     .help = "Let OUT be the same file as IN"},
    {0},
};

/* One conversion. */
typedef struct conversion {
    const settings *s;
    const char *from, *to;
    mr_encode_options encode;
    mr_encoder *encoder;
    void *icc; /* IN's profile, ours; NULL: none */
    size_t icc_nbytes;
    uint32_t orientation; /* to be stored */
    mr_image resized;     /* our own pixels, where another size is asked for */
    mr_image shaped;      /* likewise, where OUT's form asked for other channels or depth */
    char why[240];        /* not directly, though it might have been; "": nothing to say */
    bool refused;
} conversion;

/* Something is lost: a note, or with --strict an error. */
__attribute__((format(printf, 2, 3))) static void lose(conversion *c, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (c->s->strict)
        complain(c->from, "%s; --strict does not allow it", text);
    else
        remark(c->from, "%s", text);
    c->refused = c->refused || c->s->strict;
}

static const char *name_of_out(const conversion *c)
{
    return strcmp(c->to, "-") == 0 ? "standard output" : c->to;
}

static int fail_encoder(const conversion *c, const char *name, int code)
{
    char text[320];
    explain(code, mr_encoder_detail(c->encoder), text, sizeof text);
    complain(name, "%s", text);
    return EXIT_BAD_INPUT;
}

static mr_form form_of(const settings *s, const char *name)
{
    return s->encode.form != MR_FORM_NONE ? s->encode.form : mr_form_from_name(ending_of(name));
}

static mr_l3_preset preset_of(const settings *s)
{
    if (s->preset == NULL || strcmp(s->preset, "default") == 0)
        return MR_L3_DEFAULT;
    return strcmp(s->preset, "fast") == 0 ? MR_L3_FAST : MR_L3_SMALL;
}

/* Whether a profile is for pixels like these: bytes 16 to 19 of it name its color space. */
static bool profile_fits(const conversion *c, const mr_image *image)
{
    const char *space = image->channels <= 2 ? "GRAY" : "RGB ";
    return c->icc != NULL && memcmp((const char *)c->icc + 16, space, 4) == 0;
}

static int encode(conversion *c, const mr_image *image, bool extras, const void **bytes, size_t *nbytes)
{
    bool profile = extras && profile_fits(c, image);
    c->encode.icc = profile ? c->icc : NULL;
    c->encode.icc_nbytes = profile ? c->icc_nbytes : 0;
    c->encode.orientation = extras ? c->orientation : 1;
    return mr_encoder_encode(c->encoder, image, &c->encode, bytes, nbytes);
}

/*
 * Asks the form for the image as it is, then for shapes that lose less to more, until it takes one. The forms say
 * themselves what they hold; nothing here knows them.
 */
static int encode_shape(conversion *c, const mr_image *image, bool extras, const void **bytes, size_t *nbytes)
{
    uint32_t as_color = image->channels <= 2 ? image->channels + 2 : image->channels;
    uint32_t opaque = image->channels <= 2 ? 1 : 3;
    const uint32_t shapes[][2] = {
        {as_color, image->depth}, {image->channels, 8}, {as_color, 8}, {opaque, image->depth}, {opaque, 8}, {3, 8},
    };
    int result = encode(c, image, extras, bytes, nbytes);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes && result == MR_EUNSUPPORTED; i++) {
        if (shapes[i][0] == image->channels && shapes[i][1] == image->depth)
            continue;
        mr_image_fini(&c->shaped, NULL);
        result = mr_image_init(&c->shaped, image->width, image->height, shapes[i][0], shapes[i][1], NULL);
        if (result == 0)
            result = mr_image_convert(image, &c->shaped);
        if (result == 0)
            result = encode(c, &c->shaped, extras, bytes, nbytes);
    }
    return result;
}

static int encode_as_possible(conversion *c, const mr_image *image, const void **bytes, size_t *nbytes)
{
    int result = encode_shape(c, image, true, bytes, nbytes);
    if (result == MR_EUNSUPPORTED && (c->icc != NULL || c->orientation > 1)) {
        mr_image_fini(&c->shaped, NULL);
        result = encode_shape(c, image, false, bytes, nbytes);
    }
    if (result != 0)
        fail_encoder(c, name_of_out(c), result);
    return result;
}

/* Endings like ppm promise one kind of PNM each, and pnm each of them but pam; the channels decide which it is. */
static void tell_kind(conversion *c, const mr_image *stored)
{
    const char *ending = ending_of(c->to);
    const char *kind = stored->channels == 1 ? "pgm" : stored->channels == 3 ? "ppm" : "pam";
    if (c->encode.form != MR_FORM_PNM || ending == NULL || mr_form_from_name(ending) != MR_FORM_PNM ||
        strcasecmp(ending, kind) == 0 || (strcasecmp(ending, "pnm") == 0 && stored->channels % 2 == 1))
        return;
    lose(c, "OUT is called .%s, but is written as %s for its %u channel%s", ending, kind, stored->channels,
         stored->channels == 1 ? "" : "s");
}

/* What IN has and OUT has not, by reading OUT's header back. */
static void tell_losses(conversion *c, mr_decoder *decoder, const mr_image *image, const void *bytes, size_t nbytes)
{
    const mr_image *stored = c->shaped.pixels != NULL ? &c->shaped : image;
    const char *name = mr_form_name(c->encode.form);
    mr_info made = {.struct_size = sizeof made};
    if (image->channels % 2 == 0 && stored->channels % 2 == 1)
        lose(c, "%s has no alpha channel here: it is dropped", name);
    if (image->depth > stored->depth)
        lose(c, "%s has no %u-bit samples: they become %u-bit", name, image->depth, stored->depth);
    tell_kind(c, stored);
    if (mr_decoder_info(decoder, bytes, nbytes, &made) != 0)
        return;
    if (c->icc != NULL && !profile_fits(c, stored))
        lose(c, "the ICC profile is for '%.4s' and the pixels are %s: it is dropped", (const char *)c->icc + 16,
             stored->channels <= 2 ? "gray" : "RGB");
    else if (c->icc != NULL && !made.has_icc)
        lose(c, "%s does not hold an ICC profile: it is dropped", name);
    if (c->orientation > 1 && made.orientation != c->orientation)
        lose(c, "%s does not hold an orientation: %u is dropped (--orient turns the pixels instead)", name,
             c->orientation);
}

/* A profile has a head of 128 bytes, which begins with its size and holds a signature; what has not is none. */
static const char *fault_of_profile(const uint8_t *icc, size_t nbytes)
{
    if (nbytes < 128)
        return "it is too short to be one";
    if (((uint32_t)icc[0] << 24 | icc[1] << 16 | icc[2] << 8 | icc[3]) != nbytes)
        return "it is not of the size that it states";
    return memcmp(icc + 36, "acsp", 4) != 0 ? "it lacks the signature of one" : NULL;
}

/* The profile is copied before the decode, which would end its life. */
static int take_profile(conversion *c, opened *in, const mr_info *info)
{
    const void *icc = NULL;
    size_t nbytes = 0;
    if (!info->has_icc)
        return 0;
    int result = mr_decoder_icc(in->decoder, in->in.bytes, in->in.nbytes, &icc, &nbytes);
    const char *fault = result != 0 ? mr_decoder_detail(in->decoder) : fault_of_profile(icc, nbytes);
    if (fault != NULL) {
        lose(c, "the ICC profile is dropped: %s", fault);
        return 0;
    }
    c->icc = malloc(nbytes);
    if (c->icc == NULL) {
        complain(c->from, "%s", mr_error_text(MR_ENOMEM));
        return MR_ENOMEM;
    }
    memcpy(c->icc, icc, nbytes);
    c->icc_nbytes = nbytes;
    return 0;
}

static bool has_coefficients(const mr_info *info)
{
    return info->form == MR_FORM_JPEG || (info->form == MR_FORM_L3 && !info->lossless);
}

/* The option that takes pixels, NULL when there is none: what asks for the image as it is asks for nothing. */
static const char *option_for_pixels(const conversion *c, const mr_info *info)
{
    const mr_decode_hints *h = &c->s->hints;
    const mr_rect *r = &h->region;
    bool whole = r->x == 0 && r->y == 0 && r->width == info->width && r->height == info->height;
    bool anew = c->encode.form == MR_FORM_JPEG;
    if (h->reduce > 1)
        return "--reduce";
    if (h->orient && info->orientation > 1)
        return "--orient";
    if (r->width != 0 && !whole)
        return "--region";
    if (h->channels != 0 && h->channels != info->channels)
        return "--channels";
    if (h->depth != 0 && h->depth != info->depth)
        return "--depth";
    if (resizing_option(c->s, info->width, info->height) != NULL)
        return resizing_option(c->s, info->width, info->height);
    if (anew && option_is_given(&command_convert, c->s, "quality"))
        return "--quality";
    if (anew && option_is_given(&command_convert, c->s, "subsampling"))
        return "--subsampling";
    return anew && c->encode.progressive ? "--progressive" : NULL;
}

/* From a JPEG to L3 or from such an L3, when nothing is asked for that takes pixels; else c->why says what does. */
static bool can_be_direct(conversion *c, const mr_info *info)
{
    bool to_jpeg = info->form == MR_FORM_L3 && c->encode.form == MR_FORM_JPEG;
    if (!has_coefficients(info) || !(to_jpeg || c->encode.form == MR_FORM_L3))
        return false;
    const char *name = option_for_pixels(c, info);
    if (name != NULL)
        snprintf(c->why, sizeof c->why, "%s asks for pixels", name);
    return name == NULL;
}

static int read_in(conversion *c, opened *in, mr_info *info)
{
    int result = opened_read(in, c->from);
    if (result == 0)
        result = opened_info(in, info);
    if (result != 0)
        complain(c->from, "%s", in->error);
    return result;
}

static int decode(conversion *c, opened *in, const mr_info *info, mr_image *image)
{
    c->orientation = c->s->hints.orient ? 1 : info->orientation;
    if (info->frames > 1)
        lose(c, "an animation of %u frames: only the first is taken", info->frames);
    int result = take_profile(c, in, info);
    if (result == 0 && (result = opened_decode(in, c->s, image)) == 0)
        result = resizing_run(c->s, image, &c->resized, in->error, sizeof in->error);
    if (result != 0)
        complain(c->from, "%s", in->error);
    return result;
}

static int write_out(const conversion *c, const void *bytes, size_t nbytes)
{
    bool piped = strcmp(c->to, "-") == 0;
    int number = file_write(c->to, bytes, nbytes);
    if (number != 0 && !(piped && number == EPIPE)) /* whoever closed the pipe knows it */
        complain(name_of_out(c), "%s", strerror(number));
    return number == 0 ? EXIT_GOOD : EXIT_BAD_INPUT;
}

/* The coefficients are there and would be coded anew: that is a loss, as JPEG from other pixels is not. */
static bool loses_coefficients(const conversion *c, const mr_info *info)
{
    return info->form == MR_FORM_L3 && has_coefficients(info) && c->encode.form == MR_FORM_JPEG;
}

/* Decode, encode, look at what was lost, write. */
static int convert_pixels(conversion *c, opened *in, const mr_info *info)
{
    mr_image image;
    const void *bytes;
    size_t nbytes;
    bool l3 = info->form == MR_FORM_L3 && c->encode.form == MR_FORM_JPEG;
    if (c->s->strict && loses_coefficients(c, info))
        lose(c, "made from pixels, and jpeg loses: %s", c->why);
    if (c->refused || decode(c, in, info, &image) != 0 || encode_as_possible(c, &image, &bytes, &nbytes) != 0)
        return EXIT_BAD_INPUT;
    tell_losses(c, in->decoder, &image, bytes, nbytes);
    if (c->refused)
        return EXIT_BAD_INPUT;
    int result = write_out(c, bytes, nbytes);
    const recoding done = {name_of_out(c), info->form, c->encode.form, in->in.nbytes, nbytes};
    if (result == EXIT_GOOD && (c->encode.form == MR_FORM_L3 || l3))
        tell_pixels(&done, c->why);
    if (result == EXIT_GOOD && c->s->json)
        put_recoding(&done, &(mr_recode_report){.why = c->why});
    if (result == EXIT_GOOD && c->encode.without_origin)
        remark(name_of_out(c), "--no-origin changes nothing: what is made from pixels has no origin");
    return result;
}

/* Damage that --accept-damaged lets pass: there are pixels to be had, but not all of the coefficients. */
static bool is_accepted(const conversion *c, int code)
{
    return c->s->hints.accept_damaged && (code == MR_ECORRUPT || code == MR_ETRUNCATED);
}

static int convert(conversion *c, opened *in)
{
    mr_info info;
    const void *bytes;
    size_t nbytes;
    mr_recode_report report = {.struct_size = sizeof report};
    if (read_in(c, in, &info) != 0)
        return EXIT_BAD_INPUT;
    if (!can_be_direct(c, &info))
        return convert_pixels(c, in, &info);
    mr_encode_options asked = c->encode;
    asked.quality = 0; /* not asked for, but the default of an encode */
    asked.subsampling = MR_SUBSAMPLING_NONE;
    int code = mr_encoder_recode(c->encoder, in->in.bytes, in->in.nbytes, &asked, &bytes, &nbytes, &report);
    if (code != 0 && !is_accepted(c, code))
        return fail_encoder(c, c->from, code);
    if (code != 0 || !report.exact) { /* once more, with a word on all that is lost on the way */
        snprintf(c->why, sizeof c->why, "%s", code != 0 ? "it is damaged" : report.why);
        return convert_pixels(c, in, &info);
    }
    int result = write_out(c, bytes, nbytes);
    const recoding done = {name_of_out(c), info.form, c->encode.form, in->in.nbytes, nbytes};
    if (result == EXIT_GOOD)
        tell_direct(&done, &report);
    if (result == EXIT_GOOD && c->s->json)
        put_recoding(&done, &report);
    if (result == EXIT_GOOD && option_is_given(&command_convert, c->s, "preset"))
        remark(name_of_out(c), "--preset changes nothing: coefficients are stored in one way");
    return result;
}

/* What can be wrong before anything is read. */
static int check(conversion *c)
{
    if (c->encode.form == MR_FORM_NONE) {
        complain(NULL, "convert: no form is known by the ending of '%s'; --form names one", c->to);
        return EXIT_USAGE;
    }
    if (options_check_form(&command_convert, c->s, c->encode.form) != EXIT_GOOD ||
        resizing_check(&command_convert, c->s) != EXIT_GOOD)
        return EXIT_USAGE;
    if (c->encode.lossless && option_is_given(&command_convert, c->s, "quality")) {
        complain(NULL, "convert: --quality is not for what --lossless asks for: nothing is lost there");
        return EXIT_USAGE;
    }
    if (strcmp(c->to, "-") == 0 && c->s->json) {
        complain(NULL, "convert: --json and OUT cannot both be standard output");
        return EXIT_USAGE;
    }
    if (strcmp(c->to, "-") == 0 && isatty(STDOUT_FILENO)) {
        complain(NULL, "convert: standard output is a terminal, which cannot show an image; redirect it");
        return EXIT_USAGE;
    }
    if (!c->s->force && file_is_same(c->from, c->to)) {
        complain(c->to, "IN and OUT are the same file; --force replaces it");
        return EXIT_BAD_INPUT;
    }
    return EXIT_GOOD;
}

/* Oddities the decoder met. */
static void log_line(void *user, mr_log_level level, const char *text)
{
    const conversion *c = user;
    (void)level;
    remark(c->from, "%s", text);
}

static int run(const settings *s, char **names, size_t count)
{
    (void)count;
    opened in;
    conversion c = {.s = s, .from = names[0], .to = names[1], .encode = s->encode};
    mr_hooks hooks = {.struct_size = sizeof hooks, .user = &c, .log = log_line};
    c.encode.form = form_of(s, c.to);
    c.encode.preset = preset_of(s);
    if (c.encode.threads == 0)
        c.encode.threads = (uint32_t)mr_threads_default();
    int result = check(&c);
    if (result != EXIT_GOOD)
        return result;
    const mr_limits none = {sizeof none, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};
    mr_encoder_options options = {.struct_size = sizeof options, .limits = s->no_limits ? &none : NULL};
    if (!opened_init(&in, s, &hooks))
        return EXIT_BAD_INPUT;
    result = EXIT_BAD_INPUT;
    if (mr_encoder_new(&options, &c.encoder) == 0)
        result = convert(&c, &in);
    else
        complain(NULL, "%s", mr_error_text(MR_ENOMEM));
    mr_encoder_free(c.encoder);
    mr_image_fini(&c.shaped, NULL);
    mr_image_fini(&c.resized, NULL);
    free(c.icc);
    opened_fini(&in);
    return result;
}

const command command_convert = {
    .name = "convert",
    .operands = "IN OUT",
    .summary = "Write an image in another form, size or shape",
    .text =
        (const char *const[]){
            "Decodes IN and writes it to OUT, in the form that OUT's name ends in or --form names. '-' is standard "
            "input or output. The ICC profile and the EXIF orientation are kept (with --orient the pixels are turned "
            "instead).",
            "A JPEG becomes L3 without going through its pixels: what is decoded from it is bit for bit the same, and "
            "so it becomes the very JPEG again, byte for byte. A line says whether that worked, or why not, and how "
            "many bytes it took. A part, another size or another shape is taken from the pixels, as is with "
            "--accept-damaged what is left of a damaged one.",
            "OUT is replaced if it is there, and only when all went well: it is written under a temporary name and "
            "renamed. What OUT's form cannot hold (alpha in JPEG, 16 bits in JPEG or WebP) is converted with a note; "
            "with --strict it is an error. An option that the form does not have is an error, too.",
            NULL},
    .groups = (const option_group[]){{"What to write", options_convert},
                                     {"How large", options_resizing},
                                     {"How to decode", options_hints},
                                     {"Help", options_common},
                                     {NULL, NULL}},
    .examples = (const example[]){{"millrace convert photo.png photo.jpg", "A JPEG of quality 90"},
                                  {"millrace convert --region=100,50,224x224 photo.jpg cut.png", "A part of it"},
                                  {"millrace convert --short-side=256 photo.jpg small.png", "256 x 256 and more"},
                                  {"millrace convert photo.jpg photo.l3", "To decode it several times as fast"},
                                  {"millrace convert photo.l3 again.jpg", "The very JPEG, byte for byte"},
                                  {"millrace convert --reduce=4 --orient - - --form=webp < in.jpg > out.webp",
                                   "A quarter of the size, upright, through pipes"},
                                  {NULL, NULL}},
    .operand_min = 2,
    .operand_max = 2,
    .operand = OPERAND_FILE,
    .run = run,
};
