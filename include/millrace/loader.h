// SPDX-License-Identifier: Apache-2.0
#ifndef MILLRACE_LOADER_H
#define MILLRACE_LOADER_H

#include <millrace/dataset.h>
#include <millrace/recipe.h>

/*
 * A loader turns a dataset into batches, epoch after epoch: same seed, same bytes, whatever the number of threads or
 * ranks, the stored form within its pixel class, or the machine.
 *
 *     mr_loader_new(dataset, recipe, &options, &loader);
 *     while (mr_loader_next(loader, &batch) == 0 && batch != NULL) {
 *         train(batch->images, batch->labels, batch->count);
 *         mr_batch_release(batch);
 *     }
 *     mr_loader_free(loader);
 */

/* The order of an epoch. */
typedef enum mr_order_kind {
    MR_ORDER_SHUFFLED = 0,   /* a permutation, anew in each epoch */
    MR_ORDER_SEQUENTIAL = 1, /* as stored */
    MR_ORDER_WINDOWED = 2,   /* shuffled blocks of neighbours, then within a window: for slow random access */
    MR_ORDER_WEIGHTED = 3,   /* with replacement, by `weights` */
    MR_ORDER_REPEATED = 4    /* shuffled, each drawn sample `repeats` times in a row with other random numbers */
} mr_order_kind;

/* What is done with a sample that cannot be read or decoded. */
typedef enum mr_bad_policy {
    MR_BAD_FAIL = 0,   /* the loader ends with its error */
    MR_BAD_SKIP = 1,   /* another sample, drawn for this position, takes its place; masked */
    MR_BAD_REPLACE = 2 /* a black image with label -1 takes its place; masked */
} mr_bad_policy;

/* What stands in a place of a batch. */
typedef enum mr_mask {
    MR_MASK_VALID = 0,
    MR_MASK_PAD = 1,     /* nothing: the epoch had no more; a black image with label -1 */
    MR_MASK_SKIPPED = 2, /* a substitute */
    MR_MASK_REPLACED = 3 /* a black image */
} mr_mask;

/* How files are read. */
typedef enum mr_reading {
    MR_READ_AUTO = 0,    /* what is in the page cache at once, the rest ahead: by io_uring, or by threads */
    MR_READ_THREADS = 1, /* everything ahead, by threads alone */
    MR_READ_DIRECT = 2,  /* everything ahead, and past the page cache (O_DIRECT) where the file system can */
    MR_READ_AHEAD = 3    /* everything ahead, by io_uring or by threads */
} mr_reading;

/* Where batches are when they are delivered. */
typedef enum mr_keep {
    MR_KEEP_HOST = 0,  /* in the host's memory */
    MR_KEEP_DEVICE = 1 /* in memory of the accelerator that prepares them (mr_batch_get_device) */
} mr_keep;

/* How threads are placed. */
typedef enum mr_pinning {
    MR_PIN_NONE = 0, /* where the system puts them */
    MR_PIN_CORES = 1 /* one processor each, of those this process may use */
} mr_pinning;

/*
 * What else batches have of a sample, from what is stored beside its image (mr_dataset_member); it goes where the
 * image's pixels go, by every step of the recipe. Coordinates are those of the image upright where the recipe begins
 * with orient, and of the image as it is stored where it does not. Pixels do not depend on what is asked for: a recipe
 * with ioucrop has the json read in any case.
 */
enum {
    MR_TARGET_BOXES = 1,     /* of the objects in the member "json" (millrace/annotation.h), and their categories */
    MR_TARGET_KEYPOINTS = 2, /* of these */
    MR_TARGET_MASK = 4,      /* a class for each pixel: a member that is a PNG, of gray or with a palette */
    MR_TARGET_MASKS = 8      /* one for each object: its "segmentation" */
};

/* A sample whose json has more than these is a bad one where it is read: MR_ELIMIT. So a batch's memory has a bound. */
enum { MR_TARGET_OBJECTS_MAX = 8192, MR_TARGET_KEYPOINTS_MAX = 65536 };

