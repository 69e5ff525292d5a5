// SPDX-License-Identifier: Apache-2.0
/*
 * From planes of samples, as the IDCT gives them, to the pixels of a region: the same as that crop of the whole decode.
 * Nothing is allocated.
 *
 *     mr__jpeg_layout_init        once an image and reduction: sizes of the components, how each is upsampled
 *     mr__jpeg_layout_blocks      once a region and component: which blocks to transform, by layout.part[k].idct
 *     mr__jpeg_assemble           once a region: pixels
 *
 * A large region is better done in bands of rows, so that planes stay in cache: transform what mr__jpeg_layout_blocks
 * asks for the band and is not there yet, into a ring of rows, then assemble the band. tests/support/jpeg_backend.c
 * shows that way and the plain one.
 */
#ifndef MR_KERNEL_JPEG_ASSEMBLE_H
#define MR_KERNEL_JPEG_ASSEMBLE_H

#include "kernel/jpeg_pixels.h"

#include <millrace/image.h>
#include <stdbool.h>

#define MR__JPEG_PARTS_MAX 3

/* How a component comes to the size of the image. */
typedef enum mr__jpeg_rise {
    MR__JPEG_RISE_NONE, /* it has it */
    MR__JPEG_RISE_BOX,  /* each sample is repeated */
    MR__JPEG_RISE_H2V1, /* the others blend neighbours ("fancy") */
    MR__JPEG_RISE_H1V2,
    MR__JPEG_RISE_H2V2
} mr__jpeg_rise;

/* One component of the image at the reduction chosen. */
typedef struct mr__jpeg_part {
    uint32_t width, height;      /* samples that count */
    uint32_t blocks_w, blocks_h; /* of `size` x `size` samples; the last ones reach over the edge */
    uint8_t size;                /* samples of a block across and down: 8, 4, 2, 1 */
    uint8_t idct;                /* index of that kernel */
    uint8_t across, down;        /* pixels a sample, each way */
    mr__jpeg_rise rise;
} mr__jpeg_part;

typedef struct mr__jpeg_layout {
    uint32_t width, height; /* of the image, reduced */
    uint32_t parts;
    bool rgb; /* three components are R, G, B; otherwise Y, Cb, Cr */
    mr__jpeg_part part[MR__JPEG_PARTS_MAX];
} mr__jpeg_layout;

typedef struct mr__jpeg_frame {
    uint32_t width, height;
    uint32_t parts;                /* 1 or 3 */
    bool rgb;                      /* of three, as above */
    bool luma_only;                /* pixels will be the first part alone: the others need not divide */
    uint8_t h[MR__JPEG_PARTS_MAX]; /* sampling factors of the frame header, 1 to 4 */
    uint8_t v[MR__JPEG_PARTS_MAX];
} mr__jpeg_frame;

/*
 * `reduce` is 1, 2, 4 or 8. False when the frame makes no sense (an empty image or one beyond 65535, other numbers) or
 * its factors do not divide, which libjpeg-turbo does not decode either.
 */
bool mr__jpeg_layout_init(mr__jpeg_layout *layout, const mr__jpeg_frame *frame, uint32_t reduce);

/*
 * What a region of the (reduced) image needs of a component, neighbours for blending included: in samples, and in
 * blocks. The region is inside the image and not empty. For one channel of a colour image only part 0 is needed.
 */
mr_rect mr__jpeg_layout_samples(const mr__jpeg_layout *layout, uint32_t part, mr_rect region);
mr_rect mr__jpeg_layout_blocks(const mr__jpeg_layout *layout, uint32_t part, mr_rect region);

/*
 * Samples of a component. The sample (x, y) of the component lies at samples + (y - top) * stride + (x - left), for
 * all samples that the region needs. With `ring` not 0 the rows come round: at ((y - top) % ring) * stride. Readable to
 * MR__JPEG_SLACK bytes behind the last sample needed of each row.
 */
typedef struct mr__jpeg_samples {
    const uint8_t *samples;
    ptrdiff_t stride;
    uint32_t left, top;
    uint32_t ring;
} mr__jpeg_samples;

/* Bytes of the work area for regions up to `width` pixels wide; a multiple of 64. */
size_t mr__jpeg_assemble_nbytes(uint32_t width);

/*
 * Writes the pixels of `region` to `to`, which has its size, 8 bits and 1 or 3 channels; one channel is gray, or the Y
 * of YCbCr, or the R of RGB. Not a byte beyond each row is written. `work` is 64-byte aligned.
 */
void mr__jpeg_assemble(const mr__jpeg_pixels *kernels, const mr__jpeg_layout *layout, const mr__jpeg_samples *parts,
                       mr_rect region, void *work, const mr_image *to);

#endif
