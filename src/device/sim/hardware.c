// SPDX-License-Identifier: Apache-2.0
#include "device/sim/hardware.h"

#include "base/rng.h"
#include "step/dice.h"
#include "step/real.h"

#include <stdio.h>
#include <string.h>

/* No task costs more: some three hours. */
#define TASK_NS_MAX 1e13

enum { PLAIN_LANES = 4, PLAIN_US = 1000 };

void mr__hardware_plain(mr__hardware *hardware, uint32_t lanes)
{
    *hardware = (mr__hardware){.name = "plain", .device_count = 1};
    snprintf(hardware->devices[0].name, sizeof hardware->devices[0].name, "sim");
    hardware->devices[0].lanes = lanes != 0 ? lanes : PLAIN_LANES;
    hardware->costs[MR_FORM_NONE] = (mr__hardware_cost){.given = true, .us = PLAIN_US};
}

uint32_t mr__hardware_find(const mr__hardware *hardware, const char *name)
{
    uint32_t i = 0;
    while (i < hardware->device_count && strcmp(hardware->devices[i].name, name) != 0)
        i++;
    return i;
}

/* e^(sigma z - sigma^2 / 2) for a normal z: its mean is 1. */
double mr__hardware_factor(double sigma, uint64_t seed, mr__hardware_stream kind, uint32_t number, uint64_t count)
{
    mr__dice dice;
    if (!(sigma > 0.0))
        return 1.0;
    mr__rng_init(&dice.rng, seed, number, count & MR__RNG_SAMPLE_MAX, MR__RNG_STEP_HOUSE + 0x80u + (uint32_t)kind);
    return mr__real_exp(sigma * mr__dice_normal(&dice) - 0.5 * sigma * sigma);
}

uint64_t mr__hardware_core_ns(const mr__hardware *hardware, uint64_t ordinal, mr_form form, uint64_t pixels,
                              uint64_t nbytes)
{
    const mr__hardware_cost *c = &hardware->costs[(unsigned)form < MR__HARDWARE_FORMS ? form : MR_FORM_NONE];
    if (!c->given)
        c = &hardware->costs[MR_FORM_NONE];
    double ns = c->us * 1e3 + c->ns_per_pixel * (double)pixels + c->ns_per_byte * (double)nbytes;
    ns *= mr__hardware_factor(c->spread, hardware->seed, MR__STREAM_SPREAD, 0, ordinal);
    return ns < TASK_NS_MAX ? (uint64_t)(ns + 0.5) : (uint64_t)TASK_NS_MAX;
}
