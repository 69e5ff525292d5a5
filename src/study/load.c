// SPDX-License-Identifier: Apache-2.0
#include "study/load.h"

#include "base/rng.h"
#include <math.h>
#include <string.h>

enum { GROUP = 64 };

/* log(6.8 / 1.1) over the 99th percentile of a normal distribution. */
static const double RANDAUG_SIGMA = 0.783;

/* Stored bytes follow the cost, but loosely: bytes predict cost badly [proto]. */
static const double NBYTES_PER_NS = 0.02, NBYTES_SIGMA = 0.5;

const char *mr__load_name(mr__load_kind kind)
{
    static const char *const names[MR__LOADS] = {"light", "randaug", "heavy"};
    return names[kind];
}

/* Box and Muller's. */
static double draw_normal(mr__rng *rng)
{
    double u = (mr__rng_u32(rng) + 0.5) / 4294967296.0, v = mr__rng_u32(rng) / 4294967296.0;
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

void mr__load_sample(const mr__load *load, uint64_t number, mr__rig_sample *sample)
{
    mr__rng rng;
    mr__rng_init(&rng, load->seed, 0, number, 1);
    double a = draw_normal(&rng), b = draw_normal(&rng), c = draw_normal(&rng), d = draw_normal(&rng);
    double ns = load->kind == MR__LOAD_LIGHT     ? 2e6 * exp(0.3 * a)
                : load->kind == MR__LOAD_RANDAUG ? 1.5e6 * exp(0.3 * a) + 1.1e6 * exp(RANDAUG_SIGMA * b)
                                                 : 5e6 * exp(a);
    if (load->dear != 0 && number % load->dear == load->dear_at)
        ns *= load->times;
    *sample = (mr__rig_sample){.core_ns = ns,
                               .guess = exp(load->off * c),
                               .stored_nbytes = (uint64_t)(ns * NBYTES_PER_NS * exp(NBYTES_SIGMA * d)),
                               .need_nbytes = load->need_nbytes};
}

void mr__load_pair(mr__hardware *h, uint32_t w, double s, uint64_t launch_ns)
{
    *h = (mr__hardware){.device_count = s > 0 ? 2 : 1};
    h->devices[0] = (mr__hardware_device){.name = "cpu", .lanes = w, .speed = 1};
    h->devices[1] = (mr__hardware_device){.name = "acc",
                                          .kind = MR__HARDWARE_ACCELERATOR,
                                          .lanes = 1,
                                          .speed = s,
                                          .launch_ns = launch_ns,
                                          .group = GROUP};
}
