// SPDX-License-Identifier: Apache-2.0
/*
 * Goes through a tar shard from header to header. Payloads are passed over, but for labels and the first bytes of
 * images.
 *
 * Invariants
 * 1. Every place that goes into the index lies within the file.
 * 2. A step goes forward by a block at least: the time is bounded by the length of the file.
 * 3. Where a header is lost, all behind it is, and the sample that was being collected, which may lack members. So it
 *    is at the end of an archive with something behind it: that end may be a header whose block was lost.
 */
#include "dataset/scan.h"
#include "dataset/tar_header.h"
#include "dataset/tar_sample.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* What headers before it say of the next member. */
typedef struct extra {
    bool has_path, has_size, sparse;
    size_t path_nbytes;
    uint64_t size;
    char path[MR__TAR_PATH_MAX];
} extra;

typedef struct walk {
    mr__scan *scan;
    mr__window window;
    uint64_t at;   /* of the next header */
    uint64_t told; /* what progress knows of */
    bool done;
    extra next;
    mr__tar_sample sample;
} walk;

typedef struct packing {
    const char *name;
    const char *undo;
    size_t nbytes;
    uint8_t magic[6];
} packing;

static const packing packings[] = {
    {"gzip", "gunzip", 2, {0x1f, 0x8b}},           {"zstd", "unzstd", 4, {0x28, 0xb5, 0x2f, 0xfd}},
    {"bzip2", "bunzip2", 3, {'B', 'Z', 'h'}},      {"xz", "unxz", 6, {0xfd, '7', 'z', 'X', 'Z', 0}},
    {"lz4", "unlz4", 4, {0x04, 0x22, 0x4d, 0x18}},
};

/* All from `at` on cannot be read, for this reason. The end of the walk. */
__attribute__((format(printf, 4, 5))) static int lose_rest(walk *w, int code, uint64_t at, const char *format, ...)
{
    char why[200], sample[120] = "";
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    w->done = true;
    if (w->scan->broken != MR_BROKEN_SKIP)
        return mr__scan_broken(w->scan, code, "%s", why);
    if (w->sample.begun)
        snprintf(sample, sizeof sample, ", and sample \"%s\"",
                 mr__tar_show((const char *)w->sample.key.bytes, w->sample.key_nbytes).text);
    mr__tar_sample_drop(&w->sample);
    return mr__scan_broken(w->scan, code, "%s; the last %llu bytes of the shard are left out%s", why,
                           (unsigned long long)(w->scan->file->nbytes - at), sample);
}

static int refuse_packing(const walk *w, const uint8_t *bytes, size_t nbytes)
{
    for (size_t i = 0; i < sizeof packings / sizeof *packings; i++) {
        const packing *p = &packings[i];
        if (nbytes >= p->nbytes && memcmp(bytes, p->magic, p->nbytes) == 0)
            return mr__fail(w->scan->detail, MR_EUNSUPPORTED,
                            "%s: compressed by %s, which allows no reading in the middle, and images are compressed "
                            "already: unpack it (%s)",
                            w->scan->path, p->name, p->undo);
    }
    return 0;
}

static int fail_header(walk *w, const mr__tar_header *header)
{
    unsigned long long at = w->at;
    if (w->at == 0)
        return lose_rest(w, MR_EFORMAT, 0, "not a tar archive: the checksum of its first block is %u, not %u",
                         header->stored_checksum, header->checksum);
    if (header->no_size)
        return lose_rest(w, MR_ECORRUPT, w->at, "the tar header at byte %llu has a size that is no number", at);
    return lose_rest(w, MR_ECORRUPT, w->at, "no tar header at byte %llu: its checksum would be %u, and says %u", at,
                     header->checksum, header->stored_checksum);
}

