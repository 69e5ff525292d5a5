// SPDX-License-Identifier: Apache-2.0
/* Tapes on an OpenCL device that is really there; skipped where there is none. */
#include "test.h"

#include "opencl_play.h"
#include "picture.h"
#include "taping.h"

static const char *const recipes[] = {
    "resize(31x17)",
    "resize(40x30, filter=nearest)",
    "rrc(32) flip normalize(imagenet)",
    "short(24) center(16) normalize(imagenet) dtype(f16)",
    "center(200x1, fill=7)",
    "crop(5, pad=90, border=edge)",
    "resize(20) pad(5, border=symmetric) vflip(1)",
    "resize(20) resize(30) flip resize(10)",
};

static const uint32_t sizes[][2] = {{1, 1}, {1, 37}, {61, 53}, {130, 5}};

static void play_all(const mr__cl_options *options)
{
    opencl_play cl;
    mr__detail detail;
    assert_int_equal(opencl_play_open(&cl, options, &detail), 0);
    taping how = {.play = opencl_play_tape, .user = &cl};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t r = 0; r < sizeof recipes / sizeof *recipes; r++) {
            mr_image image = picture_make(sizes[s][0], sizes[s][1], 3, 8, s + 1);
            (void)taping_recipe(&how, recipes[r], &image, 7 * r);
            mr_image_fini(&image, NULL);
        }
    assert_true(mr__cl_deck_kernel_ns(cl.deck, MR__KERNELS_ALL) > 0);
    opencl_play_close(&cl);
}

static void passes_give_the_same(void **state)
{
    (void)state;
    play_all(&(mr__cl_options){0});
    play_all(&(mr__cl_options){.in_place = true});
    play_all(&(mr__cl_options){.sends = true});
    play_all(&(mr__cl_options){.groups_max = 3, .in_place = true});
}

int main(void)
{
    mr_hooks hooks;
    mr__cl_player *player;
    mr__detail detail;
    assert_int_equal(mr__hooks_init(&hooks, NULL), 0);
    int result = mr__cl_player_open(&(mr__cl_options){.hooks = &hooks}, &player, &detail);
    if (result == MR_EUNSUPPORTED) {
        printf("skipped: %s\n", detail.text);
        return 77;
    }
    if (result == 0)
        mr__cl_player_close(player);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passes_give_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
