// SPDX-License-Identifier: Apache-2.0
/*
 * Through the loader: what takes more than an image (a file's head, targets, the other samples of a batch, the
 * program's code), from a tar of images of every form, on the host, on each device alone, and on both together.
 */
#include "conformance.h"

#include "base/hash.h"
#include "dataset/tar_write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct loading {
    const char *path;
    const char *text;
    bool user;        /* with a step of the program's */
    uint32_t targets; /* MR_TARGET_... */
    const char *policy;
    uint64_t seed;
} loading;

typedef struct loaded_row {
    const char *name, *text;
    bool user;
    uint32_t targets;
} loaded_row;

static const loaded_row rows[] = {
    {"orient", "orient rrc(32) flip normalize(imagenet)", false, 0},
    {"orient, whole", "orient short(24) center(24) layout(nhwc)", false, 0},
    {"convert(gray)", "orient convert(gray) rrc(32)", false, 0},
    {"convert(rgb)", "convert(rgb) crop(40, pad=8) vflip", false, 0},
    {"convert(rgba)", "convert(rgba) rrc(32)", false, 0},
    {"mixup", "rrc(32) flip normalize(imagenet) mixup(0.4)", false, 0},
    {"cutmix", "rrc(32) flip cutmix(1)", false, 0},
    {"ioucrop", "ioucrop resize(32) flip", false, MR_TARGET_BOXES},
    {"sanitize", "orient rrc(32) sanitize", false, MR_TARGET_BOXES},
    {"user", "resize(20x30)", true, 0},
    {"policies", "orient rrc(48) flip randaug(2, 9) trivialaug normalize(imagenet) erase", false, 0},
    {"all at once",
     "orient zoomout rotate(30) rrc(48) flip jitter(0.4, 0.4, 0.4, 0.1) blur(5) normalize(imagenet) dtype(f16)", false,
     0},
};

/* --- a tar --- */

typedef struct archive {
    mr_hooks hooks;
    mr__buffer block; /* what stands before or behind a member */
    FILE *file;
    uint64_t position;
    mr_encoder *encoder[2];
} archive;

static void must(int code, const char *what)
{
    if (code != 0)
        give_up(what, mr_error_text(code));
}

static void put(archive *a, const void *bytes, size_t nbytes)
{
    if (fwrite(bytes, 1, nbytes, a->file) != nbytes)
        give_up("a tar", "it cannot be written");
    a->position += nbytes;
}

static void add_member(archive *a, const char *name, const void *bytes, size_t nbytes)
{
    size_t used = 0;
    must(mr__tar_write_head(&a->block, &a->hooks, &used, a->position, name, strlen(name), nbytes, 0), name);
    put(a, a->block.bytes, used);
    put(a, bytes, nbytes);
    used = 0;
    must(mr__tar_write_padding(&a->block, &a->hooks, &used, nbytes), name);
    put(a, a->block.bytes, used);
}

