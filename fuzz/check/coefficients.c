// SPDX-License-Identifier: Apache-2.0
/*
 * What must hold of a JPEG's coefficients, which no public function gives: this check includes the library's inside.
 * 1. What is read is what libjpeg reads, and the same whatever stood in new memory.
 * 2. Where an origin can be made, it makes the very same file.
 * 3. A file written without one has the same coefficients.
 * 4. An origin with other bytes, and any bytes as an origin, make a file or an error, within the limits.
 */
#include "check.h"

#include "codec/handle.h"
#include "codec/jpeg/coefficients.h"
#include "plain.h"

#include <string.h>

/* Handles and buffers of one run. */
typedef struct subject {
    mr__handle *handle;
    mr__jpeg_coefficients_work work, back;
    mr__buffer origin, out;
    size_t origin_nbytes;
} subject;

static int open_subject(subject *s, const fuzz_setting *setting, fuzz_heap *heap)
{
    mr_hooks hooks = fuzz_heap_hooks(heap);
    *s = (subject){.handle = NULL};
    return mr__handle_new(sizeof *s->handle, &hooks, &setting->limits, &s->handle);
}

static void close_subject(subject *s)
{
    const mr_hooks *hooks = &s->handle->hooks;
    mr__jpeg_coefficients_fini(&s->work, hooks);
    mr__jpeg_coefficients_fini(&s->back, hooks);
    mr__buffer_fini(&s->origin, hooks);
    mr__buffer_fini(&s->out, hooks);
    mr__handle_trim(s->handle);
    mr__handle_free(s->handle);
}

static int end(subject *s, const mr__call *call, int result)
{
    mr__handle_end(s->handle, call, result);
    FUZZ_REQUIRE(result == 0 || s->handle->detail.text[0] != '\0', "%s without a detail", mr_error_name(result));
    FUZZ_REQUIRE(result != MR_EINTERNAL, "%s", s->handle->detail.text);
    return result;
}

static int read_coefficients(subject *s, mr__jpeg_coefficients_work *work, const uint8_t *bytes, size_t nbytes,
                             mr__jpeg_coefficients *c)
{
    mr__call call = mr__handle_call(s->handle, bytes, nbytes);
    return end(s, &call, mr__jpeg_coefficients_read(&call, work, c));
}

static int make_origin(subject *s, const uint8_t *bytes, size_t nbytes, const mr__jpeg_coefficients *c)
{
    mr__call call = mr__handle_call(s->handle, bytes, nbytes);
    return end(s, &call, mr__jpeg_origin_make(&call, c, NULL, 0, &s->origin, &s->origin_nbytes));
}

static int use_origin(subject *s, mr__jpeg_coefficients *c, const uint8_t *origin, size_t origin_nbytes, size_t *nbytes)
{
    mr__call call = mr__handle_call(s->handle, NULL, 0);
    return end(s, &call, mr__jpeg_origin_write(&call, c, NULL, 0, origin, origin_nbytes, &s->out, nbytes));
}

static int write_coefficients(subject *s, mr__jpeg_coefficients *c, size_t *nbytes)
{
    mr__call call = mr__handle_call(s->handle, NULL, 0);
    return end(s, &call, mr__jpeg_coefficients_write(&call, c, NULL, 0, &s->out, nbytes));
}

/* Of all blocks that carry pixels. */
static uint64_t hash_blocks(const mr__jpeg_coefficients *c)
{
    uint64_t hash = c->width * UINT64_C(31) + c->height;
    for (uint32_t i = 0; i < c->components; i++) {
        const mr__jpeg_plane *p = &c->plane[i];
        mr_image view = {.width = p->blocks_w * 64, .height = p->blocks_h, .channels = 1, .depth = 16};
        view.stride = (ptrdiff_t)p->padded_w * 128;
        view.pixels = p->blocks;
        hash = hash * UINT64_C(0x9e3779b97f4a7c15) + mr_image_hash(&view);
        for (uint32_t k = 0; k < 64; k++)
            hash = hash * 31 + c->quant[p->table][k];
    }
    return hash;
}

