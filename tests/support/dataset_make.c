// SPDX-License-Identifier: Apache-2.0
#include "dataset_make.h"

#include "test.h"

#include "scanned.h"
#include "tar_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const class_names[] = {"cat", "dog", "emu"};

const char *made_name(made_kind kind)
{
    static const char *const names[] = {"image-folder", "flat",      "tsv",      "jsonl",    "tar",
                                        "braces",       "shards",    "tfrecord", "recordio", "recordio-idx",
                                        "cifar-10",     "cifar-100", "list",     "packed"};
    return names[kind];
}

const picture_file *made_image(size_t sample)
{
    static picture_file files[MADE_SAMPLES];
    if (files[sample].bytes == NULL) {
        mr_image image = picture_make((uint32_t)(8 + sample), 8, 3, 8, sample + 1);
        const mr_encode_options options = {.struct_size = sizeof options, .form = MR_FORM_PNG};
        files[sample] = picture_encode(&image, &options);
        mr_image_fini(&image, NULL);
    }
    return &files[sample];
}

int64_t made_label(const made_dataset *m, size_t sample, mr_label_kind *kind)
{
    *kind = m->kind == MADE_FLAT ? MR_LABEL_NONE : MR_LABEL_INT;
    return m->kind == MADE_FLAT ? 0 : (int64_t)(sample / 2);
}

const char *made_key(const made_dataset *m, size_t sample)
{
    static char key[64];
    int i = (int)sample;
    switch (m->kind) {
    case MADE_IMAGE_FOLDER:
        snprintf(key, sizeof key, "%s/%d.png", class_names[i / 2], i);
        break;
    case MADE_FLAT:
    case MADE_TSV:
    case MADE_JSONL:
        snprintf(key, sizeof key, "%d.png", i);
        break;
    case MADE_RECORDIO_IDX:
        snprintf(key, sizeof key, "own-%d", i);
        break;
    case MADE_TFRECORD:
        snprintf(key, sizeof key, "train/%09d", i);
        break;
    case MADE_RECORDIO:
        snprintf(key, sizeof key, "%d", i);
        break;
    case MADE_CIFAR_10:
    case MADE_CIFAR_100:
        snprintf(key, sizeof key, m->kind == MADE_CIFAR_10 ? "data_batch_1/%09d" : "train/%09d", i);
        break;
    case MADE_LIST:
        snprintf(key, sizeof key, "%09d", i);
        break;
    default:
        snprintf(key, sizeof key, "s%d", i);
    }
    return key;
}

static void write_file(const test_folder *folder, const made_dataset *m, const char *name, const void *bytes,
                       size_t nbytes)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", made_name(m->kind), name);
    test_folder_write(folder, path, bytes, nbytes);
    test_folder_path(folder, path, m->kind == MADE_PACKED ? path : (char *)m->file);
}

static void set_path(const test_folder *folder, const made_dataset *m, const char *name, char path[512])
{
    char inside[512];
    snprintf(inside, sizeof inside, "%s%s%s", made_name(m->kind), name[0] != '\0' ? "/" : "", name);
    test_folder_path(folder, inside, path);
}

static void make_folder(made_dataset *m, const test_folder *folder)
{
    static made_bytes list;
    char name[64], line[128];
    list.nbytes = 0;
    m->layout = MR_LAYOUT_FOLDER;
    for (int i = 0; i < MADE_SAMPLES; i++) {
        snprintf(name, sizeof name, m->kind == MADE_IMAGE_FOLDER ? "%s" : "in/%s", made_key(m, (size_t)i));
        write_file(folder, m, name, made_image((size_t)i)->bytes, made_image((size_t)i)->nbytes);
        snprintf(line, sizeof line,
                 m->kind == MADE_TSV ? "%d.png\t%d\n" : "{\"file_name\": \"%d.png\", \"label\": %d}\n", i, i / 2);
        bytes_add_text(&list, line);
    }
    set_path(folder, m, m->kind == MADE_IMAGE_FOLDER ? "" : "in", m->path);
    if (m->kind == MADE_TSV || m->kind == MADE_JSONL) {
        char file[512];
        memcpy(file, m->file, sizeof file);
        write_file(folder, m, "list", list.data, list.nbytes);
        set_path(folder, m, "list", m->list);
        memcpy(m->file, file, sizeof file);
    }
    m->members = m->kind == MADE_JSONL;
}

