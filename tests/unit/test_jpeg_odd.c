// SPDX-License-Identifier: Apache-2.0
/*
 * JPEGs that break a rule, one each: what our own decoder says of them, what libjpeg-turbo does, and that who asks for
 * either of them gets libjpeg's pixels. Whatever libjpeg takes is taken by ours or unsupported, never damage.
 */
#include "test.h"

#include "handles.h"
#include "jpeg_make.h"
#include "jpeg_plain.h"

#include <stdlib.h>
#include <string.h>

enum { DHT = 0xc4, SOF = 0xc0, SOS = 0xda, DQT = 0xdb };

/* A marker from a byte on. */
static size_t find(const picture_file *f, uint8_t marker, size_t from)
{
    while (from + 1 < f->nbytes && (f->bytes[from] != 0xff || f->bytes[from + 1] != marker))
        from++;
    assert_true(from + 1 < f->nbytes);
    return from;
}

static void put_in(picture_file *f, size_t at, const void *bytes, size_t nbytes)
{
    f->bytes = realloc(f->bytes, f->nbytes + nbytes);
    assert_non_null(f->bytes);
    memmove(f->bytes + at + nbytes, f->bytes + at, f->nbytes - at);
    memcpy(f->bytes + at, bytes, nbytes);
    f->nbytes += nbytes;
}

static void take_out(picture_file *f, size_t at, size_t nbytes)
{
    memmove(f->bytes + at, f->bytes + at + nbytes, f->nbytes - at - nbytes);
    f->nbytes -= nbytes;
}

/* The second scan, with its data, stands there once more. */
static void repeat_scan(picture_file *f)
{
    size_t first = find(f, SOS, 0), second = find(f, SOS, first + 2), third = find(f, SOS, second + 2);
    uint8_t *copy = malloc(third - second);
    assert_non_null(copy);
    memcpy(copy, f->bytes + second, third - second);
    put_in(f, third, copy, third - second);
    free(copy);
}

static void drop_last_scan(picture_file *f)
{
    size_t first = find(f, SOS, 0), second = find(f, SOS, first + 2), third = find(f, SOS, second + 2);
    take_out(f, third, f->nbytes - 2 - third);
}

static void scan_third_twice(picture_file *f) // and the second not at all
{
    size_t second = find(f, SOS, find(f, SOS, 0) + 2);
    f->bytes[second + 5] = 3;
}

static void name_twice(picture_file *f)
{
    size_t frame = find(f, SOF, 0), scan = find(f, SOS, 0);
    f->bytes[frame + 13] = 1;
    f->bytes[scan + 7] = 1;
}

static void widen_quantisers(picture_file *f) // says "4" where only 0 and 1 are known, with 128 bytes behind it
{
    size_t at = find(f, DQT, 0);
    uint8_t wide[128] = {0};
    for (size_t i = 0; i < 64; i++)
        wide[2 * i + 1] = f->bytes[at + 5 + i];
    take_out(f, at + 5, 64);
    put_in(f, at + 5, wide, sizeof wide);
    f->bytes[at + 3] = 2 + 1 + 128;
    f->bytes[at + 4] |= 0x40;
}

static void raise_quantisers(picture_file *f) // so that products are beyond 16 bits
{
    widen_quantisers(f);
    memset(f->bytes + find(f, DQT, 0) + 5, 0xff, 128);
}

static void raise_ac_quantisers(picture_file *f) // the same, of all but DC
{
    widen_quantisers(f);
    memset(f->bytes + find(f, DQT, 0) + 7, 0x7f, 126);
}

static void repeat_last_scan(picture_file *f) // which knows its coefficients to the last bit from the beginning
{
    size_t last = 0;
    for (size_t i = 0; i + 1 < f->nbytes; i++)
        last = f->bytes[i] == 0xff && f->bytes[i + 1] == SOS ? i : last;
    size_t nbytes = f->nbytes - 2 - last;
    uint8_t *copy = malloc(nbytes);
    assert_non_null(copy);
    memcpy(copy, f->bytes + last, nbytes);
    put_in(f, f->nbytes - 2, copy, nbytes);
    free(copy);
}

static void add_impossible_table(picture_file *f) // that no scan needs
{
    static const uint8_t table[] = {0xff, DHT, 0, 22, 0x03, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3};
    put_in(f, find(f, SOS, 0), table, sizeof table);
}

static void use_impossible_table(picture_file *f)
{
    add_impossible_table(f);
    f->bytes[find(f, SOS, 0) + 6] |= 0x30;
}

static void name_unused_table(picture_file *f) // the AC table of a scan that has DC only
{
    f->bytes[find(f, SOS, 0) + 6] |= 0x0f;
}

