// SPDX-License-Identifier: Apache-2.0
#include "guard.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t page_nbytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* `rows` times so many usable bytes, rounded up to pages, each between pages that are not. Returns bytes of one. */
static size_t map_rows(guard *g, size_t rows, size_t nbytes)
{
    size_t page = page_nbytes(), usable = (nbytes + page - 1) / page * page, each = usable + page;
    g->nbytes = rows * each + page;
    g->map = mmap(NULL, g->nbytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (g->map == MAP_FAILED)
        abort();
    for (size_t i = 0; i < rows; i++)
        if (usable != 0 && mprotect(g->map + page + i * each, usable, PROT_READ | PROT_WRITE) != 0)
            abort();
    return each;
}

const uint8_t *guard_bytes(guard *g, const void *bytes, size_t nbytes)
{
    size_t each = map_rows(g, 1, nbytes);
    uint8_t *at = g->map + each - nbytes;
    memcpy(at, bytes, nbytes);
    return at;
}

mr_image guard_image(guard *g, const mr_image *like, bool at_start)
{
    size_t row = mr_image_row_nbytes(like), each = map_rows(g, like->height, row);
    mr_image image = *like;
    image.stride = (ptrdiff_t)each;
    image.pixels = g->map + (at_start ? page_nbytes() : each - row);
    return image;
}

void guard_free(guard *g)
{
    munmap(g->map, g->nbytes);
}
