// SPDX-License-Identifier: Apache-2.0
/* Loaders of several devices in tests: machines from texts, and everything that comes out of a loader, to be compared.
 */
#ifndef TESTS_SUPPORT_DEVICES_H
#define TESTS_SUPPORT_DEVICES_H

#include "files.h"

#include <millrace/millrace.h>
#include <stdbool.h>

/* Small images, JPEG and PNG in turn, into NAME of the folder; if `spoiled`, some are bad (devices_is_bad). */
void devices_make_folder(const test_folder *folder, const char *name, size_t count, bool spoiled);
bool devices_is_bad(size_t i);

/* What is learned of costs goes into the folder, and never where the user has his own. */
void devices_keep_cache_in(const test_folder *folder);

/* Writes a hardware file: for mr_loader_options.device, good until the next call. */
const char *devices_machine(const test_folder *folder, const char *text);

/* What came out of a loader: all bytes of all batches, and when each came. */
typedef struct devices_tape {
    int result;
    char detail[240];
    uint8_t *bytes;
    size_t nbytes, capacity;
    size_t batches;
    uint64_t gap_ns; /* the longest between two batches, by the loader's clock */
    mr_loader_stats stats;
} devices_tape;

/* Takes batches until there are no more, or `most` of them, onto the tape. */
void devices_run(mr_loader *loader, uint64_t most, devices_tape *tape);

/* All of it: made, run, freed. */
devices_tape devices_all(mr_dataset *dataset, const char *recipe, const mr_loader_options *options);
void devices_tape_fini(devices_tape *tape);

/* Fails the test, and says where, unless both ended well with the same bytes. `what` begins the sentence. */
void devices_compare(const devices_tape *got, const devices_tape *wanted, const char *what);

/* A random machine of so many devices: the first a host that does not fail, the others with `faults` of all kinds. */
void devices_random(uint64_t *seed, uint32_t count, bool faults, char text[16384]);

#endif
