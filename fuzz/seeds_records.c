// SPDX-License-Identifier: Apache-2.0
#include "seeds_records.h"

#include <stdint.h>
#include <string.h>

typedef void saver(const char *name, const void *bytes, size_t nbytes);

/* {"label": 7, "image/encoded": five bytes} in a record; its sums are those that stand in tests/unit/test_tfrecord.c.
 */
static const uint8_t tfrecord[] = "\x2e\0\0\0\0\0\0\0\xc5\xcb\x57\xfa\x0a\x2c\x0a\x1a\x0a\x0dimage/encoded\x12\x09\x0a"
                                  "\x07\x0a\x05\xff\xd8\xff\xe0\0\x0a\x0e\x0a\x05label\x12\x05\x1a\x03\x0a\x01\x07"
                                  "\xe0\x5a\x67\xca";

/* Two records, the second with two labels; then one in three parts. */
static const uint8_t recordio[] =
    "\x0a\x23\xd7\xce\x1d\0\0\0\0\0\0\0\0\0\x40\x40\x07\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xff\xd8\xff\xe0\0\0\0\0"
    "\x0a\x23\xd7\xce\x24\0\0\0\x02\0\0\0\0\0\0\0\xff\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x80\x3f\0\0\0\x3f\xff\xd8\xff"
    "\xe0\x0a\x23\xd7\xce\x04\0\0\x20"
    "abcd\x0a\x23\xd7\xce\0\0\0\x40\x0a\x23\xd7\xce\x03\0\0\x60xyz\0";

/* An image with the magic number in it, twice. */
static const uint8_t recordio_parts[] =
    "\x0a\x23\xd7\xce\x1c\0\0\x20\0\0\0\0\0\0\x40\x40\x07\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xff\xd8\xff\xe0"
    "\x0a\x23\xd7\xce\0\0\0\x40\x0a\x23\xd7\xce\x03\0\0\x60xyz\0";

static void save_tfrecords(saver *save)
{
    uint8_t three[3 * sizeof tfrecord];
    size_t n = sizeof tfrecord - 1;
    save("tfrecord-one", tfrecord, n);
    for (size_t i = 0; i < 3; i++)
        memcpy(three + i * n, tfrecord, n);
    save("tfrecord-three", three, 3 * n);
    three[n + 40] ^= 1;
    save("tfrecord-bad-data", three, 3 * n);
    three[n + 2] ^= 1;
    save("tfrecord-bad-length", three, 3 * n);
    save("tfrecord-cut", three, n + 20);
}

static void save_recordios(saver *save)
{
    static const char idx[] = "\nidx\na\t40\nb\t0\nc\t3\nno line\n";
    uint8_t bytes[sizeof recordio + sizeof idx];
    size_t n = sizeof recordio - 1;
    save("recordio-three", recordio, n);
    memcpy(bytes, recordio, n);
    memcpy(bytes + n, idx, sizeof idx - 1);
    save("recordio-with-idx", bytes, n + sizeof idx - 1);
    bytes[40] ^= 1;
    save("recordio-bad-magic", bytes, n);
    save("recordio-parts", recordio_parts, sizeof recordio_parts - 1);
    save("recordio-parts-cut", recordio_parts, sizeof recordio_parts - 12);
    save("recordio-cut", recordio, n - 30);
}

void fuzz_seeds_records(saver *save)
{
    static const char list[] = "# offset length label\n0 10 7\n5 5\r\n\n\t1 2 -1.5e3 \n1 2 some text\nbad\n1 999999\n";
    save_tfrecords(save);
    save_recordios(save);
    save("list-lines", list, sizeof list - 1);
}