static void fill_data(picture_file *f) // ff ff 00 in the data
{
    size_t at = find(f, 0, find(f, SOS, 0) + 14);
    put_in(f, at, "\xff", 1);
}

static void fill_marker(picture_file *f)
{
    put_in(f, find(f, SOS, find(f, SOS, 0) + 2), "\xff\xff", 2);
}

static void fill_behind(picture_file *f)
{
    put_in(f, f->nbytes - 2, "\xff\xff\0", 3);
}

static void lengthen_interval(picture_file *f)
{
    put_in(f, find(f, 0xd1, 0), "ab", 2);
}

static void swap_restarts(picture_file *f)
{
    f->bytes[find(f, 0xd1, 0) + 1] = 0xd2;
}

static void drop_restart(picture_file *f)
{
    take_out(f, find(f, 0xd1, 0), 2);
}

static void change_parameters(picture_file *f)
{
    size_t scan = find(f, SOS, 0);
    f->bytes[scan + 12] = 0;
}

static void empty_segment(picture_file *f) // behind the first scan
{
    size_t first = find(f, SOS, 0), second = find(f, SOS, first + 2);
    put_in(f, second, "\xff\xe5\0\0", 4);
}

static void drop_end(picture_file *f)
{
    f->nbytes -= 2;
}

static void second_start(picture_file *f)
{
    put_in(f, find(f, SOS, find(f, SOS, 0) + 2), "\xff\xd8", 2);
}

static void second_frame(picture_file *f)
{
    uint8_t frame[19];
    memcpy(frame, f->bytes + find(f, SOF, 0), sizeof frame);
    put_in(f, find(f, SOS, find(f, SOS, 0) + 2), frame, sizeof frame);
}

static void adobe_between(picture_file *f) // says RGB, too late
{
    put_in(f, find(f, SOS, find(f, SOS, 0) + 2),
           "\xff\xee\0\x0e"
           "Adobe\0\x64\0\0\0\0\0",
           16);
}

static void new_jfif(picture_file *f)
{
    f->bytes[11] = 2;
}

static void odd_adobe(picture_file *f)
{
    put_in(f, 2,
           "\xff\xee\0\x0e"
           "Adobe\0\x64\0\0\0\0\x07",
           16);
}

static void lone_markers(picture_file *f) // TEM and a restart, before a segment
{
    put_in(f, find(f, SOS, 0), "\xff\x01\xff\xd5", 4);
}

/*
 * Kinds of file. Smooth: its values all come out of lookups, with their codes; bands: progressive, no bit of a
 * coefficient later than the others; bare: without a JFIF marker.
 */
enum { WHOLE, SMOOTH, SEPARATE, INTERVALS, SCANS, BANDS, BARE };

static const struct {
    const char *name;
    void (*change)(picture_file *file);
    int kind;
    int own;
    bool libjpeg; /* takes it */
    bool warns;
} cases[] = {
    {"a scan twice", repeat_scan, SEPARATE, MR_EUNSUPPORTED, true, false},
    {"no scan of a component", drop_last_scan, SEPARATE, MR_EUNSUPPORTED, true, false},
    {"a scan of the third component twice", scan_third_twice, SEPARATE, MR_EUNSUPPORTED, true, false},
    {"two components of one name", name_twice, WHOLE, MR_EUNSUPPORTED, true, false},
    {"quantisers of width 4", widen_quantisers, WHOLE, 0, true, false},
    {"quantisers of 65535", raise_quantisers, WHOLE, MR_EUNSUPPORTED, true, false},
    {"quantisers of 65535, several scans", raise_quantisers, SEPARATE, MR_EUNSUPPORTED, true, false},
    {"quantisers of 65535, progressive", raise_quantisers, SCANS, MR_EUNSUPPORTED, true, false},
    {"quantisers of 32639 but for DC", raise_ac_quantisers, SMOOTH, MR_EUNSUPPORTED, true, false},
    {"a progressive scan twice", repeat_last_scan, BANDS, MR_EUNSUPPORTED, true, false},
    {"a table that cannot be", add_impossible_table, WHOLE, 0, true, false},
    {"a needed table that cannot be", use_impossible_table, WHOLE, MR_ECORRUPT, false, false},
    {"an unused number of a table", name_unused_table, SCANS, 0, true, false},
    {"fill bytes in data", fill_data, WHOLE, MR_ECORRUPT, false, false},
    {"fill bytes in data, several scans", fill_data, SEPARATE, MR_ECORRUPT, false, false},
    {"fill bytes in data, progressive", fill_data, SCANS, MR_ECORRUPT, false, false},
    {"fill bytes in data, before a restart", fill_data, INTERVALS, MR_ECORRUPT, false, false},
    {"fill bytes before a marker", fill_marker, SEPARATE, 0, true, false},
    {"fill bytes and a zero behind the last pixel", fill_behind, WHOLE, 0, true, true},
    {"data too long before a restart", lengthen_interval, INTERVALS, 0, true, true},
    {"another restart marker", swap_restarts, INTERVALS, MR_ECORRUPT, false, false},
    {"no restart marker", drop_restart, INTERVALS, MR_ECORRUPT, false, false},
    {"parameters of a sequential scan", change_parameters, WHOLE, 0, true, true},
    {"a segment without a length", empty_segment, SEPARATE, MR_EUNSUPPORTED, true, false},
    {"no end marker, one scan", drop_end, WHOLE, 0, true, true},
    {"no end marker, several scans", drop_end, SEPARATE, MR_ETRUNCATED, false, false},
    {"a second start", second_start, SEPARATE, MR_ECORRUPT, false, false},
    {"a second frame", second_frame, SEPARATE, MR_ECORRUPT, false, false},
    {"Adobe's marker between scans", adobe_between, SEPARATE, 0, true, false},
    {"a later JFIF", new_jfif, WHOLE, 0, true, true},
    {"Adobe's transform 7", odd_adobe, BARE, 0, true, true},
    {"markers that stand alone", lone_markers, WHOLE, 0, true, false},
};

