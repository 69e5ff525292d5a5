// SPDX-License-Identifier: Apache-2.0
#define SHIM_OTHER_LANGUAGE
#define __OPENCL_VERSION__ 200
#define MR_SUBGROUPS
#include "lane_opencl_shim.h"

shim_kernel *const shim_subgroups[] = SHIM_KERNELS;
