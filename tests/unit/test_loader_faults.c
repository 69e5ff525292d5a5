// SPDX-License-Identifier: Apache-2.0
/* A loader among faults: bad samples, stops, forks, threads that hang, too little memory. */
#define _GNU_SOURCE // usleep
#include "test.h"

#include "base/clock.h"
#include "base/thread.h"
#include "loading.h"
#include "pack_make.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SAMPLES = 60 };

#define RECIPE  "rrc(24) flip normalize(imagenet)"
#define OPTIONS .struct_size = sizeof(mr_loader_options)

static test_folder folder;
static mr_dataset *good, *bad;

/* Which samples of the bad folder are bad, and how. */
static bool is_bad(size_t i)
{
    return i % 20 == 3 || i % 20 == 16;
}

static void spoil(picture_file *file, size_t kind)
{
    switch (kind % 4) {
    case 0:
        file->nbytes /= 2;
        break;
    case 1:
        file->nbytes = 0;
        break;
    case 2:
        memset(file->bytes, 'x', file->nbytes);
        break;
    default:
        memset(file->bytes + file->nbytes / 3, 0xff, file->nbytes / 3);
    }
}

static void write_images(const char *to, bool spoiled)
{
    size_t kind = 0;
    for (size_t i = 0; i < SAMPLES; i++) {
        char name[64];
        bool jpeg = i % 2 == 0;
        picture_file file = pack_image(jpeg ? PACK_JPEG : PACK_PNG_3, 31 + (uint32_t)i % 17, 29, i);
        if (spoiled && is_bad(i))
            spoil(&file, kind++);
        snprintf(name, sizeof name, "%s/%c/%03zu.%s", to, "abc"[i / 20], i, jpeg ? "jpg" : "png");
        test_folder_write(&folder, name, file.bytes, file.nbytes);
        free(file.bytes);
    }
}

static int setup(void **state)
{
    (void)state;
    test_folder_init_in_memory(&folder);
    write_images("good", false);
    write_images("bad", true);
    good = pack_open(&folder, "good", MR_LAYOUT_FOLDER);
    bad = pack_open(&folder, "bad", MR_LAYOUT_FOLDER);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    mr_dataset_free(good);
    mr_dataset_free(bad);
    test_folder_fini(&folder);
    return 0;
}

static mr_loader_options plain(void)
{
    return (mr_loader_options){OPTIONS, .batch = 8, .seed = 3, .epochs = 2, .threads = 3};
}

/* The first bad sample in the order of positions, whichever thread met one first. */
static void fail_names_the_first(void **state)
{
    (void)state;
    mr_loader_options o = plain();
    o.order = MR_ORDER_SEQUENTIAL;
    for (o.threads = 1; o.threads <= 8; o.threads += 7) {
        mr_loader *loader = loading_new(bad, RECIPE, &o);
        loading_sum sum = loading_run(loader, UINT64_MAX);
        assert_int_not_equal(sum.result, 0);
        assert_int_equal(sum.batches, 0);
        assert_contains(mr_loader_detail(loader), "003.png");
        mr_batch *batch;
        assert_int_equal(mr_loader_next(loader, &batch), sum.result);
        mr_loader_free(loader);
    }
}

static size_t count_lines(const char *path, const char *with)
{
    char line[1024];
    size_t count = 0;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL)
        count += strstr(line, with) != NULL;
    fclose(file);
    return count;
}

