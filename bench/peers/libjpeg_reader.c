// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE // RTLD_DEEPBIND, memmem
#include "libjpeg_reader.h"

#include "peers.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef struct trap {
    struct jpeg_error_mgr errors;
    jmp_buf jump;
} trap;

struct libjpeg_reader {
    const libjpeg *call;
    struct jpeg_decompress_struct c;
    trap trap;
    JSAMPROW *rows; /* of the result */
    size_t row_room;
    uint8_t *spare; /* rows that are not the result, in: */
    uint8_t *spare_memory;
    size_t spare_nbytes;
};

static void leave(j_common_ptr cinfo)
{
    longjmp(((trap *)cinfo->err)->jump, 1);
}

static void say_nothing(j_common_ptr cinfo)
{
    (void)cinfo;
}

#define TEXT(value)    #value
#define TEXT_OF(value) TEXT(value)
#ifdef LIBJPEG_TURBO_VERSION
#define LINKED_NAME "libjpeg-turbo " TEXT_OF(LIBJPEG_TURBO_VERSION)
#else
#define LINKED_NAME "libjpeg"
#endif
#define TAKE_LINKED(call) .call = jpeg_##call,
const libjpeg libjpeg_linked = {.name = LINKED_NAME, LIBJPEG_CALLS(TAKE_LINKED)};

/* No call tells the version, but the text of it stands in every libjpeg-turbo. */
static void name_library(libjpeg *library, const char *path)
{
    static const char word[] = "libjpeg-turbo version ";
    const size_t room = (size_t)8 << 20;
    FILE *file = fopen(path, "rb");
    char *bytes = malloc(room);
    size_t nbytes = file != NULL && bytes != NULL ? fread(bytes, 1, room - 1, file) : 0;
    const char *found = memmem(bytes, nbytes, word, sizeof word - 1);
    snprintf(library->name, sizeof library->name, "another libjpeg");
    if (found != NULL) {
        bytes[nbytes] = '\0';
        found += sizeof word - 1;
        snprintf(library->name, sizeof library->name, "libjpeg-turbo %.*s", (int)strcspn(found, " "), found);
    }
    free(bytes);
    if (file != NULL)
        fclose(file);
}

bool libjpeg_open(libjpeg *library, const char *path, char *why, size_t why_nbytes)
{
#define CALL_PLACE(name) {"jpeg_" #name, offsetof(libjpeg, name)},
    static const struct {
        const char *name;
        size_t at;
    } calls[] = {LIBJPEG_CALLS(CALL_PLACE)};
    *library = (libjpeg){.handle = NULL};
    // its calls to itself shall not end in the linked library, whose names are the same
    library->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    for (size_t i = 0; library->handle != NULL && i < sizeof calls / sizeof *calls; i++) {
        void *found = dlsym(library->handle, calls[i].name);
        if (found == NULL) {
            snprintf(why, why_nbytes, "%s has no %s", path, calls[i].name);
            libjpeg_close(library);
            return false;
        }
        memcpy((char *)library + calls[i].at, &found, sizeof found);
    }
    if (library->handle == NULL) {
        snprintf(why, why_nbytes, "%s", dlerror());
        return false;
    }
    name_library(library, path);
    return true;
}

void libjpeg_close(libjpeg *library)
{
    if (library->handle != NULL)
        dlclose(library->handle);
    library->handle = NULL;
}

static bool create(libjpeg_reader *r)
{
    if (setjmp(r->trap.jump) != 0)
        return false;
    r->call->CreateDecompress(&r->c, JPEG_LIB_VERSION, sizeof r->c);
    return true;
}

libjpeg_reader *libjpeg_reader_new(const libjpeg *library)
{
    libjpeg_reader *r = calloc(1, sizeof *r);
    if (r == NULL)
        return NULL;
    r->call = library;
    r->c.err = library->std_error(&r->trap.errors);
    r->trap.errors.error_exit = leave;
    r->trap.errors.output_message = say_nothing;
    if (create(r))
        return r;
    libjpeg_reader_free(r);
    return NULL;
}

void libjpeg_reader_free(libjpeg_reader *r)
{
    if (r == NULL)
        return;
    if (setjmp(r->trap.jump) == 0)
        r->call->destroy_decompress(&r->c);
    free(r->rows);
    free(r->spare_memory);
    free(r);
}

/*
 * Sixteen bytes off the cache line: where a row is aligned, libjpeg-turbo's colour kernels store around the cache, and
 * who reads the row next waits for memory. That would be a matter of luck with malloc; so it has its best case always.
 */
static bool grow_spare(libjpeg_reader *r, size_t nbytes)
{
    if (nbytes <= r->spare_nbytes)
        return true;
    free(r->spare_memory);
    r->spare_memory = aligned_alloc(64, (nbytes + 16 + 63) / 64 * 64);
    r->spare = r->spare_memory != NULL ? r->spare_memory + 16 : NULL;
    r->spare_nbytes = r->spare != NULL ? nbytes : 0;
    return r->spare != NULL;
}

