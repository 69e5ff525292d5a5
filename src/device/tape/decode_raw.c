// SPDX-License-Identifier: Apache-2.0
/* Raw pixels are decoded already: those of the region are put on the tape from where they lie in the file. */
#include "codec/view.h"
#include "device/tape/decode.h"

int mr__tape_decode_raw(mr__tape_writer *w, const mr__tape_source *source, mr__sheet *sheet, mr__detail *detail)
{
    mr_image part;
    mr_decode_hints hints = {.struct_size = sizeof hints, .region = source->region};
    int result = mr__decoder_view(source->decoder, source->bytes, source->nbytes, &hints, &part);
    if (result != 0)
        return mr__fail(detail, result, "%s", mr_decoder_detail(source->decoder));
    *sheet = mr__tape_image(w->tape, &part);
    return 0;
}