static void skip_and_replace_keep_all_other_positions(void **state)
{
    (void)state;
    char path[512], good_hash[64];
    static const mr_bad_policy policies[] = {MR_BAD_SKIP, MR_BAD_REPLACE};
    for (size_t p = 0; p < 2; p++) {
        uint64_t hash = 0;
        for (uint32_t threads = 1; threads <= 4; threads++) {
            mr_loader_options o = plain();
            o.bad = policies[p];
            o.threads = threads;
            o.quarantine = test_folder_path(&folder, "quarantine", path);
            remove(path);
            mr_loader *loader = loading_new(bad, RECIPE, &o);
            loading_sum sum = loading_run(loader, UINT64_MAX);
            mr_loader_stats s = {.struct_size = sizeof s};
            assert_int_equal(mr_loader_get_stats(loader, &s), 0);
            mr_loader_free(loader);
            assert_int_equal(sum.result, 0);
            assert_int_equal(sum.samples, 2 * SAMPLES);
            assert_int_equal(sum.skipped + sum.replaced, 2 * 6);
            assert_int_equal(p == 0 ? sum.skipped : sum.replaced, 2 * 6);
            assert_true(threads == 1 || sum.hash == hash);
            hash = sum.hash;
            assert_int_equal(count_lines(path, "\"ordinal\""), 6);
            for (size_t i = 0; i < SAMPLES; i++) {
                snprintf(good_hash, sizeof good_hash, "/%03zu.", i);
                assert_int_equal(count_lines(path, good_hash) >= 1, is_bad(i));
            }
            assert_int_equal(s.bad, 12);
            assert_true(p == 1 || s.substitutes >= 12);
        }
    }
}

/* What is not bad is as in the good folder. */
static void others_do_not_move(void **state)
{
    (void)state;
    mr_loader_options o = plain();
    o.bad = MR_BAD_SKIP;
    mr_loader *a = loading_new(good, RECIPE, &o), *b = loading_new(bad, RECIPE, &o);
    mr_batch *x, *y;
    while (mr_loader_next(a, &x) == 0 && x != NULL) {
        assert_int_equal(mr_loader_next(b, &y), 0);
        size_t n = x->output.sample_nbytes;
        for (uint32_t i = 0; i < x->count; i++) {
            assert_int_equal(x->positions[i], y->positions[i]);
            assert_int_equal(y->mask[i], is_bad((size_t)x->ordinals[i]) ? MR_MASK_SKIPPED : MR_MASK_VALID);
            if (y->mask[i] == MR_MASK_VALID)
                assert_memory_equal((uint8_t *)x->images + i * n, (uint8_t *)y->images + i * n, n);
            else
                assert_false(is_bad((size_t)y->ordinals[i]));
        }
        mr_batch_release(x);
        mr_batch_release(y);
    }
    mr_loader_free(a);
    mr_loader_free(b);
}

enum { MANY = 960, FORMS = 6, DAMAGES = 8 };

/* A twentieth is damaged: every form in every way. */
static bool is_damaged(size_t i)
{
    return i % 20 == 7;
}

static picture_file many_image(size_t i, const char **ending)
{
    static const pack_kind kinds[] = {PACK_JPEG, PACK_JPEG_PROGRESSIVE, PACK_PNG_3, PACK_WEBP};
    size_t kind = is_damaged(i) ? i / 20 % FORMS : i % FORMS;
    uint32_t width = 20 + (uint32_t)(i % 13), height = 21;
    if (kind < 4) {
        *ending = pack_ending(kinds[kind]);
        return pack_image(kinds[kind], width, height, i);
    }
    *ending = kind == 4 ? "l3" : "raw";
    mr_encode_options o = {.struct_size = sizeof o, .form = kind == 4 ? MR_FORM_L3 : MR_FORM_RAW};
    mr_image image = picture_make(width, height, 3, 8, i);
    picture_file file = picture_encode(&image, &o);
    mr_image_fini(&image, NULL);
    return file;
}

/* After the folder was opened. */
static void damage(const char *name, picture_file *file, size_t how)
{
    char path[512];
    test_folder_path(&folder, name, path);
    assert_int_equal(remove(path), 0);
    if (how == 3 && strstr(name, ".raw") != NULL)
        how = 2; // other pixels are an image, too
    if (how < 4)
        spoil(file, how);
    if (how == 4)
        return;
    if (how == 5)
        assert_int_equal(mkfifo(path, 0600), 0);
    else if (how == 6)
        assert_int_equal(mkdir(path, 0700), 0);
    else if (how == 7)
        assert_int_equal(symlink("nowhere", path), 0);
    else
        test_folder_write(&folder, name, file->bytes, file->nbytes);
}

