// SPDX-License-Identifier: Apache-2.0
#include "forms.h"
#include "quantity.h"
#include "text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { SIDE_MAX = 65535 };

static const char form_words[] = "original jpeg png webp l3 raw";
static const char field_words[] = "max-side short-side share quality effort";

static bool read_field_value(mr_pack_form *f, const char *name, const char *value)
{
    uint64_t number;
    uint32_t *field, most = SIDE_MAX;
    if (strcmp(name, "share") == 0) {
        if (!share_read(value, &f->share) || f->share == 0)
            return false;
        f->share = f->share == 1000000 ? 0 : f->share;
        return true;
    }
    if (strcmp(name, "max-side") == 0) {
        field = &f->max_side;
    } else if (strcmp(name, "short-side") == 0) {
        field = &f->short_side;
    } else {
        field = strcmp(name, "quality") == 0 ? &f->quality : &f->effort;
        most = field == &f->quality ? 100 : 9;
    }
    if (!number_read(value, most, &number) || number == 0)
        return false;
    *field = (uint32_t)number;
    return true;
}

/* One of the fields behind a form's name; `item` is the whole form, for messages. */
static bool read_field(mr_pack_form *f, const char *item, char *field)
{
    char near[32], suggestion[64] = "";
    char *sign = strchr(field, '=');
    if (sign != NULL)
        *sign = '\0';
    if (!list_has(field_words, field)) {
        if (nearest_word(field_words, field, near, sizeof near))
            snprintf(suggestion, sizeof suggestion, "; did you mean %s?", near);
        complain(NULL, "pack: --forms: '%s' has '%s'%s (one of: %s)", item, field, suggestion, field_words);
        return false;
    }
    if (sign != NULL && read_field_value(f, field, sign + 1))
        return true;
    complain(NULL, "pack: --forms: '%s': %s cannot be '%s' (%s)", item, field, sign != NULL ? sign + 1 : "",
             strcmp(field, "share") == 0     ? "a share like 30%, above 0"
             : strcmp(field, "quality") == 0 ? "a number from 1 to 100"
             : strcmp(field, "effort") == 0  ? "a number from 1 to 9"
                                             : "a number from 1 to 65535");
    return false;
}

/* What one form asks for that cannot be. NULL: nothing. */
static const char *fault_of(const mr_pack_form *f, bool first)
{
    bool reduced = f->max_side != 0 || f->short_side != 0;
    if (f->max_side != 0 && f->short_side != 0)
        return "max-side and short-side cannot both be: one of them decides the size";
    if (f->form == MR_FORM_NONE && reduced)
        return "original keeps images as they came and cannot be reduced: give the side to another form, as in "
               "jpeg:max-side=512";
    if (first && f->share != 0)
        return "the first form is for all samples: share is for those behind it";
    if (f->quality != 0 && (!reduced || (f->form != MR_FORM_JPEG && f->form != MR_FORM_WEBP)))
        return "quality is for jpeg and webp that are made anew, with max-side or short-side";
    if (f->effort != 0 && f->form != MR_FORM_L3 && (!reduced || f->form != MR_FORM_PNG))
        return "effort is for l3, and for png that is made anew, with max-side or short-side";
    return NULL;
}

static bool read_form(const settings *s, char *item, bool first, mr_pack_form *f)
{
    char whole[128], near[32], suggestion[64] = "";
    char *field = strchr(item, ':');
    snprintf(whole, sizeof whole, "%s", item);
    *f = (mr_pack_form){.struct_size = sizeof *f};
    if (field != NULL)
        *field++ = '\0';
    if (!list_has(form_words, item)) {
        if (nearest_word(form_words, item, near, sizeof near))
            snprintf(suggestion, sizeof suggestion, "; did you mean %s?", near);
        complain(NULL, "pack: --forms: there is no form '%s'%s (one of: %s)", item, suggestion, form_words);
        return false;
    }
    f->form = mr_form_from_name(item); /* which has no original: none */
    while (field != NULL) {
        char *next = strchr(field, ':');
        if (next != NULL)
            *next++ = '\0';
        if (!read_field(f, whole, field))
            return false;
        field = next;
    }
    if (f->max_side == 0 && f->short_side == 0) {
        f->max_side = s->max_side;
        f->short_side = s->short_side;
    }
    const char *fault = fault_of(f, first);
    if (fault != NULL)
        complain(NULL, "pack: --forms: '%s': %s", whole, fault);
    return fault == NULL;
}

/* The same form of the same size is one, whatever else is asked of it. */
static bool is_new(const mr_pack_form *forms, size_t last, const char *item)
{
    for (size_t i = 0; i < last; i++)
        if (forms[i].form == forms[last].form && forms[i].max_side == forms[last].max_side &&
            forms[i].short_side == forms[last].short_side) {
            complain(NULL, "pack: --forms: '%s' is there twice: a form is stored once in a size", item);
            return false;
        }
    return true;
}

bool forms_read(const settings *s, mr_pack_form forms[FORMS_MAX], size_t *count)
{
    const char *text = s->forms;
    *count = 0;
    if (s->max_side != 0 && s->short_side != 0) {
        complain(NULL, "pack: --max-side and --short-side cannot both be: one of them decides the size");
        return false;
    }
    while (true) {
        char item[128];
        size_t length = strcspn(text, ",");
        if (length == 0 || length >= sizeof item || *count == FORMS_MAX) {
            complain(NULL, "pack: --forms cannot be '%s' (it is written like jpeg,l3:share=30%%,raw:short-side=256)",
                     s->forms);
            return false;
        }
        memcpy(item, text, length);
        item[length] = '\0';
        if (!read_form(s, item, *count == 0, &forms[*count]) || !is_new(forms, *count, item))
            return false;
        ++*count;
        if (text[length] == '\0')
            return true;
        text += length + 1;
    }
}
