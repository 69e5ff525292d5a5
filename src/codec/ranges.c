// SPDX-License-Identifier: Apache-2.0
#include "codec/ranges.h"

#include "codec/codec.h"

/* Below this a second read costs more than the bytes it saves. */
enum { WORTH_NBYTES = 32 << 10 };

uint64_t mr__ranges_head(mr_form form, uint32_t width, uint32_t height, uint64_t nbytes)
{
    const mr__codec *codec = mr__codec_of_form(form);
    if (nbytes < WORTH_NBYTES || codec == NULL || codec->ranges_head == NULL)
        return nbytes;
    uint64_t head = codec->ranges_head(width, height);
    return head < nbytes / 4 ? head : nbytes;
}

/* Without what has been read, and all of it if little is left out: then it can be checked as well. */
static mr__range trim(mr__range range, uint64_t head_nbytes, uint64_t nbytes)
{
    mr__range rest = {head_nbytes, nbytes - head_nbytes};
    uint64_t end = range.offset + range.nbytes;
    if (end <= head_nbytes)
        return (mr__range){head_nbytes, 0};
    if (range.offset < head_nbytes)
        range.offset = head_nbytes;
    range.nbytes = end - range.offset;
    return rest.nbytes - range.nbytes <= nbytes / 16 ? rest : range;
}

mr__range mr__ranges_of(mr_form form, const uint8_t *head, size_t head_nbytes, uint64_t nbytes, mr_rect region)
{
    const mr__codec *codec = mr__codec_of_form(form);
    mr__range range;
    if (head_nbytes >= nbytes)
        return (mr__range){nbytes, 0};
    bool known = codec != NULL && codec->ranges_of != NULL && region.width != 0 && region.height != 0 &&
                 codec->ranges_of(head, head_nbytes, nbytes, region, &range);
    return known ? trim(range, head_nbytes, nbytes) : (mr__range){head_nbytes, nbytes - head_nbytes};
}
