// SPDX-License-Identifier: Apache-2.0
#include "common.h"

#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void *need(void *memory)
{
    if (memory == NULL) {
        fprintf(stderr, "bench: out of memory\n");
        exit(2);
    }
    return memory;
}

/* A decoder is made under a mask and keeps to it; the environment is afterwards as it was. */
mr_decoder *decoder_under(const char *mask, mr_jpeg_choice jpeg)
{
    const mr_decoder_options options = {.struct_size = sizeof options, .jpeg = jpeg};
    const char *before = getenv("MILLRACE_CPU");
    char *kept = before != NULL ? need(strdup(before)) : NULL;
    mr_decoder *decoder = NULL;
    if (mask[0] != '\0')
        setenv("MILLRACE_CPU", mask, 1);
    if (mr_decoder_new(&options, &decoder) != 0)
        need(NULL);
    if (kept != NULL)
        setenv("MILLRACE_CPU", kept, 1);
    else
        unsetenv("MILLRACE_CPU");
    free(kept);
    return decoder;
}

/* All bytes of a file, or NULL. */
static uint8_t *read_file(const char *path, size_t *nbytes)
{
    FILE *file = fopen(path, "rb");
    struct stat status;
    uint8_t *bytes = NULL;
    if (file != NULL && fstat(fileno(file), &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
        *nbytes = (size_t)status.st_size;
        bytes = need(malloc(*nbytes));
        if (fread(bytes, 1, *nbytes, file) != *nbytes) {
            free(bytes);
            bytes = NULL;
        }
    }
    if (file != NULL)
        fclose(file);
    return bytes;
}

static void add_file(item_set *set, mr_decoder *decoder, const char *path)
{
    item it = {.left_out = false};
    it.bytes = read_file(path, &it.nbytes);
    if (it.bytes == NULL || mr_decoder_shape(decoder, it.bytes, it.nbytes, NULL, &it.shape) != 0) {
        free(it.bytes);
        set->unreadable++;
        return;
    }
    it.form = mr_form_probe(it.bytes, it.nbytes);
    it.path = need(strdup(path));
    set->items = need(realloc(set->items, (set->count + 1) * sizeof *set->items));
    set->items[set->count++] = it;
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

void set_add(item_set *set, mr_decoder *decoder, const char *path)
{
    char *roots[] = {need(strdup(path)), NULL};
    FTS *walk = fts_open(roots, FTS_LOGICAL | FTS_NOCHDIR, by_name);
    for (FTSENT *entry; walk != NULL && (entry = fts_read(walk)) != NULL;) {
        if (entry->fts_info == FTS_F)
            add_file(set, decoder, entry->fts_path);
        else if (entry->fts_info == FTS_NS || entry->fts_info == FTS_DNR)
            fprintf(stderr, "bench: %s: %s\n", entry->fts_path, strerror(entry->fts_errno));
    }
    if (walk != NULL)
        fts_close(walk);
    free(roots[0]);
}

void set_free(item_set *set)
{
    for (size_t i = 0; i < set->count; i++) {
        free(set->items[i].path);
        free(set->items[i].bytes);
        free(set->items[i].index);
    }
    free(set->items);
}
