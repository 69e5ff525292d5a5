// SPDX-License-Identifier: Apache-2.0
/* The one thing Millrace wants of EXIF: how the image is to be turned. */
#ifndef MR_CODEC_EXIF_H
#define MR_CODEC_EXIF_H

#include <stddef.h>
#include <stdint.h>

/*
 * The orientation (1 to 8) in a TIFF structure: what follows "Exif\0\0" in a JPEG, or fills an eXIf chunk of PNG or an
 * EXIF chunk of WebP (some writers put "Exif\0\0" there too: it is skipped). 1 when it has none, or is broken: metadata
 * never stands in the way of pixels.
 */
uint32_t mr__exif_orientation(const uint8_t *tiff, size_t nbytes);

/* The smallest TIFF structure that says `orientation`. */
#define MR__EXIF_NBYTES 26
void mr__exif_write(uint8_t tiff[MR__EXIF_NBYTES], uint32_t orientation);

#endif