static void compare_plane(j_decompress_ptr j, jvirt_barray_ptr array, const mr__jpeg_plane *p)
{
    static const uint8_t natural[64] = {0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,
                                        12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6,  7,  14, 21, 28,
                                        35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
                                        58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};
    for (uint32_t y = 0; y < p->blocks_h; y++) {
        JBLOCKARRAY row = j->mem->access_virt_barray((j_common_ptr)j, array, y, 1, FALSE);
        for (uint32_t i = 0; i < p->blocks_w * 64; i++)
            FUZZ_REQUIRE(p->blocks[(size_t)y * p->padded_w * 64 + i] == row[0][i / 64][natural[i % 64]],
                         "block %u, row %u: coefficient %u is another than libjpeg's", i / 64, y, i % 64);
    }
}

/* 1 */
static void compare_plainly(const uint8_t *bytes, size_t nbytes, const mr__jpeg_coefficients *c)
{
    struct jpeg_decompress_struct j;
    plain_error error;
    char text[JMSG_LENGTH_MAX];
    j.err = plain_error_init(&error);
    jpeg_create_decompress(&j);
    if (setjmp(error.jump) != 0) {
        error.base.format_message((j_common_ptr)&j, text);
        fuzz_fail(__FILE__, __LINE__, "libjpeg reads it too", "%s", text);
    }
    jpeg_mem_src(&j, bytes, nbytes);
    jpeg_read_header(&j, TRUE);
    jvirt_barray_ptr *arrays = jpeg_read_coefficients(&j);
    FUZZ_REQUIRE(j.image_width == c->width && j.image_height == c->height &&
                     (uint32_t)j.num_components == c->components,
                 "libjpeg sees another image");
    for (uint32_t i = 0; i < c->components; i++)
        compare_plane(&j, arrays[i], &c->plane[i]);
    jpeg_destroy_decompress(&j);
}

/* 3 */
static void check_written(subject *s, mr__jpeg_coefficients *c)
{
    mr__jpeg_coefficients back;
    size_t nbytes;
    uint64_t hash = hash_blocks(c);
    int result = write_coefficients(s, c, &nbytes);
    // DC coefficients far from each other have no code.
    FUZZ_REQUIRE(result == 0 || strstr(s->handle->detail.text, "no code") != NULL, "%s", s->handle->detail.text);
    if (result != 0)
        return;
    result = read_coefficients(s, &s->back, s->out.bytes, nbytes, &back);
    FUZZ_REQUIRE(result == 0, "what was written is not read: %s", s->handle->detail.text);
    FUZZ_REQUIRE(hash == hash_blocks(&back), "what was written has other coefficients");
}

/* 4 */
static void check_hostile(subject *s, mr__jpeg_coefficients *c, const uint8_t *origin, size_t origin_nbytes)
{
    size_t nbytes;
    int result = use_origin(s, c, origin, origin_nbytes, &nbytes);
    if (result == 0)
        FUZZ_REQUIRE(nbytes <= s->handle->limits.nbytes, "a file of %zu bytes", nbytes);
}

static void check_mutated(subject *s, mr__jpeg_coefficients *c, fuzz_draw *draw)
{
    for (int i = 0; i < 4; i++) {
        uint8_t *byte = &s->origin.bytes[fuzz_draw_below(draw, (uint32_t)s->origin_nbytes)];
        *byte = (uint8_t)fuzz_draw_u64(draw);
        check_hostile(s, c, s->origin.bytes, s->origin_nbytes);
    }
}

/* 2 */
static void check_origin(subject *s, mr__jpeg_coefficients *c, const uint8_t *bytes, size_t nbytes)
{
    size_t made;
    int result = use_origin(s, c, s->origin.bytes, s->origin_nbytes, &made);
    FUZZ_REQUIRE(result == 0, "an origin was made, but does not work: %s", s->handle->detail.text);
    FUZZ_REQUIRE(made == nbytes && memcmp(s->out.bytes, bytes, nbytes) == 0, "an origin makes another file");
}

