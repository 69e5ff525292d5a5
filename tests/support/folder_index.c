// SPDX-License-Identifier: Apache-2.0
#include "folder_index.h"

#include "test.h"

#include "base/bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int folder_index_init(folder_index *made, mr__folder_scan_options options)
{
    const mr__index_head head = {.layout = MR_LAYOUT_FOLDER};
    memset(made, 0, sizeof *made);
    assert_int_equal(mr__hooks_init(&made->hooks, NULL), 0);
    options.hooks = &made->hooks;
    mr__index_build_init(&made->build, &made->hooks);
    int result = mr__folder_scan(&options, &made->build, &made->detail);
    if (result != 0) {
        assert_true(made->detail.text[0] != '\0');
        return result;
    }
    assert_int_equal(mr__index_build_finish(&made->build, &head, &made->bytes, &made->nbytes), 0);
    result = mr__index_init(&made->index, made->bytes, made->nbytes, "test", &made->detail);
    if (result != 0)
        fail_msg("%s", made->detail.text);
    return 0;
}

void folder_index_fini(folder_index *made)
{
    mr__index_close(&made->index);
    mr__index_build_fini(&made->build);
}

static void put_numbers(FILE *to, const mr_label *label)
{
    for (size_t i = 0; i < label->count; i++) {
        uint64_t bits = mr__load_le64((const uint8_t *)label->values + 8 * i);
        double real;
        memcpy(&real, &bits, sizeof real);
        if (label->kind == MR_LABEL_INTS)
            fprintf(to, "%s%lld", i != 0 ? "," : "", (long long)bits);
        else
            fprintf(to, "%s%.17g", i != 0 ? "," : "", real);
    }
}

static void put_label(FILE *to, const mr_label *label)
{
    switch (label->kind) {
    case MR_LABEL_NONE:
        fputs("none", to);
        break;
    case MR_LABEL_INT:
        fprintf(to, "%lld", (long long)label->integer);
        break;
    case MR_LABEL_FLOAT:
        fprintf(to, "float %.17g", label->real);
        break;
    case MR_LABEL_INTS:
    case MR_LABEL_FLOATS:
        fputs(label->kind == MR_LABEL_INTS ? "ints " : "floats ", to);
        put_numbers(to, label);
        break;
    default:
        fprintf(to, "text %.*s", (int)label->count, (const char *)label->values);
    }
}

char *folder_index_text(const folder_index *made)
{
    char *text;
    size_t nbytes;
    FILE *to = open_memstream(&text, &nbytes);
    assert_non_null(to);
    for (uint64_t i = 0; i < made->index.head.samples; i++) {
        const char *key;
        size_t key_nbytes;
        mr_label label;
        assert_true(mr__index_key(&made->index, i, &key, &key_nbytes));
        assert_true(mr__index_label(&made->index, i, &label));
        fprintf(to, "%.*s\t", (int)key_nbytes, key);
        put_label(to, &label);
        fputc('\n', to);
    }
    assert_int_equal(fclose(to), 0);
    return text;
}

const char *folder_index_problem(const folder_index *made, uint64_t number)
{
    uint32_t position;
    int code;
    const char *text;
    return mr__index_problem(&made->index, number, &position, &code, &text) ? text : "";
}
