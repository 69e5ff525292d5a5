// SPDX-License-Identifier: Apache-2.0
/* The linked libjpeg-turbo with a context for each image, as its documentation shows it. */
#include "libjpeg_reader.h"
#include "peers.h"

static peer_result decode(const void *bytes, size_t nbytes, const mr_image *to)
{
    libjpeg_reader *reader = libjpeg_reader_new(&libjpeg_linked);
    peer_result result = reader != NULL ? libjpeg_read(reader, bytes, nbytes, 1, to) : PEER_FAILED;
    libjpeg_reader_free(reader);
    return result;
}

static bool decode_region(const void *bytes, size_t nbytes, mr_rect region, const mr_image *to)
{
    libjpeg_reader *reader = libjpeg_reader_new(&libjpeg_linked);
    bool good = reader != NULL && libjpeg_read_region(reader, bytes, nbytes, region, to);
    libjpeg_reader_free(reader);
    return good;
}

const bench_peer peer_libjpeg = {"libjpeg-turbo", MR_FORM_JPEG, decode, decode_region};
