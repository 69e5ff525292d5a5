// SPDX-License-Identifier: Apache-2.0
/*
 * `names` is the name space as it is stored; `changes` what was done to it since, in order. The name space that the
 * program sees is the one with all changes done; a power cut does some of them.
 */
#include "faulty_disk.h"

#include "base/rng.h"
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SECTOR = 512 };

struct faulty_file {
    mr__disk_file *real; /* NULL: not open */
    uint8_t *now;        /* what was written */
    size_t nbytes, capacity;
    uint8_t *before; /* what it held before create cut it, if that is not stored */
    size_t stored;   /* bytes: of `before` if there is one, or of `now` */
    size_t shortest; /* length since the last sync */
    bool lost;       /* a sync has failed */
};

struct faulty_name {
    char *path;
    faulty_file *file;
};

/* create: to; remove: from; rename: both. */
struct faulty_change {
    char *from, *to;
    faulty_file *file; /* that `to` names then */
    bool from_stored, to_stored;
};

static void *keep_alive(void *block)
{
    if (block == NULL)
        abort();
    return block;
}

static char *copy_text(const char *text)
{
    return text != NULL ? keep_alive(strdup(text)) : NULL;
}

/* --- The name space ---------------------------------------------------------------------------------------------- */

static faulty_name *find_name(faulty_name *names, size_t count, const char *path)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i].path, path) == 0)
            return &names[i];
    return NULL;
}

static void set_name(faulty_name **names, size_t *count, const char *path, faulty_file *file)
{
    faulty_name *name = find_name(*names, *count, path);
    if (name == NULL) {
        *names = keep_alive(realloc(*names, (*count + 1) * sizeof **names));
        name = &(*names)[(*count)++];
        name->path = copy_text(path);
    }
    name->file = file;
}

static void do_change(faulty_name **names, size_t *count, const faulty_change *change)
{
    if (change->from != NULL)
        set_name(names, count, change->from, NULL);
    if (change->to != NULL)
        set_name(names, count, change->to, change->file);
}

static faulty_file *add_file(faulty_disk *faulty)
{
    faulty_file *file = keep_alive(calloc(1, sizeof *file));
    faulty->files = keep_alive(realloc(faulty->files, (faulty->file_count + 1) * sizeof *faulty->files));
    faulty->files[faulty->file_count++] = file;
    return file;
}

static void append(faulty_file *file, const void *bytes, size_t nbytes)
{
    if (nbytes > file->capacity - file->nbytes) {
        file->capacity = (file->nbytes + nbytes) * 2;
        file->now = keep_alive(realloc(file->now, file->capacity));
    }
    if (nbytes != 0)
        memcpy(file->now + file->nbytes, bytes, nbytes);
    file->nbytes += nbytes;
}

/* A file that was there before us. */
static faulty_file *load(faulty_disk *faulty, const char *path)
{
    struct stat status;
    FILE *stream = stat(path, &status) == 0 && S_ISREG(status.st_mode) ? fopen(path, "rb") : NULL;
    if (stream == NULL)
        return NULL;
    faulty_file *file = add_file(faulty);
    uint8_t piece[4096];
    size_t got;
    while ((got = fread(piece, 1, sizeof piece, stream)) != 0)
        append(file, piece, got);
    fclose(stream);
    file->stored = file->shortest = file->nbytes;
    return file;
}

/* What a path names for the program; what is not known yet is looked up on the real disk. */
static faulty_file *look_up(faulty_disk *faulty, const char *path)
{
    for (size_t i = faulty->change_count; i-- > 0;) {
        const faulty_change *change = &faulty->changes[i];
        if (change->to != NULL && strcmp(change->to, path) == 0)
            return change->file;
        if (change->from != NULL && strcmp(change->from, path) == 0)
            return NULL;
    }
    faulty_name *name = find_name(faulty->names, faulty->name_count, path);
    if (name == NULL) {
        set_name(&faulty->names, &faulty->name_count, path, load(faulty, path));
        name = &faulty->names[faulty->name_count - 1];
    }
    return name->file;
}

static void add_change(faulty_disk *faulty, const char *from, const char *to, faulty_file *file)
{
    faulty->changes = keep_alive(realloc(faulty->changes, (faulty->change_count + 1) * sizeof *faulty->changes));
    faulty->changes[faulty->change_count++] =
        (faulty_change){copy_text(from), copy_text(to), file, from == NULL, to == NULL};
}

