// SPDX-License-Identifier: Apache-2.0
#include "device/tape/flow.h"

/* Much at a time, so that little is lost where places begin. */
enum { PLACE_NBYTES = 64 << 10, ALIGN = 16 };

/* As much as is usual, or as the tape has left. */
static uint32_t next_nbytes(const mr__tape *t, uint32_t least)
{
    uint32_t end = t->put_nbytes < t->room ? t->put_nbytes : t->room, left = end > t->put ? end - t->put : 0;
    uint32_t most = left > t->guard + ALIGN * 4 ? left - t->guard - ALIGN * 4 : 0; // a place ends at a multiple of 64
    most = most < PLACE_NBYTES ? most : PLACE_NBYTES;
    return most > least ? most : least;
}

uint8_t *mr__tape_flow_ask(mr__tape_flow *f, uint32_t nbytes)
{
    if (f->bytes == NULL || nbytes > f->nbytes - f->used) {
        void *bytes;
        mr__tape_flow_end(f);
        f->nbytes = next_nbytes(f->tape, nbytes);
        f->at = mr__tape_put(f->tape, f->nbytes, &bytes);
        f->bytes = bytes;
    }
    return f->bytes != NULL ? f->bytes + f->used : NULL;
}

uint32_t mr__tape_flow_took(mr__tape_flow *f, uint32_t nbytes)
{
    uint32_t at = f->at + f->used, used = f->used + (nbytes + ALIGN - 1) / ALIGN * ALIGN;
    f->used = used < f->nbytes ? used : f->nbytes;
    return at;
}

void mr__tape_flow_end(mr__tape_flow *f)
{
    if (f->bytes != NULL)
        mr__tape_cut(f->tape, f->at, f->used);
    *f = (mr__tape_flow){.tape = f->tape};
}
