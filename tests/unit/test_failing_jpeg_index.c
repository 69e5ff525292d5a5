// SPDX-License-Identifier: Apache-2.0
/* Every allocation of making and using a row index refused in turn; and none when it is done again. */
#include "test.h"

#include "check.h"
#include "failing_codec.h"
#include "jpeg_plain.h"

#include <stdlib.h>
#include <string.h>

static picture_file make_file(void)
{
    plain_recipe r = {.width = 61, .height = 151, .space = PLAIN_YCC, .factors = {0x22}, .restart = 7};
    return plain_encode(&r);
}

/* Made twice, whatever came of the first time; the bytes must be the same. */
static int make_twice(const mr_hooks *hooks, void *arg)
{
    const picture_file *file = arg;
    mr_decoder *own = NULL;
    uint8_t first[512];
    size_t first_nbytes = 0;
    int results[2];
    mr_decoder_options options = {.struct_size = sizeof options, .hooks = hooks};
    if (mr_decoder_new(&options, &own) != 0)
        return MR_ENOMEM;
    for (int i = 0; i < 2; i++) {
        const void *index;
        size_t nbytes;
        results[i] = mr_decoder_index(own, file->bytes, file->nbytes, &index, &nbytes);
        assert_true((results[i] == 0) == (mr_decoder_detail(own)[0] == '\0'));
        if (results[i] != 0)
            continue;
        assert_true(nbytes > 40 && nbytes <= sizeof first);
        if (first_nbytes != 0)
            assert_true(nbytes == first_nbytes && memcmp(first, index, nbytes) == 0);
        memcpy(first, index, first_nbytes = nbytes);
    }
    mr_decoder_free(own);
    return results[0] != 0 ? results[0] : results[1];
}

static void making(void **state)
{
    (void)state;
    picture_file file = make_file();
    failing_run(make_twice, &file);
    free(file.bytes);
}

static picture_file make_index(const picture_file *file)
{
    const void *index;
    size_t nbytes;
    mr_decoder *own = handles_decoder(NULL, NULL);
    assert_int_equal(mr_decoder_index(own, file->bytes, file->nbytes, &index, &nbytes), 0);
    picture_file copy = picture_copy(index, nbytes);
    mr_decoder_free(own);
    return copy;
}

static void using(void **state)
{
    (void)state;
    picture_file file = make_file(), index = make_index(&file);
    failing_decoding d = {.file = file, .hints = {.region = {9, 85, 40, 30}}};
    d.hints.index = index.bytes;
    d.hints.index_nbytes = index.nbytes;
    failing_run(failing_decode, &d);
    check_memory_is_kept(&file, &d.hints);
    free(file.bytes);
    free(index.bytes);
}

static void making_again_allocates_nothing(void **state)
{
    (void)state;
    picture_file file = make_file();
    mr_hooks hooks = failing_hooks();
    const void *index;
    size_t nbytes;
    failing_begin(0, false);
    mr_decoder *own = handles_decoder(&hooks, NULL);
    assert_int_equal(mr_decoder_index(own, file.bytes, file.nbytes, &index, &nbytes), 0);
    size_t before = failing_now().attempts;
    assert_int_equal(mr_decoder_index(own, file.bytes, file.nbytes, &index, &nbytes), 0);
    assert_int_equal(failing_now().attempts, before);
    mr_decoder_free(own);
    assert_int_equal(failing_end().live_blocks, 0);
    free(file.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(making),
        cmocka_unit_test(using),
        cmocka_unit_test(making_again_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
