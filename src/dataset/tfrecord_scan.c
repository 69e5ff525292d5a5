// SPDX-License-Identifier: Apache-2.0
/*
 * TFRecord files with a tf.train.Example in each record.
 *
 *     u64  length of the data
 *     u32  masked CRC-32C of these 8 bytes
 *          data
 *     u32  masked CRC-32C of the data
 *
 * All numbers are little-endian. A sum is masked, rotated and a constant added, so that sums of data with sums in it
 * stay useful. Both are checked: once, when the index is made, and never again.
 *
 * What of an Example becomes what of a sample is in the tables below: the first name that is there, with a value of
 * the right kind, counts. All other features are members. Where a feature is a bytes_list with one value, a text or
 * another image, the bytes of the member are that value. Of numbers and of several values they are the encoded Feature
 * message (example.h), and the name of the member ends in ".pb".
 *
 * Members are called like their features, but for slashes, which no name in a tar shard can have: "image/class/text" is
 * "image.class.text", "image/height" is "image.height.pb". Where that name is another's already it gets a number,
 * "image.height.2.pb"; a feature without a name is "feature".
 */
#include "base/bytes.h"
#include "base/hash.h"
#include "cpu/crc32c.h"
#include "dataset/example.h"
#include "dataset/records.h"

#include <stdio.h>
#include <string.h>

static const char *const image_names[] = {"image/encoded", "image_raw", "image", "image_bytes", "encoded_image",
                                          "jpg",           "jpeg",      "png",   "webp",        "img"};
static const char *const label_names[] = {"image/class/label", "label", "image/label", "class", "cls", "label/"};
static const char *const key_names[] = {"image/filename", "filename", "key", "__key__"};

#define ENDINGS ".tfrecord .tfrecords .tfrec .record .records"

enum {
    HEAD_NBYTES = 12,
    TAIL_NBYTES = 4,
    PIECE_NBYTES = 1 << 20 /* read at once: nearly every record is, whole */
};

typedef struct reading {
    mr__scan *scan;
    mr__window window;
    mr__crc32c crc;
    mr__example example;
    mr__key_set keys;
    mr__buffer key, label, names;
    uint64_t at, number;           /* of the record that is being read; its place is that of its head */
    uint64_t data_at, data_nbytes; /* its data */
    bool lost;                     /* so is the rest of the file */
} reading;

