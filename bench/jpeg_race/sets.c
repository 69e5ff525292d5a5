// SPDX-License-Identifier: Apache-2.0
#include "jpeg_race.h"

#include <stdlib.h>
#include <string.h>

bool is_wanted(const options *o, const char *name, const char *group)
{
    for (const char *at = o->sets; at != NULL && *at != '\0';) {
        size_t length = strcspn(at, ",");
        if ((strlen(name) == length && strncmp(at, name, length) == 0) ||
            (strlen(group) == length && strncmp(at, group, length) == 0))
            return true;
        at += length + (at[length] == ',');
    }
    return o->sets == NULL;
}

/* The last part of a path, without slashes at its end. */
static void name_after(char *name, size_t room, const char *path)
{
    size_t end = strlen(path);
    while (end > 1 && path[end - 1] == '/')
        end--;
    size_t start = end;
    while (start > 0 && path[start - 1] != '/')
        start--;
    snprintf(name, room, "%.*s", (int)(end - start), path + start);
}

static int by_kind(const void *a, const void *b)
{
    const item *x = a, *y = b;
    return x->kind != y->kind ? (x->kind > y->kind) - (x->kind < y->kind) : strcmp(x->path, y->path);
}

static bool read_kind(mr_decoder *decoder, item *it)
{
    mr_info info = {.struct_size = sizeof info};
    if (mr_decoder_info(decoder, it->bytes, it->nbytes, &info) != 0)
        return false;
    it->kind = (unsigned)info.subsampling < KINDS ? (unsigned)info.subsampling : MR_SUBSAMPLING_OTHER;
    return true;
}

void set_of_folder(jpeg_set *set, const char *path, const options *o)
{
    mr_decoder *decoder = decoder_under("", MR_JPEG_EITHER);
    item_set all = {.count = 0};
    *set = (jpeg_set){.files = {.count = 0}};
    name_after(set->name, sizeof set->name, path);
    snprintf(set->group, sizeof set->group, "%.31s", set->name);
    set_add(&all, decoder, path);
    set->files.items = need(calloc(all.count + 1, sizeof *all.items));
    for (size_t i = 0; i < all.count; i++) {
        item *it = &all.items[i];
        if (it->form != MR_FORM_JPEG || set->files.count == o->images || !read_kind(decoder, it))
            continue;
        set->files.items[set->files.count++] = *it;
        *it = (item){.path = NULL};
    }
    set_free(&all);
    mr_decoder_free(decoder);
    qsort(set->files.items, set->files.count, sizeof *set->files.items, by_kind);
}

bool set_take(item_set *set, mr_decoder *decoder, const char *name, uint8_t *bytes, size_t nbytes)
{
    item it = {.bytes = bytes, .nbytes = nbytes, .form = MR_FORM_JPEG};
    if (bytes == NULL || mr_decoder_shape(decoder, bytes, nbytes, NULL, &it.shape) != 0 || !read_kind(decoder, &it)) {
        free(bytes);
        return false;
    }
    it.path = need(strdup(name));
    set->items = need(realloc(set->items, (set->count + 1) * sizeof *set->items));
    set->items[set->count++] = it;
    return true;
}
