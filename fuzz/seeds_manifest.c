// SPDX-License-Identifier: Apache-2.0
#include "seeds_manifest.h"

#include "base/hash.h"
#include "dataset/manifest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void saver(const char *name, const void *bytes, size_t nbytes);

static const mr__manifest_form forms[] = {
    {.of = {.name = "original", .samples = 5, .nbytes = 999}, .alignment = 512},
    {.of = {.name = "l3", .form = MR_FORM_L3, .samples = 4, .nbytes = 77}, .alignment = 4096},
    {.of = {.name = "jpeg-max64", .form = MR_FORM_JPEG, .max_side = 64},
     .filter = "bicubic",
     .pillow = 13,
     .alignment = 512},
};

/* One of our own writer: `parts` 0 is a dataset. */
static void save_written(saver *save, const char *name, uint32_t form_count, uint32_t parts, size_t shards)
{
    mr_hooks hooks;
    mr__manifest m;
    mr__text text;
    const mr__manifest_file files[3] = {{1024, 1, 200, 2}, {2048, 3, 300, 4}, {512, 5, 100, 6}};
    if (mr__hooks_init(&hooks, NULL) != 0)
        abort();
    mr__manifest_init(&m, &hooks);
    m.parts = parts;
    m.total_shards = shards + parts;
    m.source_layout = MR_LAYOUT_FOLDER;
    m.has_quarantine = parts == 0 && shards > 1;
    m.form_count = form_count;
    memcpy(m.forms, forms, form_count * sizeof *forms);
    if (mr__manifest_add_class(&m, "a class", 7) != 0 || mr__manifest_add_class(&m, "\xc3\xa9\"\n", 4) != 0)
        abort();
    for (size_t i = 0; i < shards; i++, m.samples += 3)
        if (mr__manifest_add_shard(&m, 3, files) != 0)
            abort();
    mr__text_init(&text, &hooks);
    mr__manifest_write(&m, &text);
    if (text.code != 0)
        abort();
    save(name, text.buffer.bytes, text.nbytes);
    mr__text_fini(&text);
    mr__manifest_fini(&m);
}

/* One that our writer would not write, with its hash. */
static void save_text(saver *save, const char *name, const char *body)
{
    char text[2048];
    snprintf(text, sizeof text, "%s\"hash\": \"%016llx\"\n}\n", body, (unsigned long long)mr__hash(body, strlen(body)));
    save(name, text, strlen(text));
}

#define HEAD                                                                                                           \
    "{\"format\": \"millrace-dataset\", \"version\": 1, \"required\": [], \"ignorable\": [\"more\", \"b\"], "          \
    "\"samples\": 1, \"refused\": 0, \"plan\": \"0000000000000000\", \"fingerprint\": \"0000000000000000\", "          \
    "\"source\": {\"layout\": \"tar\", \"fingerprint\": \"0000000000000000\"}, \"classes\": [], "
#define FORMS                                                                                                          \
    "\"forms\": [{\"name\": \"raw\", \"form\": \"raw\", \"alignment\": 512, \"samples\": 1, \"nbytes\": 2}],\n"
#define SHARDS "\"shards\": [{\"samples\": 1, \"files\": []}],\n"
#define SHARD1                                                                                                         \
    "\"shards\": [{\"samples\": 1, \"files\": [{\"nbytes\": 1, \"hash\": \"0000000000000000\", \"index_nbytes\": 3, "  \
    "\"index_hash\": \"0000000000000000\"}]}],\n"

void fuzz_seeds_manifest(saver *save)
{
    save_written(save, "manifest-1", 1, 0, 1);
    save_written(save, "manifest-2", 3, 0, 2);
    save_written(save, "manifest-3", 2, 3, 2);
    save_written(save, "manifest-4", 1, 2, 0);
    save_text(save, "manifest-5", HEAD FORMS "\"more\": {\"x\": [1, {}]}, \"b\": null,\n" SHARD1);
    save_text(save, "manifest-6", HEAD SHARDS FORMS);
    save_text(save, "manifest-7", HEAD FORMS SHARDS);
}