/* Sample i: its form, its shape and which way up it is all go by its number. */
static void add_sample(archive *a, unsigned i)
{
    static const mr_form forms[] = {MR_FORM_JPEG, MR_FORM_PNG, MR_FORM_L3,   MR_FORM_RAW,
                                    MR_FORM_WEBP, MR_FORM_PNM, MR_FORM_JPEG, MR_FORM_JPEG};
    static const uint32_t channels[] = {3, 4, 3, 3, 3, 3, 1, 3};
    static const char *const endings[] = {"jpg", "png", "l3", "raw", "webp", "ppm", "jpg", "jpg"};
    unsigned kind = i % 8, made = kind == 7 ? 2 : kind; // the last kind: a JPEG that becomes an L3
    mr_encode_options options = {.struct_size = sizeof options,
                                 .form = forms[kind],
                                 .subsampling = i % 3 == 0 ? MR_SUBSAMPLING_420 : MR_SUBSAMPLING_444,
                                 .progressive = kind == 0 && i % 2 == 1,
                                 .orientation = kind != 3 && kind != 5 ? 1 + i / 8 % 8 : 0};
    mr_encode_options l3 = {.struct_size = sizeof l3, .form = MR_FORM_L3, .without_origin = true};
    mr_image image = paint(40 + 7 * (i % 11), 33 + 5 * (i % 13), channels[kind], 8, PICTURE_MIXED, i);
    const void *bytes;
    size_t nbytes;
    char name[64], json[200];
    int code = mr_encoder_encode(a->encoder[0], &image, &options, &bytes, &nbytes);
    if (code == 0 && kind == 7)
        code = mr_encoder_recode(a->encoder[1], bytes, nbytes, &l3, &bytes, &nbytes, NULL);
    if (code != 0)
        give_up("a sample", mr_encoder_detail(a->encoder[0]));
    (void)snprintf(name, sizeof name, "%04u.%s", i, endings[made]);
    add_member(a, name, bytes, nbytes);
    (void)snprintf(json, sizeof json,
                   "{\"annotations\": [{\"bbox\": [%u, 3, 20, 11], \"category_id\": %u}, {\"bbox\": [1, 2, 1, 1]}]}",
                   i % 17, i);
    (void)snprintf(name, sizeof name, "%04u.json", i);
    add_member(a, name, json, strlen(json));
    (void)snprintf(name, sizeof name, "%04u.cls", i);
    (void)snprintf(json, sizeof json, "%u", i % 5);
    add_member(a, name, json, strlen(json));
    mr_image_fini(&image, NULL);
}

/* `path` is a template, and then the caller's to remove. */
static void write_archive(char *path, unsigned samples)
{
    archive a = {.position = 0};
    size_t used = 0;
    int file = mkstemps(path, 4);
    if (file < 0 || (a.file = fdopen(file, "wb")) == NULL)
        give_up(path, "it cannot be written");
    must(mr__hooks_init(&a.hooks, NULL), "hooks");
    must(mr_encoder_new(NULL, &a.encoder[0]), "an encoder");
    must(mr_encoder_new(NULL, &a.encoder[1]), "an encoder");
    for (unsigned i = 0; i < samples; i++)
        add_sample(&a, i);
    must(mr__tar_write_end(&a.block, &a.hooks, &used), "a tar");
    put(&a, a.block.bytes, used);
    if (fclose(a.file) != 0)
        give_up(path, "it cannot be written");
    mr_encoder_free(a.encoder[0]);
    mr_encoder_free(a.encoder[1]);
    mr__buffer_fini(&a.block, &a.hooks);
}

/* --- a loader --- */

static int turn_around(void *user, const mr_image *from, const mr_image *to, const uint32_t *draws, void *scratch)
{
    (void)user;
    (void)scratch;
    for (uint32_t y = 0; y < to->height; y++) {
        const uint8_t *in = (const uint8_t *)from->pixels + (ptrdiff_t)(to->height - 1 - y) * from->stride;
        uint8_t *out = (uint8_t *)to->pixels + (ptrdiff_t)y * to->stride;
        for (size_t i = 0; i < mr_image_row_nbytes(to); i++)
            out[i] = (uint8_t)(in[i] + draws[0]);
    }
    return 0;
}

static int new_recipe(const loading *l, mr_recipe **recipe, mr__detail *detail)
{
    const mr_user_step step = {.struct_size = sizeof step, .name = "around", .draws = 1, .run = turn_around};
    const mr_step with = {.struct_size = sizeof with, .kind = MR_STEP_USER, .user = &step};
    int code = mr_recipe_new(NULL, recipe);
    if (code == 0)
        code = mr_recipe_parse(*recipe, l->text);
    if (code == 0 && l->user)
        code = mr_recipe_add(*recipe, &with);
    return code == 0 ? 0 : mr__fail(detail, code, "%s: %s", l->text, mr_recipe_detail(*recipe));
}

/* As epoch_hash: whatever the order of batches. */
static uint64_t hash_of(const mr_batch *batch)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < batch->count; i++) {
        uint64_t key[2] = {batch->positions[i], (uint64_t)batch->labels[i]};
        const uint8_t *sample = (const uint8_t *)batch->images + i * batch->output.sample_nbytes;
        sum += mr__hash_seeded(sample, batch->output.sample_nbytes, mr__hash(key, sizeof key));
    }
    return sum;
}

