// SPDX-License-Identifier: Apache-2.0
/* Which operations a policy has put into a chain: what moves pixels is seen by the move that is noted, all else by its
 * op; what changes nothing is not seen. */
#ifndef TESTS_SUPPORT_POLICY_SEEN_H
#define TESTS_SUPPORT_POLICY_SEEN_H

#include "step/follow.h"
#include "step/policy.h"

/* An operation that is seen, and its value. */
typedef struct policy_seen {
    mr__policy_op op;
    double value;
} policy_seen;

typedef struct policy_bench {
    mr__chain chain;
    mr__follow follow;
    mr__detail detail;
} policy_bench;

enum { POLICY_SEEN_MAX = 16, POLICY_CELLS = 2 * MR__POLICY_OPS };

/* A chain of nothing, for an image of this size. */
void policy_begin(policy_bench *b, uint32_t width, uint32_t height);

/* In their order: a warp among the ops is the next move that is one. How many. */
size_t policy_see(const policy_bench *b, policy_seen list[POLICY_SEEN_MAX]);

/* Of this value an operation moves nothing. */
bool policy_is_neutral(policy_seen s);

/* A cell of POLICY_CELLS for each operation, of those with a sign two. */
size_t policy_cell(policy_seen s);

#endif
