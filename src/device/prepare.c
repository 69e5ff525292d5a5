// SPDX-License-Identifier: Apache-2.0
#include "device/prepare.h"

#include "codec/view.h"

int mr__hands_init(mr__hands *hands, const mr__work *work, mr__detail *detail)
{
    mr_decoder_options options = {sizeof options, &work->hooks, &work->limits, MR_JPEG_EITHER};
    *hands = (mr__hands){.work = work};
    int result = mr_decoder_new(&options, &hands->decoder);
    if (result == 0)
        result = mr__augment_new(&work->hooks, mr__cpu_detect(), &work->finish, &hands->augment);
    if (result == 0 && work->targets != 0)
        result = mr__targets_new(work, &hands->targets);
    if (result == 0) {
        hands->meter = mr__alloc_zero(&work->hooks, sizeof *hands->meter);
        result = hands->meter != NULL ? 0 : MR_ENOMEM;
    }
    if (result != 0)
        mr__hands_fini(hands);
    return result == 0 ? 0 : mr__fail(detail, result, "a thread of the loader: %s", mr_error_text(result));
}

void mr__hands_fini(mr__hands *hands)
{
    if (hands->work == NULL)
        return;
    mr_decoder_free(hands->decoder);
    mr__augment_free(hands->augment);
    mr__targets_free(hands->targets);
    mr__buffer_fini(&hands->gray, &hands->work->hooks);
    mr__free(&hands->work->hooks, hands->meter);
    *hands = (mr__hands){0};
}

void mr__errand_fini(mr__errand *errand, const mr__work *work)
{
    mr__fetch_fini(&errand->fetch, &work->dataset->hooks);
    mr__buffer_fini(&errand->read.buffer, &work->hooks);
}

static uint64_t now(const mr__hands *hands)
{
    const mr_hooks *hooks = &hands->work->hooks;
    return hooks->now_ns(hooks->user);
}

void mr__hands_start(mr__hands *hands)
{
    hands->lap_ns = now(hands);
}

void mr__hands_lap(mr__hands *hands, mr__stage_id stage, uint64_t count, uint64_t nbytes)
{
    uint64_t ended = now(hands);
    mr__stage_add(hands->meter, stage, ended - hands->lap_ns, count, nbytes);
    hands->lap_ns = ended;
}

/* The sample's name before what went wrong with it. */
static int name_sample(mr__errand *e, int result)
{
    mr__detail why = e->task->detail;
    if (result == 0)
        return result;
    return mr__fail(&e->task->detail, result, "%.100s: %s", e->fetch.key, why.text);
}

/* What is to be done to an image of this stored size, and to what goes with it. */
static int resolve(mr__hands *hands, mr__errand *e, uint32_t width, uint32_t height, uint32_t orientation)
{
    const mr__work *work = hands->work;
    mr__task *task = e->task;
    bool turned = work->needs.orient && orientation >= 5;
    uint32_t across = turned ? height : width, down = turned ? width : height;
    int result = task->targets != NULL
                     ? mr__targets_resolve(hands->targets, hands->decoder, task, across, down, &e->chain, &task->detail)
                     : mr__recipe_resolve(work->recipe, task->draws, across, down, NULL, &e->chain, &task->detail);
    e->width = width;
    e->height = height;
    e->resolved = result == 0;
    return name_sample(e, result);
}

/* An image is read in part where its form can be, and its size and so its region are known before anything is read. */
static int plan_part(mr__hands *hands, mr__errand *e)
{
    const mr__record *r = &e->fetch.record;
    bool upright = !hands->work->needs.orient || r->orientation <= 1;
    if (hands->work->check_all || r->width == 0 || !upright || !mr__fetch_has_parts(&e->fetch))
        return 0;
    uint64_t head = mr__ranges_head((mr_form)r->form, r->width, r->height, e->fetch.nbytes);
    if (head >= e->fetch.nbytes)
        return 0;
    e->head_nbytes = head;
    return resolve(hands, e, r->width, r->height, r->orientation);
}

/* Sets up the reading of so many bytes of the stored image, to be put where they stand in it. */
static void want(mr__errand *e, const mr__work *work, uint64_t at, uint64_t nbytes)
{
    mr__read *read = &e->read;
    read->path = e->fetch.path;
    read->file = &e->fetch.file;
    read->part = e->head_nbytes != 0;
    read->offset = e->fetch.offset + at;
    read->nbytes = (size_t)nbytes;
    read->at = (size_t)at;
    read->room = (size_t)e->fetch.nbytes;
    read->direct = work->reading == MR_READ_DIRECT;
    read->file_path = e->fetch.shard_path;
    read->user = e;
}

