// SPDX-License-Identifier: Apache-2.0
/*
 * What steps and passes mean, written as plainly as can be: a whole image after each operation. Images that are given
 * are made with mr_image_init; mr_image_fini them.
 */
#ifndef TESTS_SUPPORT_PLAIN_CHAIN_H
#define TESTS_SUPPORT_PLAIN_CHAIN_H

#include "step/chain.h"

mr_image plain_crop(const mr_image *image, mr_rect rect);
mr_image plain_resize(mr_resizer *resizer, const mr_image *image, uint32_t width, uint32_t height, mr_filter filter);
mr_image plain_flip(const mr_image *image, bool x, bool y);
mr_image plain_pad(const mr_image *image, const uint32_t pad[4], mr_border border, const uint8_t fill[4]);
mr_image plain_user(const mr_image *image, const mr_user_step *user, const uint32_t *draws);

/* One pass after the other. Of the image, and of every image between, only the region is looked at. */
mr_image plain_chain(mr_resizer *resizer, const mr__chain *chain, const mr_image *image);

#endif
