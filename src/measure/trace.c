// SPDX-License-Identifier: Apache-2.0
#include "measure/trace.h"

#include "base/memory.h"
#include <millrace/error.h>

struct mr__trace {
    mr_hooks hooks;
    mr__mark *marks;
    size_t capacity;
    uint64_t added;
};

int mr__trace_new(const mr_hooks *hooks, size_t capacity, mr__trace **out)
{
    if (capacity == 0 || capacity > MR__TRACE_MAX)
        return MR_EARGUMENT;
    mr__trace *t = mr__alloc_zero(hooks, sizeof *t);
    mr__mark *marks = t != NULL ? mr__alloc_array(hooks, capacity, sizeof *marks) : NULL;
    if (marks == NULL) {
        mr__free(hooks, t);
        return MR_ENOMEM;
    }
    *t = (mr__trace){.hooks = *hooks, .marks = marks, .capacity = capacity};
    *out = t;
    return 0;
}

void mr__trace_free(mr__trace *t)
{
    if (t == NULL)
        return;
    mr_hooks hooks = t->hooks;
    mr__free(&hooks, t->marks);
    mr__free(&hooks, t);
}

void mr__trace_add(mr__trace *t, const mr__mark *mark)
{
    t->marks[t->added++ % t->capacity] = *mark;
}

size_t mr__trace_count(const mr__trace *t)
{
    return t->added < t->capacity ? (size_t)t->added : t->capacity;
}

const mr__mark *mr__trace_at(const mr__trace *t, size_t i)
{
    return &t->marks[(mr__trace_forgotten(t) + i) % t->capacity];
}

uint64_t mr__trace_forgotten(const mr__trace *t)
{
    return t->added - mr__trace_count(t);
}
