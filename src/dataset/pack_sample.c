// SPDX-License-Identifier: Apache-2.0
#include "dataset/pack_sample.h"

#include "dataset/place.h"
#include "kernel/hash.h"
#include <errno.h>
#include <string.h>

void mr__pack_slot_fini(mr__pack_slot *slot, const mr_hooks *hooks)
{
    mr__fetch_fini(&slot->fetch, hooks);
    mr__buffer_fini(&slot->read.buffer, hooks);
    mr__buffer_fini(&slot->row_index, hooks);
    mr__buffer_fini(&slot->members, hooks);
    mr__buffer_fini(&slot->places, hooks);
    for (size_t i = 0; i < MR__FORM_MAX; i++)
        mr__buffer_fini(&slot->forms[i].own, hooks);
}

int mr__pack_worker_init(mr__pack_worker *w, const mr__pack_plan *plan, mr_dataset *source)
{
    const mr_decoder_options decoder = {sizeof decoder, .hooks = plan->hooks, .limits = plan->options.limits};
    const mr_encoder_options encoder = {sizeof encoder, plan->hooks, plan->options.limits};
    const mr_resizer_options resizer = {sizeof resizer, plan->hooks, plan->options.limits};
    *w = (mr__pack_worker){.plan = plan, .source = source};
    int result = mr_decoder_new(&decoder, &w->decoder);
    if (result == 0)
        result = mr_encoder_new(&encoder, &w->encoder);
    if (result == 0)
        result = mr_resizer_new(&resizer, &w->resizer);
    return result == 0 ? mr_reader_new(source, &w->reader) : result;
}

void mr__pack_worker_fini(mr__pack_worker *w)
{
    if (w->plan == NULL)
        return;
    mr_decoder_free(w->decoder);
    mr_encoder_free(w->encoder);
    mr_resizer_free(w->resizer);
    mr_reader_free(w->reader);
    mr__buffer_fini(&w->icc, w->plan->hooks);
    mr__buffer_fini(&w->pixels, w->plan->hooks);
}

/* Whether the form stores the image as it came. */
static bool keeps(const mr__pack_plan_form *f, mr_form came)
{
    bool full = f->is.of.max_side == 0 && f->is.of.short_side == 0;
    return full && (f->is.of.form == MR_FORM_NONE || f->is.of.form == came);
}

/* Whether images in other forms are not for it. */
static bool takes_others(const mr__pack_plan_form *f)
{
    return f->is.of.max_side != 0 || f->is.of.short_side != 0 || f->is.of.form == MR_FORM_L3 ||
           f->is.of.form == MR_FORM_RAW;
}

static bool is_kept_anywhere(const mr__pack_plan *plan, uint64_t ordinal, mr_form came)
{
    for (uint32_t i = 0; i < plan->form_count; i++)
        if (keeps(&plan->forms[i], came) && mr__pack_plan_chooses(plan, i, ordinal))
            return true;
    return false;
}

static int copy(const mr_hooks *hooks, mr__buffer *to, const void *bytes, size_t nbytes)
{
    if (mr__buffer_reserve(to, hooks, nbytes) != 0)
        return MR_ENOMEM;
    memcpy(to->bytes, bytes, nbytes);
    return 0;
}

static int refuse(mr__pack_slot *slot, int code, const char *detail)
{
    slot->code = mr__fail(&slot->detail, code, "%s", detail[0] != '\0' ? detail : mr_error_text(code));
    return code == MR_ENOMEM ? code : 0;
}

/*
 * What is kept as it came has to be whole. Making a JPEG's row index reads all of it, which is the cheapest check there
 * is; where there is none to be made, it is decoded.
 */