static void add_to_tar(tar_file *tar, int i)
{
    char name[32], text[64];
    snprintf(name, sizeof name, "s%d.png", i);
    tar_add(tar, name, '0', made_image((size_t)i)->bytes, made_image((size_t)i)->nbytes);
    snprintf(name, sizeof name, "s%d.cls", i);
    snprintf(text, sizeof text, "%d", i / 2);
    tar_add_text(tar, name, text);
    snprintf(name, sizeof name, "s%d.json", i);
    snprintf(text, sizeof text, "{\"file_name\": \"%d.png\", \"label\": %d}", i, i / 2);
    tar_add_text(tar, name, text);
}

static void make_tars(made_dataset *m, const test_folder *folder)
{
    int each = m->kind == MADE_TAR ? MADE_SAMPLES : 2;
    for (int i = 0; i < MADE_SAMPLES; i += each) {
        char name[32];
        tar_file tar = {0};
        for (int n = 0; n < each; n++)
            add_to_tar(&tar, i + n);
        tar_end(&tar);
        snprintf(name, sizeof name, "x-%d.tar", i / each);
        write_file(folder, m, name, tar.bytes, tar.nbytes);
        tar_free(&tar);
    }
    m->layout = MR_LAYOUT_TAR;
    m->members = 1;
    m->shards = (size_t)(MADE_SAMPLES / each);
    set_path(folder, m, m->kind == MADE_TAR ? "x-0.tar" : m->kind == MADE_BRACES ? "x-{0..2}.tar" : "", m->path);
}

static void add_varint(made_bytes *b, uint64_t value)
{
    for (; value >= 128; value >>= 7)
        bytes_add_le(b, (value & 127) | 128, 1);
    bytes_add_le(b, value, 1);
}

static void add_field(made_bytes *b, uint32_t number, const void *data, size_t nbytes)
{
    add_varint(b, number << 3 | 2);
    add_varint(b, nbytes);
    bytes_add(b, data, nbytes);
}

/* A feature with one list, whose kind is 1 for bytes and 3 for integers, with one value in it. */
static void add_feature(made_bytes *features, const char *name, uint32_t kind, const void *data, size_t nbytes)
{
    static made_bytes list, feature, entry;
    list.nbytes = feature.nbytes = entry.nbytes = 0;
    add_field(&list, 1, data, nbytes);
    add_field(&feature, kind, list.data, list.nbytes);
    add_field(&entry, 1, name, strlen(name));
    add_field(&entry, 2, feature.data, feature.nbytes);
    add_field(features, 1, entry.data, entry.nbytes);
}

