// SPDX-License-Identifier: Apache-2.0
/* A function of the program's. What it looks at is not known, so it gets all of the image. */
#include "step/ops.h"

static int run(mr__op_work *w)
{
    const mr_user_step *user = w->op->u.user.step;
    void *scratch = NULL;
    if (user->memory_nbytes != 0) {
        scratch = user->memory_nbytes <= PTRDIFF_MAX ? mr__op_scratch(w->tools, 0, (size_t)user->memory_nbytes) : NULL;
        if (scratch == NULL)
            return mr__fail(w->detail, MR_ENOMEM, "out of memory: user step %s asks for %llu bytes", user->name,
                            (unsigned long long)user->memory_nbytes);
    }
    int result = user->run(user->user, &w->from, &w->to, w->op->u.user.draws, scratch);
    return result == 0 ? 0 : mr__fail(w->detail, MR_EARGUMENT, "user step %s gave %d", user->name, result);
}

/* It fills all of its result, too. */
static int tell(const mr__op *op, char *text, size_t nbytes)
{
    return snprintf(text, nbytes, "user(%s)", op->u.user.step->name);
}

const mr__op_type mr__op_user = {.name = "user", .run = run, .need = mr__op_need_all, .tell = tell, .whole = true};
