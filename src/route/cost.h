// SPDX-License-Identifier: Apache-2.0
/*
 * What a task will cost, before it is run: features of it, known from the index (or a header that was read) and from
 * the steps that were drawn; and for each route (a form on a device) a model that learns from what tasks took.
 *
 *     features.c     what is known of a task
 *     cost.c         the model
 *     cost_file.c    kept between runs
 *
 * doc/design.md, "What a task will cost", has the formula and where it comes from.
 */
#ifndef MR_ROUTE_COST_H
#define MR_ROUTE_COST_H

#include "dataset/dataset.h"
#include "step/recipe.h"

/* What is known of a stored image without its pixels. All zero but `nbytes`: its length alone. */
typedef struct mr__header {
    uint64_t nbytes;
    uint32_t width, height; /* as stored; 0: not known, and guessed from the length */
    uint8_t form;           /* mr_form; MR_FORM_NONE: not known */
    uint8_t channels;       /* 0: not known */
    uint8_t orientation;
    bool progressive; /* known to be: an index that has row indexes has none for these */
    bool row_index;   /* rows above a region are not decoded */
    bool pixel_mode;  /* an L3 without coefficients of a JPEG */
} mr__header;

/* From the dataset's index: reads no file. MR_EARGUMENT beyond the last, MR_ECORRUPT; no record there: nbytes 0. */
int mr__header_of(const mr_dataset *dataset, uint64_t ordinal, uint32_t form, mr__header *header);

/* From a header that was read. */
void mr__header_from(const mr_info *info, uint64_t nbytes, mr__header *header);

/* The kinds of work that are told apart. */
typedef enum mr__work_kind {
    MR__WORK_TASK,    /* one, whatever is in it */
    MR__WORK_BYTES,   /* stored bytes that are gone through for a region */
    MR__WORK_PASSED,  /* pixels that are gone through and not kept: above the region and beside it */
    MR__WORK_DECODED, /* pixels of the region */
    MR__WORK_WHOLE,   /* stored bytes of what can only be gone through whole: progressive JPEG, WebP, ... */
    MR__WORK_AREA,    /* and its pixels, all of them */
    MR__WORK_SHRUNK,  /* pixels that a resize reads */
    MR__WORK_MADE,    /* pixels that passes make, and the sample's at the end */
    MR__WORK_TABLE,   /* pixels of ops by tables */
    MR__WORK_COLOR,   /* of ops on colors */
    MR__WORK_NEAR,    /* of ops that look at neighbours: sharpness, blur */
    MR__WORK_WARP,    /* of places by nearest neighbours */
    MR__WORK_SAMPLED, /* of places by interpolation; elastic */
    MR__WORK_HEAVY,   /* of a JPEG made and decoded again, of noise, of augmix's sums */
    MR__WORK_USER,    /* of the program's own steps */
    MR__WORK_KINDS
} mr__work_kind;

/*
 * How much there is of each kind, in nanoseconds that it would take on the processor where the kinds' prices were
 * measured: the sum is what is believed before anything was learned. A value, to be kept with the task until it is
 * done; features of tasks that are done together are added.
 */
typedef struct mr__features {
    float ns[MR__WORK_KINDS];
} mr__features;

/*
 * Of a task with these draws. `chain` is scratch, and has what the recipe comes to (for an image whose size was known
 * and which does not depend on boxes). An image that the recipe cannot be resolved for costs what its decoding would.
 */
void mr__features_of(const mr_recipe *recipe, const uint32_t *draws, const mr__header *header, mr__chain *chain,
                     mr__features *features);

/* Of a chain that somebody has resolved already. */
void mr__features_of_chain(const mr__chain *chain, const mr__header *header, mr__features *features);

/* By length alone: for baselines, and for tests. */
void mr__features_of_bytes(uint64_t nbytes, mr__features *features);

void mr__features_add(mr__features *sum, const mr__features *more);

