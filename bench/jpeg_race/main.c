// SPDX-License-Identifier: Apache-2.0
/* jpeg [OPTION...] FOLDER...: our own JPEG decoder beside libjpeg-turbo. See bench/README.md. */
#include "jpeg_race.h"

#include <stdlib.h>
#include <string.h>

static void usage(FILE *file)
{
    fprintf(file, "usage: jpeg [OPTION...] FOLDER...\n"
                  "  --rounds N      time everybody so often, report the median [3]\n"
                  "  --images N      at most so many of a folder [600]\n"
                  "  --sets LIST     of the folders' names and `generated`: images of several sizes and qualities,\n"
                  "                  mosaics of the folders' pictures; or one, as \"512x512 q90 4:2:0\" [all]\n"
                  "  --modes LIST    of whole, region, index, reduce2, reduce4, reduce8, progressive, gray [all]\n"
                  "  --masks LIST    time ours under each of these MILLRACE_CPU [as the environment says]\n"
                  "  --libjpeg PATH  another libjpeg-turbo to race, a shared library; may be repeated\n"
                  "  --seed N        of the regions [1]\n"
                  "  --json          a JSON object instead of tables\n"
                  "  --count WHO     decode each file once and time nothing, for a counter of instructions: millrace,\n"
                  "                  or libjpeg-turbo up to header, entropy, planes, pixels\n");
}

/* False where there is no room for it; one that cannot be raced is only told of. */
static bool add_library(options *o, const char *path)
{
    char why[256] = "its interface is another";
    libjpeg_reader *reader = NULL;
    if (o->library_count == LIBRARIES_MAX) {
        fprintf(stderr, "jpeg: more than %d libraries, with the linked one\n", LIBRARIES_MAX);
        return false;
    }
    libjpeg *library = &o->library[o->library_count];
    if (libjpeg_open(library, path, why, sizeof why)) {
        reader = libjpeg_reader_new(library);
        if (reader == NULL)
            libjpeg_close(library);
        else
            o->library_count++;
        libjpeg_reader_free(reader);
    }
    if (reader == NULL)
        fprintf(stderr, "jpeg: %s does not take part: %s\n", path, why);
    return true;
}

static bool set_masks(options *o, const char *list)
{
    while (*list != '\0') {
        size_t length = strcspn(list, ",");
        if (o->mask_count == MASKS_MAX || length >= sizeof o->masks[0]) {
            fprintf(stderr, "jpeg: more than %d masks, or one of more than %zu letters\n", MASKS_MAX,
                    sizeof o->masks[0] - 1);
            return false;
        }
        snprintf(o->masks[o->mask_count++], sizeof o->masks[0], "%.*s", (int)length, list);
        list += length + (list[length] == ',');
    }
    return true;
}

static bool set_modes(options *o, const char *list)
{
    memset(o->modes, 0, sizeof o->modes);
    while (*list != '\0') {
        size_t length = strcspn(list, ",");
        mode m = 0;
        while (m < MODES && (strlen(mode_facts_of[m].name) != length || strncmp(mode_facts_of[m].name, list, length)))
            m++;
        if (m == MODES)
            return false;
        o->modes[m] = true;
        list += length + (list[length] == ',');
    }
    return true;
}

/* Takes an option that has a value; false when there is none of that name, or the value is none of it. */
static bool take(options *o, const char *name, const char *value, const char **count)
{
    if (strcmp(name, "--rounds") == 0)
        o->rounds = (unsigned)number_from_text(value, 1, ROUNDS_MAX);
    else if (strcmp(name, "--images") == 0)
        o->images = (size_t)number_from_text(value, 1, SIZE_MAX);
    else if (strcmp(name, "--seed") == 0)
        o->seed = number_from_text(value, 0, UINT64_MAX);
    else if (strcmp(name, "--sets") == 0)
        o->sets = value;
    else if (strcmp(name, "--modes") == 0)
        return set_modes(o, value);
    else if (strcmp(name, "--masks") == 0)
        return set_masks(o, value);
    else if (strcmp(name, "--libjpeg") == 0)
        return add_library(o, value);
    else if (strcmp(name, "--count") == 0)
        *count = value;
    else
        return false;
    return true;
}

/* Returns the first argument that is no option. */
static int parse(options *o, int argc, char **argv, const char **count)
{
    int i = 1;
    for (; i < argc && argv[i][0] == '-'; i++) {
        if (strcmp(argv[i], "--json") == 0) {
            o->json = true;
        } else if (strcmp(argv[i], "--help") == 0) {
            usage(stdout);
            exit(0);
        } else if (take(o, argv[i], i + 1 < argc ? argv[i + 1] : "", count)) {
            i++;
        } else {
            usage(stderr);
            exit(2);
        }
    }
    if (i == argc) {
        usage(stderr);
        exit(2);
    }
    return i;
}

static void run_painted(contests *all, const jpeg_set *sets, size_t count, const options *o)
{
    item_set pictures = {.count = 0};
    for (size_t i = 0; i < count; i++) {
        pictures.items = need(realloc(pictures.items, (pictures.count + sets[i].files.count + 1) * sizeof(item)));
        memcpy(pictures.items + pictures.count, sets[i].files.items, sets[i].files.count * sizeof(item));
        pictures.count += sets[i].files.count;
    }
    for (size_t i = 0; pictures.count != 0 && i < painting_count; i++) {
        jpeg_set painted;
        name_painting(&painted, &paintings[i]);
        if (!is_wanted(o, painted.name, painted.group))
            continue;
        paint_set(&painted, &paintings[i], &pictures);
        run_set(all, &painted, o);
        set_free(&painted.files);
    }
    free(pictures.items);
}

static int run_sets(const jpeg_set *sets, size_t count, const options *o)
{
    contests all = {.count = 0};
    size_t raced = 0, different = 0;
    for (size_t i = 0; i < count; i++)
        if (sets[i].files.count != 0 && is_wanted(o, sets[i].name, sets[i].group))
            run_set(&all, &sets[i], o);
    run_painted(&all, sets, count, o);
    (o->json ? report_json : report_text)(stdout, &all, o);
    for (size_t i = 0; i < all.count; i++) {
        raced += all.list[i]->race.images;
        different += all.list[i]->race.different;
    }
    if (raced == 0)
        fprintf(stderr, "jpeg: no images\n");
    contests_free(&all);
    return different != 0 || raced == 0;
}

int main(int argc, char **argv)
{
    static options o = {.rounds = 3, .images = 600, .seed = 1, .library_count = 1};
    const char *count = NULL;
    memset(o.modes, 1, sizeof o.modes);
    o.library[0] = libjpeg_linked;
    keep_freed_memory();
    int first = parse(&o, argc, argv, &count), code = 0;
    size_t set_count = (size_t)(argc - first);
    jpeg_set *sets = need(calloc(set_count, sizeof *sets));
    for (size_t i = 0; i < set_count; i++)
        set_of_folder(&sets[i], argv[first + (int)i], &o);
    if (count != NULL)
        code = count_once(count, &sets[0]);
    else
        code = run_sets(sets, set_count, &o);
    for (size_t i = 0; i < set_count; i++)
        set_free(&sets[i].files);
    free(sets);
    for (size_t i = 1; i < o.library_count; i++)
        libjpeg_close(&o.library[i]);
    return code;
}