static mr_dataset *open_damaged(void)
{
    char names[MANY][64];
    for (size_t i = 0; i < MANY; i++) {
        const char *ending;
        picture_file file = many_image(i, &ending);
        snprintf(names[i], sizeof names[i], "many/%c/%03zu.%s", "abcd"[i / 240], i, ending);
        test_folder_write(&folder, names[i], file.bytes, file.nbytes);
        free(file.bytes);
    }
    mr_dataset *many = pack_open(&folder, "many", MR_LAYOUT_FOLDER);
    for (size_t i = 0; i < MANY; i++) {
        const char *ending;
        picture_file file = many_image(i, &ending);
        if (is_damaged(i))
            damage(names[i], &file, i / 20 / FORMS % DAMAGES);
        free(file.bytes);
    }
    return many;
}

static void every_form_damaged_in_every_way(void **state)
{
    (void)state;
    char path[512], key[64];
    mr_dataset *many = open_damaged();
    assert_int_equal(mr_dataset_count(many), MANY);
    for (int policy = MR_BAD_SKIP; policy <= MR_BAD_REPLACE; policy++) {
        mr_loader_options o = plain();
        o.bad = (mr_bad_policy)policy;
        o.bad_max = MANY;
        o.quarantine = test_folder_path(&folder, "damaged", path);
        remove(path);
        loading_sum sum = loading_all(many, RECIPE, &o);
        assert_int_equal(sum.result, 0);
        assert_int_equal(sum.samples, 2 * MANY);
        assert_int_equal(sum.skipped + sum.replaced, 2 * MANY / 20);
        assert_int_equal(count_lines(path, "{\"ordinal\": "), MANY / 20);
        for (size_t i = 0; i < MANY; i++) {
            snprintf(key, sizeof key, "{\"ordinal\": %zu,", i);
            assert_int_equal(count_lines(path, key), is_damaged(i));
        }
    }
    mr_dataset_free(many);
}

static void too_many_are_an_error(void **state)
{
    (void)state;
    mr_loader_options o = plain();
    o.bad = MR_BAD_REPLACE;
    o.bad_max = 5;
    mr_loader *loader = loading_new(bad, RECIPE, &o);
    loading_sum sum = loading_run(loader, UINT64_MAX);
    assert_int_equal(sum.result, MR_ELIMIT);
    assert_contains(mr_loader_detail(loader), "more than 5 bad samples");
    mr_loader_free(loader);
    o.bad_max = 6;
    assert_int_equal(loading_all(bad, RECIPE, &o).result, 0);
}

/* Whatever the threads, and though several epochs are under way: in the first epoch, at the same batch. */
static void the_budget_is_that_of_each_epoch(void **state)
{
    (void)state;
    mr_loader_options o = plain();
    o.bad = MR_BAD_REPLACE;
    o.bad_max = 5;
    o.slots = 40;
    o.epochs = 100;
    uint64_t batches = 0;
    for (o.threads = 1; o.threads <= 8; o.threads++) {
        mr_loader *loader = loading_new(bad, RECIPE, &o);
        loading_sum sum = loading_run(loader, UINT64_MAX);
        assert_int_equal(sum.result, MR_ELIMIT);
        assert_true(sum.batches < 8 && (o.threads == 1 || sum.batches == batches));
        assert_contains(mr_loader_detail(loader), "in epoch 0");
        batches = sum.batches;
        mr_loader_free(loader);
    }
}

/* Promise 5: an error names its sample, whoever found it. */
static void errors_name_their_samples(void **state)
{
    (void)state;
    static const char *const recipes[] = {"pad(to=30)", "crop(64)"};
    for (size_t i = 0; i < 2; i++) {
        mr_loader_options o = plain();
        o.order = MR_ORDER_SEQUENTIAL;
        mr_loader *loader = loading_new(good, recipes[i], &o);
        assert_int_not_equal(loading_run(loader, UINT64_MAX).result, 0);
        assert_contains(mr_loader_detail(loader), "a/000.jpg: ");
        mr_loader_free(loader);
    }
}

