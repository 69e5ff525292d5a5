// SPDX-License-Identifier: Apache-2.0
#include "jpeg_race.h"

#include <string.h>

/* Apart, so that valgrind can be told to count in here alone. */
__attribute__((noinline)) static bool decode_all_counted(libjpeg_reader *reader, libjpeg_stage stage,
                                                         mr_decoder *decoder, const item_set *files, void *pixels)
{
    bool good = true;
    for (size_t i = 0; i < files->count; i++) {
        const item *it = &files->items[i];
        mr_image to = it->shape;
        to.pixels = pixels;
        if (decoder != NULL)
            good = mr_decoder_decode_into(decoder, it->bytes, it->nbytes, NULL, &to) == 0 && good;
        else
            good = libjpeg_read_until(reader, it->bytes, it->nbytes, stage, &to) && good;
    }
    return good;
}

int count_once(const char *who, const jpeg_set *set)
{
    static const char *const stages[] = {"header", "entropy", "planes", "pixels"};
    libjpeg_reader *reader = libjpeg_reader_new(&libjpeg_linked);
    mr_decoder *decoder = strcmp(who, "millrace") == 0 ? decoder_under("", MR_JPEG_OWN) : NULL;
    mr_image room = {.pixels = NULL};
    size_t most = 1;
    double pixels = 0;
    unsigned stage = 0;
    while (decoder == NULL && stage < 4 && strcmp(who, stages[stage]) != 0)
        stage++;
    for (size_t i = 0; i < set->files.count; i++) {
        const mr_image *shape = &set->files.items[i].shape;
        size_t nbytes = mr_image_row_nbytes(shape) * shape->height;
        most = nbytes > most ? nbytes : most;
        pixels += (double)shape->width * shape->height;
    }
    if (stage == 4 || mr_image_init(&room, (uint32_t)most, 1, 1, 8, NULL) != 0)
        return 2;
    bool good = decode_all_counted(reader, (libjpeg_stage)stage, decoder, &set->files, room.pixels);
    printf("%zu images, %.0f pixels\n", set->files.count, pixels);
    mr_image_fini(&room, NULL);
    mr_decoder_free(decoder);
    libjpeg_reader_free(reader);
    return good ? 0 : 1;
}
