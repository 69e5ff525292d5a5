// SPDX-License-Identifier: Apache-2.0
#include "dataset/folder_scan.h"

#include "dataset/folder_list.h"
#include "dataset/folder_name.h"
#include "dataset/folder_walk.h"
#include "dataset/index_file.h"

#include <string.h>

/* A scan of class folders. */
typedef struct scan {
    mr__folder_notes notes;
    mr__walk walk;
    mr__buffer order;   /* numbers of folders, and as many to sort with */
    mr__buffer classes; /* by number of the folder: which class it is of */
    mr__text key;
    size_t class_count;
} scan;

enum { ROOT = 0 };

static uint32_t *classes_of(const scan *s)
{
    return (uint32_t *)s->classes.bytes;
}

/* The folder in the root that this one is, or is in. */
static size_t top_of(const scan *s, size_t number)
{
    for (;;) {
        int64_t parent = mr__walk_folder_at(&s->walk, number)->parent;
        if (parent <= ROOT)
            return number;
        number = (size_t)parent;
    }
}

static int order_by_path(const void *context, uint32_t a, uint32_t b)
{
    const scan *s = context;
    return mr__name_compare(mr__walk_folder_at(&s->walk, a)->path, mr__walk_folder_at(&s->walk, b)->path);
}

/* Class by class, and inside one as sorted() does it with what os.walk gives: by the folder's path. */
static int order_by_class(const void *context, uint32_t a, uint32_t b)
{
    const uint32_t *classes = classes_of(context);
    if (classes[a] != classes[b])
        return classes[a] < classes[b] ? -1 : 1;
    return order_by_path(context, a, b);
}

/* Numbers the classes and puts all folders but the root in the order of their samples. */
static int sort_folders(scan *s)
{
    const mr_hooks *hooks = s->notes.options->hooks;
    size_t count = s->walk.folder_count;
    int code = mr__buffer_reserve(&s->order, hooks, 2 * count * sizeof(uint32_t));
    if (code == 0)
        code = mr__buffer_reserve(&s->classes, hooks, count * sizeof(uint32_t));
    if (code != 0)
        return code;
    uint32_t *order = (uint32_t *)s->order.bytes, *classes = classes_of(s);
    for (size_t i = 1; i < count && mr__walk_folder_at(&s->walk, i)->parent == ROOT; i++)
        order[s->class_count++] = (uint32_t)i; /* the first level stands before all others */
    mr__name_sort(order, order + count, s->class_count, order_by_path, s);
    for (size_t i = 0; i < s->class_count; i++)
        classes[order[i]] = (uint32_t)i;
    for (size_t i = 1 + s->class_count; i < count; i++)
        classes[i] = classes[top_of(s, i)];
    for (size_t i = 1; i < count; i++)
        order[i - 1] = (uint32_t)i;
    mr__name_sort(order, order + count, count - 1, order_by_class, s);
    return 0;
}

static int add_times(scan *s)
{
    const mr__walk_folder *root = mr__walk_folder_at(&s->walk, ROOT);
    int code = mr__index_add_folder(s->notes.to, "", root->mtime_ns);
    if (code == 0)
        code = mr__index_add_folder(s->notes.to, "/names", (int64_t)root->names_hash);
    for (size_t i = 0; i + 1 < s->walk.folder_count && code == 0; i++) {
        const mr__walk_folder *folder = mr__walk_folder_at(&s->walk, ((uint32_t *)s->order.bytes)[i]);
        if (folder->error == 0)
            code = mr__index_add_folder(s->notes.to, folder->path, folder->mtime_ns);
    }
    return code;
}

static int make_key(scan *s, const mr__walk_folder *folder, const mr__walk_file *file, mr__draft *draft)
{
    mr__text_clear(&s->key);
    mr__text_add_z(&s->key, folder->path);
    if (folder->path[0] != '\0')
        mr__text_add_z(&s->key, "/");
    mr__text_add_z(&s->key, mr__walk_name(folder, file->name));
    return mr__text_finish(&s->key, &draft->key, &draft->key_nbytes);
}

static int add_file(scan *s, const mr__walk_folder *folder, const mr__walk_file *file, const mr_label *label)
{
    mr__draft draft = {.label = *label};
    int code = make_key(s, folder, file, &draft);
    if (code != 0)
        return mr__folder_failed(&s->notes, code);
    if (file->error != 0)
        return mr__folder_broken_by(&s->notes, draft.key, "no file that can be read", file->error);
    if (file->nbytes > MR__INDEX_IMAGE_MAX)
        return mr__folder_broken(&s->notes, MR_ELIMIT, "%s: %llu bytes are more than an image may have",
                                 mr__name_end(draft.key), (unsigned long long)file->nbytes);
    draft.record = (mr__record){.offset = (uint64_t)file->mtime_ns, .nbytes = file->nbytes, .form = file->form};
    code = mr__index_add(s->notes.to, &draft);
    return code != 0 ? mr__folder_failed(&s->notes, code) : 0;
}

