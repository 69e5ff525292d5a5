// SPDX-License-Identifier: Apache-2.0
/* libjpeg's output into a buffer that grows by half. */
#include "codec/jpeg/turbo.h"

#include "base/size.h"

enum { STEP_LEAST_NBYTES = 64 * 1024 };

static void give_more(mr__turbo *t)
{
    size_t used = t->out_nbytes;
    size_t step = used / 2 > STEP_LEAST_NBYTES ? used / 2 : STEP_LEAST_NBYTES;
    if (mr__buffer_grow(t->out, t->call->hooks, used, used + step) != 0)
        mr__turbo_throw(t, mr__call_no_memory(t->call));
    t->destination.next_output_byte = t->out->bytes + used;
    t->destination.free_in_buffer = step;
    t->out_nbytes = used + step;
}

static void init_destination(j_compress_ptr cinfo)
{
    mr__turbo *t = cinfo->client_data;
    t->out_nbytes = 0;
    give_more(t);
}

static boolean empty_output_buffer(j_compress_ptr cinfo)
{
    give_more(cinfo->client_data);
    return TRUE;
}

static void term_destination(j_compress_ptr cinfo)
{
    (void)cinfo;
}

void mr__turbo_init_destination(mr__turbo *t)
{
    t->destination.init_destination = init_destination;
    t->destination.empty_output_buffer = empty_output_buffer;
    t->destination.term_destination = term_destination;
}

size_t mr__turbo_written(const mr__turbo *t)
{
    return t->out_nbytes - t->destination.free_in_buffer;
}
