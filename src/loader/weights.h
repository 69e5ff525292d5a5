// SPDX-License-Identifier: Apache-2.0
/* The table of a weighted order. For order.c. */
#ifndef MR_LOADER_WEIGHTS_H
#define MR_LOADER_WEIGHTS_H

#include "loader/order.h"

/* order->samples weights. MR_EARGUMENT names the one that cannot be; MR_ENOMEM; then there is no table. */
int mr__weights_init(mr__order *order, const double *weights, mr__detail *detail);
void mr__weights_fini(mr__order *order);

/* The sample at a position. */
uint64_t mr__weights_draw(const mr__order *order, uint32_t epoch, uint64_t position);

#endif
