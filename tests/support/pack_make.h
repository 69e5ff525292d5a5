// SPDX-License-Identifier: Apache-2.0
/* Packing in tests: sources of small images, a run with any disk, and folders that are compared byte for byte. */
#ifndef TESTS_SUPPORT_PACK_MAKE_H
#define TESTS_SUPPORT_PACK_MAKE_H

#include "dataset/pack.h"
#include "files.h"
#include "picture.h"

#include <millrace/millrace.h>

/* An image of one kind. */
typedef enum pack_kind {
    PACK_JPEG,
    PACK_JPEG_GRAY,
    PACK_JPEG_CMYK,
    PACK_JPEG_PROGRESSIVE,
    PACK_PNG_1, /* channels; 8 bits */
    PACK_PNG_2,
    PACK_PNG_3,
    PACK_PNG_4,
    PACK_PNG_1_16,
    PACK_PNG_2_16,
    PACK_PNG_3_16,
    PACK_PNG_4_16,
    PACK_WEBP,
    PACK_KINDS
} pack_kind;

/* The same for the same arguments; free() the bytes. */
picture_file pack_image(pack_kind kind, uint32_t width, uint32_t height, uint64_t seed);

/* Its ending: "jpg", "png", "webp". */
const char *pack_ending(pack_kind kind);

/* Writes `count` images, of kinds in turn, into the classes a, b and c: "NAME/b/000004.png". */
void pack_make_folder(const test_folder *folder, const char *name, size_t count, uint32_t side);

/* Opens a dataset, which must succeed; its index is kept nowhere. */
mr_dataset *pack_open(const test_folder *folder, const char *name, mr_layout layout);

/* A run and all it said. */
typedef struct pack_outcome {
    int result;
    mr_pack_report report;
    char detail[512];
} pack_outcome;

/* Packs into NAME of the folder. `disk` may be NULL: the real one. A failure must have words, and a success none. */
pack_outcome pack_try(mr_dataset *source, const test_folder *folder, const char *name, const mr_pack_options *options,
                      const mr__disk *disk);

/* The same of folders that are merged; names are separated by spaces. */
pack_outcome pack_try_merge(const test_folder *folder, const char *names, const char *name, const mr__disk *disk);

/* The same with a success that must be. */
mr_pack_report pack_run(mr_dataset *source, const test_folder *folder, const char *name,
                        const mr_pack_options *options);

/* Packs it as it came, as L3 and as raw, in shards of 17 samples, and opens that. */
mr_dataset *pack_three_forms(mr_dataset *source, const test_folder *folder, const char *name);

/* Fails the test, and says where, unless both folders have the same files with the same bytes, hidden ones too. */
void pack_compare(const test_folder *folder, const char *got, const char *wanted);

/* Whether they have; what differs into `what`. */
bool pack_same(const test_folder *folder, const char *got, const char *wanted, char what[512]);

void pack_remove(const test_folder *folder, const char *name);
void pack_copy(const test_folder *folder, const char *from, const char *to);
bool pack_exists(const test_folder *folder, const char *name);

/* All of a file; free() the bytes. It must be there. */
picture_file pack_load(const test_folder *folder, const char *name);

/* How many findings there are; it must be possible to verify. */
uint64_t pack_verify(const test_folder *folder, const char *name, mr_verify_report *report);

#endif
