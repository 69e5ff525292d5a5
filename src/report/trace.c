// SPDX-License-Identifier: Apache-2.0
#include "loader/loader.h"

int mr_loader_write_trace(mr_loader *l, const char *path)
{
    return l == NULL || path == NULL ? MR_EARGUMENT : MR_EUNSUPPORTED;
}