static uint32_t masked_crc(const uint8_t *data, size_t nbytes)
{
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < nbytes; i++) {
        crc ^= data[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ ((crc & 1) != 0 ? 0x82f63b78u : 0);
    }
    crc = ~crc;
    return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

static void make_tfrecord(made_dataset *m, const test_folder *folder)
{
    static made_bytes file, features, example;
    file.nbytes = 0;
    for (size_t i = 0; i < MADE_SAMPLES; i++) {
        uint8_t label = (uint8_t)(i / 2);
        features.nbytes = example.nbytes = 0;
        add_feature(&features, "image/encoded", 1, made_image(i)->bytes, made_image(i)->nbytes);
        add_feature(&features, "image/class/label", 3, &label, 1);
        add_field(&example, 1, features.data, features.nbytes);
        size_t head = file.nbytes;
        bytes_add_le(&file, example.nbytes, 8);
        bytes_add_le(&file, masked_crc(file.data + head, 8), 4);
        bytes_add(&file, example.data, example.nbytes);
        bytes_add_le(&file, masked_crc(example.data, example.nbytes), 4);
    }
    write_file(folder, m, "train.tfrecord", file.data, file.nbytes);
    set_path(folder, m, "train.tfrecord", m->path);
    m->layout = MR_LAYOUT_TFRECORD;
}

static void make_recordio(made_dataset *m, const test_folder *folder)
{
    static made_bytes file, idx;
    char line[64];
    file.nbytes = idx.nbytes = 0;
    for (size_t i = 0; i < MADE_SAMPLES; i++) {
        snprintf(line, sizeof line, "own-%zu\t%zu\n", i, file.nbytes);
        bytes_add_text(&idx, line);
        bytes_add_le(&file, 0xced7230a, 4);
        bytes_add_le(&file, 24 + made_image(i)->nbytes, 4);
        bytes_add_le(&file, 0, 4);
        bytes_add_f32(&file, (float)(i / 2));
        bytes_add_le(&file, i, 8);
        bytes_add_le(&file, 0, 8);
        bytes_add(&file, made_image(i)->bytes, made_image(i)->nbytes);
        bytes_add_le(&file, 0, (0 - file.nbytes) % 4);
    }
    if (m->kind == MADE_RECORDIO_IDX)
        write_file(folder, m, "train.idx", idx.data, idx.nbytes);
    write_file(folder, m, "train.rec", file.data, file.nbytes);
    set_path(folder, m, "train.rec", m->path);
    m->layout = MR_LAYOUT_RECORDIO;
}

static uint8_t cifar_pixel(size_t sample, size_t i)
{
    return (uint8_t)(sample * 101 + i * 7 + i / 1024 * 50);
}

static void make_cifar(made_dataset *m, const test_folder *folder)
{
    static made_bytes file;
    const char *name = m->kind == MADE_CIFAR_10 ? "data_batch_1.bin" : "train.bin";
    file.nbytes = 0;
    m->members = m->kind == MADE_CIFAR_100;
    for (size_t n = 0; n < MADE_SAMPLES; n++) {
        if (m->members != 0)
            bytes_add_le(&file, 10 + n, 1);
        bytes_add_le(&file, n / 2, 1);
        for (size_t i = 0; i < 3072; i++)
            bytes_add_le(&file, cifar_pixel(n, i), 1);
    }
    write_file(folder, m, name, file.data, file.nbytes);
    set_path(folder, m, name, m->path);
    m->layout = MR_LAYOUT_CIFAR;
}

static void make_list(made_dataset *m, const test_folder *folder)
{
    static made_bytes file, list;
    char line[64];
    file.nbytes = list.nbytes = 0;
    for (size_t i = 0; i < MADE_SAMPLES; i++) {
        bytes_add_text(&file, "between");
        snprintf(line, sizeof line, "%zu %zu %zu\n", file.nbytes, made_image(i)->nbytes, i / 2);
        bytes_add_text(&list, line);
        bytes_add(&file, made_image(i)->bytes, made_image(i)->nbytes);
    }
    write_file(folder, m, "lines", list.data, list.nbytes);
    write_file(folder, m, "anything", file.data, file.nbytes);
    set_path(folder, m, "lines", m->list);
    set_path(folder, m, "anything", m->path);
    m->layout = MR_LAYOUT_LIST;
}

static void make_packed(made_dataset *m, const test_folder *folder)
{
    made_dataset from;
    mr_packer *packer;
    const mr_pack_form forms[] = {{.struct_size = sizeof *forms}, {.struct_size = sizeof *forms, .form = MR_FORM_RAW}};
    const mr_pack_options options = {
        .struct_size = sizeof options, .forms = forms, .form_count = 2, .shard_samples = 4, .threads = 1};
    mr_pack_report report = {.struct_size = sizeof report};
    made_init(&from, folder, MADE_BRACES);
    mr_dataset *source = made_open_well(&from);
    set_path(folder, m, "", m->path);
    assert_int_equal(mr_packer_new(&options, &packer), 0);
    if (mr_packer_run(packer, source, m->path, &report) != 0)
        fail_msg("packing: %s", mr_packer_detail(packer));
    mr_packer_free(packer);
    mr_dataset_free(source);
    set_path(folder, m, "original/000000.tar", m->file);
    m->layout = MR_LAYOUT_PACKED;
    m->members = 1;
    m->shards = 2;
}

void made_init(made_dataset *m, const test_folder *folder, made_kind kind)
{
    static void (*const makers[])(made_dataset *, const test_folder *) = {
        make_folder,   make_folder,   make_folder,   make_folder, make_tars,  make_tars, make_tars,
        make_tfrecord, make_recordio, make_recordio, make_cifar,  make_cifar, make_list, make_packed};
    *m = (made_dataset){.kind = kind, .shards = 1};
    makers[kind](m, folder);
}

int made_open(const made_dataset *m, const mr_dataset_options *options, mr_dataset **out)
{
    mr_dataset_options all = {.struct_size = sizeof all};
    const char *path = m->path;
    if (options != NULL)
        all = *options;
    if (m->list[0] != '\0')
        all.list = m->list;
    int result = mr_dataset_new(&all, out);
    if (result == 0)
        result = mr_dataset_open(*out, &path, 1);
    else
        *out = NULL;
    return result;
}

mr_dataset *made_open_well(const made_dataset *m)
{
    mr_dataset *d;
    const mr_dataset_options options = {.struct_size = sizeof options, .index = MR_INDEX_NONE};
    if (made_open(m, &options, &d) != 0)
        fail_msg("%s: %s", made_name(m->kind), mr_dataset_detail(d));
    return d;
}

static bool is_cifar(const made_dataset *m)
{
    return m->layout == MR_LAYOUT_CIFAR;
}

bool made_bytes_are(const made_dataset *m, size_t sample, const void *bytes, size_t nbytes)
{
    if (!is_cifar(m))
        return nbytes == made_image(sample)->nbytes && memcmp(bytes, made_image(sample)->bytes, nbytes) == 0;
    mr_image image = picture_decode(bytes, nbytes, NULL);
    bool same = image.width == 32 && image.height == 32 && image.channels == 3;
    for (size_t i = 0; i < 3072 && same; i++) {
        const uint8_t *row = (const uint8_t *)image.pixels + (ptrdiff_t)(i % 1024 / 32) * image.stride;
        same = row[i % 32 * 3 + i / 1024] == cifar_pixel(sample, i);
    }
    mr_image_fini(&image, NULL);
    return same;
}

static void check_member(const made_dataset *m, mr_dataset *d, mr_reader *reader, size_t i)
{
    const void *bytes;
    size_t nbytes;
    char wanted[64], path[600];
    mr_member member = {.struct_size = sizeof member};
    snprintf(wanted, sizeof wanted, "{\"file_name\": \"%zu.png\", \"label\": %zu}", i, i / 2);
    if (is_cifar(m))
        snprintf(wanted, sizeof wanted, "%c", (char)(10 + i));
    assert_int_equal(mr_dataset_member(d, i, 0, &member), 0);
    assert_string_equal(member.name, is_cifar(m) ? "coarse" : "json");
    assert_int_equal(member.nbytes, strlen(wanted));
    if (mr_reader_member(reader, i, 0, &bytes, &nbytes) != 0)
        fail_msg("%s", mr_reader_detail(reader));
    assert_int_equal(nbytes, strlen(wanted));
    assert_memory_equal(bytes, wanted, nbytes);
    /* Where it says it is. */
    char there[64];
    size_t length = mr_dataset_file(d, member.file, path, sizeof path);
    assert_in_range(length, 1, sizeof path - 1);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, (long)member.offset, SEEK_SET), 0);
    assert_int_equal(fread(there, 1, nbytes, file), nbytes);
    fclose(file);
    assert_memory_equal(there, wanted, nbytes);
}