static picture_file make(int kind)
{
    plain_recipe r = {.width = 53, .height = 47, .space = PLAIN_YCC, .factors = {0x21}, .quality = 95};
    r.separate = kind == SEPARATE;
    r.progressive = kind == SCANS;
    r.restart = kind == INTERVALS ? 3 : 0;
    r.no_jfif = kind == BARE;
    make_recipe m = {.width = 53, .height = 47, .space = PLAIN_YCC, .factors = {0x21}};
    m.script = kind == BANDS ? MAKE_SPECTRAL : MAKE_ONE;
    m.look = kind == SMOOTH ? MAKE_SMOOTH : MAKE_MIXED;
    if (kind == BANDS || kind == SMOOTH)
        return make_jpeg(&m);
    return plain_encode(&r);
}

static mr_decoder *decoder_of(mr_jpeg_choice choice)
{
    const mr_decoder_options options = {.struct_size = sizeof options, .jpeg = choice};
    mr_decoder *d = NULL;
    assert_int_equal(mr_decoder_new(&options, &d), 0);
    return d;
}

static mr_decoder *own, *libjpeg;

static void check_case(size_t i, const picture_file *file, const mr_decode_hints *hints)
{
    mr_image by_own, by_libjpeg, by_either;
    int result = mr_decoder_decode(own, file->bytes, file->nbytes, hints, &by_own);
    if (result != cases[i].own)
        print_error("%s: %s, not %s: %s\n", cases[i].name, mr_error_name(result), mr_error_name(cases[i].own),
                    mr_decoder_detail(own));
    assert_int_equal(result, cases[i].own);
    assert_int_equal(mr_decoder_warnings(own) != 0, cases[i].warns && result == 0);
    int theirs = mr_decoder_decode(libjpeg, file->bytes, file->nbytes, hints, &by_libjpeg);
    if ((theirs == 0) != cases[i].libjpeg)
        print_error("%s, by libjpeg: %s\n", cases[i].name, mr_decoder_detail(libjpeg));
    assert_int_equal(theirs == 0, cases[i].libjpeg);
    int either = mr_decoder_decode(decoder, file->bytes, file->nbytes, hints, &by_either);
    assert_int_equal(either == 0, cases[i].libjpeg);
    if (either == 0)
        assert_true(picture_same(&by_either, &by_libjpeg));
    if (result == 0)
        assert_true(picture_same(&by_own, &by_libjpeg));
}

static void oddities(void **state)
{
    (void)state;
    own = decoder_of(MR_JPEG_OWN);
    libjpeg = decoder_of(MR_JPEG_LIBJPEG);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        picture_file file = make(cases[i].kind);
        cases[i].change(&file);
        uint32_t most = cases[i].change == raise_ac_quantisers ? 4 : 8; // 1/8 of gray is DC alone
        for (uint32_t reduce = 1; reduce <= most; reduce *= 2)
            for (uint32_t channels = 1; channels <= 3; channels += 2)
                check_case(
                    i, &file,
                    &(mr_decode_hints){.struct_size = sizeof(mr_decode_hints), .reduce = reduce, .channels = channels});
        free(file.bytes);
    }
    mr_decoder_free(own);
    mr_decoder_free(libjpeg);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(oddities)};
    return cmocka_run_group_tests(tests, handles_setup, handles_teardown);
}
