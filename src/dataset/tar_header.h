// SPDX-License-Identifier: Apache-2.0
/*
 * One block of a tar archive, and the records of a pax header: read and written, without allocating, whatever the
 * bytes. Read: v7, ustar, GNU, star and pax. Written: ustar, deterministic.
 */
#ifndef MR_DATASET_TAR_HEADER_H
#define MR_DATASET_TAR_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    MR__TAR_BLOCK = 512,
    MR__TAR_NAME_MAX = 256,      /* prefix, slash, name */
    MR__TAR_LINK_MAX = 100,      /* where it leads; the beginning of a longer one */
    MR__TAR_EXTRA_MAX = 1 << 20, /* of a pax header or long name */
    MR__TAR_PATH_MAX = 4096,
};

typedef enum mr__tar_kind {
    MR__TAR_BAD,        /* no header */
    MR__TAR_END,        /* zeros: the archive ends here */
    MR__TAR_FILE,       /* a regular file */
    MR__TAR_LINK,       /* a hard or symbolic one */
    MR__TAR_OTHER,      /* a folder, device, or of a type we do not know: to be passed over */
    MR__TAR_SPARSE,     /* GNU's: a file with holes */
    MR__TAR_CONTINUED,  /* GNU's: the rest of a file from the volume before */
    MR__TAR_PAX,        /* records for the next header */
    MR__TAR_PAX_GLOBAL, /* records for all headers from here on */
    MR__TAR_LONG_NAME,  /* GNU's: the name of the next header */
    MR__TAR_LONG_LINK   /* GNU's: where the next header links to */
} mr__tar_kind;

typedef struct mr__tar_header {
    mr__tar_kind kind;
    bool has_payload; /* links, folders and devices have none, whatever their size field says */
    bool extended;    /* sparse: another block with the map of holes follows */
    uint64_t nbytes;  /* of the payload, at most INT64_MAX */
    size_t name_nbytes;
    char name[MR__TAR_NAME_MAX];
    bool symbolic; /* of links */
    size_t link_nbytes;
    char link[MR__TAR_LINK_MAX];
    uint32_t checksum, stored_checksum; /* of a bad one: what it has to be, and what it says */
    bool no_size;                       /* of a bad one: the checksum is right, but its size is no number */
} mr__tar_header;

/* Both ways to sum up, of signed and unsigned bytes, are accepted. Sets all of *header. */
void mr__tar_parse(const uint8_t block[MR__TAR_BLOCK], mr__tar_header *header);

/* What we take from pax records. */
typedef struct mr__tar_pax {
    const char *path; /* among the bytes that were read; NULL: none */
    size_t path_nbytes;
    bool has_size;
    uint64_t size; /* at most INT64_MAX */
    bool sparse;
} mr__tar_pax;

/* Adds to *pax what the records say. NULL, or what is wrong, at byte *at of them. */
const char *mr__tar_pax_read(const uint8_t *bytes, size_t nbytes, mr__tar_pax *pax, size_t *at);

/* True for a second block of the map of an old GNU sparse file when a third follows. */
bool mr__tar_sparse_extended(const uint8_t block[MR__TAR_BLOCK]);

/* What a header cannot say, and a pax header before it has to. */
enum { MR__TAR_LACKS_PATH = 1, MR__TAR_LACKS_SIZE = 2 };

/*
 * Writes a ustar header of this type ('0': a regular file): mode 0644, owner 0, time 0, no names. Returns what it
 * lacks: the name, where it has bytes beyond ASCII or does not fit (then there is a likeness of it); the size from 8
 * GiB on.
 */
unsigned mr__tar_format(uint8_t block[MR__TAR_BLOCK], const char *name, size_t name_nbytes, uint64_t nbytes, char type);

/* How many bytes the pax record "LENGTH KEY=VALUE\n" has, LENGTH being this number. */
size_t mr__tar_record_nbytes(size_t key_nbytes, size_t value_nbytes);

/* To the next multiple of a block. */
static inline uint64_t mr__tar_round(uint64_t nbytes)
{
    return (nbytes + MR__TAR_BLOCK - 1) / MR__TAR_BLOCK * MR__TAR_BLOCK;
}

#endif
