// SPDX-License-Identifier: Apache-2.0
/*
 * The plain loop: what a C programmer writes with libjpeg-turbo and a good resizer. Each file is read, decoded whole to
 * RGB, cropped, resized to bytes, and a loop makes the batch of them. The library is at its best, as in bench/jpeg: one
 * context for all images, all rows offered at once, rows that do not begin on cache lines.
 */
#define _GNU_SOURCE
#include "loader_race.h"

#include <fcntl.h>
#include <math.h>
#include <millrace/resize.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jpeglib.h>

enum { SIDE = 224, SHORT = 256, OFF_LINE = 16 };

typedef struct trap {
    struct jpeg_error_mgr errors;
    jmp_buf jump;
} trap;

/* Memory that is as large as the largest so far. */
typedef struct room {
    uint8_t *bytes;
    size_t nbytes;
} room;

/* One thread's. */
typedef struct looper {
    const options *o;
    const contest *c;
    char *const *files;
    const uint64_t *order;
    struct jpeg_decompress_struct jpeg;
    trap trap;
    room file, pixels, resized, rows;
    mr_resizer *resizer;
    float scale[3], bias[3];
} looper;

static void leave(j_common_ptr jpeg)
{
    longjmp(((trap *)jpeg->err)->jump, 1);
}

static uint8_t *grow(room *r, size_t nbytes)
{
    if (nbytes > r->nbytes) {
        free(r->bytes);
        r->nbytes = nbytes + nbytes / 4;
        r->bytes = need(aligned_alloc(64, (r->nbytes + 63) / 64 * 64));
    }
    return r->bytes;
}

static bool read_file(looper *l, const char *path, size_t *nbytes)
{
    struct stat s;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool good = fd >= 0 && fstat(fd, &s) == 0 && s.st_size > 0;
    if (good) {
        *nbytes = (size_t)s.st_size;
        good = pread(fd, grow(&l->file, *nbytes), *nbytes, 0) == (ssize_t)*nbytes;
    }
    if (fd >= 0)
        close(fd);
    return good;
}

/* The whole file, as RGB. */
static bool decode(looper *l, size_t nbytes, mr_image *image)
{
    struct jpeg_decompress_struct *j = &l->jpeg;
    if (setjmp(l->trap.jump) != 0) {
        jpeg_abort_decompress(j);
        return false;
    }
    jpeg_mem_src(j, l->file.bytes, (unsigned long)nbytes);
    jpeg_read_header(j, TRUE);
    j->out_color_space = JCS_RGB;
    jpeg_start_decompress(j);
    *image = (mr_image){.width = j->output_width, .height = j->output_height, .channels = 3, .depth = 8};
    image->stride = (ptrdiff_t)mr_image_row_nbytes(image);
    image->pixels = grow(&l->pixels, (size_t)image->stride * image->height + OFF_LINE) + OFF_LINE;
    JSAMPROW *rows = (JSAMPROW *)(void *)grow(&l->rows, image->height * sizeof *rows);
    for (uint32_t y = 0; y < image->height; y++)
        rows[y] = (uint8_t *)image->pixels + image->stride * (ptrdiff_t)y;
    while (j->output_scanline < j->output_height)
        jpeg_read_scanlines(j, rows + j->output_scanline, j->output_height - j->output_scanline);
    jpeg_finish_decompress(j);
    return true;
}

static bool resize(looper *l, const mr_image *from, uint32_t width, uint32_t height, mr_image *to)
{
    *to = (mr_image){.width = width, .height = height, .channels = 3, .depth = 8};
    to->stride = (ptrdiff_t)mr_image_row_nbytes(to);
    to->pixels = grow(&l->resized, (size_t)to->stride * height);
    return mr_resizer_resize(l->resizer, from, NULL, to) == 0;
}

/* A random part, resized. */
static bool make_train(looper *l, const mr_image *whole, uint64_t file, mr_image *out)
{
    mr_image view;
    mr_rect part = region_draw(l->o->seed, file, 0, whole->width, whole->height);
    return mr_image_crop(whole, part, &view) == 0 && resize(l, &view, SIDE, SIDE, out);
}

/* The shorter side to 256, then the middle. */
static bool make_validation(looper *l, const mr_image *whole, mr_image *out)
{
    uint32_t w = whole->width, h = whole->height;
    uint32_t width = w <= h ? SHORT : (uint32_t)((uint64_t)SHORT * w / h);
    uint32_t height = w <= h ? (uint32_t)((uint64_t)SHORT * h / w) : SHORT;
    mr_image all;
    if (!resize(l, whole, width, height, &all))
        return false;
    mr_rect middle = {(uint32_t)nearbyint((width - SIDE) / 2.0), (uint32_t)nearbyint((height - SIDE) / 2.0), SIDE,
                      SIDE};
    return mr_image_crop(&all, middle, out) == 0;
}