static int check_kept(mr__pack_worker *w, mr__pack_slot *slot, mr_form came)
{
    const mr_pack_options *o = &w->plan->options;
    const void *index = NULL;
    size_t nbytes = 0;
    int result = 0;
    if (came == MR_FORM_JPEG && (!o->no_row_index || !o->no_check))
        result = mr_decoder_index(w->decoder, slot->bytes, slot->nbytes, &index, &nbytes);
    if (result == 0 && nbytes != 0 && !o->no_row_index) {
        result = copy(w->plan->hooks, &slot->row_index, index, nbytes);
        slot->row_index_nbytes = nbytes;
    } else if (result == 0 && nbytes == 0 && !o->no_check)
        result = mr_decoder_verify(w->decoder, slot->bytes, slot->nbytes);
    return result != 0 ? refuse(slot, result, mr_decoder_detail(w->decoder)) : 0;
}

static uint64_t seed_of(const mr__pack_worker *w, const mr__pack_slot *slot)
{
    return mr__record_seed(slot->shard, slot->ordinal - w->plan->first[slot->shard]);
}

/* The hash is made here, by all workers at once, and not by the one thread that writes. */
static void hash(const mr__pack_worker *w, const mr__pack_slot *slot, mr__packed_form *f)
{
    f->record.has_hash = true;
    f->record.hash = mr__hash_seeded_by(f->bytes, f->nbytes, seed_of(w, slot), w->plan->cpu);
}

/* What the stored bytes say of themselves goes into the record. */
static int describe(mr__pack_worker *w, mr__pack_slot *slot, mr__packed_form *f)
{
    mr_info info = {.struct_size = sizeof info};
    int result = mr_decoder_info(w->decoder, f->bytes, f->nbytes, &info);
    if (result != 0)
        return refuse(slot, result, mr_decoder_detail(w->decoder));
    f->record.form = (uint8_t)info.form;
    f->record.width = info.width;
    f->record.height = info.height;
    f->record.channels = (uint8_t)info.channels;
    f->record.depth = (uint8_t)info.depth;
    f->record.orientation = (uint8_t)info.orientation;
    f->record.nbytes = f->nbytes;
    hash(w, slot, f);
    return 0;
}

static int take_encoded(mr__pack_worker *w, mr__packed_form *f, const void *bytes, size_t nbytes)
{
    int result = copy(w->plan->hooks, &f->own, bytes, nbytes);
    f->bytes = f->own.bytes;
    f->nbytes = nbytes;
    return result;
}

/* At full size. An L3 of a JPEG that would have to hold pixels is left out where the JPEG itself is packed. */
static int recode(mr__pack_worker *w, mr__pack_slot *slot, const mr__pack_plan_form *form, mr__packed_form *f,
                  const mr_info *info)
{
    const mr_encode_options options = {sizeof options, .form = form->is.of.form, .effort = form->effort};
    mr_recode_report report = {.struct_size = sizeof report};
    const void *bytes;
    size_t nbytes;
    int result = mr_encoder_recode(w->encoder, slot->bytes, slot->nbytes, &options, &bytes, &nbytes, &report);
    if (result != 0)
        return refuse(slot, result, mr_encoder_detail(w->encoder));
    bool pixels = form->is.of.form == MR_FORM_L3 && info->form == MR_FORM_JPEG && !report.exact;
    if (pixels && is_kept_anywhere(w->plan, slot->ordinal, info->form)) {
        f->record.state = MR_RECORD_ABSENT;
        f->record.pixel_mode = true; /* counted, not stored */
        return 0;
    }
    f->record.pixel_mode = pixels;
    return take_encoded(w, f, bytes, nbytes);
}

/* What lossy forms can hold. */
static mr_decode_hints hints_for(mr_form form, const mr_info *info)
{
    mr_decode_hints hints = {.struct_size = sizeof hints};
    bool alpha = info->channels == 2 || info->channels == 4;
    if (form == MR_FORM_JPEG)
        hints.channels = info->channels >= 3 ? 3 : 1;
    if (form == MR_FORM_WEBP)
        hints.channels = alpha ? 4 : 3;
    if (form == MR_FORM_JPEG || form == MR_FORM_WEBP)
        hints.depth = 8;
    return hints;
}

static int keep_icc(mr__pack_worker *w, const mr__pack_slot *slot, mr_encode_options *options)
{
    const void *icc;
    int result = mr_decoder_icc(w->decoder, slot->bytes, slot->nbytes, &icc, &options->icc_nbytes);
    if (result != 0 || options->icc_nbytes == 0)
        return result;
    result = copy(w->plan->hooks, &w->icc, icc, options->icc_nbytes);
    options->icc = w->icc.bytes;
    return result;
}