/* The block at `w->at`; *block NULL: the end of the file. A part of one is damage. */
static int read_block(walk *w, const uint8_t **block)
{
    size_t got;
    *block = NULL;
    const uint8_t *bytes = mr__window_get(&w->window, w->at, MR__TAR_BLOCK, &got);
    if (bytes == NULL)
        return mr__scan_io(w->scan, &w->window);
    if (w->at == 0) {
        int result = refuse_packing(w, bytes, got);
        if (result != 0)
            return result;
        if (got == 0)
            return lose_rest(w, MR_ETRUNCATED, 0, "an empty file is no tar archive");
    }
    if (got == 0) {
        w->done = true;
        return 0;
    }
    if (got < MR__TAR_BLOCK)
        return lose_rest(w, MR_ETRUNCATED, w->at, "the shard ends in a tar header, %zu bytes behind byte %llu", got,
                         (unsigned long long)w->at);
    *block = bytes;
    return 0;
}

/* The name that counts for the next member. */
static const char *name_of(const walk *w, const mr__tar_header *header, size_t *nbytes)
{
    *nbytes = w->next.has_path ? w->next.path_nbytes : header->name_nbytes;
    return w->next.has_path ? w->next.path : header->name;
}

/* Whether the payload behind the header lies within the file; else all is lost. */
static int check_payload(walk *w, const mr__tar_header *header, uint64_t offset, uint64_t nbytes)
{
    uint64_t end = w->scan->file->nbytes, left = offset < end ? end - offset : 0;
    size_t name_nbytes;
    const char *name = name_of(w, header, &name_nbytes);
    if (nbytes <= left)
        return 0;
    int result = header->kind == MR__TAR_FILE ? mr__tar_sample_turn(&w->sample, name, name_nbytes) : 0;
    if (result != 0)
        return result;
    return lose_rest(w, MR_ETRUNCATED, w->at,
                     "the shard ends in \"%s\": %llu of its %llu bytes are there, from byte %llu",
                     mr__tar_show(name, name_nbytes).text, (unsigned long long)left, (unsigned long long)nbytes,
                     (unsigned long long)offset);
}

static int keep_path(walk *w, const char *path, size_t nbytes)
{
    if (nbytes > MR__TAR_PATH_MAX)
        return lose_rest(w, MR_ELIMIT, w->at, "a name of %zu bytes at byte %llu, of at most %d", nbytes,
                         (unsigned long long)w->at, MR__TAR_PATH_MAX);
    memcpy(w->next.path, path, nbytes);
    w->next.path_nbytes = nbytes;
    w->next.has_path = true;
    return 0;
}

/* Of global headers comments are common; a path or size for all members makes no sense. */
static int take_pax(walk *w, const mr__tar_header *header, const uint8_t *bytes, size_t nbytes)
{
    mr__tar_pax pax = {.path = NULL};
    size_t at = 0;
    unsigned long long place = w->at + MR__TAR_BLOCK;
    const char *problem = mr__tar_pax_read(bytes, nbytes, &pax, &at);
    if (problem != NULL)
        return lose_rest(w, MR_ECORRUPT, w->at, "damaged pax header at byte %llu: %s", place + at, problem);
    if (header->kind == MR__TAR_PAX_GLOBAL) {
        if (pax.path != NULL || pax.has_size || pax.sparse)
            return lose_rest(w, MR_EUNSUPPORTED, w->at,
                             "the pax header at byte %llu has a path or size for all members", place);
        return 0;
    }
    w->next.sparse = w->next.sparse || pax.sparse;
    if (pax.has_size) {
        w->next.has_size = true;
        w->next.size = pax.size;
    }
    return pax.path != NULL ? keep_path(w, pax.path, pax.path_nbytes) : 0;
}

/* A header that says something of the next one. */
static int take_extra(walk *w, const mr__tar_header *header)
{
    size_t got;
    uint64_t offset = w->at + MR__TAR_BLOCK;
    int result = check_payload(w, header, offset, header->nbytes);
    if (result != 0 || w->done || header->kind == MR__TAR_LONG_LINK)
        return result;
    if (header->nbytes > MR__TAR_EXTRA_MAX)
        return lose_rest(w, MR_ELIMIT, w->at, "the pax header or long name at byte %llu has %llu bytes, of at most %d",
                         (unsigned long long)w->at, (unsigned long long)header->nbytes, MR__TAR_EXTRA_MAX);
    const uint8_t *bytes = mr__window_get(&w->window, offset, (size_t)header->nbytes, &got);
    if (bytes == NULL)
        return mr__scan_io(w->scan, &w->window);
    if (got < header->nbytes)
        return mr__fail(w->scan->detail, MR_ETRUNCATED, "%s: became shorter while it was scanned", w->scan->path);
    if (header->kind != MR__TAR_LONG_NAME)
        return take_pax(w, header, bytes, got);
    const uint8_t *end = memchr(bytes, '\0', got);
    return keep_path(w, (const char *)bytes, end != NULL ? (size_t)(end - bytes) : got);
}

