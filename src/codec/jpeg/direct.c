// SPDX-License-Identifier: Apache-2.0
#include "codec/jpeg/direct.h"

#include "base/size.h"

static void make_ready(mr__jpeg_direct *d, mr__cpu_flags cpu)
{
    if (d->is_ready)
        return;
    mr__jpeg_pixels_init(&d->pixels, cpu);
    mr__jpeg_scans_init(&d->scans, cpu);
    d->is_ready = true;
}

void mr__direct_fini(mr__jpeg_direct *d, const mr_hooks *hooks)
{
    mr__jpeg_coefficients_fini(&d->work, hooks);
    mr__buffer_fini(&d->strips, hooks);
    mr__buffer_fini(&d->samples, hooks);
}

static void find_mcus(mr__direct_job *j)
{
    uint32_t left = UINT32_MAX, top = UINT32_MAX, right = 0, bottom = 0;
    for (uint32_t i = 0; i < j->rows.parts; i++) {
        const mr_rect *b = &j->rows.part[i].blocks;
        uint32_t h = mr__jpeg_across(&j->frame, i), v = mr__jpeg_down(&j->frame, i);
        left = b->x / h < left ? b->x / h : left;
        top = b->y / v < top ? b->y / v : top;
        uint32_t r = mr__ceil_div(b->x + b->width, h), e = mr__ceil_div(b->y + b->height, v);
        right = r > right ? r : right;
        bottom = e > bottom ? e : bottom;
    }
    j->mcus = (mr_rect){left, top, right - left, bottom - top};
}

int mr__direct_prepare(mr__direct_job *j, const mr_image *to)
{
    const mr__jpeg_coefficients *f = &j->frame;
    mr__jpeg_frame frame = {.width = f->width,
                            .height = f->height,
                            .parts = f->components,
                            .rgb = f->color == MR__JPEG_RGB,
                            .luma_only = to->channels == 1};
    for (uint32_t i = 0; i < f->components; i++) {
        frame.h[i] = f->plane[i].h;
        frame.v[i] = f->plane[i].v;
    }
    if (!mr__jpeg_rows_init(&j->rows, &j->direct->pixels, &frame, j->request->reduce, j->request->region, to))
        return mr__call_fail(j->call, MR_EUNSUPPORTED, "JPEG with sampling factors that do not divide each other");
    find_mcus(j);
    // Strips are written as a whole: up to 16 MCUs.
    uint32_t room = mr__ceil_div(j->mcus.width, MR__JPEG_STRIP) * MR__JPEG_STRIP;
    for (uint32_t i = 0; i < j->rows.parts; i++) {
        mr__jpeg_rows_part *p = &j->rows.part[i];
        p->left = j->mcus.x * mr__jpeg_across(f, i);
        p->columns = room * mr__jpeg_across(f, i);
        p->band = mr__jpeg_down(f, i);
    }
    if (j->sink != NULL)
        return 0;
    int result = mr__call_reserve(j->call, &j->direct->samples, mr__jpeg_rows_nbytes(&j->rows));
    if (result == 0)
        mr__jpeg_rows_place(&j->rows, j->direct->samples.bytes);
    return result;
}

static bool has_zero(const uint16_t quant[64])
{
    uint16_t found = 0; // as wide as they are, so that several are looked at at once
    for (size_t k = 0; k < 64; k++)
        found |= (uint16_t)(quant[k] == 0);
    return found != 0;
}

int mr__direct_check_quantisers(mr__direct_job *j)
{
    for (uint32_t i = 0; i < j->rows.parts; i++)
        if (has_zero(j->frame.quant[j->frame.plane[i].table]))
            return mr__call_fail(j->call, MR_EUNSUPPORTED, "JPEG with a quantiser of 0, which is not supported");
    return 0;
}

int mr__direct_give_strip(const mr__direct_job *j, uint32_t part, uint32_t x, uint32_t y, int16_t *coef, uint32_t last)
{
    mr__direct_strip strip = {part, x, y, coef, last};
    int result = j->sink->strip(j->sink->user, &strip);
    memset(coef, 0, (last + 1) * MR__JPEG_STRIP * sizeof *coef);
    return result;
}

int mr__direct_finish_band(mr__direct_job *j, uint32_t band)
{
    return j->sink != NULL || mr__jpeg_rows_finish(&j->rows, band)
               ? 0
               : mr__call_fail(j->call, MR_EINTERNAL, "more rows of samples to keep than were thought of");
}

static int run(mr__direct_job *j, const mr_image *to)
{
    mr__jpeg_walk walk;
    bool more;
    make_ready(j->direct, j->call->cpu);
    int result = mr__jpeg_walk_init(&walk, j->call, &j->frame);
    if (result == 0)
        result = mr__jpeg_walk_next(&walk, &more); // to a scan: the header has been read as far
    if (result == 0)
        result = mr__direct_prepare(j, to);
    if (result != 0)
        return result;
    bool one = !j->frame.progressive && walk.scan.count == j->frame.components;
    return one ? mr__direct_one_scan(j, &walk) : mr__direct_all_scans(j, &walk);
}

int mr__direct_decode(mr__call *call, mr__jpeg_direct *direct, const mr__request *request, const mr_image *to)
{
    mr__direct_job j = {.call = call, .direct = direct, .request = request};
    return run(&j, to);
}

int mr__direct_give(mr__call *call, mr__jpeg_direct *direct, const mr__request *request, uint32_t channels,
                    const mr__direct_sink *sink)
{
    mr__direct_job j = {.call = call, .direct = direct, .request = request, .sink = sink};
    mr_image shape = {.channels = channels};
    return run(&j, &shape);
}