typedef struct mr_loader_options {
    size_t struct_size;
    const mr_hooks *hooks;   /* NULL: defaults */
    const mr_limits *limits; /* of each stored image; NULL: defaults */
    uint32_t batch;          /* samples in a batch of this rank [64] */
    uint64_t seed;
    uint64_t epoch;  /* the first one */
    uint64_t epochs; /* 0: without end */
    uint64_t start;  /* positions of the first epoch that are left out: where a state says to go on */

    mr_order_kind order;
    uint64_t block, window; /* WINDOWED: neighbours in a block [256], samples in a window [16 blocks] */
    const double *weights;  /* WEIGHTED: one for each sample, copied */
    uint64_t draws;         /* WEIGHTED: positions of an epoch [the number of samples] */
    uint32_t repeats;       /* REPEATED [3] */

    bool has_rank; /* that the next two are given; else the environment's: torchrun, Slurm, Open MPI, PMI,
                      Kubernetes; else 0 of 1 */
    uint32_t rank, world;
    bool drop_last; /* leave out the last, incomplete global batch; else it is padded, masked */

    const char *form;       /* the stored form, by name; NULL: the first of the dataset. "jpeg+l3": samples in turn from
                               each of these, which are of the same pixels, and so are batches */
    uint32_t threads;       /* [mr_threads_default] */
    uint32_t slots;         /* batches in memory, the consumer's with them [3; 2 where three take more than 256 MiB] */
    uint64_t memory_nbytes; /* that the loader may hold in all; 0: what the other limits allow */
    mr_reading reading;
    uint32_t read_depth; /* reads ahead at most [64] */
    bool check_all;      /* read whole records, so that their hashes are checked, where a part would do. Else damage to
                            the pixels of a raw image that is read in part is not seen; L3 has checksums of its tiles */
    mr_pinning pinning;
    bool has_numa_node; /* keep threads and batches on this node */
    uint32_t numa_node;

    mr_bad_policy bad;
    uint64_t bad_max; /* SKIP, REPLACE: more bad samples in an epoch are an error [1 % of its positions, at least 16];
                         UINT64_MAX: any number is allowed */
    const char *quarantine;  /* a file that bad samples are appended to, a JSON line each; NULL: none */
    uint64_t timeout_ns;     /* so long without any progress is an error [60 s] */
    const char *device;      /* who prepares (doc/devices.md): "cpu" [default], the host's threads; "opencl:1", that
                                accelerator; "opencl", the first that can be used; several, as "cpu,opencl:0"; "auto",
                                the host and every accelerator that can be used and is not the host's own cores. "sim":
                                the same work under a virtual clock, for tests; "sim:FILE": a simulated machine
                                (doc/hardware.md), whose clock the loader's times are by */
    uint32_t targets;        /* MR_TARGET_..., those that are wanted; not with mixup and cutmix */
    const char *mask_member; /* MASK: its name, of at most 63 bytes [the first that is, or ends in, "png"] */
    const char *policy;      /* who prepares which sample (doc/policies.md): "auto" [default], "interbatch",
                                "intrabatch", "naive-device", "fusion" */
    const char *beside;      /* when an accelerator that also trains may prepare: "auto" [default], "off", "exclusive",
                                "duty", "overlapped" */
    uint64_t trace;          /* remember the last so many tasks, for mr_loader_write_trace; 0: none; at most 2^22 */
    const char *share;       /* a group of this user's loaders on this machine, by a name of 1 to 64 letters, digits and
                                "._-", that lend each other cores: `threads` are this one's own. NULL: its threads are
                                its own. Batches do not depend on it */
    uint64_t device_memory_nbytes; /* that each accelerator may take of its own memory; 0: as much as it has for us */
    mr_keep keep; /* DEVICE: one accelerator is named, alone or beside cpu, and batches stay there; what
                     the host prepares of them is sent. Not with mixup and cutmix */
} mr_loader_options;

/*
 * A batch. Everything in it is the loader's, and stays until mr_batch_release.
 */
typedef struct mr_batch {
    uint64_t epoch;
    uint64_t number;   /* in the epoch, from 0, counted by global batches from its beginning (resumed or not) */
    uint64_t position; /* of its global batch: the first */
    bool last;         /* of the epoch */
    uint32_t size;     /* places */
    uint32_t count;    /* places before the padding */
    mr_output output;  /* of one sample */
    void *images;      /* size x output.sample_nbytes, 64-byte aligned; NULL: they are on a device (MR_KEEP_DEVICE) */
    size_t images_nbytes;
    int64_t *labels;     /* whole numbers; 0 for those of another kind: mr_batch_label; -1 for none, and in a pad */
    const uint8_t *mask; /* mr_mask */
    const uint64_t *ordinals;  /* of the samples; UINT64_MAX in a pad */
    const uint64_t *positions; /* in the epoch's global order; UINT64_MAX in a pad */
    void *device_data;         /* MR_KEEP_DEVICE: images_nbytes there, of OpenCL a cl_mem; else NULL */
} mr_batch;

