// SPDX-License-Identifier: Apache-2.0
/* Memory of a device that the program lends, and takes back. */
#include "loader/loader.h"

#include "base/clock.h"
#include <string.h>

/* The number of a device of the crew. The mutex is held. */
static int find_device(mr_loader *l, const char *name, uint32_t *device)
{
    if (name == NULL)
        return MR_EARGUMENT;
    if (l->team.crew == NULL)
        return mr__fail(&l->detail, MR_EUNSUPPORTED,
                        "this loader has no device but the host, which works in memory of its own");
    for (*device = 0; *device < l->team.count; ++*device)
        if (strcmp(l->team.names[*device], name) == 0)
            return 0;
    return mr__fail(&l->detail, MR_EARGUMENT, "there is no device \"%.64s\": the first is \"%s\"", name,
                    l->team.names[0]);
}

int mr_loader_lend(mr_loader *l, const char *device, const mr_device_memory *memory, uint32_t *region)
{
    mr_device_memory m;
    uint32_t number;
    int result = memory != NULL && region != NULL ? mr__loader_here(l) : MR_EARGUMENT;
    if (result != 0 || !mr__struct_copy(&m, sizeof m, memory))
        return MR_EARGUMENT;
    const mr__lent_memory lent = {.address = m.address, .handle = m.handle, .offset = m.offset, .nbytes = m.nbytes};
    mr__mutex_lock(&l->mutex);
    result = find_device(l, device, &number);
    if (result == 0)
        result = mr__crew_lend(l->team.crew, number, &lent, region, &l->detail);
    mr__mutex_unlock(&l->mutex);
    if (result == 0)
        mr__loader_dispatch(l);
    return result;
}

/* The mutex is held, and given up while it waits. */
static int wait_until_back(mr_loader *l, uint32_t device, uint32_t region, uint64_t deadline_ns)
{
    int result = 0;
    while (!mr__crew_is_back(l->team.crew, device, region)) {
        if (result == MR_ETIMEOUT)
            return mr__fail(&l->detail, MR_ETIMEOUT, "region %u of %s is still in use", region, l->team.names[device]);
        mr__mutex_unlock(&l->mutex);
        bool moved = mr__team_advance(l);
        mr__mutex_lock(&l->mutex);
        if (!moved)
            result = mr__condition_wait(&l->news, &l->mutex, deadline_ns);
    }
    return 0;
}

int mr_loader_reclaim(mr_loader *l, const char *device, uint32_t region, uint64_t timeout_ns)
{
    uint64_t deadline = mr__clock_deadline_ns(timeout_ns);
    uint32_t number;
    bool back = false;
    int result = mr__loader_here(l);
    if (result != 0)
        return result;
    mr__mutex_lock(&l->mutex);
    result = find_device(l, device, &number);
    if (result == 0)
        result = mr__crew_reclaim(l->team.crew, number, region, &back, &l->detail);
    if (result == 0 && !back)
        result = wait_until_back(l, number, region, deadline);
    mr__mutex_unlock(&l->mutex);
    return result;
}

uint64_t mr_loader_let_go(mr_loader *l, const char *device)
{
    uint64_t nbytes = 0;
    uint32_t number;
    if (mr__loader_here(l) != 0)
        return 0;
    mr__mutex_lock(&l->mutex);
    mr__detail before = l->detail;
    if (find_device(l, device, &number) == 0)
        nbytes = mr__crew_let_go(l->team.crew, number);
    else
        l->detail = before; // that it is none of ours is no failure of the loader's
    mr__mutex_unlock(&l->mutex);
    return nbytes;
}
