// SPDX-License-Identifier: Apache-2.0
#define SHIM_OTHER_LANGUAGE
#define __OPENCL_VERSION__ 120
#include "lane_opencl_shim.h"

shim_kernel *const shim_opencl[] = SHIM_KERNELS;