static void consumers_that_keep_everything_are_told(void **state)
{
    (void)state;
    static const char *const devices[] = {"cpu", "sim"};
    for (size_t i = 0; i < 2; i++) {
        mr_loader_options o = plain();
        o.slots = 2;
        o.timeout_ns = UINT64_C(100000000);
        o.device = devices[i];
        mr_loader *loader = loading_new(good, RECIPE, &o);
        mr_batch *a, *b, *c;
        assert_int_equal(mr_loader_next(loader, &a), 0);
        assert_int_equal(mr_loader_next(loader, &b), 0);
        assert_int_equal(mr_loader_next(loader, &c), MR_ETIMEOUT);
        assert_contains(mr_loader_detail(loader), "all 2 batches have been held");
        mr_batch_release(a);
        assert_int_equal(mr_loader_next(loader, &c), 0);
        mr_batch_release(b);
        mr_batch_release(c);
        assert_int_equal(loading_run(loader, UINT64_MAX).result, 0);
        mr_loader_free(loader);
    }
}

static void *consume(void *arg)
{
    mr_loader *loader = arg;
    mr_batch *batch;
    uint64_t sum = 0;
    while (mr_loader_next(loader, &batch) == 0 && batch != NULL) {
        uint64_t hash = mr_batch_hash(batch);
        sum += hash;
        assert_true(mr_batch_hash(batch) == hash);
        mr_batch_release(batch);
    }
    return (void *)(uintptr_t)sum;
}

static void consumers_can_be_several(void **state)
{
    (void)state;
    static const char *const devices[] = {"cpu", "sim"};
    for (size_t i = 0; i < 2; i++) {
        mr_loader_options o = plain();
        o.device = devices[i];
        mr_loader *loader = loading_new(good, RECIPE, &o);
        uint64_t wanted = (uintptr_t)consume(loader);
        mr_loader_free(loader);
        loader = loading_new(good, RECIPE, &o);
        pthread_t threads[4];
        uint64_t sum = 0;
        for (size_t t = 0; t < 4; t++)
            assert_int_equal(pthread_create(&threads[t], NULL, consume, loader), 0);
        for (size_t t = 0; t < 4; t++) {
            void *part;
            pthread_join(threads[t], &part);
            sum += (uintptr_t)part;
        }
        assert_true(sum == wanted);
        mr_loader_free(loader);
    }
}

/* One restores while others consume: a batch that is lent stays as it is, or there is an error that says why not. */
static void restoring_beside_consumers(void **state)
{
    (void)state;
    mr_loader_options o = plain();
    o.epochs = 20;
    mr_loader *loader = loading_new(good, RECIPE, &o);
    char begin[512];
    mr_loader_state(loader, begin, sizeof begin);
    pthread_t threads[2];
    for (size_t t = 0; t < 2; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, consume, loader), 0);
    for (int i = 0; i < 200; i++) {
        int result = mr_loader_restore(loader, begin);
        assert_true(result == 0 || result == MR_EARGUMENT);
    }
    mr_loader_stop(loader);
    for (size_t t = 0; t < 2; t++)
        pthread_join(threads[t], NULL);
    mr_loader_free(loader);
}

static void all_bad_still_ends(void **state)
{
    (void)state;
    for (size_t i = 0; i < 5; i++) {
        char name[64];
        snprintf(name, sizeof name, "allbad/%zu.png", i);
        test_folder_write(&folder, name, "no image", 8);
    }
    mr_dataset *all = pack_open(&folder, "allbad", MR_LAYOUT_FOLDER);
    mr_loader_options o = plain();
    o.bad = MR_BAD_SKIP;
    o.bad_max = UINT64_MAX;
    loading_sum sum = loading_all(all, RECIPE, &o);
    assert_int_equal(sum.result, 0);
    assert_int_equal(sum.replaced, 2 * 5);
    mr_dataset_free(all);
}

typedef struct stopper {
    mr_loader *loader;
    useconds_t after;
} stopper;

static void *stop_soon(void *arg)
{
    const stopper *s = arg;
    usleep(s->after);
    mr_loader_stop(s->loader);
    return NULL;
}

