// SPDX-License-Identifier: Apache-2.0
#include "codec/exif.h"

#include "base/bytes.h"

#include <stdbool.h>
#include <string.h>

enum { TAG_ORIENTATION = 0x0112, TYPE_SHORT = 3, TYPE_LONG = 4, ENTRY_NBYTES = 12, HEAD_NBYTES = 8 };

static uint32_t load16(const uint8_t *p, bool big)
{
    return big ? mr__load_be16(p) : mr__load_le16(p);
}

static uint32_t load32(const uint8_t *p, bool big)
{
    return big ? mr__load_be32(p) : mr__load_le32(p);
}

/* The orientation an entry holds, or 0 when it is another entry. It should be a SHORT; some write a LONG. */
static uint32_t read_entry(const uint8_t *entry, bool big)
{
    if (load16(entry, big) != TAG_ORIENTATION)
        return 0;
    uint32_t type = load16(entry + 2, big);
    uint32_t value = type == TYPE_LONG ? load32(entry + 8, big) : load16(entry + 8, big);
    bool good = (type == TYPE_SHORT || type == TYPE_LONG) && load32(entry + 4, big) == 1 && value >= 1 && value <= 8;
    return good ? value : 1;
}

uint32_t mr__exif_orientation(const uint8_t *tiff, size_t nbytes)
{
    if (nbytes >= 6 && memcmp(tiff, "Exif\0\0", 6) == 0) {
        tiff += 6;
        nbytes -= 6;
    }
    if (nbytes < HEAD_NBYTES || (memcmp(tiff, "II*\0", 4) != 0 && memcmp(tiff, "MM\0*", 4) != 0))
        return 1;
    bool big = tiff[0] == 'M';
    size_t at = load32(tiff + 4, big);
    if (at > nbytes - 2)
        return 1;
    uint32_t count = load16(tiff + at, big);
    at += 2;
    for (uint32_t i = 0; i < count && nbytes - at >= ENTRY_NBYTES; i++, at += ENTRY_NBYTES) {
        uint32_t found = read_entry(tiff + at, big);
        if (found != 0)
            return found;
    }
    return 1;
}

void mr__exif_write(uint8_t tiff[MR__EXIF_NBYTES], uint32_t orientation)
{
    memset(tiff, 0, MR__EXIF_NBYTES);
    memcpy(tiff, "II*\0", 4);
    mr__store_le32(tiff + 4, HEAD_NBYTES); // the only directory follows at once
    mr__store_le16(tiff + 8, 1);           // with one entry
    mr__store_le16(tiff + 10, TAG_ORIENTATION);
    mr__store_le16(tiff + 12, TYPE_SHORT);
    mr__store_le32(tiff + 14, 1);
    mr__store_le16(tiff + 18, (uint16_t)orientation);
}
