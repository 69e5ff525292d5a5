// SPDX-License-Identifier: Apache-2.0
#include "cpu/crc32c.h"

#include "kernels.h"

#include <string.h>

/* Four bytes come out; the harness counts as made what was read. */
static void call(kernel_function *function, uint8_t *const out[], const uint8_t *const in[], size_t nbytes)
{
    uint32_t crc = ((mr__crc32c_function *)function)((uint32_t)nbytes, in[0], nbytes);
    memcpy(out[0], &crc, nbytes < sizeof crc ? nbytes : sizeof crc);
}

static size_t list(mr__cpu_flags cpu, kernel k[KERNEL_LIST_MAX])
{
    mr__crc32c table;
    mr__crc32c_init(&table, cpu);
    k[0] = (kernel){
        .name = "crc32c", .function = (kernel_function *)table.add, .call = call, .unit = 1, .inputs = 1, .outputs = 1};
    return 1;
}

const kernel_table kernels_crc32c = {"CRC-32C", list};
