// SPDX-License-Identifier: Apache-2.0
/* OpenCL C for a compiler of C: its words, of lane_shim.h. Nothing else of C may be included. */
#ifndef TESTS_SUPPORT_LANE_OPENCL_SHIM_H
#define TESTS_SUPPORT_LANE_OPENCL_SHIM_H

#include "lane_shim.h"

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;

#define bool _Bool
#define kernel static
#define global
#define local
#define constant             static const
#define CLK_LOCAL_MEM_FENCE  1
#define CLK_GLOBAL_MEM_FENCE 2
#define get_local_id(side)   shim_id()
#define get_group_id(side)   shim_group()
#define barrier(what)        shim_barrier()
#define popcount(n)          ((uint)__builtin_popcountl(n))
#define atomic_or(at, n)     __atomic_fetch_or(at, n, __ATOMIC_RELAXED)
#define atomic_add(at, n)    __atomic_fetch_add(at, n, __ATOMIC_RELAXED)

#define sub_group_barrier(what)         shim_barrier()
#define sub_group_reduce_add(n)         shim_sum(n)
#define sub_group_scan_exclusive_add(n) shim_scan(n)

#include "kernel/lane/lane.h"

/* To C, what OpenCL calls local would be each lane's own. */
#undef MR_ALLOT
#define MR_ALLOT(T, v, n) T *v = shim_allot(sizeof(T) * (n))

#include "lane_words.h"

#endif
