// SPDX-License-Identifier: Apache-2.0
/*
 * The kernel of l3-2022 gives what its plain decoder gives, whatever the order of lanes, and refuses what that refuses:
 * in the emulator, and on an OpenCL device where there is one.
 */
#include "guest_tape.h"
#include "l3_2022.h"
#include "opencl_play.h"
#include "samples.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct file {
    uint8_t *bytes;
    size_t nbytes;
} file;

static int write_file(void *user, mr__tape_writer *writer, mr__sheet *sheet, mr__detail *detail)
{
    const file *f = user;
    return guest_tape(writer->tape, f->bytes, f->nbytes, sheet, detail);
}

/* Whether kernel and decoder agree. */
static bool agree(const playing *how, file *f, const mr_image *to)
{
    playing_decoded got;
    mr__detail detail = {0};
    uint64_t nbytes = 4 * (uint64_t)to->width * to->height + f->nbytes;
    int code = playing_sheet(how, write_file, f, nbytes, &got, &detail);
    bool good = code == 0 && !got.refused, plain = l3_2022_decode(&l3_2022_portable, f->bytes, f->nbytes, to);
    bool same = code == 0 || code == MR_ECORRUPT; // of a tape that could not be written, or of a kernel that refused
    if (same)
        same = good == plain && (!good || mr_image_hash(&got.image) == mr_image_hash(to));
    if (!same)
        printf("%ux%u: %s, the plain decoder: %s (%s)\n", to->width, to->height, good ? "decoded" : "refused",
               plain ? "decoded" : "refused", detail.text);
    free(got.image.pixels);
    return same;
}

/* As it is; then with a byte changed behind the head, which decides the size. */
static bool check(const playing *how, uint32_t width, uint32_t height, uint32_t side, l3_2022_content what)
{
    mr_image image, to;
    uint64_t state = (uint64_t)width << 32 | height << 8 | side;
    file f;
    bool same;
    if (mr_image_init(&image, width, height, 3, 8, NULL) != 0 || mr_image_init(&to, width, height, 3, 8, NULL) != 0)
        exit(2);
    l3_2022_fill(&image, what, state);
    f.bytes = l3_2022_encode(&image, side, &f.nbytes);
    if (f.bytes == NULL)
        exit(2);
    same = agree(how, &f, &to) && mr_image_hash(&to) == mr_image_hash(&image);
    for (int i = 0; i < 6 && same; i++) {
        uint8_t *byte = f.bytes + L3_2022_HEADER + l3_2022_random(&state) % (f.nbytes - L3_2022_HEADER), was = *byte;
        *byte ^= (uint8_t)(l3_2022_random(&state) % 255 + 1);
        same = agree(how, &f, &to);
        *byte = was;
    }
    free(f.bytes);
    mr_image_fini(&image, NULL);
    mr_image_fini(&to, NULL);
    return same;
}

static int check_all(const playing *how, const char *who)
{
    static const uint32_t sizes[] = {1, 7, 32, 33, 64, 97}, sides[] = {32, 13, 64, 31};
    const size_t count = sizeof sizes / sizeof *sizes;
    int wrong = 0, checked = 0;
    for (size_t w = 0; w < count; w++)
        for (size_t h = 0; h < count; h++, checked++)
            wrong += !check(how, sizes[w], sizes[h], sides[(w + h) % 4], (l3_2022_content)(checked % L3_2022_CONTENTS));
    for (int what = 0; what < L3_2022_CONTENTS; what++, checked++)
        wrong += !check(how, 100, 70, what % 2 == 0 ? 32 : 64, (l3_2022_content)what);
    printf("the kernel of l3-2022, %s: %d images, %d wrong\n", who, checked, wrong);
    return wrong;
}

/* With an argument: under Oclgrind. */
int main(int argc, char **argv)
{
    opencl_play cl;
    mr__detail detail = {0};
    char *text = guest_text();
    (void)argv;
    if (text == NULL) {
        printf("the kernel's text is not where this was built\n");
        return 1;
    }
    int wrong = check_all(&(playing){.guest = guest_function}, "emulated");
    wrong += check_all(&(playing){.seed = 5, .guest = guest_function}, "emulated, shuffled");
    int result = opencl_play_open(&cl, &(mr__cl_options){.guest = text, .simulator = argc > 1}, &detail);
    if (result == 0)
        wrong += check_all(&(playing){.play = opencl_play_tape, .user = &cl}, mr__cl_player_facts(cl.player)->name);
    else
        printf("no OpenCL: %s\n", detail.text);
    if (result == 0)
        opencl_play_close(&cl);
    free(text);
    return wrong == 0 && (result == 0 || result == MR_EUNSUPPORTED) ? 0 : 1;
}