static int resize(mr__pack_worker *w, const mr_image *from, uint32_t width, uint32_t height, mr_image *to)
{
    const mr_pack_options *o = &w->plan->options;
    const mr_resize_options options = {sizeof options, o->filter,
                                       o->pillow == 12 ? MR_RESIZE_PILLOW_12 : MR_RESIZE_PILLOW_13};
    *to = *from;
    to->width = width;
    to->height = height;
    to->stride = (ptrdiff_t)mr_image_row_nbytes(to);
    if (mr__buffer_reserve(&w->pixels, w->plan->hooks, mr_image_row_nbytes(to) * height) != 0)
        return MR_ENOMEM;
    to->pixels = w->pixels.bytes;
    return mr_resizer_resize(w->resizer, from, &options, to);
}

static int reduce(mr__pack_worker *w, mr__pack_slot *slot, const mr__pack_plan_form *form, mr__packed_form *f,
                  const mr_info *info, uint32_t width, uint32_t height)
{
    mr_encode_options options = {sizeof options, .form = form->is.of.form, .quality = form->quality,
                                 .effort = form->effort, .orientation = info->orientation};
    const mr_decode_hints hints = hints_for(form->is.of.form, info);
    mr_image from, to;
    const void *bytes;
    size_t nbytes;
    int result = keep_icc(w, slot, &options);
    if (result == 0)
        result = mr_decoder_decode(w->decoder, slot->bytes, slot->nbytes, &hints, &from);
    if (result != 0)
        return refuse(slot, result, mr_decoder_detail(w->decoder));
    result = resize(w, &from, width, height, &to);
    if (result != 0)
        return refuse(slot, result, mr_resizer_detail(w->resizer));
    result = mr_encoder_encode(w->encoder, &to, &options, &bytes, &nbytes);
    if (result != 0)
        return refuse(slot, result, mr_encoder_detail(w->encoder));
    return take_encoded(w, f, bytes, nbytes);
}

static int make_anew(mr__pack_worker *w, mr__pack_slot *slot, const mr__pack_plan_form *form, mr__packed_form *f,
                     const mr_info *info)
{
    uint32_t width = info->width, height = info->height;
    int result = 0;
    if (form->is.of.max_side != 0)
        result = mr_resize_max_side(width, height, form->is.of.max_side, &width, &height);
    else if (form->is.of.short_side != 0)
        result = mr_resize_short_side(width, height, form->is.of.short_side, &width, &height);
    if (result != 0)
        return refuse(slot, result, "its size cannot be reduced");
    bool same = width == info->width && height == info->height;
    if (same && info->form == form->is.of.form) { /* small enough as it is */
        bool checked = w->plan->options.no_check || is_kept_anywhere(w->plan, slot->ordinal, info->form);
        f->bytes = slot->bytes;
        f->nbytes = slot->nbytes;
        result = checked ? 0 : mr_decoder_verify(w->decoder, slot->bytes, slot->nbytes);
        return result != 0 ? refuse(slot, result, mr_decoder_detail(w->decoder)) : 0;
    }
    return same && (form->is.of.form == MR_FORM_L3 || form->is.of.form == MR_FORM_RAW)
               ? recode(w, slot, form, f, info)
               : reduce(w, slot, form, f, info, width, height);
}

static int make_form(mr__pack_worker *w, mr__pack_slot *slot, uint32_t number, const mr_info *info)
{
    const mr__pack_plan_form *form = &w->plan->forms[number];
    mr__packed_form *f = &slot->forms[number];
    int result = 0;
    f->record = (mr__record){.state = MR_RECORD_PRESENT};
    f->row_index_nbytes = 0;
    bool kept = keeps(form, info->form);
    if (!mr__pack_plan_chooses(w->plan, number, slot->ordinal) || (!kept && !takes_others(form)))
        f->record.state = MR_RECORD_ABSENT;
    else if (kept) {
        f->bytes = slot->bytes;
        f->nbytes = slot->nbytes;
        f->row_index_nbytes = slot->row_index_nbytes;
    } else
        result = make_anew(w, slot, form, f, info);
    if (result != 0 || slot->code != 0 || f->record.state != MR_RECORD_PRESENT)
        return result;
    return describe(w, slot, f);
}

