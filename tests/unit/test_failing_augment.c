// SPDX-License-Identifier: Apache-2.0
/* Augmenting with every allocation refused in turn. */
#include "test.h"

#include "failing.h"
#include "step/augment.h"

#include <string.h>

enum { SIDE = 24 };

static int fill(void *user, const mr_image *from, const mr_image *to, const uint32_t *draws, void *scratch)
{
    (void)user;
    (void)draws;
    memset(scratch, 1, 500);
    return mr_image_copy(from, to);
}

static mr__pass pass_of(uint32_t width, uint32_t height, uint32_t to, mr_filter filter)
{
    mr__pass p = {.width = width, .height = height, .to_width = to, .to_height = to, .filter = filter};
    p.crop = (mr_rect){0, 0, width, height};
    p.window = (mr_rect){0, 0, to, to};
    p.canvas_width = p.canvas_height = to;
    return p;
}

/* One that was refused memory goes on: the next image works, or is refused again. */
static int augment(const mr_hooks *given, void *arg)
{
    const mr_image *image = arg;
    const mr_user_step step = {.struct_size = sizeof step, .name = "fill", .memory_nbytes = 500, .run = fill};
    static uint8_t slot[SIDE * SIDE * 4 * sizeof(float)];
    mr__finish finish = {.depth = image->depth};
    mr__augment *a = NULL;
    mr_hooks hooks;
    finish.output = (mr_output){sizeof finish.output, SIDE, SIDE, image->channels, MR_NCHW, MR_F32, sizeof slot};
    assert_int_equal(mr__hooks_init(&hooks, given), 0);
    int result = mr__augment_new(&hooks, mr__cpu_detect(), &finish, &a);
    assert_int_equal(a == NULL, result != 0);
    for (uint32_t i = 0; i < 4 && result == 0; i++) {
        mr__chain chain = {.count = 3};
        mr__detail detail = {""};
        chain.pass[0] = pass_of(30, 30, 40 - i, MR_FILTER_BILINEAR);
        chain.op[0] = (mr__op){.kind = MR__OP_USER, .width = 40 - i, .height = 40 - i, .u.user = {&step, NULL}};
        chain.op[0].to_width = chain.op[0].to_height = 40 - i;
        chain.op[0].from = chain.op[0].to = (mr_rect){0, 0, 40 - i, 40 - i};
        chain.pass[0].ops = i % 2;
        chain.pass[1] = pass_of(40 - i, 40 - i, 50, MR_FILTER_NEAREST);
        chain.pass[2] = pass_of(50, 50, SIDE, MR_FILTER_LANCZOS);
        result = mr__augment_run(a, &chain, image, slot, &detail);
        assert_int_equal(detail.text[0] == '\0', result == 0);
        int again = mr__augment_run(a, &chain, image, slot, &detail);
        assert_true(again == 0 || again == MR_ENOMEM);
    }
    mr__augment_free(a);
    return result;
}

static void augmenting(void **state)
{
    (void)state;
    static uint16_t pixels[30 * 30 * 4];
    for (uint32_t channels = 1; channels <= 4; channels += channels == 1 ? 2 : 1)
        for (uint32_t depth = 8; depth <= 16; depth += 8) {
            mr_image image = {30, 30, channels, depth, 240, pixels};
            failing_run(augment, &image);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(augmenting)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