/* Changes with what features mean: weights learned under another one are not for these. */
uint64_t mr__features_id(void);

/* Of the last logarithms of actual over predicted, so many are looked at to see a change that is not noise. */
enum { MR__COST_LAST = 5 };

/*
 * The model of one route.
 *
 * Threads: one at a time.
 * Ownership: a value, without memory of its own; a copy goes on by itself.
 * Limits: whatever it is told, its predictions are finite and at least 1 ns.
 */
typedef struct mr__cost {
    double weight[MR__WORK_KINDS]; /* of each kind, none below 0; */
    double prior[MR__WORK_KINDS];  /* what they are drawn to where samples say nothing; */
    double trust;                  /* and by how much: so many samples' worth */
    double product[MR__WORK_KINDS][MR__WORK_KINDS], target[MR__WORK_KINDS]; /* decayed sums over the samples */
    double scale;    /* of all of them: fast, where weights are slow */
    double variance; /* of log(actual / predicted) */
    double last[MR__COST_LAST];
    uint32_t last_count;
    uint32_t since;   /* samples since the scale was last found, up to its memory */
    uint64_t samples; /* learned from, in all */
} mr__cost;

/* One of which nothing is known: the first samples set its scale. */
void mr__cost_init(mr__cost *cost);

/* One of a device that is believed to be `speed` times as fast as the one of `like`; it learns its own. */
void mr__cost_init_like(mr__cost *cost, const mr__cost *like, double speed);

/* One that was learned by an earlier run; of numbers out of range the nearest are taken. */
void mr__cost_restore(mr__cost *cost, const double weight[MR__WORK_KINDS], double scale, double sigma,
                      uint64_t samples);

/* Nanoseconds: at least 1, finite; for features of no work at all, too. */
double mr__cost_predict(const mr__cost *cost, const mr__features *features);

void mr__cost_learn(mr__cost *cost, const mr__features *features, uint64_t actual_ns);

/* All that it predicts takes so many times as long from now on; soon it is seen how long. */
void mr__cost_rescale(mr__cost *cost, double times);

/* How far off predictions are: the standard deviation of log(actual / predicted); 0.5 before anything is known. */
double mr__cost_sigma(const mr__cost *cost);

/* One route's model and its name: "jpeg@cpu", "l3@opencl:0". */
enum { MR__ROUTE_NAME_NBYTES = 64 };

typedef struct mr__cost_route {
    char name[MR__ROUTE_NAME_NBYTES];
    mr__cost cost;
} mr__cost_route;

/* Whose costs: a file for each. */
typedef struct mr__cost_key {
    uint64_t dataset; /* mr_dataset_info.fingerprint */
    uint64_t recipe;  /* mr_recipe_hash */
    uint64_t machine; /* mr__cost_machine */
} mr__cost_key;

/* Of the processor's model and the instructions that may be used: machines alike have costs in common. */
uint64_t mr__cost_machine(void);

/*
 * Writes them to "costs/KEY.json" in `folder` (NULL: the user's cache folder, $XDG_CACHE_HOME/millrace; without one,
 * nothing is done), atomically; models of other routes that the file has are kept. The oldest files are removed where
 * there are more than MR__COST_FILES. 0 also while another process writes the same file. MR_EIO, MR_ENOMEM with detail.
 */
enum { MR__COST_FILES = 256, MR__COST_ROUTES = 64 };
int mr__cost_save(const mr_hooks *hooks, const char *folder, const mr__cost_key *key, const mr__cost_route *routes,
                  size_t count, mr__detail *detail);

/*
 * Sets the models of those routes that the file has, and leaves the others. Returns how many. No file: 0; one that is
 * damaged or of another version: 0, and a line in the log.
 */
size_t mr__cost_load(const mr_hooks *hooks, const char *folder, const mr__cost_key *key, mr__cost_route *routes,
                     size_t count);

#endif