static void check_sample(const made_dataset *m, mr_dataset *d, mr_reader *reader, size_t i)
{
    const void *bytes;
    size_t nbytes;
    mr_label_kind kind;
    uint64_t found = 99;
    mr_sample sample = {.struct_size = sizeof sample};
    mr_record record = {.struct_size = sizeof record};
    int64_t label = made_label(m, i, &kind);
    assert_int_equal(mr_dataset_sample(d, i, &sample), 0);
    assert_int_equal(sample.ordinal, i);
    assert_string_equal(sample.key, made_key(m, i));
    assert_int_equal(sample.key_nbytes, strlen(sample.key));
    assert_int_equal(sample.label.kind, kind);
    assert_int_equal(sample.label.integer, label);
    assert_int_equal(sample.members, m->members);
    assert_int_equal(mr_dataset_find(d, sample.key, &found), 0);
    assert_int_equal(found, i);
    assert_int_equal(mr_dataset_record(d, i, 0, &record), 0);
    assert_int_equal(record.state, MR_RECORD_PRESENT);
    assert_int_equal(record.nbytes, is_cifar(m) ? 3072 : made_image(i)->nbytes);
    assert_int_equal(record.has_hash, m->kind == MADE_PACKED);
    if (mr_reader_record(reader, i, 0, &bytes, &nbytes) != 0)
        fail_msg("%s", mr_reader_detail(reader));
    assert_true(made_bytes_are(m, i, bytes, nbytes));
    if (m->members != 0)
        check_member(m, d, reader, i);
}

void made_check(const made_dataset *m, mr_dataset *d)
{
    mr_reader *reader;
    mr_dataset_info info = {.struct_size = sizeof info};
    assert_string_equal(mr_dataset_detail(d), "");
    assert_int_equal(mr_dataset_count(d), MADE_SAMPLES);
    assert_int_equal(mr_dataset_get_info(d, &info), 0);
    assert_int_equal(info.layout, m->layout);
    assert_int_equal(info.samples, MADE_SAMPLES);
    assert_int_equal(info.shards, m->shards);
    assert_int_equal(info.problems, 0);
    assert_int_equal(info.forms, m->kind == MADE_PACKED ? 2 : 1);
    assert_int_equal(mr_reader_new(d, &reader), 0);
    for (size_t i = MADE_SAMPLES; i-- > 0;)
        check_sample(m, d, reader, i);
    mr_reader_free(reader);
}
