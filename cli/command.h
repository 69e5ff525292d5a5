// SPDX-License-Identifier: Apache-2.0
/*
 * What a subcommand is. Its tables (options, paragraphs, examples) are the one source of the parser, `--help`, the man
 * page and the completions: whatever is said about an option anywhere is said here.
 */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include <millrace/millrace.h>
#include <stdbool.h>
#include <stddef.h>

/* The exit codes. */
enum { EXIT_GOOD = 0, EXIT_BAD_INPUT = 1, EXIT_USAGE = 2 };

/* What the options of all subcommands set; each subcommand reads its own. */
typedef struct settings {
    uint64_t given; /* on the command line: bit n is the command's option number n, in the order of its groups */
    mr_decode_hints hints;
    mr_encode_options encode;
    bool help;
    bool json;
    bool force;
    bool strict;
    bool no_limits;
    bool tiles;
    const char *preset;
    const char *jpeg;  /* who decodes it */
    const char *index; /* name of a file with a row index */
    const char *out;
    uint32_t threads;
    uint32_t repeat;
    uint32_t count;
    uint32_t classes;
    uint64_t seed;
    mr_rect size; /* width and height; all zero: varied, or as it is */
    uint32_t max_side;
    uint32_t short_side;
    const char *filter;
    uint32_t pillow; /* whose version's pixels a resize gives */
    const char *forms;
    /* of datasets: how to read them */
    const char *layout;
    const char *list;
    const char *index_place;
    const char *index_folder;
    const char *broken;
    bool rebuild;
    const char *progress;
    /* how to pack them */
    uint64_t budget_nbytes, shard_nbytes;
    uint32_t shard_samples;
    const char *align;
    bool no_row_index, no_check;
    uint32_t part[2]; /* 2 of 8 */
    uint32_t max_bad; /* millionths */
    /* what to show or take of them */
    bool with_forms, in_full;
    uint64_t first, limit;
    const char *form;
    const char *member;
    const char *report;
    /* of loaders: what to make of samples */
    const char *recipe;
    uint64_t epoch, ordinal;
    bool no_fuse;
    bool grid; /* many samples on one sheet */
    uint32_t rows, columns;
    const char *targets, *mask_member;
    /* which, and in what order */
    uint32_t batch;
    uint64_t epochs, max_batches;
    const char *order, *weights;
    uint64_t block, window, draws;
    uint32_t repeats, rank, world;
    bool drop_last;
    /* bad ones */
    const char *bad, *quarantine;
    uint64_t bad_max;
    /* by whom they are taken */
    const char *sink, *state;
    uint64_t step_ns;
    /* with what */
    uint32_t slots, read_depth, numa_node;
    uint64_t memory_nbytes, device_memory_nbytes, timeout_ns;
    const char *keep;
    const char *reading, *device, *policy, *beside, *share, *trace;
    bool check_all, pin;
    bool man;
    const char *completion;
} settings;

typedef enum option_kind {
    OPTION_FLAG,        /* bool */
    OPTION_NUMBER,      /* uint32_t, min to max */
    OPTION_SEED,        /* uint64_t */
    OPTION_BYTES,       /* uint64_t: 200GB */
    OPTION_DURATION,    /* uint64_t, in nanoseconds: 50ms */
    OPTION_SHARE,       /* uint32_t, in millionths: 0.1% */
    OPTION_PART,        /* uint32_t[2]: 2/8 */
    OPTION_CHOICE,      /* uint32_t, one of `words` */
    OPTION_WORD,        /* const char *, one of `words` */
    OPTION_TEXT,        /* const char * */
    OPTION_REGION,      /* mr_rect: X,Y,WxH or X,Y,W,H */
    OPTION_SIZE,        /* mr_rect: WxH */
    OPTION_FORM,        /* mr_form */
    OPTION_SUBSAMPLING, /* mr_subsampling */
} option_kind;

