// SPDX-License-Identifier: Apache-2.0
/* Small tar shards with everything that a scanner has to know of. */
#include "seeds_tar.h"

#include <stdio.h>
#include <string.h>

typedef struct shard {
    uint8_t bytes[65536];
    size_t nbytes;
} shard;

static void add(shard *s, const char *name, char type, const char *text, size_t nbytes)
{
    uint8_t *block = s->bytes + s->nbytes;
    unsigned sum = 0;
    memset(block, 0, 512);
    snprintf((char *)block, 100, "%s", name);
    memcpy(block + 100, "0000644", 7);
    snprintf((char *)block + 124, 12, "%011zo", nbytes);
    memset(block + 148, ' ', 8);
    block[156] = (uint8_t)type;
    memcpy(block + 257, "ustar\00000", 8);
    for (size_t i = 0; i < 512; i++)
        sum += block[i];
    snprintf((char *)block + 148, 8, "%06o", sum);
    size_t payload = type == '5' || type == '2' ? 0 : (nbytes + 511) / 512 * 512;
    memset(block + 512, 0, payload);
    memcpy(block + 512, text, payload != 0 ? nbytes : 0);
    s->nbytes += 512 + payload;
}

static void add_text(shard *s, const char *name, char type, const char *text)
{
    add(s, name, type, text, strlen(text));
}

static void add_labels(shard *s, const char *const labels[4])
{
    for (size_t i = 0; i < 4; i++) {
        char name[64];
        snprintf(name, sizeof name, "a/%zu-%zu.jpg", i, strlen(labels[i]));
        add_text(s, name, '0', "\xff\xd8\xff\xe0 JPEG");
        snprintf(name, sizeof name, "a/%zu-%zu.cls", i, strlen(labels[i]));
        add_text(s, name, '0', labels[i]);
    }
}

static void add_numbers(shard *s)
{
    static const char *const labels[4] = {"7", "2.5", "1 2, 3", "-9223372036854775808"};
    add_labels(s, labels);
}

static void add_texts(shard *s)
{
    static const char *const labels[4] = {"0.5 1e3", "a cat", "", "1,,2"};
    add_labels(s, labels);
}

static void add_odd_members(shard *s)
{
    char name[301];
    memset(name, 'n', 300);
    name[300] = '\0';
    memcpy(name + 296, ".png", 4);
    add_text(s, "folder/", '5', "");
    add_text(s, "link.jpg", '2', "");
    add_text(s, "pax_global_header", 'g', "15 comment=abc\n");
    add_text(s, "././@LongLink", 'L', name);
    add_text(s, "likeness.png", '0', "\x89PNG\r\n\x1a\n");
    add_text(s, "././@PaxHeader", 'x', "19 path=x/y.z.webp\n11 size=12\n12 comment=\n");
    add_text(s, "likeness.webp", '0', "RIFF....WEBP");
    add_text(s, "b.seg.png", '0', "\x89PNG\r\n\x1a\n");
    add_text(s, "b.JPG", '0', "P5 1 1 1\nx");
    add_text(s, "b.json", '0', "{}");
    add_text(s, "__meta__/x.jpg", '0', "x");
    add_text(s, "._b.jpg", '0', "x");
    add_text(s, "a/0.jpg", '0', "x");
}

static void add_refused(shard *s)
{
    add_text(s, "././@PaxHeader", 'x', "22 GNU.sparse.major=1\n");
    add_text(s, "a.jpg", '0', "x");
    add_text(s, "b.jpg", 'S', "x");
    add_text(s, "c.jpg", 'M', "x");
    add_text(s, "d.txt", '0', "x");
    add_text(s, "e.l3", '0', "x");
    add_text(s, "e.l3", '0', "x");
}

void fuzz_seeds_tar(void (*save)(const char *name, const void *bytes, size_t nbytes))
{
    static void (*const parts[])(shard * s) = {add_numbers, add_texts, add_odd_members, add_refused};
    static shard s;
    for (unsigned which = 1; which < 16; which++) {
        char name[32];
        s.nbytes = 0;
        for (unsigned i = 0; i < 4; i++)
            if (which >> i & 1)
                parts[i](&s);
        snprintf(name, sizeof name, "tar-%u.tar", which);
        save(name, s.bytes, s.nbytes);
        memset(s.bytes + s.nbytes, 0, 1024);
        snprintf(name, sizeof name, "tar-%u-end.tar", which);
        save(name, s.bytes, s.nbytes + 1024);
    }
}