/*
 * Where a batch is that stays on a device, by what its own interface calls it. All of it is there already. What is put
 * into a queue of the context may use it at once, and is to have ended before mr_batch_release. The loader's: what is
 * to live longer is retained.
 */
typedef struct mr_batch_device {
    size_t struct_size;
    const char *name; /* "opencl:0" */
    void *memory;     /* mr_batch.device_data */
    void *context;    /* OpenCL: the cl_context, */
    void *device;     /* cl_device_id, */
    void *queue;      /* and a cl_command_queue there that the loader puts nothing into */
} mr_batch_device;

/* What a stage of the work took. */
typedef struct mr_stage_stats {
    const char *name;      /* "read", "decode", "augment", ... */
    uint64_t count;        /* samples that went through */
    uint64_t nbytes;       /* that came out */
    double seconds;        /* of threads, in all */
    double p50_ns, p99_ns; /* of one sample */
} mr_stage_stats;

/*
 * Labels of a batch that are lists, one behind the other: values offsets[i] to offsets[i + 1] - 1 are those of place i;
 * among lists a number is a list of one, and a place whose label is neither has none. The batch's, as it is.
 */
typedef struct mr_batch_lists {
    size_t struct_size;
    mr_label_kind kind;      /* of the values: MR_LABEL_INTS or MR_LABEL_FLOATS; MR_LABEL_NONE: there are no lists */
    const int64_t *integers; /* of INTS */
    const double *reals;     /* of FLOATS; where both kinds are in one batch, all are these */
    const uint64_t *offsets; /* size + 1 */
} mr_batch_lists;

/*
 * How a batch was mixed (mixup, cutmix): as it was drawn for its global batch, so that it depends on batch x world, but
 * not on how that is dealt out. The sample of a place counts with its own label by `weight`, and with that of its
 * partner by 1 - weight. The batch's, as it is.
 */
typedef struct mr_batch_mix {
    size_t struct_size;
    mr_step_kind kind; /* MR_STEP_MIXUP, MR_STEP_CUTMIX; MR_STEP_NONE: it was not, and everyone is his own partner */
    double weight;     /* 1 where it was not */
    mr_rect box;       /* CUTMIX: this part of each sample is its partner's */
    const int64_t *partners;  /* their labels, as batch->labels */
    const uint64_t *ordinals; /* and ordinals */
} mr_batch_mix;

/*
 * What belongs to one sample. Arrays are the batch's (the preparer's, until its next run); those that were not asked
 * for are NULL. A sample without a member "json" has no objects.
 */
typedef struct mr_targets {
    size_t struct_size;
    uint32_t width, height;    /* of the image as it is now */
    size_t count;              /* of objects; those that the recipe has sanitized are gone */
    const float *boxes;        /* four for each: left, top, right, bottom; 0 without MR_OBJECT_BOX */
    const float *rotated;      /* five for each: middle x, y, width, height, degrees; 0 without MR_OBJECT_ROTATED */
    const int64_t *categories; /* -1: none */
    const float *areas;        /* as they are stored: of the image before the recipe */
    const uint8_t *flags;      /* MR_OBJECT_... */
    const size_t *origins;     /* its number in the json */
    size_t keypoint_count;
    const size_t *keypoint_starts; /* object i has those from [i] to before [i + 1]; NULL without objects */
    const float *keypoints;        /* three for each: x, y, and whether it can be seen, as stored */
    const uint8_t *mask;  /* width x height classes, 0 where the image was filled; NULL: the sample has none, or nobody
                             asked. Those of a batch stand one behind the other, all 0 where there is none */
    const uint8_t *masks; /* count x height x width: 1 where the object is; all 0 without MR_OBJECT_SEGMENTS */
} mr_targets;

enum { MR_STAGES_MAX = 8, MR_DEVICES_MAX = 8 };