typedef struct option {
    const char *name; /* without its dashes */
    char letter;      /* 0: none */
    option_kind kind;
    size_t offset;        /* of the field in settings */
    const char *argument; /* "N"; NULL: takes none */
    const char *help;     /* one sentence, without its full stop */
    const char *initial;  /* the default as the help says it; NULL: nothing to say. If it can be a value it is one */
    uint32_t min, max;    /* of OPTION_NUMBER */
    const char *words;    /* separated by spaces; offered by the completions */
    const char *forms;    /* that have what it asks for, separated by spaces; NULL: nothing to do with a form */
    bool described;       /* the default is words about it, though any text could be a value */
    bool hidden;          /* works, but no help speaks of it */
} option;

typedef struct option_group {
    const char *title;
    const option *options; /* up to one without a name */
} option_group;

typedef struct example {
    const char *line;
    const char *text;
} example;

/* What a completion offers for the operands. */
typedef enum operand_kind { OPERAND_FILE, OPERAND_FOLDER, OPERAND_COMMAND } operand_kind;

typedef struct command {
    const char *name;
    const char *operands;       /* "FILE..." */
    const char *summary;        /* a line without its full stop */
    const char *const *text;    /* paragraphs, up to NULL */
    const option_group *groups; /* up to one without options */
    const example *examples;    /* up to one without a line */
    size_t operand_min, operand_max;
    operand_kind operand;
    bool may_be_cut; /* who closes the pipe has read enough of what it prints: no failure */
    int (*run)(const settings *s, char **operands, size_t count);
} command;

extern const command command_info, command_convert, command_hash, command_verify, command_decode, command_index,
    command_generate, command_pack, command_merge, command_ls, command_cat, command_unpack, command_feed, command_show,
    command_recipe, command_devices, command_help;

/* All of them, up to NULL, in the order in which help lists them. */
extern const command *const commands[];

/* What holds for the command as a whole, for help and the man page; paragraphs up to NULL. */
extern const char *const command_notes[];

/* Options more than one subcommand takes. */
extern const option options_common[]; /* --help */
extern const option options_hints[];
extern const option options_source[]; /* how a dataset is read */

/* --jpeg, as everything that decodes takes it. */
#define OPTION_JPEG                                                                                                    \
    {                                                                                                                  \
        .name = "jpeg", .kind = OPTION_WORD, .offset = offsetof(settings, jpeg), .argument = "WHO",                    \
        .help =                                                                                                        \
            "Who decodes JPEG, to the same pixels: own (Millrace, the faster), libjpeg (libjpeg-turbo, to check it "   \
            "by), or either: own, and libjpeg for the kinds that own does not read, and for what is left of damaged "  \
            "ones: with own alone damage is always an error",                                                          \
        .initial = "either", .words = "either own libjpeg"                                                             \
    }

/* NULL when there is none of that name. */
const command *command_find(const char *name);

/* Calls `visit` for each option of a command, in the order of its groups. */
typedef void option_visitor(const option *o, void *user);
void command_each_option(const command *c, option_visitor *visit, void *user);

/*
 * Reads the arguments into *out and moves the operands to the front of `arguments`. Returns EXIT_GOOD, or EXIT_USAGE
 * after it has told what is wrong.
 */
int options_parse(const command *c, char **arguments, settings *out, size_t *operand_count);

/* Whether an option stood on the command line. */
bool option_is_given(const command *c, const settings *s, const char *name);

/*
 * EXIT_USAGE, after a word on it, when an option was given that the form written does not have: nothing that was asked
 * for is passed over in silence.
 */
int options_check_form(const command *c, const settings *s, mr_form form);

/* "jpeg and webp", into `text`; "" when an option has nothing to do with a form. */
void option_forms(const option *o, char *text, size_t nbytes);

/* The words an option can be given, separated by spaces, into `text`; "" when anything goes. */
void option_words(const option *o, char *text, size_t nbytes);

#endif
