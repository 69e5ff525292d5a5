// SPDX-License-Identifier: Apache-2.0
/*
 * replay [--small] PATH...: runs every file through the checks of fuzz/check and holds its pixels against the plain
 * library; a file called tar-... is a tar shard. @ before a path: of the shared folder ($MILLRACE_SHARED). --small: the
 * limits of the fuzz targets, and every allocation fails in its turn. Exits 1 when pixels differ or a file takes too
 * long, aborts when a check fails, 77 (skipped) when no path is there.
 */
#include "replay.h"

#include "shared.h"

#ifdef FUZZ_WRAP
#include "wrap.h"
#endif

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define PIXELS (UINT64_C(1) << 22)
/* Of processor time, for one file. Under TSan the largest take more than 20. */
#if defined(__SANITIZE_THREAD__)
enum { SECONDS = 120 };
#else
enum { SECONDS = 20 };
#endif

typedef struct plan {
    fuzz_setting setting;
    tally tally;
} plan;

/* Whether the name of the file itself begins so: what is no image says by it what it is. */
static bool is_called(const char *path, const char *beginning)
{
    const char *slash = strrchr(path, '/');
    return strncmp(slash != NULL ? slash + 1 : path, beginning, strlen(beginning)) == 0;
}

static void replay_tar(const plan *p, const picture_file *file)
{
    fuzz_check_tar(&p->setting, MR_FORM_NONE, file->bytes, file->nbytes);
    fuzz_check_tar_failing(&p->setting, MR_FORM_NONE, file->bytes, file->nbytes);
}

/*
 * With default limits, as a user has them, once; then the checks, which decode it a dozen times each, with limits that
 * let all but a few files through. Twice, with other hints.
 */
static void replay_image(plan *p, const char *path, const picture_file *file)
{
    const uint8_t *bytes = file->bytes;
    size_t nbytes = file->nbytes;
    compare_with_peer(&p->tally, path, bytes, nbytes);
    for (p->setting.salt = 0; p->setting.salt < 2; p->setting.salt++) {
        fuzz_check_info(&p->setting, MR_FORM_NONE, bytes, nbytes);
        fuzz_check_decode(&p->setting, MR_FORM_NONE, bytes, nbytes);
        fuzz_check_recode(&p->setting, MR_FORM_NONE, bytes, nbytes);
        fuzz_check_jpeg_own(&p->setting, MR_FORM_NONE, bytes, nbytes);
        fuzz_check_coefficients(&p->setting, MR_FORM_NONE, bytes, nbytes);
        fuzz_check_index(&p->setting, MR_FORM_NONE, bytes, nbytes);
        fuzz_check_index_file(&p->setting, MR_FORM_NONE, bytes, nbytes);
    }
    p->setting.salt = 0;
    fuzz_check_json(&p->setting, MR_FORM_NONE, bytes, nbytes);
    fuzz_check_json_failing(&p->setting, MR_FORM_NONE, bytes, nbytes);
    fuzz_check_annotation(&p->setting, MR_FORM_NONE, bytes, nbytes);
    fuzz_check_annotation_failing(&p->setting, MR_FORM_NONE, bytes, nbytes);
    fuzz_check_info_failing(&p->setting, MR_FORM_NONE, bytes, nbytes);
    fuzz_check_decode_failing(&p->setting, MR_FORM_NONE, bytes, nbytes);
    fuzz_check_recode_failing(&p->setting, MR_FORM_NONE, bytes, nbytes);
    fuzz_check_jpeg_own_failing(&p->setting, MR_FORM_NONE, bytes, nbytes);
    fuzz_check_coefficients_failing(&p->setting, MR_FORM_NONE, bytes, nbytes);
    fuzz_check_index_failing(&p->setting, MR_FORM_NONE, bytes, nbytes);
    fuzz_check_index_file_failing(&p->setting, MR_FORM_NONE, bytes, nbytes);
    if (mr_form_probe(bytes, nbytes) == MR_FORM_NONE) {
        fuzz_check_roundtrip(&p->setting, MR_FORM_NONE, bytes, nbytes);
        fuzz_check_roundtrip_failing(&p->setting, MR_FORM_NONE, bytes, nbytes);
    }
}

static void replay_file(const char *path, const picture_file *file, void *user)
{
    plan *p = user;
    watch_file(path);
    if (is_called(path, "tar-"))
        replay_tar(p, file);
    else
        replay_image(p, path, file);
    watch_stop();
    p->tally.files++;
}

/* What is no image says by its name what it is: a record file of others, a dataset.json, a recipe, a state,
 * steps. */
static bool replay_records(const char *path, const picture_file *file, const fuzz_setting *setting)
{
    static const struct {
        const char *beginning;
        void (*check)(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes);
        void (*failing)(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes);
    } kinds[] = {
        {"tfrecord-", fuzz_check_tfrecord, fuzz_check_tfrecord_failing},
        {"recordio-", fuzz_check_recordio, fuzz_check_recordio_failing},
        {"list-", fuzz_check_list, fuzz_check_list_failing},
        {"manifest-", fuzz_check_manifest, fuzz_check_manifest_failing},
        {"recipe-", fuzz_check_recipe, fuzz_check_recipe_failing},
        {"state-", fuzz_check_state, fuzz_check_state_failing},
        {"hardware-", fuzz_check_hardware, fuzz_check_hardware_failing},
        {"policy-", fuzz_check_policy, fuzz_check_policy_failing},
        {"steps-", fuzz_check_steps, fuzz_check_steps_failing},
    };
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strncmp(name, kinds[i].beginning, strlen(kinds[i].beginning)) == 0) {
            watch_file(path);
            kinds[i].check(setting, MR_FORM_NONE, file->bytes, file->nbytes);
            kinds[i].failing(setting, MR_FORM_NONE, file->bytes, file->nbytes);
            watch_stop();
            return true;
        }
    return false;
}

static void replay_any(const char *path, const picture_file *file, void *user)
{
    plan *p = user;
    if (replay_records(path, file, &p->setting))
        p->tally.files++;
    else
        replay_file(path, file, user);
}

static void use_small(plan *p)
{
    p->setting = fuzz_setting_small();
    p->setting.every = true;
}

int main(int argc, char **argv)
{
    plan p = {.setting = {.limits = {.struct_size = sizeof(mr_limits), .pixels = PIXELS}}};
    bool there = false;
    int first = 1;
    if (argc > 1 && strcmp(argv[1], "--small") == 0) {
        use_small(&p);
        first = 2;
    }
#ifdef FUZZ_WRAP
    p.setting.arm = fuzz_wrap_arm;
#endif
    watch_start(SECONDS);
    for (int i = first; i < argc; i++) {
        char path[4096];
        struct stat status;
        snprintf(path, sizeof path, "%s%s", argv[i][0] == '@' ? shared_root() : "", argv[i] + (argv[i][0] == '@'));
        if (stat(path, &status) == 0) {
            there = true;
            shared_walk(path, "", replay_any, &p);
        } else {
            printf("replay: %s is not there\n", path);
        }
    }
    if (!there) {
        printf("replay: skipped\n");
        return 77;
    }
    const tally *t = &p.tally;
    printf(
        "%zu files: %zu decode; %zu held against the plain library, %zu differ; %zu more that it takes and we refuse\n",
        t->files, t->decoded, t->compared, t->different, t->refused);
    return t->different != 0;
}
