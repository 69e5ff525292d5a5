// SPDX-License-Identifier: Apache-2.0
/* From a header and hints to what has to be done: pure arithmetic, apart from the doing so that it can be tested alone.
 */
#ifndef MR_CODEC_PLAN_H
#define MR_CODEC_PLAN_H

#include "codec/codec.h"

typedef enum mr__stage_kind { MR__STAGE_DECODE, MR__STAGE_REDUCE, MR__STAGE_CONVERT, MR__STAGE_ORIENT } mr__stage_kind;

typedef struct mr__stage {
    mr__stage_kind kind;
    mr_image out; /* its shape: no pixels yet */
} mr__stage;

typedef struct mr__plan {
    mr__request request;
    uint32_t reduce;      /* of the reduce stage */
    uint32_t orientation; /* of the orient stage */
    mr__stage stage[4];   /* the first decodes; the last gives the result */
    size_t stage_count;
} mr__plan;

/* Checks the hints (MR_EARGUMENT with detail) and lays out the stages. `info` must outlive the plan. */
int mr__plan_init(mr__plan *plan, mr__call *call, const mr__codec *codec, const mr_info *info,
                  const mr_decode_hints *hints);

/* The pixels of the full-size image that a region of the reduced one is averaged from. */
mr_rect mr__plan_enlarge(mr_rect region, uint32_t n, const mr_info *info);

#endif