/* Old sparse files have more blocks of their map before the payload. */
static int pass_map(walk *w, bool extended, uint64_t *offset)
{
    while (extended) {
        size_t got;
        const uint8_t *block = mr__window_get(&w->window, *offset, MR__TAR_BLOCK, &got);
        if (block == NULL)
            return mr__scan_io(w->scan, &w->window);
        if (got < MR__TAR_BLOCK)
            return lose_rest(w, MR_ETRUNCATED, w->at, "the shard ends in the map of the sparse file at byte %llu",
                             (unsigned long long)w->at);
        extended = mr__tar_sparse_extended(block);
        *offset += MR__TAR_BLOCK;
    }
    return 0;
}

static int take_file(walk *w, const mr__tar_header *header, uint64_t offset, uint64_t nbytes)
{
    size_t name_nbytes;
    const char *name = name_of(w, header, &name_nbytes);
    const char *why = header->kind == MR__TAR_CONTINUED                  ? "is continued from another volume"
                      : header->kind == MR__TAR_SPARSE || w->next.sparse ? "is stored with holes (sparse)"
                                                                         : NULL;
    if (why != NULL)
        return mr__scan_broken(w->scan, MR_EUNSUPPORTED, "\"%s\" at byte %llu %s, which is not supported",
                               mr__tar_show(name, name_nbytes).text, (unsigned long long)w->at, why);
    return mr__tar_sample_take(&w->sample, &w->window, name, name_nbytes, offset, nbytes);
}

/* Extracting would make an image of it, and webdataset nothing; what has no part in a sample may be one. */
static int take_link(walk *w, const mr__tar_header *header)
{
    size_t name_nbytes;
    const char *name = name_of(w, header, &name_nbytes);
    if (!mr__tar_name_counts(name, name_nbytes))
        return 0;
    return mr__scan_broken(w->scan, MR_EUNSUPPORTED,
                           "%s is a link to %s: WebDataset has no links; write the tar with %s",
                           mr__tar_show(name, name_nbytes).text, mr__tar_show(header->link, header->link_nbytes).text,
                           header->symbolic ? "-h" : "--hard-dereference");
}

/* A member; what was said before its header is used up. */
static int take_member(walk *w, const mr__tar_header *header, uint64_t *end)
{
    uint64_t nbytes = header->has_payload ? w->next.has_size ? w->next.size : header->nbytes : 0;
    uint64_t offset = w->at + MR__TAR_BLOCK;
    int result = pass_map(w, header->extended, &offset);
    if (result == 0 && !w->done)
        result = check_payload(w, header, offset, nbytes);
    if (result != 0 || w->done)
        return result;
    if (header->kind == MR__TAR_LINK)
        result = take_link(w, header);
    else if (header->kind != MR__TAR_OTHER)
        result = take_file(w, header, offset, nbytes);
    w->next.has_path = w->next.has_size = w->next.sparse = false;
    *end = offset + mr__tar_round(nbytes);
    return result;
}

static int check_stop(const walk *w)
{
    if (w->scan->stop != NULL && atomic_load_explicit(w->scan->stop, memory_order_relaxed))
        return mr__fail(w->scan->detail, MR_ECLOSED, "%s: stopped while it was scanned", w->scan->path);
    return 0;
}

