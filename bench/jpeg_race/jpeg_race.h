// SPDX-License-Identifier: Apache-2.0
/*
 * The JPEG benchmark: Millrace's own decoder beside libjpeg-turbo, the linked one and where there is one a newer.
 *
 * A set is JPEG files in memory: a folder's, or painted ones of one size and quality. It is raced in several modes; set
 * and mode make a contest. Racer 0 is the linked library, which is the reference of all pixels and ratios.
 */
#ifndef BENCH_JPEG_RACE_H
#define BENCH_JPEG_RACE_H

#include "libjpeg_reader.h"
#include "race.h"

enum { MASKS_MAX = 8, LIBRARIES_MAX = 4 };

typedef enum mode { WHOLE, REGION, INDEX, HALF, QUARTER, EIGHTH, PROGRESSIVE, GRAY, MODES } mode;

typedef struct mode_facts {
    const char *name;  /* as --modes spells it */
    const char *text;  /* for the reader */
    double target;     /* times the linked library; 0: none */
    uint32_t reduce;   /* 0: full size */
    uint32_t channels; /* 0: as stored */
    bool regions;
} mode_facts;
extern const mode_facts mode_facts_of[MODES];

typedef struct options {
    unsigned rounds;
    size_t images; /* of a folder, at most */
    uint64_t seed; /* of the regions */
    bool json;
    bool modes[MODES];
    const char *sets; /* names with commas; NULL: all */
    char masks[MASKS_MAX][24];
    size_t mask_count;
    libjpeg library[LIBRARIES_MAX]; /* the linked one first */
    size_t library_count;
} options;

typedef struct jpeg_set {
    char name[64];
    char group[32]; /* what --sets calls it, and others like it */
    item_set files;
} jpeg_set;

typedef struct contest {
    char set[64];
    mode mode;
    char note[96];               /* why there is nothing to show; else empty */
    size_t indexed;              /* images that have a row index, in that mode */
    const race_racer *reference; /* what ratios are of */
    bench_race race;
} contest;

typedef struct contests {
    contest **list;
    size_t count;
} contests;

/* Whether --sets names it. */
bool is_wanted(const options *o, const char *name, const char *group);

/* The JPEG files of a folder, at most o->images, those of one sampling together. */
void set_of_folder(jpeg_set *set, const char *path, const options *o);
/* Room for an item more, with these bytes, which the set then owns; its shape is read. False, and freed, if broken. */
bool set_take(item_set *set, mr_decoder *decoder, const char *name, uint8_t *bytes, size_t nbytes);

/* Painted sets: mosaics of the pictures of others, of several sizes and qualities. */
typedef struct painting {
    uint32_t width, height, quality;
    mr_subsampling subsampling;
} painting;
extern const painting paintings[];
extern const size_t painting_count;
void name_painting(jpeg_set *set, const painting *p);
void paint_set(jpeg_set *set, const painting *p, const item_set *pictures);

/* The same coefficients in the scans that libjpeg calls the simple progression; NULL when it cannot be. */
uint8_t *make_progressive(const uint8_t *bytes, size_t nbytes, size_t *out_nbytes);

/* Runs all wanted modes over a set. */
void run_set(contests *all, const jpeg_set *set, const options *o);
void contests_free(contests *all);

/* A contest's target, and whether its first racer of ours meets it. */
const race_racer *first_of_ours(const contest *c);
bool target_met(const contest *c);

void report_text(FILE *file, const contests *all, const options *o);
void report_json(FILE *file, const contests *all, const options *o);

/* Decodes the files of a set once, by `who`: millrace or a stage of libjpeg. For a counter of instructions. */
int count_once(const char *who, const jpeg_set *set);

#endif
