// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"
#include "dataset/pack_sample.h"

#include <math.h>
#include <string.h>

/* Those whose keys come from WebDataset's rule have no ending. */
static bool has_plain_keys(mr_layout layout)
{
    return layout == MR_LAYOUT_PACKED || layout == MR_LAYOUT_TAR;
}

static void add_hidden(mr__text *to, const char *text, size_t nbytes, bool percent)
{
    for (size_t i = 0; i < nbytes; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '.' || (percent && c == '%') || c < ' ' || c == 127 || c == '\\')
            mr__text_addf(to, "%%%02X", c);
        else
            mr__text_add(to, &text[i], 1);
    }
}

/* A part of the path: "." and ".." would lead elsewhere when it is unpacked. */
static void add_folder(mr__text *to, const char *text, size_t nbytes)
{
    bool leads = (nbytes == 1 && text[0] == '.') || (nbytes == 2 && memcmp(text, "..", 2) == 0);
    if (leads)
        add_hidden(to, text, nbytes, false);
    else
        mr__text_add(to, text, nbytes);
    mr__text_add_z(to, "/");
}

void mr__pack_name(mr__text *to, mr_layout layout, const char *key, bool with_ending)
{
    const char *slash;
    while (*key == '/')
        key++;
    for (; (slash = strchr(key, '/')) != NULL; key = slash + 1)
        if (slash != key)
            add_folder(to, key, (size_t)(slash - key));
    const char *dot = strrchr(key, '.');
    bool plain = has_plain_keys(layout);
    size_t nbytes = dot != NULL && dot != key && !with_ending && !plain ? (size_t)(dot - key) : strlen(key);
    if (nbytes == 0)
        mr__text_add_z(to, "%");
    add_hidden(to, key, nbytes, layout != MR_LAYOUT_PACKED); /* a packed one's are hidden already */
}

const char *mr__pack_ending(mr_form form)
{
    return form == MR_FORM_JPEG ? "jpg" : form == MR_FORM_PNM ? "ppm" : mr_form_name(form);
}

/* With a point or an exponent, so that it is read as one; JSON has no words for what is not finite. */
static void add_real(mr__text *to, double value)
{
    size_t before = to->nbytes;
    if (isnan(value) || isinf(value)) {
        mr__text_add_z(to, isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
        return;
    }
    mr__text_add_f64(to, value);
    if (to->code != 0)
        return;
    for (size_t i = before; i < to->nbytes; i++)
        if (strchr(".eE", to->buffer.bytes[i]) != NULL)
            return;
    mr__text_add_z(to, ".0");
}

void mr__pack_label(mr__text *to, const mr_label *label)
{
    const uint8_t *values = label->values;
    if (label->kind == MR_LABEL_INT)
        mr__text_addf(to, "%lld", (long long)label->integer);
    else if (label->kind == MR_LABEL_FLOAT)
        add_real(to, label->real);
    else if (label->kind == MR_LABEL_TEXT || label->kind == MR_LABEL_BYTES)
        mr__text_add(to, label->values, label->count);
    for (size_t i = 0; (label->kind == MR_LABEL_INTS || label->kind == MR_LABEL_FLOATS) && i < label->count; i++) {
        uint64_t bits = mr__load_le64(values + 8 * i);
        double real;
        memcpy(&real, &bits, sizeof real);
        if (i != 0)
            mr__text_add_z(to, " ");
        if (label->kind == MR_LABEL_INTS)
            mr__text_addf(to, "%lld", (long long)bits);
        else
            add_real(to, real);
    }
}

uint64_t mr__pack_label_nbytes(const mr_label *label)
{
    bool bytes = label->kind == MR_LABEL_TEXT || label->kind == MR_LABEL_BYTES;
    bool one = label->kind == MR_LABEL_INT || label->kind == MR_LABEL_FLOAT;
    return label->kind == MR_LABEL_NONE ? 0 : bytes ? label->count : one ? 26 : label->count * 26;
}
