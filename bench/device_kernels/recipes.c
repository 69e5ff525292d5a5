// SPDX-License-Identifier: Apache-2.0
/* Steps: from pixels in memory to finished numbers. */
#include "device_kernels.h"

#include "step/recipe.h"

#include <stdlib.h>
#include <string.h>

static const char *const texts[] = {
    "rrc(224) flip normalize(imagenet)",
    "rrc(224) flip normalize(imagenet) layout(nhwc) dtype(f16)",
    "short(256) center(224) normalize(imagenet)",
    "short(256, filter=bicubic) center(224)",
    "rrc(224) brightness(0.4)",
    "rrc(224) contrast(0.4)",
    "rrc(224) saturation(0.4)",
    "rrc(224) hue(0.1)",
    "rrc(224) jitter(0.4, 0.4, 0.4, 0.1)",
    "rrc(224) grayscale",
    "rrc(224) equalize(1)",
    "rrc(224) autocontrast(1)",
    "rrc(224) sharpness(2, 1)",
    "rrc(224) blur(9)",
    "rrc(224) jpeg(50)",
    "rrc(224) noise(0.1)",
    "rrc(224) rotate(30)",
    "rrc(224) rotate(30, filter=bilinear)",
    "rrc(224) perspective(0.5, 1)",
    "rrc(224) elastic(50)",
    "rrc(224) normalize(imagenet) erase(1)",
    "rrc(224) flip randaug(2, 9) normalize(imagenet)",
    "rrc(224) flip trivialaug normalize(imagenet)",
    "rrc(224) flip augmix normalize(imagenet)",
};

typedef struct job {
    mr_recipe *recipe;
    size_t nbytes;
    mr_applier *applier[2]; /* with the best instruction sets, and without */
} job;

static mr_applier *applier_under(mr_recipe *recipe, const char *mask)
{
    mr_applier *applier;
    if (mask[0] != 0)
        (void)setenv("MILLRACE_CPU", mask, 1);
    int code = mr_applier_new(recipe, NULL, &applier);
    (void)unsetenv("MILLRACE_CPU");
    if (code != 0)
        give_up("a recipe", mr_recipe_detail(recipe));
    return applier;
}

static double time_host(const session *s, const job *j, mr_applier *applier)
{
    double begun = thread_ns();
    for (size_t i = 0; i < s->shelf.count; i++)
        if (mr_applier_run(applier, &s->shelf.pixels[i], 1, 0, i, s->st.out + i % s->batch * j->nbytes) != 0)
            give_up("a recipe", mr_applier_detail(applier));
    return (thread_ns() - begun) / (double)s->shelf.count;
}

static int put_job(void *user, session *s, size_t i)
{
    const job *j = user;
    mr__detail detail = {0};
    s->st.writer.out = s->st.tape.count * j->nbytes;
    int code = playing_put_recipe(&s->st.writer, j->recipe, &s->shelf.pixels[i], i, &detail);
    if (code != 0 && code != MR_ENOMEM && code != MR_EUNSUPPORTED)
        give_up("a tape", detail.text);
    return code == MR_EUNSUPPORTED ? ROW_MISSING : code;
}

static void job_open(job *j, session *s, const char *text)
{
    mr_output output = {.struct_size = sizeof output};
    mr__finish finish;
    mr__detail detail = {0};
    if (mr_recipe_new(NULL, &j->recipe) != 0)
        need(NULL);
    if (mr_recipe_parse(j->recipe, text) != 0 || mr_recipe_output(j->recipe, &output) != 0)
        give_up(text, mr_recipe_detail(j->recipe));
    if (mr__recipe_finish(j->recipe, &finish, &detail) != 0)
        give_up(text, detail.text);
    j->nbytes = output.sample_nbytes;
    if (j->nbytes * s->batch > s->st.out_nbytes)
        give_up(text, "its samples are too large for this");
    j->applier[0] = applier_under(j->recipe, "");
    j->applier[1] = applier_under(j->recipe, "portable");
    stand_set_finish(&s->st, &finish);
}

static void job_close(job *j)
{
    mr_applier_free(j->applier[0]);
    mr_applier_free(j->applier[1]);
    mr_recipe_free(j->recipe);
}

void run_recipes(session *s)
{
    print_head("recipe");
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        row *r = need(calloc(1, sizeof *r));
        job j;
        (void)snprintf(r->name, sizeof r->name, "`%s`", texts[t]);
        job_open(&j, s, texts[t]);
        for (unsigned round = 0; round <= s->rounds; round++) { // the first is not counted
            unsigned at = round == 0 ? 0 : round - 1;
            r->host_ns[at] = time_host(s, &j, j.applier[0]);
            r->portable_ns[at] = time_host(s, &j, j.applier[1]);
            if (round == 1)
                memset(r->kernel_ns, 0, sizeof r->kernel_ns), r->kernel_images = 0;
            r->missing = r->missing || !time_device(s, r, at, put_job, &j, j.nbytes);
        }
        print_row(s, r);
        job_close(&j);
        free(r);
    }
}