/* Any bytes as an origin of a small gray image. */
static void check_bytes(subject *s, const uint8_t *bytes, size_t nbytes)
{
    int16_t blocks[2 * 2 * 64] = {5, 1, [64] = -7, [65 + 20] = 3};
    mr__jpeg_coefficients c = {.width = 16, .height = 16, .components = 1, .hmax = 1, .vmax = 1, .orientation = 1};
    c.plane[0] = (mr__jpeg_plane){1, 1, 1, 0, 2, 2, 2, 2, blocks};
    check_hostile(s, &c, bytes, nbytes);
}

void fuzz_check_coefficients(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes)
{
    (void)form;
    uint64_t hash = 0;
    for (int i = 0; i < 2; i++) {
        fuzz_heap heap = {.fill = i == 0 ? 0x5a : 0xa5};
        fuzz_draw draw = fuzz_draw_init(setting, bytes, nbytes);
        subject s;
        mr__jpeg_coefficients c;
        FUZZ_REQUIRE(open_subject(&s, setting, &heap) == 0, "no handle");
        check_bytes(&s, bytes, nbytes);
        if (read_coefficients(&s, &s.work, bytes, nbytes, &c) == 0) {
            if (i == 0)
                compare_plainly(bytes, nbytes, &c);
            FUZZ_REQUIRE(i == 0 || hash == hash_blocks(&c), "coefficients depend on what stood in new memory");
            hash = hash_blocks(&c);
            if (make_origin(&s, bytes, nbytes, &c) == 0) {
                check_origin(&s, &c, bytes, nbytes);
                check_mutated(&s, &c, &draw);
            }
            check_written(&s, &c);
        }
        close_subject(&s);
        FUZZ_REQUIRE(heap.blocks == 0, "%lld blocks are left", (long long)heap.blocks);
    }
}

/* All of it once; the first failure ends it. */
static int run_all(subject *s, const uint8_t *bytes, size_t nbytes)
{
    mr__jpeg_coefficients c;
    size_t made;
    int result = read_coefficients(s, &s->work, bytes, nbytes, &c);
    if (result == 0)
        result = make_origin(s, bytes, nbytes, &c);
    if (result == 0)
        result = use_origin(s, &c, s->origin.bytes, s->origin_nbytes, &made);
    if (result == 0)
        FUZZ_REQUIRE(made == nbytes && memcmp(s->out.bytes, bytes, nbytes) == 0, "an origin makes another file");
    return result == 0 ? write_coefficients(s, &c, &made) : result;
}

static uint64_t run_failing(const fuzz_setting *setting, const uint8_t *bytes, size_t nbytes, uint64_t fail_at,
                            bool fail_on, int *calm)
{
    fuzz_heap heap = {.fill = 0xa5, .fail_at = fail_at, .fail_on = fail_on};
    subject s;
    if (setting->arm != NULL)
        setting->arm(&heap);
    if (open_subject(&s, setting, &heap) == 0) {
        int result = run_all(&s, bytes, nbytes);
        if (fail_at == 0)
            *calm = result;
        FUZZ_REQUIRE(result == *calm || result == MR_ENOMEM, "allocation %llu fails: %s", (unsigned long long)fail_at,
                     s.handle->detail.text);
        heap.fail_at = 0;
        result = run_all(&s, bytes, nbytes);
        FUZZ_REQUIRE(result == *calm, "with memory again: %s", s.handle->detail.text);
        close_subject(&s);
    }
    if (setting->arm != NULL)
        setting->arm(NULL);
    FUZZ_REQUIRE(heap.blocks == 0, "%lld blocks are left", (long long)heap.blocks);
    return heap.calls;
}

void fuzz_check_coefficients_failing(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes)
{
    (void)form;
    int calm = 0;
    fuzz_draw draw = fuzz_draw_init(setting, bytes, nbytes);
    uint64_t calls = run_failing(setting, bytes, nbytes, 0, false, &calm);
    for (uint64_t i = 1; setting->every && i <= calls; i++)
        run_failing(setting, bytes, nbytes, i, false, &calm);
    for (int i = 0; i < 3; i++)
        run_failing(setting, bytes, nbytes, 1 + fuzz_draw_u64(&draw) % calls, fuzz_draw_below(&draw, 2) == 0, &calm);
}