/* Before memory is taken for it. */
static int check_length(mr__hands *hands, mr__errand *e)
{
    const mr__work *work = hands->work;
    uint64_t nbytes = e->fetch.nbytes;
    if (nbytes > work->limits.nbytes)
        return mr__fail(&e->task->detail, MR_ELIMIT, "%s: %llu stored bytes, more than %llu, the limit (limits.nbytes)",
                        e->fetch.key, (unsigned long long)nbytes, (unsigned long long)work->limits.nbytes);
    if (work->cap_nbytes != 0 && nbytes > work->cap_nbytes)
        return mr__fail(&e->task->detail, MR_ENOMEM,
                        "%s: %llu stored bytes, but memory_nbytes leaves %llu for each: give more, or fewer threads",
                        e->fetch.key, (unsigned long long)nbytes, (unsigned long long)work->cap_nbytes);
    return plan_part(hands, e);
}

int mr__prepare_begin(mr__hands *hands, mr__errand *e, mr__task *task)
{
    e->task = task;
    task->has_sum = false;
    e->head_nbytes = 0;
    e->has_head = e->renewed = e->resolved = false;
    task->code = mr__fetch_begin(hands->work->dataset, &e->fetch, task->ordinal, task->form, &task->detail);
    if (task->code != 0)
        return task->code;
    task->code = check_length(hands, e);
    if (task->code != 0)
        mr__fetch_leave(&e->fetch);
    else
        want(e, hands->work, 0, e->head_nbytes != 0 ? e->head_nbytes : e->fetch.nbytes);
    return task->code;
}

/* What was read last, as the dataset wants to see it. */
static mr__fetched what_was_read(const mr__errand *e)
{
    return (mr__fetched){.bytes = e->read.bytes,
                         .got = e->read.got,
                         .error = e->read.error,
                         .file_nbytes = e->read.file_nbytes,
                         .file_mtime_ns = e->read.file_mtime_ns};
}

static int check_part(mr__hands *hands, mr__errand *e)
{
    mr__fetched is = what_was_read(e);
    return mr__fetch_part(hands->work->dataset, &e->fetch, &is, e->read.at, e->read.nbytes, &e->task->detail);
}

/* A file that was changed in its place is read as it is now. Once: what is changed all the time is no image yet. */
static bool read_renewed(mr__hands *hands, mr__errand *e)
{
    mr__fetched is = what_was_read(e);
    if (e->renewed || !mr__fetch_renew(&e->fetch, &is))
        return false;
    e->renewed = true;
    e->task->code = check_length(hands, e);
    if (e->task->code == 0)
        want(e, hands->work, 0, e->fetch.nbytes);
    return e->task->code == 0;
}

bool mr__prepare_next(mr__hands *hands, mr__errand *e)
{
    if (e->head_nbytes == 0)
        return read_renewed(hands, e);
    if (e->has_head)
        return false;
    e->has_head = true;
    e->task->code = check_part(hands, e);
    if (e->task->code != 0)
        return false;
    mr__range range = mr__ranges_of((mr_form)e->fetch.record.form, e->read.whole, (size_t)e->head_nbytes,
                                    e->fetch.nbytes, mr__pass_region(&e->chain.pass[0]));
    want(e, hands->work, range.offset, range.nbytes);
    return range.nbytes != 0;
}

/* The stored bytes, checked as far as they were read. */
static int take_bytes(mr__hands *hands, mr__errand *e, const void **bytes, size_t *nbytes)
{
    mr__fetched is = what_was_read(e);
    bool all = e->head_nbytes != 0 && e->task->code == 0 && e->read.at <= e->head_nbytes &&
               e->read.at + e->read.nbytes == e->fetch.nbytes;
    if (all) { // in two parts, but all of it: it can be checked
        is.bytes = e->read.whole;
        is.got = is.error == 0 ? e->read.at + e->read.got : 0;
    }
    int result = e->task->code;
    if (result == 0 && (all || e->head_nbytes == 0))
        return mr__fetch_end(hands->work->dataset, &e->fetch, &is, bytes, nbytes, &e->task->detail);
    if (result == 0 && e->read.nbytes != 0)
        result = check_part(hands, e);
    mr__fetch_leave(&e->fetch);
    *bytes = e->read.whole;
    *nbytes = (size_t)e->fetch.nbytes;
    return result;
}

/* The size and orientation that the stored image has, be it those of the index or not. */
static int look(mr__hands *hands, mr__errand *e)
{
    mr_info *info = &e->info;
    *info = (mr_info){.struct_size = sizeof *info};
    int result = mr_decoder_info(hands->decoder, e->bytes, e->nbytes, info);
    if (result != 0)
        return mr__fail(&e->task->detail, result, "%s: %s", e->fetch.key, mr_decoder_detail(hands->decoder));
    if (!e->resolved)
        return resolve(hands, e, info->width, info->height, info->orientation);
    if (info->width == e->width && info->height == e->height)
        return 0;
    return mr__fail(&e->task->detail, MR_ECORRUPT, "%s: it is %u x %u, but its index says %u x %u", e->fetch.key,
                    info->width, info->height, e->width, e->height);
}

