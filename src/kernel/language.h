// SPDX-License-Identifier: Apache-2.0
/*
 * What C, OpenCL C 1.2 and CUDA C spell differently, for headers that all of them compile: kernel/lane, and the
 * formulas of pixels beside it (..._pixel.h).
 *
 *     numbers      as in stdint.h, and bool
 *     MR_INLINE    a function. Plain C sees static inline; a device's compiler is told that it runs there
 *     MR_TABLE     a table of constants
 *     MR_GLOBAL    what a pointer into the arena or the batch says
 *     MR_SHARED    what a pointer to memory that a team shares says
 *     MR_UNROLL    before a loop: of each turn its own code, so that an array that it counts through can be registers
 *
 * OpenCL's functions are always part of their kernels: PoCL 3.1 gives each group its own shared memory only where the
 * kernel itself names it, and a compiler that sees all calls of a function has it name what they pass.
 *
 * MR_HAS_DOUBLE is there where double is. Floats are not contracted: the pragma here, an option of other compilers.
 */
#ifndef MR_KERNEL_LANGUAGE_H
#define MR_KERNEL_LANGUAGE_H

#if defined(__OPENCL_VERSION__)

#pragma OPENCL FP_CONTRACT OFF
#if defined(cl_khr_fp64)
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define MR_HAS_DOUBLE
#endif
typedef uchar uint8_t;
typedef char int8_t;
typedef ushort uint16_t;
typedef short int16_t;
typedef uint uint32_t;
typedef int int32_t;
typedef ulong uint64_t;
typedef long int64_t;
#define MR_GLOBAL global
#define MR_SHARED local
#define MR_TABLE  constant
#define MR_INLINE static inline __attribute__((always_inline))
#define MR_UNROLL _Pragma("unroll")

#elif defined(__CUDACC__)

#include <stdint.h>
#define MR_HAS_DOUBLE
#define MR_GLOBAL
#define MR_SHARED
#define MR_TABLE  static __device__ const
#define MR_INLINE static __device__ __forceinline__
#define MR_UNROLL _Pragma("unroll")

#else

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#define MR_HAS_DOUBLE
#define MR_GLOBAL
#define MR_SHARED
#define MR_TABLE  static const
#define MR_INLINE static inline
#define MR_UNROLL

#endif

#endif
