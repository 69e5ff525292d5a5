// SPDX-License-Identifier: Apache-2.0
#include "taping_run.h"

#include "opencl_play.h"

#include <malloc.h>
#include <stdio.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { DEVICES = 0 };
#else
enum { DEVICES = 1 };
#endif

taping taping_by(void **state, uint64_t number)
{
    if (*state != NULL)
        return (taping){.play = opencl_play_tape, .user = *state};
    return (taping){.seed = number % 3};
}

static opencl_play device;

static int give_device(void **state)
{
    *state = &device;
    return 0;
}

int taping_run(const struct CMUnitTest *tests, size_t count)
{
    mr__detail detail;
#if defined(__GLIBC__)
    mallopt(M_MMAP_THRESHOLD, 1 << 30); // arenas come and go, and their pages are to stay
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
    int failed = _cmocka_run_group_tests("in the emulator", tests, count, NULL, NULL);
    int result = DEVICES ? opencl_play_open(&device, NULL, &detail) : MR_EUNSUPPORTED;
    if (DEVICES && result != 0)
        printf("on no device: %s\n", detail.text);
    if (result != 0)
        return failed + (result != MR_EUNSUPPORTED);
    failed += _cmocka_run_group_tests("on a device", tests, count, give_device, NULL);
    opencl_play_close(&device);
    return failed;
}