/*
 * A decoder gives a YCbCr JPEG's own Y for gray, and other forms of the same pixels have none. Here gray is that of the
 * RGB pixels, Pillow's, whatever the form.
 */
static int make_gray(mr__hands *hands, mr__errand *e, mr_image *image)
{
    mr_image gray = {image->width, image->height, 1, image->depth, 0, NULL};
    size_t row = mr_image_row_nbytes(&gray);
    if (mr__buffer_reserve(&hands->gray, &hands->work->hooks, row * gray.height) != 0)
        return mr__fail(&e->task->detail, MR_ENOMEM, "%s: out of memory for its gray pixels", e->fetch.key);
    gray.stride = (ptrdiff_t)row;
    gray.pixels = hands->gray.bytes;
    int result = mr_image_convert(image, &gray);
    *image = gray;
    return result;
}

/* A limit that the cap on the loader's memory has set says nothing about the sample. */
static int fail_decode(mr__hands *hands, mr__errand *e, int result)
{
    bool cap = result == MR_ELIMIT && hands->work->capped && mr__decoder_refused(hands->decoder);
    return mr__fail(&e->task->detail, cap ? MR_ENOMEM : result, "%s: %s%s", e->fetch.key,
                    mr_decoder_detail(hands->decoder), cap ? ": memory_nbytes leaves no more for each thread" : "");
}

int mr__prepare_decode(mr__hands *hands, mr__errand *e, mr_image *part)
{
    const mr__work *work = hands->work;
    bool gray = work->needs.channels == 1 && e->info.channels >= 3;
    mr_decode_hints hints = {.struct_size = sizeof hints, .region = mr__pass_region(&e->chain.pass[0])};
    hints.channels = gray ? 3 : work->needs.channels;
    hints.depth = work->needs.depth;
    hints.orient = work->needs.orient;
    (void)mr__fetch_row_index(&e->fetch, &hints.index, &hints.index_nbytes); // a damaged one is none
    int result = mr__decoder_view(hands->decoder, e->bytes, e->nbytes, &hints, part);
    if (result != 0)
        return fail_decode(hands, e, result);
    return gray ? make_gray(hands, e, part) : 0;
}

/* From stored bytes into the slot. */
static int make_sample(mr__hands *hands, mr__errand *e)
{
    mr_image part;
    int result = mr__prepare_decode(hands, e, &part);
    if (result != 0)
        return result;
    mr__hands_lap(hands, MR__AT_DECODE, 1, mr_image_row_nbytes(&part) * part.height);
    result = mr__augment_run(hands->augment, &e->chain, &part, e->task->slot, &e->task->detail);
    mr__hands_lap(hands, MR__AT_AUGMENT, 1, hands->work->finish.output.sample_nbytes);
    return name_sample(e, result);
}

/* What is kept from earlier images may be in the way of this one. */
static void trim(mr__hands *hands)
{
    mr_decoder_trim(hands->decoder);
    mr__augment_trim(hands->augment);
}

int mr__prepare_open(mr__hands *hands, mr__errand *e)
{
    int result = take_bytes(hands, e, &e->bytes, &e->nbytes);
    if (result == 0 && (result = look(hands, e)) == MR_ENOMEM) {
        trim(hands);
        result = look(hands, e);
    }
    return e->task->code = result;
}

int mr__prepare_make(mr__hands *hands, mr__errand *e)
{
    int result = make_sample(hands, e);
    if (result == MR_ENOMEM) {
        trim(hands);
        result = make_sample(hands, e);
    }
    return e->task->code = result;
}

int mr__prepare_end(mr__hands *hands, mr__errand *e)
{
    int result = mr__prepare_open(hands, e);
    return result == 0 ? mr__prepare_make(hands, e) : result;
}

/* Reads what is wanted, waiting for it. */
static void read_all(mr__hands *hands, mr__errand *e)
{
    const mr_hooks *hooks = &hands->work->hooks;
    do
        if (!mr__read_now(&e->read, hooks))
            mr__read_wait(&e->read, hooks);
    while (mr__prepare_next(hands, e));
}

int mr__prepare(mr__hands *hands, mr__errand *e, mr__task *task)
{
    mr__hands_start(hands);
    int result = mr__prepare_begin(hands, e, task);
    if (result != 0)
        return result;
    read_all(hands, e);
    mr__hands_lap(hands, MR__AT_READ, 1, e->read.got);
    atomic_fetch_add_explicit(&hands->meter->stored_nbytes, e->read.got, memory_order_relaxed);
    return mr__prepare_end(hands, e);
}