static uint32_t mask(uint32_t crc)
{
    return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

/* "record 12 at byte 345", for messages. */
typedef struct place {
    char text[64];
} place;

static place place_of(const reading *r)
{
    place p;
    snprintf(p.text, sizeof p.text, "record %llu at byte %llu", (unsigned long long)r->number,
             (unsigned long long)r->at);
    return p;
}

static int say_truncated(reading *r, uint64_t end)
{
    r->lost = true;
    return mr__scan_broken(r->scan, MR_ETRUNCATED,
                           "truncated TFRecord file: %s should end at byte %llu, the file ends at %llu",
                           place_of(r).text, (unsigned long long)end, (unsigned long long)r->scan->file->nbytes);
}

static bool is_gzip(const uint8_t *bytes)
{
    return bytes[0] == 0x1f && bytes[1] == 0x8b;
}

static bool is_zlib(const uint8_t *bytes)
{
    return (bytes[0] & 15) == 8 && bytes[0] >> 4 <= 7 && (bytes[0] << 8 | bytes[1]) % 31 == 0;
}

/* A sum of the length that is wrong. At the very beginning there may be a reason for it. */
static int say_bad_length(reading *r, const uint8_t *head)
{
    bool gzip = is_gzip(head);
    if (r->at == 0 && (gzip || is_zlib(head)))
        return mr__fail(r->scan->detail, MR_EUNSUPPORTED,
                        "%s: a TFRecord file compressed with %s: records in it have no place that can be read alone; "
                        "unpack it first (%s), or write it uncompressed",
                        r->scan->path, gzip ? "gzip" : "zlib", gzip ? "gzip -d" : "pigz -dz");
    r->lost = true;
    return mr__scan_broken(r->scan, r->at == 0 ? MR_EFORMAT : MR_ECORRUPT,
                           "damaged TFRecord file: the sum of the length of %s does not match%s%s", place_of(r).text,
                           r->at == 0 ? ", so that it may be no TFRecord file at all" : "",
                           mr__scan_skips(r->scan, "; all from there on is lost"));
}

/* Where the data is. `lost`: nowhere. */
static int read_head(reading *r)
{
    uint64_t left = r->scan->file->nbytes - r->at;
    size_t got;
    const uint8_t *head = mr__window_get(&r->window, r->at, HEAD_NBYTES, &got);
    if (head == NULL)
        return mr__scan_io(r->scan, &r->window);
    if (r->at == 0 && got >= 2 && got < HEAD_NBYTES && is_gzip(head))
        return say_bad_length(r, head);
    if (got < HEAD_NBYTES)
        return say_truncated(r, r->at + HEAD_NBYTES);
    if (mask(r->crc.add(0, head, 8)) != mr__load_le32(head + 8))
        return say_bad_length(r, head);
    r->data_at = r->at + HEAD_NBYTES;
    r->data_nbytes = mr__load_le64(head);
    if (left - HEAD_NBYTES < TAIL_NBYTES || r->data_nbytes > left - HEAD_NBYTES - TAIL_NBYTES) {
        uint64_t beyond = r->data_at + TAIL_NBYTES;
        return say_truncated(r, r->data_nbytes > UINT64_MAX - beyond ? UINT64_MAX : beyond + r->data_nbytes);
    }
    return 0;
}

/* Goes through the data and its sum; *good says whether they match. */
static int check_data(reading *r, bool *good)
{
    uint32_t crc = 0;
    size_t got;
    // With the head of the next record, so that a small one is read by one call.
    uint64_t all = r->data_nbytes + TAIL_NBYTES + HEAD_NBYTES;
    if (mr__window_get(&r->window, r->data_at, all < PIECE_NBYTES ? (size_t)all : PIECE_NBYTES, &got) == NULL)
        return mr__scan_io(r->scan, &r->window);
    for (uint64_t done = 0; done < r->data_nbytes; done += got) {
        uint64_t left = r->data_nbytes - done;
        const uint8_t *bytes =
            mr__window_get(&r->window, r->data_at + done, left < PIECE_NBYTES ? (size_t)left : PIECE_NBYTES, &got);
        if (bytes == NULL)
            return mr__scan_io(r->scan, &r->window);
        if (got == 0)
            return say_truncated(r, r->data_at + r->data_nbytes + TAIL_NBYTES); // it was cut meanwhile
        crc = r->crc.add(crc, bytes, got);
    }
    const uint8_t *tail = mr__window_get(&r->window, r->data_at + r->data_nbytes, TAIL_NBYTES, &got);
    if (tail == NULL)
        return mr__scan_io(r->scan, &r->window);
    *good = got == TAIL_NBYTES && mask(crc) == mr__load_le32(tail);
    return *good ? 0
                 : mr__scan_broken(r->scan, MR_ECORRUPT,
                                   "damaged TFRecord file: the sum of the data of %s does not match%s",
                                   place_of(r).text, mr__scan_skips(r->scan, "; this record is left out"));
}

/* What example.h could not read: of reading, or of the Example. */
static int say_bad_example(reading *r, int code)
{
    if (code == MR_EIO || code == MR_ENOMEM)
        return r->window.error != 0 ? mr__scan_io(r->scan, &r->window) : code;
    return mr__scan_broken(r->scan, code, "%s is no tf.train.Example that can be read: %s, at byte %llu",
                           place_of(r).text, r->example.problem, (unsigned long long)r->example.problem_at);
}

/* What of an Example is what of a sample; NULL: nothing. */
typedef struct role_set {
    const mr__feature *image, *label, *key;
    mr__feature_value image_value, label_value, key_value;
} role_set;

static int find_image(reading *r, role_set *roles)
{
    for (size_t i = 0; roles->image == NULL && i < sizeof image_names / sizeof *image_names; i++) {
        const mr__feature *f = mr__example_find(&r->example, image_names[i]);
        mr__feature_value value;
        int result = f != NULL ? mr__example_value(&r->example, f, MR__LABEL_VALUES_MAX, &value) : 0;
        if (result != 0 && result != MR_ELIMIT)
            return result;
        if (f != NULL && result == 0 && value.kind == MR__FEATURE_BYTES && value.count == 1 && value.nbytes != 0) {
            roles->image = f;
            roles->image_value = value;
        }
    }
    return 0;
}

/* The label comes last, so that its numbers stay in example.numbers. */
static int find_label(reading *r, role_set *roles)
{
    for (size_t i = 0; roles->label == NULL && i < sizeof label_names / sizeof *label_names; i++) {
        const mr__feature *f = mr__example_find(&r->example, label_names[i]);
        mr__feature_value value;
        int result =
            f != NULL && f != roles->image ? mr__example_value(&r->example, f, MR__LABEL_VALUES_MAX, &value) : 0;
        if (result != 0)
            return result;
        if (f == NULL || f == roles->image || value.count == 0)
            continue;
        if (value.kind != MR__FEATURE_BYTES || (value.count == 1 && value.nbytes <= MR__LABEL_VALUES_MAX)) {
            roles->label = f;
            roles->label_value = value;
        }
    }
    return 0;
}

/* Bytes of the file, into a buffer of our own. */
static int copy(reading *r, mr__buffer *to, uint64_t offset, size_t nbytes)
{
    size_t got;
    const uint8_t *bytes = mr__window_get(&r->window, offset, nbytes, &got);
    if (bytes == NULL)
        return r->window.error == MR__WINDOW_NOMEM ? MR_ENOMEM : MR_EIO;
    int result = mr__buffer_reserve(to, r->scan->hooks, nbytes + 1);
    if (result != 0)
        return result;
    memset(to->bytes + got, 0, nbytes - got);
    memcpy(to->bytes, bytes, got);
    return 0;
}

static int find_key(reading *r, role_set *roles)
{
    for (size_t i = 0; roles->key == NULL && i < sizeof key_names / sizeof *key_names; i++) {
        const mr__feature *f = mr__example_find(&r->example, key_names[i]);
        mr__feature_value value;
        int result = f != NULL ? mr__example_value(&r->example, f, MR__LABEL_VALUES_MAX, &value) : 0;
        if (result != 0 && result != MR_ELIMIT)
            return result;
        if (f == NULL || result != 0 || value.kind != MR__FEATURE_BYTES || value.count != 1 || value.nbytes == 0 ||
            value.nbytes > MR__KEY_NBYTES_MAX)
            continue;
        if ((result = copy(r, &r->key, value.offset, (size_t)value.nbytes)) != 0)
            return result;
        if (memchr(r->key.bytes, '\0', (size_t)value.nbytes) == NULL) {
            roles->key = f;
            roles->key_value = value;
        }
    }
    return 0;
}

static int make_label(reading *r, const role_set *roles, mr_label *label)
{
    const mr__feature_value *value = &roles->label_value;
    const uint8_t *numbers = r->example.numbers.bytes;
    if (roles->label == NULL)
        return 0;
    *label = (mr_label){.values = numbers, .count = value->count};
    if (value->kind == MR__FEATURE_BYTES) {
        int result = copy(r, &r->label, value->offset, (size_t)value->nbytes);
        if (result != 0)
            return result;
        bool text = memchr(r->label.bytes, '\0', (size_t)value->nbytes) == NULL;
        *label = (mr_label){.kind = text ? MR_LABEL_TEXT : MR_LABEL_BYTES};
        label->values = r->label.bytes;
        label->count = (size_t)value->nbytes;
    } else if (value->count > 1) {
        label->kind = value->kind == MR__FEATURE_INTS ? MR_LABEL_INTS : MR_LABEL_FLOATS;
    } else if (value->kind == MR__FEATURE_INTS) {
        *label = (mr_label){.kind = MR_LABEL_INT, .integer = (int64_t)mr__load_le64(numbers)};
    } else {
        uint64_t bits = mr__load_le64(numbers);
        *label = (mr_label){.kind = MR_LABEL_FLOAT};
        memcpy(&label->real, &bits, sizeof bits);
    }
    return 0;
}

/* Where its bytes are, and the ending that tells what they are. */
static int place_member(reading *r, const mr__feature *f, mr__member *member, const char **ending)
{
    mr__feature_value value;
    int result = mr__example_value(&r->example, f, 0, &value); // no numbers: those of the label are to stay
    if (result == MR_EIO || result == MR_ENOMEM)
        return result;
    bool one = result == 0 && value.kind == MR__FEATURE_BYTES && value.count == 1;
    *member = (mr__member){.offset = one ? value.offset : f->offset, .nbytes = one ? value.nbytes : f->nbytes};
    *ending = one ? "" : ".pb";
    return 0;
}

typedef struct members {
    size_t count, names_nbytes;
    mr__member list[MR__EXAMPLE_FEATURE_MAX];
    uint64_t hashes[MR__EXAMPLE_FEATURE_MAX]; /* of names: they may be long, and made to be alike */
} members;

static bool has_name(const members *m, const char *name, size_t nbytes, uint64_t hash)
{
    for (size_t i = 0; i < m->count; i++)
        if (m->hashes[i] == hash && m->list[i].name_nbytes == nbytes && memcmp(m->list[i].name, name, nbytes) == 0)
            return true;
    return false;
}

enum { NAME_MORE = 24 }; /* bytes, at most, that a name gets: "feature", a number, the ending, a zero */

/* The name of the next member, for which there is room. */
static void name_member(const reading *r, const mr__feature *f, const char *ending, members *m)
{
    static const char none[] = "feature";
    char *name = (char *)r->names.bytes + m->names_nbytes;
    size_t stem = f->name_nbytes != 0 ? f->name_nbytes : strlen(none), nbytes;
    const char *from = f->name_nbytes != 0 ? (const char *)r->example.names.bytes + f->name : none;
    uint64_t hash;
    for (size_t i = 0; i < stem; i++)
        name[i] = (char)(from[i] == '/' ? '.' : from[i]);
    nbytes = stem + (size_t)snprintf(name + stem, NAME_MORE - strlen(none), "%s", ending);
    hash = mr__hash(name, nbytes);
    for (unsigned number = 2; has_name(m, name, nbytes, hash); number++) {
        nbytes = stem + (size_t)snprintf(name + stem, NAME_MORE - strlen(none), ".%u%s", number, ending);
        hash = mr__hash(name, nbytes);
    }
    m->hashes[m->count] = hash;
    m->list[m->count].name = name;
    m->list[m->count].name_nbytes = nbytes;
    m->names_nbytes += nbytes;
}

static int list_members(reading *r, const role_set *roles, members *m)
{
    size_t room = r->example.names_nbytes + r->example.count * NAME_MORE;
    int result = mr__buffer_reserve(&r->names, r->scan->hooks, room + 1);
    m->count = m->names_nbytes = 0;
    for (size_t i = 0; result == 0 && i < r->example.count; i++) {
        const mr__feature *f = &r->example.features[i];
        const char *ending;
        if (f == roles->image || f == roles->label || f == roles->key)
            continue;
        result = place_member(r, f, &m->list[m->count], &ending);
        if (result != 0)
            break;
        name_member(r, f, ending, m);
        m->count++;
    }
    return result;
}

static int add_sample(reading *r, const role_set *roles)
{
    char numbered[MR__NUMBERED_NBYTES];
    members found;
    mr__draft draft = {.members = found.list};
    int result = list_members(r, roles, &found);
    if (result != 0)
        return say_bad_example(r, result);
    draft.member_count = found.count;
    if (draft.member_count > MR__MEMBER_MAX)
        return mr__scan_broken(r->scan, MR_ELIMIT, "%s has %zu features beside its image; a sample can have %d",
                               place_of(r).text, draft.member_count, MR__MEMBER_MAX);
    draft.record.offset = roles->image_value.offset;
    draft.record.nbytes = roles->image_value.nbytes;
    result = make_label(r, roles, &draft.label);
    if (result != 0)
        return say_bad_example(r, result);
    if (!mr__scan_form(&r->window, draft.record.offset, draft.record.nbytes, &draft.record.form))
        return mr__scan_io(r->scan, &r->window);
    draft.key = roles->key != NULL ? (const char *)r->key.bytes : numbered;
    draft.key_nbytes = roles->key != NULL ? (size_t)roles->key_value.nbytes
                                          : mr__key_numbered(numbered, r->scan->path, ENDINGS, r->number);
    return mr__scan_add(r->scan, &r->keys, &draft, place_of(r).text);
}

static int read_example(reading *r)
{
    role_set roles = {0};
    int result = mr__example_read(&r->example, r->data_at, r->data_nbytes);
    if (result == 0)
        result = find_image(r, &roles);
    if (result == 0 && roles.image == NULL)
        return mr__scan_broken(r->scan, MR_EFORMAT,
                               "%s has no image: none of its %zu features is called image/encoded, image_raw, image, "
                               "jpg, ... and has one value of bytes",
                               place_of(r).text, r->example.count);
    if (result == 0)
        result = find_key(r, &roles);
    if (result == 0)
        result = find_label(r, &roles);
    return result != 0 ? say_bad_example(r, result) : add_sample(r, &roles);
}

/* One record, whatever is wrong with it; 0 to go on behind it, unless the rest is lost. */
static int read_record(reading *r)
{
    bool good = false;
    int result = read_head(r);
    if (result != 0 || r->lost)
        return result;
    if (r->data_nbytes > MR__RECORD_NBYTES_MAX)
        return mr__scan_broken(r->scan, MR_ELIMIT, "%s has %llu bytes; a record of more than 1 GiB is refused",
                               place_of(r).text, (unsigned long long)r->data_nbytes);
    result = check_data(r, &good);
    return result != 0 || !good ? result : read_example(r);
}

static int read_all(reading *r)
{
    int result = mr__scan_seen(r->scan, 0);
    while (result == 0 && !r->lost && r->at < r->scan->file->nbytes) {
        uint64_t begin = r->at;
        result = read_record(r);
        if (result != 0 || r->lost)
            break;
        r->at = r->data_at + r->data_nbytes + TAIL_NBYTES;
        r->number++;
        result = mr__scan_seen(r->scan, r->at - begin);
    }
    return result;
}

static int scan_file(mr__scan *scan)
{
    reading r = {.scan = scan, .window = {.file = scan->file, .hooks = scan->hooks}};
    mr__detail_clear(scan->detail);
    r.example.window = &r.window;
    mr__crc32c_init(&r.crc, mr__cpu_detect());
    int result = read_all(&r);
    mr__example_fini(&r.example);
    mr__key_set_fini(&r.keys, scan->hooks);
    mr__buffer_fini(&r.key, scan->hooks);
    mr__buffer_fini(&r.label, scan->hooks);
    mr__buffer_fini(&r.names, scan->hooks);
    mr__window_fini(&r.window);
    return mr__scan_end(scan, result);
}

/* By the first sum, which no other file has right; or by its name, to say what is wrong with it. */
static bool probe(const char *path, const uint8_t *bytes, size_t nbytes, uint64_t file_nbytes)
{
    mr__crc32c crc;
    const char *name = mr__path_name(path);
    (void)file_nbytes;
    mr__crc32c_init_c(&crc);
    if (nbytes >= HEAD_NBYTES && mask(crc.add(0, bytes, 8)) == mr__load_le32(bytes + 8))
        return true;
    return strstr(name, ".tfrecord") != NULL || strstr(name, ".tfrec") != NULL;
}

const mr__scanner mr__scanner_tfrecord = {.layout = MR_LAYOUT_TFRECORD, .probe = probe, .scan = scan_file};