static bool is_in(const char *path, const char *folder)
{
    const char *name = strrchr(path, '/');
    size_t length = name != NULL ? (size_t)(name - path) : 0;
    if (name == NULL)
        return strcmp(folder, ".") == 0;
    if (length == 0)
        length = 1;
    size_t wanted = strlen(folder);
    while (wanted > 1 && folder[wanted - 1] == '/')
        wanted--;
    return length == wanted && memcmp(path, folder, length) == 0;
}

static bool share(const char *a, const char *b)
{
    return a != NULL && b != NULL && strcmp(a, b) == 0;
}

static bool builds_on(const faulty_change *later, const faulty_change *earlier)
{
    return share(later->from, earlier->from) || share(later->from, earlier->to) || share(later->to, earlier->from) ||
           share(later->to, earlier->to);
}

/* Moves from `changes` to `names` what is stored, with all that it builds on stored. */
static void settle(faulty_disk *faulty)
{
    size_t left = 0;
    for (size_t i = 0; i < faulty->change_count; i++) {
        faulty_change *change = &faulty->changes[i];
        bool whole = change->from_stored && change->to_stored;
        for (size_t j = 0; whole && j < left; j++)
            whole = !builds_on(change, &faulty->changes[j]);
        if (whole) {
            do_change(&faulty->names, &faulty->name_count, change);
            free(change->from);
            free(change->to);
        } else {
            faulty->changes[left++] = *change;
        }
    }
    faulty->change_count = left;
}

/* --- Calls that fail --------------------------------------------------------------------------------------------- */

static faulty_disk *enter(const mr__disk *disk)
{
    faulty_disk *faulty = disk->state;
    mr__mutex_lock(&faulty->mutex);
    return faulty;
}

static int leave(faulty_disk *faulty, int error)
{
    mr__mutex_unlock(&faulty->mutex);
    return error;
}

/* What this call fails with. */
static int fate(faulty_disk *faulty, faulty_call call)
{
    faulty->each[call]++;
    faulty->calls++;
    if (faulty->crashed)
        return EIO;
    size_t nth = faulty->fault.nth;
    bool hit = nth != 0 && (faulty->calls == nth || (faulty->fault.for_ever && faulty->calls > nth));
    return hit ? faulty->fault.error : 0;
}

static int faulty_make_folder(const mr__disk *disk, const char *path)
{
    faulty_disk *faulty = enter(disk);
    int error = fate(faulty, FAULTY_MAKE_FOLDER);
    return leave(faulty, error != 0 ? error : mr__disk_real.make_folder(&mr__disk_real, path));
}

/* Emptied, and what it held is not lost yet. */
static void empty(faulty_file *file)
{
    if (file->before == NULL) {
        file->before = file->now;
        file->now = NULL;
        file->capacity = 0;
    }
    file->nbytes = file->shortest = 0;
    file->lost = false; // what could not be stored is gone, and what comes now is new
}

static int faulty_create(const mr__disk *disk, const char *path, mr__disk_file **out)
{
    faulty_disk *faulty = enter(disk);
    int error = fate(faulty, FAULTY_CREATE);
    if (error != 0)
        return leave(faulty, error);
    faulty_file *file = look_up(faulty, path);
    mr__disk_file *real;
    error = mr__disk_real.create(&mr__disk_real, path, &real);
    if (error != 0)
        return leave(faulty, error);
    if (file == NULL) {
        file = add_file(faulty);
        add_change(faulty, NULL, path, file);
    } else {
        empty(file);
    }
    file->real = real;
    *out = (mr__disk_file *)file;
    return leave(faulty, 0);
}

static int faulty_write(const mr__disk *disk, mr__disk_file *opaque, const void *bytes, size_t nbytes)
{
    faulty_disk *faulty = enter(disk);
    faulty_file *file = (faulty_file *)opaque;
    bool was_over = faulty->fault.nth != 0 && faulty->calls >= faulty->fault.nth;
    int error = fate(faulty, FAULTY_WRITE);
    size_t reached = error == 0 ? nbytes : was_over || faulty->crashed ? 0 : faulty->fault.reached;
    if (reached > nbytes)
        reached = nbytes;
    int real = reached != 0 ? mr__disk_real.write(&mr__disk_real, file->real, bytes, reached) : 0;
    if (real == 0)
        append(file, bytes, reached);
    return leave(faulty, error != 0 ? error : real);
}

