// SPDX-License-Identifier: Apache-2.0
#ifndef MR_BASE_LIMITS_H
#define MR_BASE_LIMITS_H

#include <millrace/codec.h>

/* Copies limits, zeros replaced by the defaults. MR_EARGUMENT for a struct that cannot be. */
int mr__limits_init(mr_limits *limits, const mr_limits *given);

#endif
