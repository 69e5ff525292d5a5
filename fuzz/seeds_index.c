// SPDX-License-Identifier: Apache-2.0
/* Index files: each layout, with and without each kind of section, all kinds of labels. */
#include "seeds_index.h"

#include "dataset/index.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEMBERS = 1, ROWS = 2, CLASSES = 4, PROBLEMS = 8 };

static mr_label label_of(int kind)
{
    static const uint8_t values[16] = "cat and dog, 15";
    mr_label label = {.kind = (mr_label_kind)kind};
    label.integer = kind == MR_LABEL_INT ? -7 : 0;
    label.real = kind == MR_LABEL_FLOAT ? 0.5 : 0;
    if (kind >= MR_LABEL_INTS) {
        label.values = values;
        label.count = kind <= MR_LABEL_FLOATS ? 2 : 15;
    }
    return label;
}

static int add_samples(mr__index_build *build, int count, int parts)
{
    static const mr__member members[] = {{"json", 4, 512, 100}, {"seg.png", 7, 1024, 50}};
    int error = 0;
    for (int i = 0; i < count && error == 0; i++) {
        char key[24];
        snprintf(key, sizeof key, "n%d/%d", i % 3, i * 37);
        mr__draft draft = {.key = key, .key_nbytes = strlen(key), .label = label_of(i % 7)};
        draft.record.state = (uint8_t)(i % 5 == 4 ? 1 + i / 5 % 2 : 0);
        draft.record.offset = 512 * (uint64_t)i;
        draft.record.nbytes = 99;
        draft.record.form = (uint8_t)(i % 7);
        if (i % 2 == 1) {
            draft.record.channels = 3;
            draft.record.depth = 8;
            draft.record.width = draft.record.height = 32;
            draft.record.has_hash = true;
            draft.record.hash = 5;
        }
        draft.members = members;
        draft.member_count = (parts & MEMBERS) != 0 ? (size_t)i % 3 : 0;
        draft.row_index = "row index";
        draft.row_index_nbytes = (parts & ROWS) != 0 ? (size_t)i % 10 : 0;
        error = mr__index_add(build, &draft);
    }
    return error;
}

static int add_texts(mr__index_build *build, mr_layout layout, int parts)
{
    int error = 0;
    if ((parts & CLASSES) != 0 &&
        ((error = mr__index_add_class(build, "cat", 3)) != 0 || (error = mr__index_add_class(build, "dog", 3)) != 0))
        return error;
    if ((parts & PROBLEMS) != 0 &&
        ((error = mr__index_add_problem(build, MR__INDEX_NO_POSITION, MR_ETRUNCATED, "ends early")) != 0 ||
         (error = mr__index_add_problem(build, 0, MR_ECORRUPT, "broken")) != 0))
        return error;
    if (layout == MR_LAYOUT_FOLDER && (error = mr__index_add_folder(build, "", 1)) == 0)
        error = mr__index_add_folder(build, "n0", -1);
    return error;
}

void fuzz_seeds_index(void (*save)(const char *name, const void *bytes, size_t nbytes))
{
    mr_hooks hooks;
    if (mr__hooks_init(&hooks, NULL) != 0)
        exit(1);
    for (int i = 0; i < 7 * 16; i++) {
        mr_layout layout = (mr_layout)(1 + i % 7);
        mr__index_head head = {.layout = layout, .data_nbytes = layout == MR_LAYOUT_FOLDER ? 0 : 1 << 14};
        mr__index_build build;
        const uint8_t *bytes;
        size_t nbytes;
        char name[32];
        mr__index_build_init(&build, &hooks);
        if (add_samples(&build, 1 + i % 10, i / 7) != 0 || add_texts(&build, layout, i / 7) != 0 ||
            mr__index_build_finish(&build, &head, &bytes, &nbytes) != 0)
            exit(1);
        snprintf(name, sizeof name, "index-%d.mrx", i);
        save(name, bytes, nbytes);
        mr__index_build_fini(&build);
    }
}
