// SPDX-License-Identifier: Apache-2.0
/* Policies that look at nothing but whose turn it is. The first device is the host. */
#include "route/policy.h"

#include <string.h>

static const mr__policy *const policies[] = {&mr__policy_auto,         &mr__policy_interbatch, &mr__policy_intrabatch,
                                             &mr__policy_naive_device, &mr__policy_fusion,     &mr__policy_longest,
                                             &mr__policy_ends,         &mr__policy_better};

const mr__policy *mr__policy_at(uint32_t number)
{
    return number < sizeof policies / sizeof *policies ? policies[number] : NULL;
}

const mr__policy *mr__policy_of(const char *name)
{
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++)
        if (strcmp(policies[i]->name, name) == 0)
            return policies[i];
    return NULL;
}

uint32_t mr__policy_grain(const mr__policy *policy, uint32_t batch, uint32_t tiny)
{
    uint32_t grain = policy == NULL ? 1 : policy->grain == 0 ? batch : policy->grain;
    return grain < tiny ? tiny : grain;
}

/* As many as one pick may have, in order. */
static bool pick_next(mr__sched *s, mr__lot *lot, uint32_t device, uint64_t now_ns, mr__pick *pick)
{
    (void)now_ns;
    uint32_t at = mr__lot_next(lot, 0), most = s->stations[device].device.group;
    for (; at < lot->count && pick->count < most; at = mr__lot_next(lot, at + 1))
        if (mr__sched_takes(s, device, mr__lot_job(lot, at), pick))
            mr__pick_add(pick, mr__lot_job(lot, at));
    pick->reason = MR__REASON_ORDER;
    return pick->count != 0;
}

const mr__policy mr__policy_interbatch = {
    .name = "interbatch",
    .summary = "a thread prepares a whole batch, as PyTorch's workers do",
    .grain = 0,
    .key = MR__KEY_ORDER,
    .shown = true,
    .who = MR__WHO_HOST,
    .pick = pick_next,
};

const mr__policy mr__policy_intrabatch = {
    .name = "intrabatch",
    .summary = "the host's threads share each batch, in order",
    .grain = 1,
    .key = MR__KEY_ORDER,
    .shown = true,
    .who = MR__WHO_HOST,
    .pick = pick_next,
};

const mr__policy mr__policy_naive_device = {
    .name = "naive-device",
    .summary = "everything on the accelerator",
    .grain = 1,
    .key = MR__KEY_ORDER,
    .shown = true,
    .who = MR__WHO_DEVICES,
    .pick = pick_next,
};