static int feed(mr_loader *loader, uint64_t *hash, mr__detail *detail)
{
    mr_batch *batch = NULL;
    int code = 0;
    *hash = 0;
    while ((code = mr_loader_next(loader, &batch)) == 0 && batch != NULL) {
        *hash += hash_of(batch);
        mr_batch_release(batch);
    }
    return code == 0 ? 0 : mr__fail(detail, code, "%s", mr_loader_detail(loader));
}

static int load_all(const backend *b, const loading *l, mr_dataset *dataset, uint64_t *hash, mr__detail *detail)
{
    mr_recipe *recipe = NULL;
    mr_loader *loader = NULL;
    char why[400] = "";
    mr_loader_options options = {.struct_size = sizeof options,
                                 .batch = 10,
                                 .seed = l->seed,
                                 .epochs = 2,
                                 .has_rank = true,
                                 .world = 1,
                                 .threads = 2,
                                 .targets = l->targets,
                                 .device = b->device,
                                 .policy = l->policy};
    int code = mr_dataset_open(dataset, (const char *const[]){l->path}, 1);
    if (code != 0)
        return mr__fail(detail, code, "%s", mr_dataset_detail(dataset));
    code = new_recipe(l, &recipe, detail);
    if (code == 0) {
        code = mr_loader_new(dataset, recipe, &options, &loader, why, sizeof why);
        code = code == 0 ? feed(loader, hash, detail) : mr__fail(detail, code, "%s", why);
    }
    mr_loader_free(loader);
    mr_recipe_free(recipe);
    return code;
}

static int make_loaded(backend *b, const void *what, uint64_t *hash, mr__detail *detail)
{
    mr_dataset *dataset;
    int code = mr_dataset_new(NULL, &dataset);
    if (code != 0)
        return mr__fail(detail, code, "no dataset");
    if (b->mask[0] != 0)
        (void)setenv("MILLRACE_CPU", b->mask, 1);
    code = load_all(b, what, dataset, hash, detail);
    (void)unsetenv("MILLRACE_CPU");
    mr_dataset_free(dataset);
    return code;
}

/* --- the table --- */

static void add(session *s, const char *name, const char *mask, const char *format, uint32_t number)
{
    backend *b = &s->backends[s->count++];
    *b = (backend){.mask = mask};
    (void)snprintf(b->device, sizeof b->device, format, number);
    (void)snprintf(b->name, sizeof b->name, "%s", name[0] != 0 ? name : b->device);
}

static void run_row(session *s, const loaded_row *row, const char *path)
{
    static const char *const policies[] = {"auto", "fusion", "naive-device", "intrabatch", "interbatch"};
    char label[64];
    if (!row_begin(s, row->name))
        return;
    for (unsigned i = 0; i < (s->quick ? 2 : 5); i++) {
        loading l = {path, row->text, row->user, row->targets, policies[i], i + 1};
        (void)snprintf(label, sizeof label, "policy %s", policies[i]);
        row_try(s, make_loaded, &l, label);
    }
    row_end(s);
}

void run_loaded(session *all)
{
    char path[] = "/tmp/device-conformance-XXXXXX.tar";
    session *s = calloc(1, sizeof *s);
    if (s == NULL)
        give_up("the loader", "out of memory");
    s->quick = all->quick;
    s->only = all->only;
    s->spoil = all->spoil;
    add(s, "cpu, portable", "portable", "cpu", 0);
    add(s, "cpu", "", "cpu", 0);
    for (size_t i = 0; i < all->count && s->count + 2 <= BACKENDS_MAX; i++)
        if (all->backends[i].is_loaders) {
            add(s, "", "", "opencl:%u", all->backends[i].number);
            add(s, "", "", "cpu,opencl:%u", all->backends[i].number);
        }
    write_archive(path, all->quick ? 24 : 128);
    table_head(s, "through the loader");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        run_row(s, &rows[i], path);
    (void)unlink(path);
    all->rows += s->rows;
    all->all_cases += s->all_cases;
    all->all_left += s->all_left;
    all->all_different += s->all_different;
    free(s);
}