static int add_folder(scan *s, const mr__walk_folder *folder, const mr_label *label)
{
    int code = 0;
    if (folder->error != 0)
        return mr__folder_broken_by(&s->notes, folder->path, "the folder cannot be read", folder->error);
    if (folder->circle) {
        code = mr__index_add_problem(s->notes.to, MR__INDEX_NO_POSITION, MR_EUNSUPPORTED,
                                     "%s: a link to a folder that it is in, which is not followed", folder->path);
        return code != 0 ? mr__folder_failed(&s->notes, code) : 0;
    }
    for (size_t i = 0; i < folder->file_count && code == 0; i++) {
        if (i % MR__WALK_CHUNK == 0 && (code = mr__walk_sizes_next(&s->walk)) != 0)
            return mr__folder_failed(&s->notes, code);
        code = add_file(s, folder, &mr__walk_files(folder)[i], label);
    }
    return code;
}

static int end_class(scan *s, const char *name, uint64_t samples_before)
{
    if (s->notes.to->samples != samples_before)
        return 0;
    int code = mr__index_add_problem(s->notes.to, MR__INDEX_NO_POSITION, MR_EFORMAT,
                                     "%s: a class without any image; it keeps its number", name);
    return code != 0 ? mr__folder_failed(&s->notes, code) : 0;
}

static int add_classes(scan *s)
{
    const uint32_t *order = (const uint32_t *)s->order.bytes, *classes = classes_of(s);
    size_t count = s->walk.folder_count - 1;
    int code = 0;
    for (size_t i = 0; i < count && code == 0;) {
        const char *name = mr__walk_folder_at(&s->walk, order[i])->path; /* a class comes before what is in it */
        const mr_label label = {.kind = MR_LABEL_INT, .integer = classes[order[i]]};
        uint64_t before = s->notes.to->samples;
        code = mr__index_add_class(s->notes.to, name, strlen(name));
        if (code != 0)
            return mr__folder_failed(&s->notes, code);
        for (; i < count && code == 0 && classes[order[i]] == (uint32_t)label.integer; i++)
            code = add_folder(s, mr__walk_folder_at(&s->walk, order[i]), &label);
        if (code == 0)
            code = end_class(s, name, before);
    }
    return code;
}

/* What lies in the root itself: samples without a label, or nothing that counts. */
static int add_root(scan *s)
{
    const mr__walk_folder *root = mr__walk_folder_at(&s->walk, ROOT);
    if (s->class_count == 0)
        return add_folder(s, root, &(mr_label){.kind = MR_LABEL_NONE});
    if (root->file_count == 0)
        return 0;
    int code = mr__index_add_problem(
        s->notes.to, MR__INDEX_NO_POSITION, MR_EFORMAT,
        "%zu images (%s, ...) lie beside the class folders: they have no class, and are no samples", root->file_count,
        mr__name_end(mr__walk_name(root, mr__walk_files(root)[0].name)));
    return code != 0 ? mr__folder_failed(&s->notes, code) : 0;
}

/* In the order in which samples are added: of the root's own images only where they are samples. */
static int begin_sizes(scan *s)
{
    const uint32_t root = ROOT, *order = (const uint32_t *)s->order.bytes;
    return s->class_count == 0 ? mr__walk_sizes_begin(&s->walk, &root, 1)
                               : mr__walk_sizes_begin(&s->walk, order, s->walk.folder_count - 1);
}

static int fill_index(scan *s)
{
    const char *name = mr__name_end(s->notes.options->root);
    int code = sort_folders(s);
    if (code == 0)
        code = add_times(s);
    if (code == 0)
        code = begin_sizes(s);
    if (code != 0)
        return mr__folder_failed(&s->notes, code);
    if ((code = add_root(s)) != 0 || (code = add_classes(s)) != 0)
        return code;
    if (s->notes.to->samples == 0)
        return mr__fail(s->notes.detail, MR_EFORMAT,
                        "%s: no image in the folder: a class is a folder in it, an image has an ending like .jpg",
                        name);
    return 0;
}

static int scan_classes(scan *s)
{
    int error = 0, code = mr__walk_init(&s->walk, s->notes.options, &error);
    if (code == 0)
        code = mr__walk_read(&s->walk);
    if (code == 0 && (error = mr__walk_folder_at(&s->walk, ROOT)->error) != 0)
        code = MR_EIO;
    if (error != 0) {
        return mr__fail(s->notes.detail, code, "%s: the folder cannot be read: %s",
                        mr__name_end(s->notes.options->root), mr__errno_text(error).text);
    }
    if (code == MR_ELIMIT)
        return mr__fail(s->notes.detail, code, "%s: more than %d folders, or too many names in one",
                        mr__name_end(s->notes.options->root), MR__WALK_FOLDER_MAX);
    return code != 0 ? mr__folder_failed(&s->notes, code) : fill_index(s);
}

int mr__folder_scan(const mr__folder_scan_options *options, mr__index_build *to, mr__detail *detail)
{
    scan s = {.notes = {options, to, detail}};
    if (options->list != NULL)
        return mr__folder_scan_list(&s.notes);
    mr__text_init(&s.key, options->hooks);
    int code = scan_classes(&s);
    mr__walk_fini(&s.walk);
    mr__buffer_fini(&s.order, options->hooks);
    mr__buffer_fini(&s.classes, options->hooks);
    mr__text_fini(&s.key);
    return code;
}
