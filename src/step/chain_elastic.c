// SPDX-License-Identifier: Apache-2.0
#include "step/elastic.h"
#include "step/follow.h"

/* Noise is mirrored at the sides, by half the kernel, as the blur of torchvision wants it. */
static int check_side(const mr__elastic *elastic, size_t axis, uint32_t width, uint32_t height, mr__detail *detail)
{
    uint32_t kernel = mr__elastic_kernel(elastic, axis);
    if (kernel / 2 < width && kernel / 2 < height)
        return 0;
    return mr__fail(detail, MR_EARGUMENT,
                    "elastic: sigma=%g blurs over %u pixels, too many for an image of %u x %u, whose sides have to be "
                    "more than half of that; a smaller sigma, or a resize before it",
                    elastic->sigma[axis], kernel, width, height);
}

int mr__chain_elastic(mr__chain *chain, const mr__elastic *elastic, mr__detail *detail)
{
    uint32_t width, height;
    mr__chain_size(chain, &width, &height);
    int result = check_side(elastic, 0, width, height, detail);
    if (result == 0)
        result = check_side(elastic, 1, width, height, detail);
    if (result == 0)
        result = mr__chain_op(chain, (mr__op){.kind = MR__OP_ELASTIC, .u.elastic = *elastic}, detail);
    if (result != 0)
        return result;
    mr__move move = {
        .kind = MR__MOVE_ELASTIC, .width = width, .height = height, .to_width = width, .to_height = height};
    move.u.elastic = *elastic;
    return mr__follow_note(chain->follow, &move, detail);
}