/* What a device did. */
typedef struct mr_device_stats {
    const char *name;
    uint32_t lanes;
    uint64_t samples;     /* that it prepared */
    uint64_t jobs;        /* of samples that are dealt together, or of one each */
    uint64_t submissions; /* of one or several of them */
    double busy_seconds;  /* of its lanes */
    uint64_t failures;    /* so often it failed, and was set aside for a while: the sum of the next four */
    uint64_t gave_back;   /* because it gave its tasks back, or its lanes did them on the host; */
    uint64_t late;        /* did not answer in time; */
    uint64_t damaged;     /* gave bytes that were damaged; */
    uint64_t no_memory;   /* had no memory for a task */
    uint64_t recovered;   /* so often it was tried again, and was well */
    bool aside;           /* it is set aside now */
    uint64_t returned;    /* samples that it did not prepare, and others did */
    const char *mishap;   /* one of these in words: "did not answer in time"; NULL: nothing happened */
    uint64_t on_host;     /* samples of an accelerator that its lanes prepared on the host: it could not, */
    uint64_t refused;     /* or among them, its kernels found them damaged: the host says how */
    char cause[160];      /* of the last failure, in the words of the accelerator's driver; "": there are none */
    const char *lacks;    /* "rotate, step 2 of the recipe": it cannot do that, and others prepare what needs it; "" */
} mr_device_stats;

typedef struct mr_loader_stats {
    size_t struct_size;
    double seconds;       /* since the first mr_loader_next */
    uint64_t samples;     /* delivered, without pads */
    uint64_t batches;     /* delivered */
    uint64_t bad;         /* bad samples met */
    uint64_t substitutes; /* that took their place */
    double core_seconds;  /* of the loader's threads, by the processor's clock */
    uint32_t threads;
    uint32_t stage_count;
    mr_stage_stats stages[MR_STAGES_MAX];
    uint64_t stored_nbytes;              /* read */
    uint64_t reads_cached, reads_waited; /* had from the page cache at once; read ahead, and waited for */
    double read_depth_mean;              /* reads ahead at once, on average over reads that were waited for */
    double ready_mean;                   /* batches that lay ready when the consumer came, on average */
    uint32_t slots;
    double consumer_stall_seconds;           /* it waited for a batch */
    uint64_t consumer_stalls;                /* so often, more than 1 ms each */
    double consumer_p50_ns, consumer_p99_ns; /* its waits */
    double thread_idle_seconds;              /* of threads: no slot was free, the consumer is slower */
    double thread_wait_seconds;              /* of threads: for reads */
    double first_batch_seconds;              /* of mr_loader_new, and from the first next on */
    uint64_t memory_nbytes;                  /* held now */
    const char *bottleneck;                  /* "cores", "storage", "consumer", "none" (too little to say) */
    uint32_t rank, world;                    /* as given, or as found */
    uint64_t unlisted;                       /* lines that could not be written to the quarantine file */
    bool simulated;                          /* times are of a simulated machine; core_seconds and stages are not */
    const char *policy;                      /* that was followed */
    const char *beside;                      /* the mode in force beside a trainer; NULL: there is none */
    uint32_t device_count;                   /* 0: no policy was asked for, and there is one device */
    mr_device_stats devices[MR_DEVICES_MAX];
    const char *left_out;          /* why an accelerator was left out when the loader was made; "": none was */
    double cores_lent_seconds;     /* that others worked on this loader's cores (share), */
    double cores_borrowed_seconds; /* and this one on theirs */
    uint64_t traced, forgotten;    /* tasks that mr_loader_write_trace would write; older ones that it would not */
} mr_loader_stats;

/*
 * Threads: next, release, state, restore and stats from any thread, several at once (each batch goes to one caller);
 * stop from any thread, also while others are inside; new and free alone. After a fork the child's handle answers
 * MR_EFORKED (nothing, where a call returns no code) to everything, and its mr_loader_free does nothing.
 * Ownership: mr_loader_free frees it and its batches; the dataset stays the caller's, and must outlive it.
 * Limits: `slots` batches, `read_depth` reads, memory_nbytes; nothing polls.
 */
typedef struct mr_loader mr_loader;

/*
 * Prepares single samples, exactly as a loader with the same recipe, seed and limits does.
 *
 * Threads: one at a time.
 * Ownership: mr_preparer_free frees it; the dataset must outlive it.
 * Limits: those of its options.
 */