/* How many bytes from `w->at` on are not zero. */
static int count_behind(walk *w, uint64_t *count)
{
    enum { PIECE_NBYTES = 1 << 16 }; /* what the window has anyway */
    size_t got = 1;
    *count = 0;
    for (uint64_t at = w->at; got != 0; at += got) {
        const uint8_t *bytes = mr__window_get(&w->window, at, PIECE_NBYTES, &got);
        int result = bytes == NULL ? mr__scan_io(w->scan, &w->window) : check_stop(w);
        if (result != 0)
            return result;
        for (size_t i = 0; i < got; i++)
            *count += bytes[i] != 0;
    }
    return 0;
}

/* A block of zeros. Writers put zeros behind it, nothing else. */
static int take_end(walk *w)
{
    uint64_t count;
    int result = count_behind(w, &count);
    w->done = true;
    if (result != 0 || count == 0)
        return result;
    return lose_rest(w, MR_ECORRUPT, w->at,
                     "the tar ends at byte %llu, and %llu bytes behind that are not zero: were two tars joined (cat, "
                     "tar -A)? tar -xi unpacks all of it",
                     (unsigned long long)w->at, (unsigned long long)count);
}

static void tell_progress(walk *w)
{
    uint64_t at = w->at < w->scan->file->nbytes && !w->done ? w->at : w->scan->file->nbytes;
    if (w->scan->seen_nbytes != NULL)
        atomic_fetch_add_explicit(w->scan->seen_nbytes, at - w->told, memory_order_relaxed);
    w->told = at;
}

static int step(walk *w)
{
    const uint8_t *block;
    mr__tar_header header;
    int result = read_block(w, &block);
    if (result != 0 || block == NULL)
        return result;
    mr__tar_parse(block, &header);
    uint64_t end = w->at + MR__TAR_BLOCK + mr__tar_round(header.nbytes);
    switch (header.kind) {
    case MR__TAR_BAD:
        return fail_header(w, &header);
    case MR__TAR_END:
        return take_end(w);
    case MR__TAR_PAX:
    case MR__TAR_PAX_GLOBAL:
    case MR__TAR_LONG_NAME:
    case MR__TAR_LONG_LINK:
        result = take_extra(w, &header);
        break;
    default:
        result = take_member(w, &header, &end);
    }
    w->at = end;
    return result;
}

static int walk_shard(walk *w)
{
    while (!w->done) {
        int result = check_stop(w);
        if (result == 0)
            result = step(w);
        if (result != 0)
            return result;
        tell_progress(w);
    }
    return mr__tar_sample_finish(&w->sample);
}

static int scan_tar(mr__scan *scan)
{
    walk *w = mr__alloc_zero(scan->hooks, sizeof *w);
    if (w == NULL)
        return mr__fail(scan->detail, MR_ENOMEM, "%s: out of memory for its index", scan->path);
    w->scan = scan;
    w->window = (mr__window){.file = scan->file, .hooks = scan->hooks};
    w->sample.scan = scan;
    int result = walk_shard(w);
    mr__tar_sample_fini(&w->sample);
    mr__window_fini(&w->window);
    mr__free(scan->hooks, w);
    return result;
}

/* Compressed ones too: scanning them says what to do. */
static bool has_ending(const char *path)
{
    static const char *const endings[] = {".tar",     ".tar.gz", ".tgz", ".tar.zst", ".tzst",
                                          ".tar.bz2", ".tbz2",   ".txz", ".tar.xz",  ".tar.lz4"};
    size_t nbytes = strlen(path);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t n = strlen(endings[i]);
        if (nbytes > n && strcasecmp(path + nbytes - n, endings[i]) == 0)
            return true;
    }
    return false;
}

static bool probe_tar(const char *path, const uint8_t *bytes, size_t nbytes, uint64_t file_nbytes)
{
    mr__tar_header header = {.kind = MR__TAR_BAD};
    (void)file_nbytes;
    if (nbytes >= MR__TAR_BLOCK)
        mr__tar_parse(bytes, &header);
    return (header.kind != MR__TAR_BAD && header.kind != MR__TAR_END) || has_ending(path);
}

const mr__scanner mr__scanner_tar = {.layout = MR_LAYOUT_TAR, .probe = probe_tar, .scan = scan_tar};
