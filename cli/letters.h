// SPDX-License-Identifier: Apache-2.0
/* Small letters on an image: ASCII, 5 x 7 dots each and one below,, for the captions of a contact sheet. */
#ifndef CLI_LETTERS_H
#define CLI_LETTERS_H

#include <millrace/image.h>

enum { LETTER_WIDTH = 6, LETTER_HEIGHT = 9 }; /* of one with the space around it */

/*
 * Writes text on an 8-bit RGB image, its left top corner at x, y, no wider than `width`: what does not fit is left out
 * from its middle ("n0144...18.png"), what is outside the image is not drawn, and what is no ASCII is a box.
 */
void letters_put(const mr_image *image, uint32_t x, uint32_t y, uint32_t width, const uint8_t color[3],
                 const char *text);

#endif