/* Not synced on the real disk, too: it is the model that loses things here, and it is quicker. */
static int faulty_sync(const mr__disk *disk, mr__disk_file *opaque)
{
    faulty_disk *faulty = enter(disk);
    faulty_file *file = (faulty_file *)opaque;
    int error = fate(faulty, FAULTY_SYNC);
    if (error != 0) {
        file->lost = true;
    } else if (!file->lost) {
        free(file->before);
        file->before = NULL;
        file->stored = file->shortest = file->nbytes;
    }
    return leave(faulty, error);
}

static int faulty_close(const mr__disk *disk, mr__disk_file *opaque)
{
    faulty_disk *faulty = enter(disk);
    faulty_file *file = (faulty_file *)opaque;
    int error = fate(faulty, FAULTY_CLOSE);
    int real = mr__disk_real.close(&mr__disk_real, file->real);
    file->real = NULL;
    return leave(faulty, error != 0 ? error : real);
}

static int faulty_rename(const mr__disk *disk, const char *from, const char *to)
{
    faulty_disk *faulty = enter(disk);
    int error = fate(faulty, FAULTY_RENAME);
    if (error != 0)
        return leave(faulty, error);
    faulty_file *file = look_up(faulty, from);
    look_up(faulty, to); // what is there now may have to come back
    error = mr__disk_real.rename(&mr__disk_real, from, to);
    if (error == 0 && file != NULL)
        add_change(faulty, from, to, file);
    return leave(faulty, error);
}

static int faulty_sync_folder(const mr__disk *disk, const char *path)
{
    faulty_disk *faulty = enter(disk);
    int error = fate(faulty, FAULTY_SYNC_FOLDER);
    for (size_t i = 0; error == 0 && i < faulty->change_count; i++) {
        faulty_change *change = &faulty->changes[i];
        change->from_stored = change->from_stored || is_in(change->from, path);
        change->to_stored = change->to_stored || is_in(change->to, path);
    }
    settle(faulty);
    return leave(faulty, error);
}

static int faulty_remove(const mr__disk *disk, const char *path)
{
    faulty_disk *faulty = enter(disk);
    int error = fate(faulty, FAULTY_REMOVE);
    if (error != 0)
        return leave(faulty, error);
    faulty_file *file = look_up(faulty, path);
    error = mr__disk_real.remove(&mr__disk_real, path);
    if (error == 0 && file != NULL)
        add_change(faulty, path, NULL, NULL);
    return leave(faulty, error);
}

/* --- The power cut ----------------------------------------------------------------------------------------------- */