static int make_forms(mr__pack_worker *w, mr__pack_slot *slot)
{
    mr_info info = {.struct_size = sizeof info};
    bool any = false;
    int result = mr_decoder_info(w->decoder, slot->bytes, slot->nbytes, &info);
    if (result != 0)
        return refuse(slot, result, mr_decoder_detail(w->decoder));
    result = is_kept_anywhere(w->plan, slot->ordinal, info.form) ? check_kept(w, slot, info.form) : 0;
    for (uint32_t i = 0; i < w->plan->form_count && result == 0 && slot->code == 0; i++) {
        result = make_form(w, slot, i, &info);
        any |= slot->forms[i].record.state == MR_RECORD_PRESENT;
    }
    if (result == 0 && slot->code == 0 && !any)
        slot->code =
            mr__fail(&slot->detail, MR_EUNSUPPORTED,
                     "this %s is for none of the forms that were asked for: original, l3 and raw take any image",
                     mr_form_name(info.form));
    return result;
}

static int add_member(mr__pack_worker *w, mr__pack_slot *slot, uint32_t number)
{
    const mr_hooks *hooks = w->plan->hooks;
    mr_member member = {.struct_size = sizeof member};
    const void *bytes;
    size_t nbytes, used = slot->member_count * sizeof(mr__member);
    int result = mr_dataset_member(w->source, slot->ordinal, number, &member);
    if (result == 0)
        result = mr_reader_member(w->reader, slot->ordinal, number, &bytes, &nbytes);
    if (result != 0) {
        int fatal = refuse(slot, result, mr_reader_detail(w->reader));
        return result == MR_EIO ? result : fatal; /* as for the image: what cannot be read is not bad */
    }
    if (mr__buffer_grow(&slot->members, hooks, slot->members_nbytes, slot->members_nbytes + nbytes + 1) != 0 ||
        mr__buffer_grow(&slot->places, hooks, used, used + sizeof(mr__member)) != 0)
        return MR_ENOMEM;
    memcpy(slot->members.bytes + slot->members_nbytes, bytes, nbytes);
    ((mr__member *)(void *)slot->places.bytes)[slot->member_count++] =
        (mr__member){.name = member.name,
                     .name_nbytes = strlen(member.name),
                     .offset = slot->members_nbytes,
                     .nbytes = nbytes,
                     .hash = mr__hash_seeded_by(bytes, nbytes, seed_of(w, slot), w->plan->cpu),
                     .has_hash = true};
    slot->members_nbytes += nbytes;
    return 0;
}

int mr__pack_sample(mr__pack_worker *w, mr__pack_slot *slot)
{
    int result = 0;
    slot->row_index_nbytes = slot->member_count = slot->members_nbytes = 0;
    if (slot->reading) {
        const mr__fetched is = {slot->read.buffer.bytes, slot->read.got, slot->read.error, slot->read.file_nbytes,
                                slot->read.file_mtime_ns};
        slot->code = mr__fetch_end(w->source, &slot->fetch, &is, &slot->bytes, &slot->nbytes, &slot->detail);
    }
    if (slot->reading && slot->fetch.unread) /* that is no bad image: the run ends, and goes on when it can be read */
        return slot->code;
    if (slot->code == MR_ENOMEM || (slot->reading && slot->read.error == ENOMEM))
        return MR_ENOMEM;
    if (slot->code == 0)
        result = make_forms(w, slot);
    uint32_t members = slot->code == 0 && result == 0 ? mr__dataset_members(w->source, slot->ordinal, NULL) : 0;
    for (uint32_t i = 0; i < members && result == 0 && slot->code == 0; i++)
        result = add_member(w, slot, i);
    return result;
}