static bool grow_rows(libjpeg_reader *r, size_t rows)
{
    if (rows <= r->row_room)
        return true;
    free(r->rows);
    r->rows = calloc(rows, sizeof *r->rows);
    r->row_room = r->rows != NULL ? rows : 0;
    return r->rows != NULL;
}

/* Header and settings; CMYK is left out, because libjpeg itself does not make RGB of it. */
static bool begin(libjpeg_reader *r, const void *bytes, size_t nbytes, uint32_t reduce, const mr_image *to)
{
    r->call->mem_src(&r->c, bytes, (unsigned long)nbytes);
    r->call->read_header(&r->c, TRUE);
    if (to->depth != 8 || r->c.num_components > 3 || (to->channels != 1 && to->channels != 3))
        return false;
    r->c.out_color_space = to->channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    r->c.scale_num = 1;
    r->c.scale_denom = reduce > 1 ? reduce : 1;
    return true;
}

static bool start(libjpeg_reader *r, const void *bytes, size_t nbytes, uint32_t reduce, const mr_image *to)
{
    return begin(r, bytes, nbytes, reduce, to) && r->call->start_decompress(&r->c) &&
           r->c.output_components == (int)to->channels;
}

/* All rows are offered at once: libjpeg takes as many as it has, which costs the fewest calls. */
static bool read_rows(libjpeg_reader *r, const mr_image *to)
{
    if (!grow_rows(r, to->height) || r->c.output_width != to->width || r->c.output_height != to->height)
        return false;
    for (uint32_t y = 0; y < to->height; y++)
        r->rows[y] = peer_row(to, y);
    while (r->c.output_scanline < r->c.output_height)
        r->call->read_scanlines(&r->c, r->rows + r->c.output_scanline, r->c.output_height - r->c.output_scanline);
    r->call->finish_decompress(&r->c);
    return true;
}

peer_result libjpeg_read(libjpeg_reader *r, const void *bytes, size_t nbytes, uint32_t reduce, const mr_image *to)
{
    if (setjmp(r->trap.jump) == 0 && start(r, bytes, nbytes, reduce, to) && read_rows(r, to))
        return r->trap.errors.num_warnings == 0 ? PEER_DECODED : PEER_WARNED;
    r->call->abort_decompress(&r->c);
    return PEER_FAILED;
}

static bool read_part(libjpeg_reader *r, mr_rect region, const mr_image *to)
{
    JDIMENSION x = region.x, width = region.width;
    if (!grow_spare(r, (size_t)r->c.output_width * 3))
        return false;
    r->call->crop_scanline(&r->c, &x, &width);
    size_t lead = (region.x - x) * to->channels;
    if (region.y > 0)
        r->call->skip_scanlines(&r->c, region.y);
    for (uint32_t y = 0; y < region.height; y++) {
        JSAMPROW row = r->spare;
        r->call->read_scanlines(&r->c, &row, 1);
        memcpy(peer_row(to, y), r->spare + lead, mr_image_row_nbytes(to));
    }
    return true;
}

bool libjpeg_read_region(libjpeg_reader *r, const void *bytes, size_t nbytes, mr_rect region, const mr_image *to)
{
    volatile bool good = false;
    if (setjmp(r->trap.jump) == 0)
        good = start(r, bytes, nbytes, 1, to) && read_part(r, region, to);
    r->call->abort_decompress(&r->c);
    return good;
}

/* Row by row of iMCUs, each over the one before. */
static bool read_planes(libjpeg_reader *r)
{
    const struct jpeg_decompress_struct *c = &r->c;
    JSAMPROW rows[MAX_COMPONENTS][4 * DCTSIZE];
    JSAMPARRAY planes[MAX_COMPONENTS];
    size_t stride = 0;
    for (int i = 0; i < c->num_components; i++)
        stride += ((size_t)c->comp_info[i].width_in_blocks + 4) * DCTSIZE;
    if (!grow_spare(r, stride * 4 * DCTSIZE))
        return false;
    for (int i = 0, at = 0; i < c->num_components; i++) {
        for (int y = 0; y < 4 * DCTSIZE; y++)
            rows[i][y] = r->spare + (size_t)y * stride + at;
        planes[i] = rows[i];
        at += (int)((c->comp_info[i].width_in_blocks + 4) * DCTSIZE);
    }
    while (c->output_scanline < c->output_height)
        r->call->read_raw_data(&r->c, planes, (JDIMENSION)c->max_v_samp_factor * DCTSIZE);
    return true;
}

bool libjpeg_read_until(libjpeg_reader *r, const void *bytes, size_t nbytes, libjpeg_stage stage, const mr_image *to)
{
    volatile bool good = false;
    if (stage == LIBJPEG_PIXELS)
        return libjpeg_read(r, bytes, nbytes, 1, to) != PEER_FAILED;
    if (setjmp(r->trap.jump) == 0 && begin(r, bytes, nbytes, 1, to)) {
        good = true;
        if (stage == LIBJPEG_ENTROPY)
            good = r->call->read_coefficients(&r->c) != NULL;
        if (stage == LIBJPEG_PLANES) {
            r->c.raw_data_out = TRUE;
            good = r->call->start_decompress(&r->c) && read_planes(r);
        }
    }
    r->call->abort_decompress(&r->c);
    return good;
}
