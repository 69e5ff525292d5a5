// SPDX-License-Identifier: Apache-2.0
/*
 * The mix of augmix. Each branch begins with a copy of the image; what it comes to is added to a sum of floats, in the
 * order of the branches, which is also that of torchvision's additions.
 */
#include "base/size.h"
#include "kernel/augmix.h"
#include "step/ops.h"

#include <string.h>

enum { COPY = 4, SUM = 5 }; /* scratch: a branch's ops have the others */

static uint8_t *row_of(const mr_image *image, uint32_t y)
{
    return (uint8_t *)image->pixels + (ptrdiff_t)y * image->stride;
}

static void copy_rows(const mr_image *from, const mr_image *to)
{
    size_t row = mr_image_row_nbytes(from);
    for (uint32_t y = 0; y < from->height; y++)
        memcpy(row_of(to, y), row_of(from, y), row);
}

/* A copy of the image and its sum, both without gaps between rows. */
static int make_room(mr__op_work *w, mr_image *copy, float **sum)
{
    size_t row = mr_image_row_nbytes(&w->from), samples, nbytes;
    *copy = w->from;
    copy->stride = (ptrdiff_t)row;
    bool fits = mr__size_mul(row, w->from.height, &samples) && mr__size_mul(samples, sizeof(float), &nbytes);
    copy->pixels = fits ? mr__op_scratch(w->tools, COPY, samples) : NULL;
    *sum = fits ? mr__op_scratch(w->tools, SUM, nbytes) : NULL;
    if (copy->pixels != NULL && *sum != NULL)
        return 0;
    return mr__fail(w->detail, MR_ENOMEM, "out of memory: augmix mixes %u x %u pixels", w->from.width, w->from.height);
}

/* Into the sum, or the last one with it over the image as it was. */
static void add_branch(const mr__op_work *w, const mr__augmix_kernels *kernels, const mr_image *branch, float *sum,
                       uint32_t number)
{
    size_t row = mr_image_row_nbytes(branch);
    const mr__mix *mix = &w->op->u.mix;
    for (uint32_t y = 0; y < branch->height; y++, sum += row)
        if (number + 1 == mix->branches)
            kernels->end(row_of(&w->to, y), sum, row_of(branch, y), row, mix->weight[number]);
        else
            kernels->add(sum, row_of(branch, y), row, mix->weight[number]);
}

static int run(mr__op_work *w)
{
    const mr__op *ops = w->op + 1;
    size_t row = mr_image_row_nbytes(&w->from);
    mr__augmix_kernels kernels;
    mr_image copy;
    float *sum;
    int result = make_room(w, &copy, &sum);
    mr__augmix_kernels_init(&kernels, mr__op_cpu(w->tools));
    for (uint32_t y = 0; y < w->from.height && result == 0; y++)
        kernels.begin(sum + y * row, row_of(&w->from, y), row, w->op->u.mix.original);
    for (uint32_t i = 0; i < w->op->u.mix.branches && result == 0; i++) {
        mr_image branch = copy;
        copy_rows(&w->from, &branch);
        result = mr__ops_run_branch(w->tools, ops, w->op->u.mix.depth[i], false, &branch, w->detail);
        if (result == 0)
            add_branch(w, &kernels, &branch, sum, i);
        ops += w->op->u.mix.depth[i];
    }
    return result;
}

static int tell(const mr__op *op, char *text, size_t nbytes)
{
    return snprintf(text, nbytes, "%u branches with %u operations, and %.3g of the image as it was", op->u.mix.branches,
                    op->u.mix.ops, (double)op->u.mix.original);
}

const mr__op_type mr__op_augmix = {
    .name = "augmix", .run = run, .in_place = true, .need = mr__op_need_all, .tell = tell};
