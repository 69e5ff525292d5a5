// SPDX-License-Identifier: Apache-2.0
/* l3-2022 gives back every pixel, in every decoder, at every size and patch; broken files are refused, not followed. */
#include "l3_2022.h"
#include "samples.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* From a block of exactly that many bytes, so that sanitizers see a read beyond them. */
static bool decode_exactly(const l3_2022_kernels *kernels, const uint8_t *bytes, size_t nbytes, const mr_image *to)
{
    uint8_t *exact = malloc(nbytes + (nbytes == 0));
    if (exact == NULL)
        exit(2);
    memcpy(exact, bytes, nbytes);
    bool good = l3_2022_decode(kernels, exact, nbytes, to);
    free(exact);
    return good;
}

static bool comes_back(const l3_2022_kernels *kernels, const uint8_t *bytes, size_t nbytes, const mr_image *image,
                       const mr_image *to)
{
    memset(to->pixels, 99, mr_image_row_nbytes(to) * to->height);
    return decode_exactly(kernels, bytes, nbytes, to) && mr_image_hash(to) == mr_image_hash(image);
}

/* Cut short or with a byte more it is refused; with a byte changed it is refused or gives pixels, the same ones in
 * every decoder. */
static bool survives(const l3_2022_kernels *kernels, uint8_t *bytes, size_t nbytes, const mr_image *to, uint64_t *state)
{
    for (int i = 0; i < 8; i++)
        if (decode_exactly(kernels, bytes, l3_2022_random(state) % nbytes, to))
            return false;
    if (decode_exactly(kernels, bytes, nbytes + 1, to)) // the encoder leaves room behind its bytes
        return false;
    for (int i = 0; i < 16; i++) {
        size_t at = l3_2022_random(state) % nbytes;
        uint8_t change = (uint8_t)(l3_2022_random(state) % 255 + 1);
        bytes[at] ^= change;
        bool here = decode_exactly(kernels, bytes, nbytes, to);
        uint64_t hash = mr_image_hash(to);
        if (decode_exactly(&l3_2022_portable, bytes, nbytes, to) != here || (here && mr_image_hash(to) != hash))
            return false;
        bytes[at] ^= change;
    }
    return true;
}

static int check(uint32_t width, uint32_t height, uint32_t side, l3_2022_content what)
{
    mr_image image, to;
    uint64_t state = (uint64_t)width << 32 | height << 8 | side;
    size_t nbytes;
    int wrong = 0;
    if (mr_image_init(&image, width, height, 3, 8, NULL) != 0 || mr_image_init(&to, width, height, 3, 8, NULL) != 0)
        exit(2);
    l3_2022_fill(&image, what, state);
    uint8_t *bytes = l3_2022_encode(&image, side, &nbytes);
    if (bytes == NULL)
        exit(2);
    const l3_2022_kernels *all[] = {&l3_2022_portable, l3_2022_can_avx2() ? l3_2022_avx2 : NULL};
    for (size_t k = 0; k < 2 && all[k] != NULL; k++) {
        if (!comes_back(all[k], bytes, nbytes, &image, &to) || !survives(all[k], bytes, nbytes, &to, &state)) {
            printf("l3-2022: %ux%u, side %u, content %d, decoder %zu: wrong\n", width, height, side, (int)what, k);
            wrong = 1;
        }
    }
    free(bytes);
    mr_image_fini(&image, NULL);
    mr_image_fini(&to, NULL);
    return wrong;
}

int main(void)
{
    static const uint32_t sizes[] = {1, 2, 7, 16, 31, 32, 33, 63, 64, 65, 97, 130}, sides[] = {1, 5, 32, 33, 64};
    int wrong = 0, checked = 0;
    for (size_t w = 0; w < sizeof sizes / sizeof *sizes; w++)
        for (size_t h = 0; h < sizeof sizes / sizeof *sizes; h++)
            for (size_t s = 0; s < sizeof sides / sizeof *sides; s++, checked++)
                wrong += check(sizes[w], sizes[h], sides[s], (l3_2022_content)(checked % L3_2022_CONTENTS));
    for (int what = 0; what < L3_2022_CONTENTS; what++, checked++)
        wrong += check(200, 100, 32, (l3_2022_content)what);
    printf("l3-2022: %d images, %d wrong%s\n", checked, wrong, l3_2022_can_avx2() ? "" : ", without AVX2");
    return wrong != 0;
}