typedef struct mr_preparer mr_preparer;

MR_BEGIN_DECLS

/*
 * Makes a loader; `detail`, if not NULL, is where a failure is explained (detail_nbytes, with its zero): MR_EARGUMENT,
 * MR_ENOMEM, MR_ELIMIT (memory_nbytes is too little for two slots), MR_ESYSTEM. Work begins with the first next.
 */
MR_API int mr_loader_new(mr_dataset *dataset, const mr_recipe *recipe, const mr_loader_options *options,
                         mr_loader **out, char *detail, size_t detail_nbytes);

/*
 * Stops it and waits for its threads, as long as the timeout or 10 s: a thread that is held up, by a disk that is dead
 * perhaps, is left to itself with what it uses, and a line in the log says so. The dataset may be freed all the same.
 * NULL is accepted.
 */
MR_API void mr_loader_free(mr_loader *loader);

/*
 * The next batch, in order. Waits; 0 with *out NULL when all epochs are over. MR_ETIMEOUT when nothing moved for
 * timeout_ns; MR_ECLOSED after mr_loader_stop; the error of a bad sample (MR_BAD_FAIL, or too many of them). After an
 * error every call returns it, but for MR_ECLOSED, which mr_loader_restore ends, and MR_ETIMEOUT because all batches
 * are held by their consumers.
 */
MR_API int mr_loader_next(mr_loader *loader, mr_batch **out);

/*
 * Waits until mr_loader_next would not, at most timeout_ns: 0 when there is a batch, the end or an error to be had,
 * MR_ETIMEOUT when not. For who has to look at something else from time to time while he waits; who comes back at once
 * is taken for one who never left.
 */
MR_API int mr_loader_wait(mr_loader *loader, uint64_t timeout_ns);

/* Gives a batch back, from any thread; its memory is used anew. NULL is accepted. */
MR_API void mr_batch_release(mr_batch *batch);

/* The whole label of a place, of any kind; MR_EARGUMENT for a pad or beyond. */
MR_API int mr_batch_label(const mr_batch *batch, uint32_t place, mr_label *label);

/*
 * Labels that are lists, put together when first asked for. Set lists->struct_size before the call; by one thread at a
 * time for a batch.
 */
MR_API int mr_batch_get_lists(mr_batch *batch, mr_batch_lists *lists);

/* How it was mixed. Set mix->struct_size before the call. */
MR_API int mr_batch_get_mix(const mr_batch *batch, mr_batch_mix *mix);

/*
 * Labels as a model that learns from mixed samples wants them: batch->size rows of `classes` numbers, each sample's
 * weights, as torchvision's MixUp and CutMix make them. All 0 in a pad; a label of -1 counts as none. MR_EARGUMENT for
 * labels of `classes` or more, or below -1.
 */
MR_API int mr_batch_soft_labels(const mr_batch *batch, uint32_t classes, float *to);

/*
 * What belongs to the sample of a place: nothing for a pad and a replaced one. Set targets->struct_size before the
 * call. MR_EARGUMENT beyond the last place, and where the loader was asked for none.
 */
MR_API int mr_batch_get_targets(const mr_batch *batch, uint32_t place, mr_targets *targets);

/*
 * Where it is, on its device. Set device->struct_size before the call. MR_EARGUMENT: it is the host's
 * (mr_loader_options .keep).
 */
MR_API int mr_batch_get_device(const mr_batch *batch, mr_batch_device *device);

/* Its key; "" for a pad. */
MR_API const char *mr_batch_key(const mr_batch *batch, uint32_t place);

/* Makes everybody return with MR_ECLOSED, soon. From any thread; not from inside a signal handler. */
MR_API void mr_loader_stop(mr_loader *loader);

/* How many batches each rank gets in a whole epoch. */
MR_API uint64_t mr_loader_batches(const mr_loader *loader);

/*
 * Where it stands, after the last batch that mr_loader_next gave: JSON, as snprintf would write it; returns the length
 * it has, 0 when there is no memory for it. It is the same on all ranks, and has no rank in it.
 */
MR_API size_t mr_loader_state(mr_loader *loader, char *text, size_t nbytes);

