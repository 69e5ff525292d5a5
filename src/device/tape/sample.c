// SPDX-License-Identifier: Apache-2.0
#include "device/tape/sample.h"

#include "codec/orient.h"

/* By kernels, turned and converted as the recipe wants it. MR_EUNSUPPORTED: the host is to decode. */
static int decode_on_device(mr__tape_writer *w, mr__hands *hands, mr__errand *e, mr__sheet *sheet, mr__detail *detail)
{
    const mr__decode_needs *needs = &hands->work->needs;
    uint32_t orientation = needs->orient ? e->info.orientation : 1;
    mr__tape_source source = {
        .bytes = e->bytes, .nbytes = e->nbytes, .info = &e->info, .decoder = hands->decoder, .reduce = 1};
    const void *index = NULL;
    mr_rect region = mr__pass_region(&e->chain.pass[0]);
    (void)mr__fetch_row_index(&e->fetch, &index, &source.index_nbytes); // a damaged one is none
    source.index = index;
    source.region = mr__orientation_to_stored(orientation, region, e->info.width, e->info.height);
    int result = mr__tape_decode(w, &source, sheet, detail);
    if (result == 0 && (orientation > 1 || sheet->channels != needs->channels))
        result = mr__tape_convert(w, sheet, orientation, needs->channels, detail);
    return result;
}

static int decode_on_host(mr__tape_writer *w, mr__hands *hands, mr__errand *e, mr__sheet *sheet)
{
    mr_image part;
    int result = mr__prepare_decode(hands, e, &part);
    if (result == 0)
        *sheet = mr__tape_image(w->tape, &part);
    return result;
}

static int write_sample(mr__tape_writer *w, mr__hands *hands, mr__errand *e)
{
    mr__sheet sheet;
    mr__detail *detail = &e->task->detail;
    mr__tape_mark mark = mr__tape_open(w->tape);
    int result = decode_on_device(w, hands, e, &sheet, detail);
    if (result == MR_EUNSUPPORTED) {
        mr__tape_drop(w->tape, mark);
        (void)mr__tape_open(w->tape);
        result = decode_on_host(w, hands, e, &sheet);
    }
    return result == 0 ? mr__tape_chain(w, &e->chain, sheet, detail) : result;
}

int mr__tape_sample(mr__tape_writer *w, mr__hands *hands, mr__errand *e, uint64_t out, uint32_t *number)
{
    mr__tape_mark mark = mr__tape_open(w->tape);
    w->out = out;
    int result = write_sample(w, hands, e);
    if (result == 0)
        *number = mr__tape_close(w->tape);
    else
        mr__tape_drop(w->tape, mark);
    return result;
}
