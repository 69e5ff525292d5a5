// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "pack_make.h"

#include "jpeg_plain.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What tests remove and copy is bounded. */
enum { FILE_MAX = 4096 };

const char *pack_ending(pack_kind kind)
{
    return kind <= PACK_JPEG_PROGRESSIVE ? "jpg" : kind == PACK_WEBP ? "webp" : "png";
}

static picture_file make_jpeg_of(pack_kind kind, uint32_t width, uint32_t height, uint64_t seed)
{
    const plain_recipe recipe = {.width = width,
                                 .height = height,
                                 .space = kind == PACK_JPEG_GRAY   ? PLAIN_GRAY
                                          : kind == PACK_JPEG_CMYK ? PLAIN_CMYK
                                                                   : PLAIN_YCC,
                                 .progressive = kind == PACK_JPEG_PROGRESSIVE,
                                 .seed = seed};
    return plain_encode(&recipe);
}

picture_file pack_image(pack_kind kind, uint32_t width, uint32_t height, uint64_t seed)
{
    if (kind <= PACK_JPEG_PROGRESSIVE)
        return make_jpeg_of(kind, width, height, seed);
    const mr_encode_options options = {sizeof options, .form = kind == PACK_WEBP ? MR_FORM_WEBP : MR_FORM_PNG,
                                       .lossless = kind == PACK_WEBP};
    uint32_t channels = kind == PACK_WEBP ? 3 : (uint32_t)(kind - PACK_PNG_1) % 4 + 1;
    mr_image image = picture_make(width, height, channels, kind >= PACK_PNG_1_16 && kind != PACK_WEBP ? 16 : 8, seed);
    picture_file file = picture_encode(&image, &options);
    mr_image_fini(&image, NULL);
    return file;
}

void pack_make_folder(const test_folder *folder, const char *name, size_t count, uint32_t side)
{
    for (size_t i = 0; i < count; i++) {
        pack_kind kind = (pack_kind)(i % PACK_KINDS);
        char path[300];
        picture_file file = pack_image(kind, side + (uint32_t)(i % 5), side + (uint32_t)(i % 3), i);
        snprintf(path, sizeof path, "%s/%c/%06zu.%s", name, "abc"[i * 3 / count], i, pack_ending(kind));
        test_folder_write(folder, path, file.bytes, file.nbytes);
        free(file.bytes);
    }
}

mr_dataset *pack_open(const test_folder *folder, const char *name, mr_layout layout)
{
    const mr_dataset_options options = {sizeof options, .layout = layout, .index = MR_INDEX_NONE, .threads = 1};
    mr_dataset *dataset;
    char path[512];
    const char *paths[] = {test_folder_path(folder, name, path)};
    assert_int_equal(mr_dataset_new(&options, &dataset), 0);
    if (mr_dataset_open(dataset, paths, 1) != 0)
        fail_msg("%s", mr_dataset_detail(dataset));
    return dataset;
}

static void take_words(pack_outcome *outcome, const mr_packer *packer)
{
    snprintf(outcome->detail, sizeof outcome->detail, "%s", mr_packer_detail(packer));
    if ((outcome->result != 0) != (outcome->detail[0] != '\0'))
        fail_msg("%s, and these words: '%s'", mr_error_name(outcome->result), outcome->detail);
}

pack_outcome pack_try(mr_dataset *source, const test_folder *folder, const char *name, const mr_pack_options *options,
                      const mr__disk *disk)
{
    pack_outcome outcome = {.report = {.struct_size = sizeof outcome.report}};
    mr_pack_options given = *options;
    mr_packer *packer;
    char path[512];
    given.struct_size = sizeof given;
    assert_int_equal(mr_packer_new(&given, &packer), 0);
    if (disk != NULL)
        mr__packer_set_disk(packer, disk);
    outcome.result = mr_packer_run(packer, source, test_folder_path(folder, name, path), &outcome.report);
    take_words(&outcome, packer);
    mr_packer_free(packer);
    return outcome;
}

pack_outcome pack_try_merge(const test_folder *folder, const char *names, const char *name, const mr__disk *disk)
{
    static char paths[16][512];
    const char *list[16];
    char path[512], copy[512], *rest = NULL;
    size_t count = 0;
    pack_outcome outcome = {.report = {.struct_size = sizeof outcome.report}};
    const mr_pack_options options = {.struct_size = sizeof options};
    mr_packer *packer;
    snprintf(copy, sizeof copy, "%s", names);
    for (char *one = strtok_r(copy, " ", &rest); one != NULL; one = strtok_r(NULL, " ", &rest), count++) {
        assert_true(count < 16);
        list[count] = test_folder_path(folder, one, paths[count]);
    }
    assert_int_equal(mr_packer_new(&options, &packer), 0);
    if (disk != NULL)
        mr__packer_set_disk(packer, disk);
    outcome.result = mr_packer_merge(packer, list, count, test_folder_path(folder, name, path), &outcome.report);
    take_words(&outcome, packer);
    mr_packer_free(packer);
    return outcome;
}

mr_pack_report pack_run(mr_dataset *source, const test_folder *folder, const char *name, const mr_pack_options *options)
{
    pack_outcome outcome = pack_try(source, folder, name, options, NULL);
    if (outcome.result != 0)
        fail_msg("%s: %s", mr_error_name(outcome.result), outcome.detail);
    return outcome.report;
}

