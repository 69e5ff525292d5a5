// SPDX-License-Identifier: Apache-2.0
#ifndef FUZZ_MUTATE_H
#define FUZZ_MUTATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* libFuzzer's own mutations. */
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t nbytes, size_t max_nbytes);

bool fuzz_is_tfrecord(const uint8_t *bytes, size_t nbytes);
size_t fuzz_mutate_tfrecord(uint8_t *bytes, size_t nbytes, size_t max_nbytes, uint32_t seed);

bool fuzz_is_png(const uint8_t *bytes, size_t nbytes);
size_t fuzz_mutate_png(uint8_t *bytes, size_t nbytes, size_t max_nbytes, uint32_t seed);

bool fuzz_is_jpeg(const uint8_t *bytes, size_t nbytes);
size_t fuzz_mutate_jpeg(uint8_t *bytes, size_t nbytes, size_t max_nbytes, uint32_t seed);

bool fuzz_is_l3(const uint8_t *bytes, size_t nbytes);
size_t fuzz_mutate_l3(uint8_t *bytes, size_t nbytes, size_t max_nbytes, uint32_t seed);

bool fuzz_is_tar(const uint8_t *bytes, size_t nbytes);
size_t fuzz_mutate_tar(uint8_t *bytes, size_t nbytes, size_t max_nbytes, uint32_t seed);

#endif