static void finish_f32(const looper *l, const mr_image *from, bool flip, float *restrict to)
{
    for (size_t y = 0; y < SIDE; y++) {
        const uint8_t *restrict row = (const uint8_t *)from->pixels + from->stride * (ptrdiff_t)y;
        for (size_t c = 0; c < 3; c++) {
            float *restrict out = to + (c * SIDE + y) * SIDE, scale = l->scale[c], bias = l->bias[c];
            if (flip)
                for (size_t x = 0; x < SIDE; x++)
                    out[x] = (float)row[(SIDE - 1 - x) * 3 + c] * scale + bias;
            else
                for (size_t x = 0; x < SIDE; x++)
                    out[x] = (float)row[x * 3 + c] * scale + bias;
        }
    }
}

static void finish_u8(const mr_image *from, bool flip, uint8_t *restrict to)
{
    for (size_t y = 0; y < SIDE; y++) {
        const uint8_t *restrict row = (const uint8_t *)from->pixels + from->stride * (ptrdiff_t)y;
        for (size_t c = 0; c < 3; c++) {
            uint8_t *restrict out = to + (c * SIDE + y) * SIDE;
            if (flip)
                for (size_t x = 0; x < SIDE; x++)
                    out[x] = row[(SIDE - 1 - x) * 3 + c];
            else
                for (size_t x = 0; x < SIDE; x++)
                    out[x] = row[x * 3 + c];
        }
    }
}

static bool loop_one(void *worker, uint64_t number, void *to)
{
    looper *l = worker;
    uint64_t file = l->order[number];
    mr_image whole, done;
    size_t nbytes;
    if (!read_file(l, l->files[file], &nbytes) || !decode(l, nbytes, &whole) ||
        !(l->c->validation ? make_validation(l, &whole, &done) : make_train(l, &whole, file, &done))) {
        fprintf(stderr, "loader: %s cannot be read, decoded or resized\n", l->files[file]);
        return false;
    }
    bool flip = !l->c->validation && file * UINT64_C(0x9e3779b97f4a7c15) >> 63 != 0; // half of them
    if (l->c->bytes)
        finish_u8(&done, flip, to);
    else
        finish_f32(l, &done, flip, to);
    return true;
}

static looper *looper_new(const options *o, const contest *c, char *const *files, const uint64_t *order)
{
    static const float mean[] = {0.485F, 0.456F, 0.406F}, std[] = {0.229F, 0.224F, 0.225F};
    looper *l = need(calloc(1, sizeof *l));
    l->o = o;
    l->c = c;
    l->files = files;
    l->order = order;
    l->jpeg.err = jpeg_std_error(&l->trap.errors);
    l->trap.errors.error_exit = leave;
    if (setjmp(l->trap.jump) != 0 || mr_resizer_new(NULL, &l->resizer) != 0)
        need(NULL);
    jpeg_create_decompress(&l->jpeg);
    for (size_t i = 0; i < 3; i++) {
        l->scale[i] = 1 / (255 * std[i]);
        l->bias[i] = -mean[i] / std[i];
    }
    return l;
}

/* The lines of a file, each a path below `data`. */
static char **read_list(const options *o, const char *name, uint64_t *count)
{
    char path[PATH_NBYTES], line[PATH_NBYTES];
    char **files = NULL;
    path_in(o, name, path);
    FILE *list = fopen(path, "r");
    if (list == NULL)
        fail("%s cannot be read", path);
    for (*count = 0; fgets(line, sizeof line, list) != NULL; ++*count) {
        line[strcspn(line, "\n")] = '\0';
        path_in(o, line, path);
        if ((*count & (*count - 1)) == 0)
            files = need(realloc(files, (*count != 0 ? *count * 2 : 1) * sizeof *files));
        files[*count] = need(strdup(path));
    }
    fclose(list);
    return files;
}

void turn_loop(const options *o, const contest *c, const racer *r, figures *f)
{
    crew all;
    uint64_t count;
    keep_freed_memory(); // libjpeg takes some for each image
    double begin = wall_ns();
    char **files = read_list(o, r->path, &count);
    f->open_s = (wall_ns() - begin) / 1e9;
    begin = wall_ns();
    const uint64_t *order = order_new(count, !c->validation, o->seed);
    crew_init(&all, o, r->threads, (size_t)SIDE * SIDE * 3 * (c->bytes ? 1 : sizeof(float)));
    all.work = loop_one;
    for (unsigned t = 0; t < r->threads; t++)
        all.workers[t] = looper_new(o, c, files, order);
    crew_measure(&all, o, whole_batches(o, count), begin, f);
}