mr_dataset *pack_three_forms(mr_dataset *source, const test_folder *folder, const char *name)
{
    static const mr_pack_form forms[] = {{.struct_size = sizeof *forms},
                                         {.struct_size = sizeof *forms, .form = MR_FORM_L3},
                                         {.struct_size = sizeof *forms, .form = MR_FORM_RAW}};
    mr_pack_options options = {
        .struct_size = sizeof options, .forms = forms, .form_count = 3, .threads = 2, .shard_samples = 17};
    pack_run(source, folder, name, &options);
    return pack_open(folder, name, MR_LAYOUT_PACKED);
}

/* --- Folders ------------------------------------------------------------------------------------------------------ */

/* nftw gives nothing to its function to work with. Tests have one thread here. */
static struct {
    char *names[FILE_MAX];
    size_t count, base;
} listed;

static int list_one(const char *path, const struct stat *status, int type, struct FTW *where)
{
    (void)status, (void)where;
    if (type != FTW_F)
        return 0;
    assert_true(listed.count < FILE_MAX);
    listed.names[listed.count++] = strdup(path + listed.base);
    return 0;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The files below, sorted; their names begin behind `path`. */
static size_t list_files(const char *path, char ***names)
{
    listed.count = 0;
    listed.base = strlen(path);
    nftw(path, list_one, 16, FTW_PHYS);
    qsort(listed.names, listed.count, sizeof *listed.names, compare_names);
    *names = malloc((listed.count + 1) * sizeof **names);
    memcpy(*names, listed.names, listed.count * sizeof **names);
    return listed.count;
}

static void free_names(char **names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    free(names);
}

static picture_file load(const char *path)
{
    picture_file file = {0};
    struct stat status;
    FILE *stream = fopen(path, "rb");
    if (stream == NULL || fstat(fileno(stream), &status) != 0)
        fail_msg("%s: %s", path, strerror(errno));
    file.nbytes = (size_t)status.st_size;
    file.bytes = malloc(file.nbytes + 1);
    assert_int_equal(fread(file.bytes, 1, file.nbytes, stream), file.nbytes);
    fclose(stream);
    return file;
}

picture_file pack_load(const test_folder *folder, const char *name)
{
    char path[512];
    return load(test_folder_path(folder, name, path));
}

static bool same_file(const char *a, const char *b, const char *name)
{
    char one[1024], other[1024];
    snprintf(one, sizeof one, "%s%s", a, name);
    snprintf(other, sizeof other, "%s%s", b, name);
    picture_file x = load(one), y = load(other);
    bool same = x.nbytes == y.nbytes && memcmp(x.bytes, y.bytes, x.nbytes) == 0;
    free(x.bytes);
    free(y.bytes);
    return same;
}

bool pack_same(const test_folder *folder, const char *got, const char *wanted, char what[512])
{
    char a[512], b[512], **got_names, **wanted_names;
    size_t n = list_files(test_folder_path(folder, got, a), &got_names);
    size_t m = list_files(test_folder_path(folder, wanted, b), &wanted_names);
    what[0] = '\0';
    for (size_t i = 0; what[0] == '\0' && (i < n || i < m); i++) {
        int order = i == n ? 1 : i == m ? -1 : strcmp(got_names[i], wanted_names[i]);
        if (order != 0)
            snprintf(what, 512, "%s%s is only there", order < 0 ? got : wanted,
                     order < 0 ? got_names[i] : wanted_names[i]);
        else if (!same_file(a, b, got_names[i]))
            snprintf(what, 512, "%s%s has other bytes", got, got_names[i]);
    }
    free_names(got_names, n);
    free_names(wanted_names, m);
    return what[0] == '\0';
}

void pack_compare(const test_folder *folder, const char *got, const char *wanted)
{
    char what[512];
    if (!pack_same(folder, got, wanted, what))
        fail_msg("%s", what);
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *where)
{
    (void)status, (void)type, (void)where;
    return remove(path);
}

void pack_remove(const test_folder *folder, const char *name)
{
    char path[512];
    nftw(test_folder_path(folder, name, path), remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

void pack_copy(const test_folder *folder, const char *from, const char *to)
{
    char path[512], **names;
    size_t count = list_files(test_folder_path(folder, from, path), &names);
    for (size_t i = 0; i < count; i++) {
        char one[1024], other[1024];
        snprintf(one, sizeof one, "%s%s", path, names[i]);
        snprintf(other, sizeof other, "%s%s", to, names[i]);
        picture_file file = load(one);
        test_folder_write(folder, other, file.bytes, file.nbytes);
        free(file.bytes);
    }
    free_names(names, count);
}

bool pack_exists(const test_folder *folder, const char *name)
{
    char path[512];
    return access(test_folder_path(folder, name, path), F_OK) == 0;
}

uint64_t pack_verify(const test_folder *folder, const char *name, mr_verify_report *report)
{
    const mr_verify_options options = {sizeof options, .threads = 1};
    char path[512], detail[256];
    mr_verify_report own = {.struct_size = sizeof own};
    if (mr_dataset_verify(test_folder_path(folder, name, path), &options, &own, detail, sizeof detail) != 0)
        fail_msg("%s", detail);
    if (report != NULL)
        *report = own;
    return own.findings;
}
