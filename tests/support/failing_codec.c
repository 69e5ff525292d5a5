// SPDX-License-Identifier: Apache-2.0
#include "failing_codec.h"

#include "test.h"

static int decode_once(mr_decoder *with, failing_decoding *d)
{
    mr_image out;
    const void *icc;
    size_t nbytes;
    int result = mr_decoder_decode(with, d->file.bytes, d->file.nbytes, &d->hints, &out);
    if (result == 0) {
        uint64_t hash = mr_image_hash(&out);
        assert_true(d->hash == 0 || d->hash == hash);
        d->hash = hash;
    }
    if (result == 0 && d->profile) {
        result = mr_decoder_icc(with, d->file.bytes, d->file.nbytes, &icc, &nbytes);
        if (result == 0)
            assert_int_equal(nbytes, d->icc_nbytes);
    }
    if (result != 0)
        assert_string_not_equal(mr_decoder_detail(with), "");
    return result;
}

int failing_decode(const mr_hooks *hooks, void *arg)
{
    failing_decoding *d = arg;
    mr_decoder_options options = {.struct_size = sizeof options, .hooks = hooks};
    mr_decoder *own;
    d->hints.struct_size = sizeof d->hints;
    int result = mr_decoder_new(&options, &own);
    if (result != 0)
        return result;
    int first = decode_once(own, d), second = decode_once(own, d);
    mr_decoder_free(own);
    return first != 0 ? first : second;
}

int failing_encode(const mr_hooks *hooks, void *arg)
{
    const failing_encoding *e = arg;
    mr_encoder_options options = {.struct_size = sizeof options, .hooks = hooks};
    mr_encoder *own;
    const void *bytes;
    size_t nbytes;
    int first = mr_encoder_new(&options, &own);
    if (first != 0)
        return first;
    for (size_t i = 0; i < e->count; i++) {
        int result = mr_encoder_encode(own, e->image, &e->options[i], &bytes, &nbytes);
        if (result != 0)
            assert_string_not_equal(mr_encoder_detail(own), "");
        first = first != 0 ? first : result;
    }
    mr_encoder_free(own);
    return first;
}
