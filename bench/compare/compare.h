// SPDX-License-Identifier: Apache-2.0
/*
 * The comparison of forms: the same images stored in several ways, and racers that decode them.
 *
 * A contest is one folder. Its images are put into slots, each with memory of its own for every coding and for the
 * pixels that come out; when they are too few to leave the caches behind, all of it is there several times. A racer
 * goes over all slots, then the next racer does, in an order that turns from round to round.
 */
#ifndef BENCH_COMPARE_H
#define BENCH_COMPARE_H

#include "coder.h"
#include "common.h"
#include "peer.h"

enum { CODINGS_MAX = 16, RACERS_MAX = 40, LINES_MAX = 16, NOTES_MAX = 16, MASKS_MAX = 8 };

typedef struct options {
    unsigned rounds;
    size_t images;    /* of a folder, at most */
    size_t copies;    /* 0: as many as leave the caches behind */
    unsigned threads; /* of the encoders' second line */
    uint64_t seed;    /* of the regions */
    bool json;
    char masks[MASKS_MAX][24]; /* instruction sets that L3 is timed under: names of MILLRACE_CPU */
    size_t mask_count;
} options;

/* One way to store an image. The first of a contest is always the pixels themselves, the second what ratios are of. */
typedef struct coding {
    const char *name;
    const char *made; /* how, for the reader */
    bool (*encode)(const struct coding *coding, const item *source, const mr_image *image, blob *out);
    const coder *coder; /* for those who have one */
    l3_how l3;          /* for L3's own */
    double nbytes;      /* of all images, once */
    double encode_ns;   /* likewise; 0 where nothing was encoded */
} coding;

typedef struct slot {
    mr_image shape;
    uint8_t *out;
    blob stored[CODINGS_MAX];
} slot;

/* What is timed: all slots, one image over and over, parts of all slots. */
typedef enum series { DISTINCT, HOT, REGIONS, SERIES } series;

typedef struct racer {
    char name[40];
    char mask[24]; /* the MILLRACE_CPU it was made under; empty: as the environment says */
    size_t coding; /* whose bytes it reads */
    bool runs[SERIES];
    bool exact; /* gives the very pixels, which is checked */
    bool (*decode)(const struct racer *racer, const slot *from, mr_rect part, const mr_image *to);
    const coder *coder;
    const bench_peer *peer;
    mr_decoder *decoder;
    void *state;                   /* the coder's */
    uint8_t *whole;                /* room for those who decode all and then cut */
    double ns[SERIES][ROUNDS_MAX]; /* an image */
} racer;

/* One encoder under a number of threads. */
typedef struct encode_line {
    char name[40];
    unsigned threads;
    double core_mb_per_s[ROUNDS_MAX]; /* by the processor time of all threads */
    double wall_mb_per_s[ROUNDS_MAX]; /* by the clock on the wall */
} encode_line;

/* A coding's bytes over the JPEG files', image by image. */
typedef struct size_line {
    const char *name;
    double total, mean, median, p95, worst, within; /* within: the share of images at 1.10 or less */
    double entropy_total;                           /* over the entropy-coded bytes alone */
} size_line;

typedef struct contest {
    char name[64]; /* the folder's */
    bool is_jpeg;
    size_t pictures, copies;
    size_t left_out;             /* shapes that not all store */
    size_t different;            /* images that a racer decoded to other pixels */
    double pixels, pixel_nbytes; /* of all images, once */
    double jpeg_entropy_nbytes;
    coding coding[CODINGS_MAX];
    size_t coding_count;
    racer racer[RACERS_MAX];
    size_t racer_count;
    encode_line line[LINES_MAX];
    size_t line_count;
    size_line size[4];
    size_t size_count;
    char note[NOTES_MAX][160];
    size_t note_count;
    unsigned rounds;
    double nbytes[SERIES][ROUNDS_MAX]; /* of pixels given out, an image */
    const item **source;               /* of the first `pictures` slots */
    slot *slots;
    size_t slot_count;
} contest;

/* Makes, checks and times a contest over the images of a set that are JPEG, or that are not. False: there are none. */
bool contest_run(contest *c, const item_set *set, const char *name, bool is_jpeg, const options *o);
void contest_free(contest *c);

/* The parts of it. */
void contest_note(contest *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
size_t add_coding(contest *c, const coding *coding);
racer *add_racer(contest *c, const char *name, const char *mask, size_t coding);
void enter_pixels(contest *c, const options *o); /* codings and racers of a pixel set */
void enter_jpegs(contest *c, const options *o);  /* and of a set of JPEG files */
void time_racers(contest *c, const options *o);
void time_encoders(contest *c, const options *o);
void weigh_jpegs(contest *c);

/* Entropy-coded bytes of a JPEG file: all scans, with stuffing and restart markers, without any other marker. */
size_t jpeg_entropy_nbytes(const uint8_t *bytes, size_t nbytes);

/* Medians over the rounds. `than` NULL: not against anyone. */
double racer_mb_per_s(const contest *c, const racer *r, series s);
double racer_ms(const contest *c, const racer *r, series s);
double racer_times(const contest *c, const racer *r, const racer *than, series s); /* how many times as fast */
double line_core_mb_per_s(const contest *c, const encode_line *line);
double line_wall_mb_per_s(const contest *c, const encode_line *line);

/* By name, and by mask unless it is NULL; NULL when it does not take part. */
const racer *find_racer(const contest *c, const char *name, const char *mask);
const coding *find_coding(const contest *c, const char *name);
const encode_line *find_line(const contest *c, const char *name, unsigned threads);
const size_line *find_size(const contest *c, const char *name);

/* One target of the design, as measured. */
typedef struct target {
    char text[96], set[64];
    double measured, wanted;
    bool at_most;
    bool is_measured;
} target;
bool target_met(const target *t);
size_t list_targets(const contest *contests, size_t count, target *targets, size_t most);

void report_text(FILE *file, const contest *contests, size_t count, const options *o);
void report_json(FILE *file, const contest *contests, size_t count, const options *o);

#endif