static void stop_ends_everything(void **state)
{
    (void)state;
    for (useconds_t after = 0; after < 8000; after += test_quick() ? 1900 : 300) {
        mr_loader_options o = plain();
        o.epochs = 0;
        mr_loader *loader = loading_new(good, RECIPE, &o);
        stopper s = {loader, after};
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, stop_soon, &s), 0);
        loading_sum sum = loading_run(loader, UINT64_MAX);
        assert_int_equal(sum.result, MR_ECLOSED);
        pthread_join(thread, NULL);
        mr_loader_free(loader);
    }
}

/* At any stage, with batches lent and without. */
static void it_can_be_freed_at_any_time(void **state)
{
    (void)state;
    for (uint64_t most = 0; most < 12; most++) {
        mr_loader_options o = plain();
        o.threads = 1 + (uint32_t)most % 4;
        mr_loader *loader = loading_new(good, RECIPE, &o);
        mr_batch *batch = NULL;
        loading_run(loader, most);
        if (most % 2 == 1)
            assert_int_equal(mr_loader_next(loader, &batch), 0);
        usleep((useconds_t)(most * 137));
        mr_loader_free(loader);
    }
}

/* Files that are written anew in their places after they were indexed are read as they are: no index is made for it. */
static void files_written_anew_are_read(void **state)
{
    (void)state;
    static const mr_reading readings[] = {MR_READ_AUTO, MR_READ_AHEAD, MR_READ_DIRECT};
    mr_loader_options o = plain();
    uint64_t wanted = loading_all(good, RECIPE, &o).hash;
    write_images("anew", true);
    mr_dataset *dataset = pack_open(&folder, "anew", MR_LAYOUT_FOLDER);
    assert_true(loading_all(dataset, RECIPE, &o).result < 0);
    write_images("anew", false); // some are longer now
    for (size_t i = 0; i < sizeof readings / sizeof *readings; i++) {
        o.reading = readings[i];
        assert_true(loading_all(dataset, RECIPE, &o).hash == wanted);
    }
    static const uint8_t huge[100000];
    test_folder_write(&folder, "anew/a/000.jpg", huge, sizeof huge);
    o.bad = MR_BAD_SKIP;
    loading_sum sum = loading_all(dataset, RECIPE, &o); // an image that is none is a bad one, as ever
    assert_true(sum.result == 0 && sum.skipped == 2);
    mr_limits limits = {.struct_size = sizeof limits, .nbytes = 50000};
    char detail[240];
    mr_loader *loader;
    mr_batch *batch;
    mr_recipe *recipe = loading_recipe(RECIPE);
    o = (mr_loader_options){OPTIONS, .batch = 1, .order = MR_ORDER_SEQUENTIAL, .limits = &limits};
    assert_int_equal(mr_loader_new(dataset, recipe, &o, &loader, detail, sizeof detail), 0);
    assert_int_equal(mr_loader_next(loader, &batch), MR_ELIMIT);
    assert_contains(mr_loader_detail(loader), "a/000.jpg: 100000 stored bytes");
    mr_loader_free(loader);
    mr_recipe_free(recipe);
    mr_dataset_free(dataset);
}

