// SPDX-License-Identifier: Apache-2.0
/* `l3-2022` on a tape: bench/ has it decoded as our own forms are. */
#ifndef BENCH_L3_DEVICE_GUEST_TAPE_H
#define BENCH_L3_DEVICE_GUEST_TAPE_H

#include "device/tape/tape.h"
#include "kernel/lane/emulate.h"

/* The kernel: for the emulator, and as OpenCL C for a player (free it; NULL: the source is not where it was built). */
extern mr__kernel_function *const guest_function;
char *guest_text(void);

/* A call that decodes a file; *sheet is where its pixels will be. MR_ECORRUPT: it is not a whole file. */
int guest_tape(mr__tape *tape, const void *bytes, size_t nbytes, mr__sheet *sheet, mr__detail *detail);

#endif