/*
 * Goes on from a state, any number of times, also after mr_loader_stop. All batches have been released before; what is
 * under way is thrown away. MR_EARGUMENT, with detail: a batch has not been released; the state is of another dataset,
 * recipe, seed or order (another batch size, world or number of threads is no matter), and the loader goes on as if
 * nobody had asked. MR_ETIMEOUT: something is held up, and the loader is of no more use.
 */
MR_API int mr_loader_restore(mr_loader *loader, const char *text);

/*
 * Writes what is remembered of tasks (options.trace) as a trace that Perfetto opens (ui.perfetto.dev): a track for each
 * lane; of each task its batch, what it was believed to take and took, and why it was put there. At any time, also
 * after a failure or mr_loader_stop. The file appears as a whole or not at all. MR_EARGUMENT: nothing is remembered;
 * MR_EIO, MR_ENOMEM; with detail.
 */
MR_API int mr_loader_write_trace(mr_loader *loader, const char *path);

/* Memory of a device: an address that the host can use, or what the device calls it. */
typedef struct mr_device_memory {
    size_t struct_size;
    void *address;   /* NULL: not the host's; then */
    uint64_t handle; /* what the device knows it by, */
    uint64_t offset; /* and where in that it begins */
    uint64_t nbytes;
} mr_device_memory;

/*
 * Lends a device memory to prepare samples in: that which a framework has cached and does not use, say. Once some was
 * lent, the device works in lent memory alone. It stays the caller's; *region is its name. `device` as
 * mr_loader_stats.devices has it. From any thread. MR_EUNSUPPORTED: the device works in the host's memory, or no policy
 * was asked for; MR_EARGUMENT, MR_ELIMIT with detail.
 */
MR_API int mr_loader_lend(mr_loader *loader, const char *device, const mr_device_memory *memory, uint32_t *region);

/*
 * Takes a region back: nothing new is put there from now on, and it is back when the last submission in it has ended.
 * Waits for that, at most timeout_ns: MR_ETIMEOUT: it is still in use, and can be asked for again.
 */
MR_API int mr_loader_reclaim(mr_loader *loader, const char *device, uint32_t region, uint64_t timeout_ns);

/*
 * For who is out of memory: all regions of the device are taken back, without waiting. Returns the bytes of those that
 * nothing was in, and which are the caller's again; of the others mr_loader_reclaim tells.
 */
MR_API uint64_t mr_loader_let_go(mr_loader *loader, const char *device);

/* Set stats->struct_size before the call. */
MR_API int mr_loader_get_stats(mr_loader *loader, mr_loader_stats *stats);

/*
 * The sum over the places of a batch, pads left out, of XXH3(position, label, bytes); where the recipe mixes, how, its
 * weight and the partner's label follow the label; where targets are asked for, they follow the bytes. Such sums of all
 * batches of an epoch, of all ranks, add up (modulo 2^64) to the epoch's hash, which does not depend on how it was
 * dealt; with mixup and cutmix, as long as batch x world is the same. A batch that is on a device is read back for it;
 * 0: that failed.
 */
MR_API uint64_t mr_batch_hash(const mr_batch *batch);

/* What the last failure was, for a person; "" before there was one. Stays until the loader is freed. */
MR_API const char *mr_loader_detail(const mr_loader *loader);

/* "shuffled", "sequential", ...; "fail", "skip", "replace". */
MR_API const char *mr_order_name(mr_order_kind order);
MR_API const char *mr_bad_policy_name(mr_bad_policy policy);

/* Of the loader's options those that say what a sample becomes are used: hooks, limits, seed, form, check_all,
 * targets, mask_member. */
MR_API int mr_preparer_new(mr_dataset *dataset, const mr_recipe *recipe, const mr_loader_options *options,
                           mr_preparer **out, char *detail, size_t detail_nbytes);
MR_API void mr_preparer_free(mr_preparer *preparer);

/* Fills `to`, of output.sample_nbytes bytes. `repeat` is 0 but for repeated orders. */
MR_API int mr_preparer_run(mr_preparer *preparer, uint64_t ordinal, uint64_t epoch, uint32_t repeat, void *to);

/* What belongs to the sample of the last run, which succeeded. MR_EARGUMENT where it was not asked for (targets). */
MR_API int mr_preparer_get_targets(const mr_preparer *preparer, mr_targets *targets);
MR_API const char *mr_preparer_detail(const mr_preparer *preparer);

MR_END_DECLS

#endif