static size_t min(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* One of the ends in half of the draws. */
static size_t draw_length(mr__rng *rng, size_t least, size_t most)
{
    uint32_t choice = mr__rng_below(rng, 4);
    size_t between = least + mr__rng_below(rng, (uint32_t)(most - least + 1));
    return choice == 0 ? least : choice == 1 ? most : between;
}

/* One sector that is not stored, as the cut leaves it. `bytes` is all zero. */
static void draw_sector(mr__rng *rng, const faulty_file *file, size_t at, uint8_t *bytes)
{
    const uint8_t *stored = file->before != NULL ? file->before : file->now;
    switch (mr__rng_below(rng, 3)) {
    case 0:
        if (at < file->nbytes)
            memcpy(bytes, file->now + at, min(SECTOR, file->nbytes - at));
        break;
    case 1:
        if (at < file->stored)
            memcpy(bytes, stored + at, min(SECTOR, file->stored - at));
        break;
    default:
        for (size_t i = 0; i < SECTOR; i++)
            bytes[i] = (uint8_t)mr__rng_u32(rng);
    }
}

static bool is_stored(const faulty_file *file)
{
    return file->before == NULL && file->stored == file->nbytes;
}

/* What a file holds after the cut; to be freed. */
static uint8_t *draw_contents(mr__rng *rng, const faulty_file *file, size_t *nbytes)
{
    size_t most = file->nbytes > file->stored ? file->nbytes : file->stored;
    uint8_t *bytes = keep_alive(calloc(most / SECTOR + 1, SECTOR));
    size_t safe = file->before != NULL ? 0 : is_stored(file) ? most : file->stored / SECTOR * SECTOR;
    if (safe != 0)
        memcpy(bytes, file->now, safe);
    for (size_t at = safe; at < most; at += SECTOR)
        draw_sector(rng, file, at, bytes + at);
    *nbytes = draw_length(rng, min(file->shortest, file->stored), most);
    return bytes;
}

static void write_out(mr__rng *rng, const faulty_name *name)
{
    if (name->file == NULL) {
        remove(name->path);
        return;
    }
    size_t nbytes;
    uint8_t *bytes = draw_contents(rng, name->file, &nbytes);
    remove(name->path); // who has the old file open goes on with that
    FILE *stream = fopen(name->path, "wb");
    if (stream == NULL || fwrite(bytes, 1, nbytes, stream) != nbytes || fclose(stream) != 0)
        abort();
    free(bytes);
}

/* Does some of the changes, by lot, and forgets the rest. */
static void draw_names(faulty_disk *faulty, mr__rng *rng)
{
    bool *undone = keep_alive(calloc(faulty->change_count + 1, sizeof *undone));
    for (size_t i = 0; i < faulty->change_count; i++) {
        const faulty_change *change = &faulty->changes[i];
        bool stored = change->from_stored && change->to_stored;
        undone[i] = !stored && mr__rng_below(rng, 2) == 0;
        for (size_t j = 0; j < i; j++)
            if (undone[j] && builds_on(change, &faulty->changes[j]))
                undone[i] = true;
        if (undone[i]) { // its names are put right all the same
            if (change->to != NULL && find_name(faulty->names, faulty->name_count, change->to) == NULL)
                set_name(&faulty->names, &faulty->name_count, change->to, NULL);
        } else {
            do_change(&faulty->names, &faulty->name_count, change);
        }
    }
    free(undone);
}

/* Puts the real files right. What is so already is left alone: its time of change is part of what is stored. */
static void lose_power(faulty_disk *faulty, mr__rng *rng)
{
    faulty_name *seen = NULL; // what the program saw
    size_t count = 0;
    for (size_t i = 0; i < faulty->name_count; i++)
        set_name(&seen, &count, faulty->names[i].path, faulty->names[i].file);
    for (size_t i = 0; i < faulty->change_count; i++)
        do_change(&seen, &count, &faulty->changes[i]);
    draw_names(faulty, rng);
    for (size_t i = 0; i < faulty->name_count; i++) {
        const faulty_name *name = &faulty->names[i], *before = find_name(seen, count, name->path);
        bool same = before->file == name->file && (name->file == NULL || is_stored(name->file));
        if (!same)
            write_out(rng, name);
    }
    for (size_t i = 0; i < count; i++)
        free(seen[i].path);
    free(seen);
}

void faulty_disk_crash(faulty_disk *faulty, uint64_t seed)
{
    mr__rng rng;
    mr__rng_init(&rng, seed, 0, 0, 0);
    mr__mutex_lock(&faulty->mutex);
    if (!faulty->crashed)
        lose_power(faulty, &rng);
    faulty->crashed = true;
    mr__mutex_unlock(&faulty->mutex);
}

/* ----------------------------------------------------------------------------------------------------------------- */

void faulty_disk_fail(faulty_disk *faulty, faulty_fault fault)
{
    mr__mutex_lock(&faulty->mutex);
    faulty->fault = fault;
    faulty->calls = 0;
    mr__mutex_unlock(&faulty->mutex);
}

void faulty_disk_init(faulty_disk *faulty)
{
    *faulty = (faulty_disk){.disk = {
                                .state = faulty,
                                .make_folder = faulty_make_folder,
                                .create = faulty_create,
                                .write = faulty_write,
                                .sync = faulty_sync,
                                .close = faulty_close,
                                .rename = faulty_rename,
                                .sync_folder = faulty_sync_folder,
                                .remove = faulty_remove,
                            }};
    if (mr__mutex_init(&faulty->mutex) != 0)
        abort();
}

void faulty_disk_fini(faulty_disk *faulty)
{
    for (size_t i = 0; i < faulty->file_count; i++) {
        free(faulty->files[i]->now);
        free(faulty->files[i]->before);
        free(faulty->files[i]);
    }
    for (size_t i = 0; i < faulty->name_count; i++)
        free(faulty->names[i].path);
    for (size_t i = 0; i < faulty->change_count; i++) {
        free(faulty->changes[i].from);
        free(faulty->changes[i].to);
    }
    free(faulty->files);
    free(faulty->names);
    free(faulty->changes);
    mr__mutex_fini(&faulty->mutex);
    *faulty = (faulty_disk){0};
}
