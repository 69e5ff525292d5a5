// SPDX-License-Identifier: Apache-2.0
#include "faulty_opencl.h"

#include <stddef.h>

const char *faulty_opencl(void)
{
#ifdef FAULTY_OPENCL_PATH
    return FAULTY_OPENCL_PATH;
#else
    return NULL;
#endif
}
