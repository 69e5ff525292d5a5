// SPDX-License-Identifier: Apache-2.0
#include "guest_tape.h"

#include "guest.h"
#include "l3_2022.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

mr__kernel_function *const guest_function = mr__kernel_guest;

/* A file of the source without what it includes: ours comes before, and devices have no system headers. */
static bool append_source(char **text, size_t *nbytes, const char *name)
{
    char path[1024], line[512];
    (void)snprintf(path, sizeof path, "%s/%s", BENCH_SOURCE, name);
    FILE *file = fopen(path, "r");
    bool good = file != NULL;
    while (good && fgets(line, sizeof line, file) != NULL) {
        size_t length = strncmp(line, "#include", 8) != 0 ? strlen(line) : 0;
        char *more = realloc(*text, *nbytes + length + 1);
        good = more != NULL;
        if (good) {
            memcpy(more + *nbytes, line, length + 1);
            *text = more;
            *nbytes += length;
            more[*nbytes] = '\0';
        }
    }
    if (file != NULL)
        (void)fclose(file);
    return good;
}

char *guest_text(void)
{
    char *text = NULL;
    size_t nbytes = 0;
    if (append_source(&text, &nbytes, "l3_2022/l3_2022_pixel.h") && append_source(&text, &nbytes, "l3_device/guest.h"))
        return text;
    free(text);
    return NULL;
}

/* Where each patch begins, and where the last one ends. */
static uint32_t put_places(mr__tape *tape, const l3_2022_layout *layout, uint32_t at)
{
    size_t count = 3 * layout->patches;
    void *bytes;
    uint32_t place = mr__tape_put(tape, (count + 1) * sizeof(uint32_t), &bytes);
    uint32_t *places = bytes;
    for (size_t i = 0; places != NULL && i < count; i++) {
        places[i] = at;
        at += (uint32_t)layout->lengths[2 * i] | (uint32_t)layout->lengths[2 * i + 1] << 8;
    }
    if (places != NULL)
        places[count] = at;
    return place;
}

int guest_tape(mr__tape *tape, const void *bytes, size_t nbytes, mr__sheet *sheet, mr__detail *detail)
{
    l3_2022_layout layout;
    if (!l3_2022_read(&layout, bytes, nbytes))
        return mr__fail(detail, MR_ECORRUPT, "it is not a whole l3-2022 file");
    uint32_t at = mr__tape_copy(tape, layout.plane[0], (size_t)(layout.end - layout.plane[0]));
    l3_2022_order order = {.places = put_places(tape, &layout, at),
                           .status = mr__tape_status(tape),
                           .side = layout.side,
                           .across = (uint32_t)layout.across,
                           .patches = (uint32_t)layout.patches,
                           .to = mr__tape_sheet(tape, layout.width, layout.height, 3)};
    mr__tape_call_of(tape, MR__KERNEL_GUEST, &order, sizeof order, 3 * (uint64_t)layout.patches);
    *sheet = order.to;
    return 0;
}