static void a_child_is_told(void **state)
{
    (void)state;
    mr_loader_options o = plain();
    mr_loader *loader = loading_new(good, RECIPE, &o);
    mr_batch *batch, *second;
    assert_int_equal(mr_loader_next(loader, &batch), 0);
    pid_t child = fork();
    if (child == 0) {
        mr_loader_stats s = {.struct_size = sizeof s};
        bool told = mr_loader_next(loader, &second) == MR_EFORKED && mr_loader_get_stats(loader, &s) == MR_EFORKED &&
                    mr_loader_restore(loader, "{}") == MR_EFORKED && mr_loader_state(loader, NULL, 0) == 0 &&
                    strstr(mr_loader_detail(loader), "fork") != NULL;
        mr_batch_release(batch);
        mr_loader_stop(loader);
        mr_loader_free(loader);
        _exit(told ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    mr_batch_release(batch);
    assert_int_equal(loading_run(loader, UINT64_MAX).result, 0);
    mr_loader_free(loader);
}

/* A step that does not come back until it is told to. */
typedef struct gate {
    atomic_bool open;
    atomic_uint calls, inside;
} gate;

static int wait_at_gate(void *user, const mr_image *from, const mr_image *to, const uint32_t *draws, void *scratch)
{
    gate *g = user;
    (void)draws;
    (void)scratch;
    atomic_fetch_add(&g->inside, 1);
    if (atomic_fetch_add(&g->calls, 1) == 20)
        while (!atomic_load(&g->open))
            usleep(1000);
    int result = mr_image_copy(from, to);
    atomic_fetch_sub(&g->inside, 1);
    return result;
}

static mr_loader *behind_a_gate(gate *g, mr_loader_options *o)
{
    mr_recipe *recipe = loading_recipe("center(20)");
    mr_user_step user = {
        .struct_size = sizeof user, .name = "gate", .width = 20, .height = 20, .user = g, .run = wait_at_gate};
    mr_step step = {.struct_size = sizeof step, .kind = MR_STEP_USER, .user = &user};
    char detail[240];
    mr_loader *loader;
    assert_int_equal(mr_recipe_add(recipe, &step), 0);
    if (mr_loader_new(good, recipe, o, &loader, detail, sizeof detail) != 0)
        fail_msg("%s", detail);
    mr_recipe_free(recipe);
    return loader;
}

static void a_thread_that_hangs_becomes_an_error(void **state)
{
    (void)state;
    gate g = {0};
    mr_loader_options o = plain();
    o.timeout_ns = UINT64_C(300000000);
    mr_loader *loader = behind_a_gate(&g, &o);
    uint64_t begun = mr__clock_monotonic_ns();
    loading_sum sum = loading_run(loader, UINT64_MAX);
    uint64_t took = mr__clock_monotonic_ns() - begun;
    assert_int_equal(sum.result, MR_ETIMEOUT);
    assert_true(took < UINT64_C(5000000000));
    assert_contains(mr_loader_detail(loader), "held up");
    atomic_store(&g.open, true);
    mr_loader_free(loader);
}

/* It is left to itself, and comes back when loader and dataset are gone. What it keeps is lost, and so not looked for.
 */
static void a_thread_that_is_left_behind_touches_nothing(void **state)
{
    (void)state;
#if defined(__SANITIZE_ADDRESS__)
    skip(); // it would tell of the leak, which is meant
#endif
    gate *g = calloc(1, sizeof *g);
    write_images("left", false);
    mr_dataset *before = good;
    good = pack_open(&folder, "left", MR_LAYOUT_FOLDER);
    mr_loader_options o = plain();
    o.timeout_ns = UINT64_C(100000000);
    mr_loader *loader = behind_a_gate(g, &o);
    assert_int_equal(loading_run(loader, UINT64_MAX).result, MR_ETIMEOUT);
    mr_batch *batch;
    assert_int_equal(mr_loader_next(loader, &batch), MR_ETIMEOUT);
    mr_loader_free(loader);
    mr_dataset_free(good);
    good = before;
    atomic_store(&g->open, true);
    while (atomic_load(&g->inside) != 0)
        usleep(1000);
    usleep(50000);
}

static void one_that_comes_back_is_no_error(void **state)
{
    (void)state;
    gate g = {.open = true};
    mr_loader_options o = plain();
    mr_loader *loader = behind_a_gate(&g, &o);
    loading_sum sum = loading_run(loader, UINT64_MAX);
    assert_int_equal(sum.result, 0);
    assert_int_equal(sum.samples, 2 * SAMPLES);
    mr_loader_free(loader);
}

/* A file that became a pipe: nobody writes into it. */
static void a_pipe_is_an_error_at_once(void **state)
{
    (void)state;
    char path[512];
    write_images("piped", false);
    mr_dataset *piped = pack_open(&folder, "piped", MR_LAYOUT_FOLDER);
    assert_int_equal(remove(test_folder_path(&folder, "piped/b/031.png", path)), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    mr_loader_options o = plain();
    mr_loader *loader = loading_new(piped, RECIPE, &o);
    loading_sum sum = loading_run(loader, UINT64_MAX);
    assert_int_not_equal(sum.result, 0);
    assert_contains(mr_loader_detail(loader), "031.png");
    mr_loader_free(loader);
    mr_dataset_free(piped);
}

static void memory_is_kept_to(void **state)
{
    (void)state;
    char detail[240];
    mr_loader *loader;
    mr_recipe *recipe = loading_recipe("rrc(224) flip normalize(imagenet)");
    mr_loader_options o = plain();
    o.batch = 32;
    o.threads = 2;
    o.memory_nbytes = 20 << 20;
    assert_int_equal(mr_loader_new(good, recipe, &o, &loader, detail, sizeof detail), MR_ELIMIT);
    assert_contains(detail, "at least");
    o.memory_nbytes = 80 << 20;
    assert_int_equal(mr_loader_new(good, recipe, &o, &loader, detail, sizeof detail), 0);
    loading_sum sum = loading_run(loader, UINT64_MAX);
    mr_loader_stats s = {.struct_size = sizeof s};
    assert_int_equal(mr_loader_get_stats(loader, &s), 0);
    assert_int_equal(sum.result, 0);
    assert_true(s.memory_nbytes <= o.memory_nbytes && s.slots >= 2);
    mr_loader_free(loader);
    mr_recipe_free(recipe);
}

static void options_that_make_no_sense(void **state)
{
    (void)state;
    static const struct {
        mr_loader_options o;
        const char *says;
    } cases[] = {
        {{OPTIONS, .slots = 1}, "slot"},
        {{OPTIONS, .batch = UINT32_MAX}, "batch"},
        {{OPTIONS, .form = "gif"}, "\"gif\""},
        {{OPTIONS, .form = "stored+gif"}, "\"gif\""},
        {{OPTIONS, .form = "stored+"}, "\"\""},
        {{OPTIONS, .device = "gpu"}, "\"gpu\""},
        {{OPTIONS, .epoch = UINT64_C(1) << 32}, "epoch"},
        {{OPTIONS, .start = SAMPLES + 1}, "start"},
        {{OPTIONS, .has_rank = true, .rank = 2, .world = 2}, "rank"},
        {{OPTIONS, .has_numa_node = true, .numa_node = 999}, "NUMA node 999"},
        {{OPTIONS, .quarantine = "/nowhere/at/all"}, "quarantine"},
        {{OPTIONS, .order = (mr_order_kind)9}, "order"},
    };
    mr_recipe *recipe = loading_recipe(RECIPE), *open_ended = loading_recipe("flip");
    mr_loader *loader;
    char detail[240];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_not_equal(mr_loader_new(good, recipe, &cases[i].o, &loader, detail, sizeof detail), 0);
        assert_contains(detail, cases[i].says);
    }
    assert_int_equal(mr_loader_new(good, open_ended, NULL, &loader, detail, sizeof detail), MR_EARGUMENT);
    assert_contains(detail, "size");
    assert_int_equal(mr_loader_new(NULL, recipe, NULL, &loader, detail, sizeof detail), MR_EARGUMENT);
    mr_recipe_free(recipe);
    mr_recipe_free(open_ended);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fail_names_the_first),
        cmocka_unit_test(skip_and_replace_keep_all_other_positions),
        cmocka_unit_test(others_do_not_move),
        cmocka_unit_test(every_form_damaged_in_every_way),
        cmocka_unit_test(too_many_are_an_error),
        cmocka_unit_test(the_budget_is_that_of_each_epoch),
        cmocka_unit_test(errors_name_their_samples),
        cmocka_unit_test(consumers_that_keep_everything_are_told),
        cmocka_unit_test(consumers_can_be_several),
        cmocka_unit_test(restoring_beside_consumers),
        cmocka_unit_test(all_bad_still_ends),
        cmocka_unit_test(stop_ends_everything),
        cmocka_unit_test(it_can_be_freed_at_any_time),
        cmocka_unit_test(files_written_anew_are_read),
        cmocka_unit_test(a_child_is_told),
        cmocka_unit_test(a_thread_that_hangs_becomes_an_error),
        cmocka_unit_test(a_thread_that_is_left_behind_touches_nothing),
        cmocka_unit_test(one_that_comes_back_is_no_error),
        cmocka_unit_test(a_pipe_is_an_error_at_once),
        cmocka_unit_test(memory_is_kept_to),
        cmocka_unit_test(options_that_make_no_sense),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
