// SPDX-License-Identifier: Apache-2.0
/*
 * Runs recipes on images, as standard input says line by line, so that measure.py can compare the pixels:
 *
 *     image NUMBER WIDTH HEIGHT CHANNELS                 and then its bytes, pixel by pixel
 *     apply NUMBER SEED EPOCH KEY fused|apart RECIPE     answered by "ok WIDTH HEIGHT CHANNELS" and the bytes
 *     explain WIDTH HEIGHT SEED EPOCH KEY RECIPE         answered by "ok NBYTES" and the text
 *     draws SEED EPOCH KEY RECIPE                        answered by "ok" and the numbers that its steps draw
 *     field WIDTH HEIGHT ALPHA SIGMA KEY0 KEY1           answered by "ok" and elastic's field, pixel by pixel: two
 * floats boxes NUMBER SEED EPOCH KEY COUNT L T R B ... RECIPE
 *
 * The last one is apply with objects in the image. It is answered by "ok WIDTH HEIGHT CHANNELS X Y W H" and the bytes,
 * X to H being the part that ioucrop took, or 0 0 0 0, and then by a line "LEFT OBJECT L T R B ..." of what is left,
 *
 * or by "error" and a sentence. A recipe is kept until another one comes.
 */
#include "step/augment.h"
#include "step/elastic.h"
#include "step/follow.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { IMAGES = 64, LINE_NBYTES = 8192, TEXT_NBYTES = 16384, BOXES_MAX = 32, DRAWS_MAX = 4096 };

typedef struct bench {
    mr_image images[IMAGES];
    char text[LINE_NBYTES]; /* of the recipe; "": none */
    bool fuse;
    mr_recipe *recipe;
    mr_applier *applier;
    mr_output output;
    unsigned char *out;
} bench;

static void forget(bench *b)
{
    mr_applier_free(b->applier);
    mr_recipe_free(b->recipe);
    free(b->out);
    b->applier = NULL;
    b->recipe = NULL;
    b->out = NULL;
    b->text[0] = '\0';
}

/* A detail may have lines of its own. */
static void answer_error(const char *detail)
{
    fputs("error ", stdout);
    for (; *detail != '\0'; detail++)
        putchar(*detail == '\n' ? ' ' : *detail);
    putchar('\n');
}

static bool take_recipe(bench *b, const char *text, bool fuse)
{
    if (b->recipe != NULL && strcmp(b->text, text) == 0 && b->fuse == fuse)
        return true;
    forget(b);
    b->output.struct_size = sizeof b->output;
    b->fuse = fuse;
    int code = mr_recipe_new(NULL, &b->recipe);
    if (code == 0)
        code = mr_recipe_parse(b->recipe, text);
    if (code == 0)
        code = mr_recipe_set_fusing(b->recipe, fuse);
    if (code == 0)
        code = mr_recipe_output(b->recipe, &b->output);
    if (code == 0)
        code = mr_applier_new(b->recipe, NULL, &b->applier);
    if (code == 0 && (b->out = malloc(b->output.sample_nbytes)) == NULL)
        code = MR_ENOMEM;
    if (code != 0) {
        const char *detail = b->recipe != NULL ? mr_recipe_detail(b->recipe) : "";
        answer_error(detail[0] != '\0' ? detail : mr_error_text(code));
        forget(b);
        return false;
    }
    snprintf(b->text, sizeof b->text, "%s", text);
    return true;
}

static bool read_image(bench *b, const char *line)
{
    unsigned number, width, height, channels;
    if (sscanf(line, "%u %u %u %u", &number, &width, &height, &channels) != 4 || number >= IMAGES)
        return false;
    mr_image *image = &b->images[number];
    mr_image_fini(image, NULL);
    if (mr_image_init(image, width, height, channels, 8, NULL) != 0)
        return false;
    size_t nbytes = mr_image_row_nbytes(image) * height;
    return fread(image->pixels, 1, nbytes, stdin) == nbytes;
}

static bool apply(bench *b, const char *line)
{
    unsigned number;
    uint64_t seed, key;
    uint32_t epoch;
    char word[8];
    int used = 0;
    if (sscanf(line, "%u %" SCNu64 " %" SCNu32 " %" SCNu64 " %7s %n", &number, &seed, &epoch, &key, word, &used) != 5 ||
        number >= IMAGES)
        return false;
    if (!take_recipe(b, line + used, strcmp(word, "fused") == 0))
        return true;
    if (mr_applier_run(b->applier, &b->images[number], seed, epoch, key, b->out) != 0)
        answer_error(mr_applier_detail(b->applier));
    else {
        printf("ok %u %u %u\n", b->output.width, b->output.height, b->output.channels);
        fwrite(b->out, 1, b->output.sample_nbytes, stdout);
    }
    return true;
}

static bool explain(bench *b, const char *line)
{
    static char text[TEXT_NBYTES];
    unsigned width, height;
    uint64_t seed, key;
    uint32_t epoch;
    int used = 0;
    if (sscanf(line, "%u %u %" SCNu64 " %" SCNu32 " %" SCNu64 " %n", &width, &height, &seed, &epoch, &key, &used) != 5)
        return false;
    if (!take_recipe(b, line + used, true))
        return true;
    size_t length = mr_recipe_explain(b->recipe, width, height, seed, epoch, key, text, sizeof text);
    if (length == 0 || length >= sizeof text)
        answer_error(mr_recipe_detail(b->recipe));
    else
        printf("ok %zu\n%s", length, text);
    return true;
}

static bool draws(bench *b, const char *line)
{
    static uint32_t numbers[DRAWS_MAX];
    uint64_t seed, key;
    uint32_t epoch;
    int used = 0;
    if (sscanf(line, "%" SCNu64 " %" SCNu32 " %" SCNu64 " %n", &seed, &epoch, &key, &used) != 3)
        return false;
    if (!take_recipe(b, line + used, true))
        return true;
    size_t count = mr__recipe_draw_count(b->recipe);
    if (count > DRAWS_MAX)
        return false;
    mr__recipe_draw(b->recipe, seed, epoch, key, numbers);
    fputs("ok", stdout);
    for (size_t i = 0; i < count; i++)
        printf(" %" PRIu32, numbers[i]);
    putchar('\n');
    return true;
}

static bool field(bench *b, const char *line)
{
    (void)b;
    mr__elastic elastic = {.sampling = MR_SAMPLING_BILINEAR};
    mr__elastic_field made;
    mr_rect all = {0, 0, 0, 0};
    if (sscanf(line, "%u %u %lf %lf %u %u", &all.width, &all.height, &elastic.alpha[0], &elastic.sigma[0],
               &elastic.key[0], &elastic.key[1]) != 6)
        return false;
    elastic.alpha[1] = elastic.alpha[0];
    elastic.sigma[1] = elastic.sigma[0];
    size_t nbytes = (mr__elastic_field_nbytes(&elastic, all) + 63) / 64 * 64;
    void *memory = aligned_alloc(64, nbytes);
    float *rows = calloc(2 * (size_t)all.width, sizeof *rows);
    bool good = memory != NULL && rows != NULL;
    if (good) {
        mr__elastic_field_init(&made, &elastic, all.width, all.height, all, mr__cpu_detect(), memory);
        puts("ok");
    }
    for (uint32_t y = 0; good && y < all.height; y++) {
        mr__elastic_field_row(&made, rows, rows + all.width);
        for (uint32_t x = 0; x < all.width; x++)
            fwrite((float[2]){rows[x], rows[all.width + x]}, sizeof(float), 2, stdout);
    }
    free(rows);
    free(memory);
    return good;
}

/* The boxes of a line, and how much of it they are; 0: there are none. */
static int read_boxes(const char *line, mr__place places[BOXES_MAX], size_t *count)
{
    int used = 0, all = 0;
    if (sscanf(line, "%zu %n", count, &used) != 1 || *count > BOXES_MAX)
        return 0;
    for (size_t i = 0; i < *count; i++) {
        float *box = places[i].box;
        all += used;
        if (sscanf(line + all, "%f %f %f %f %n", &box[0], &box[1], &box[2], &box[3], &used) != 4)
            return 0;
        places[i].object = (uint32_t)i;
        places[i].flags = MR__PLACE_BOX;
    }
    return all + used;
}

static void answer_boxes(bench *b, mr__follow *follow, mr__detail *detail)
{
    mr_rect part = {0, 0, 0, 0};
    size_t count = 0;
    for (size_t i = 0; i < follow->count; i++)
        if (follow->moves[i].kind == MR__MOVE_MIDDLES)
            part = follow->moves[i].u.crop;
    printf("ok %u %u %u %u %u %u %u\n", b->output.width, b->output.height, b->output.channels, part.x, part.y,
           part.width, part.height);
    fwrite(b->out, 1, b->output.sample_nbytes, stdout);
    if (mr__follow_look(follow, &count, detail) != 0)
        count = 0;
    printf("%zu", count);
    for (size_t i = 0; i < count; i++) {
        const mr__place *at = &follow->work[i];
        printf(" %u %.9g %.9g %.9g %.9g", at->object, (double)at->box[0], (double)at->box[1], (double)at->box[2],
               (double)at->box[3]);
    }
    putchar('\n');
}

/* As an applier does it, and a loader with objects. */
static int run_followed(bench *b, const mr_image *image, const uint32_t *numbers, mr__follow *follow,
                        mr__detail *detail)
{
    static mr__chain chain;
    mr__augment *augment = NULL;
    mr__finish finish;
    mr_hooks hooks;
    mr_image part;
    int code = mr__hooks_init(&hooks, NULL);
    if (code == 0)
        code = mr__recipe_finish(b->recipe, &finish, detail);
    if (code == 0)
        code = mr__recipe_resolve(b->recipe, numbers, image->width, image->height, follow, &chain, detail);
    if (code == 0)
        code = mr_image_crop(image, mr__pass_region(&chain.pass[0]), &part);
    if (code == 0)
        code = mr__augment_new(&hooks, mr__cpu_detect(), &finish, &augment);
    if (code == 0)
        code = mr__augment_run(augment, &chain, &part, b->out, detail);
    mr__augment_free(augment);
    return code;
}

static bool boxes(bench *b, const char *line)
{
    static mr__follow follow;
    static uint32_t numbers[DRAWS_MAX];
    mr__place places[BOXES_MAX], work[BOXES_MAX];
    mr__detail detail = {{0}};
    unsigned number;
    uint64_t seed, key;
    uint32_t epoch;
    size_t count;
    int used = 0;
    if (sscanf(line, "%u %" SCNu64 " %" SCNu32 " %" SCNu64 " %n", &number, &seed, &epoch, &key, &used) != 4)
        return false;
    int more = read_boxes(line + used, places, &count);
    if (more == 0 || number >= IMAGES)
        return false;
    if (!take_recipe(b, line + used + more, true))
        return true;
    mr__follow_init(&follow);
    follow.places = places;
    follow.place_count = count;
    follow.work = work;
    if (mr__recipe_draw_count(b->recipe) > DRAWS_MAX)
        return false;
    mr__recipe_draw(b->recipe, seed, epoch, key, numbers);
    if (run_followed(b, &b->images[number], numbers, &follow, &detail) != 0)
        answer_error(detail.text);
    else
        answer_boxes(b, &follow, &detail);
    return true;
}

static bool obey(bench *b, const char *line)
{
    static const struct {
        const char *word;
        bool (*run)(bench *b, const char *line);
    } orders[] = {{"image ", read_image}, {"apply ", apply}, {"explain ", explain},
                  {"draws ", draws},      {"field ", field}, {"boxes ", boxes}};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
        if (strncmp(line, orders[i].word, strlen(orders[i].word)) == 0)
            return orders[i].run(b, line + strlen(orders[i].word));
    return false;
}

int main(void)
{
    static bench b;
    static char line[LINE_NBYTES];
    bool good = true;
    while (good && fgets(line, sizeof line, stdin) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        good = obey(&b, line);
        fflush(stdout);
    }
    if (!good)
        fprintf(stderr, "apply: this is no order: %s\n", line);
    forget(&b);
    for (size_t i = 0; i < IMAGES; i++)
        mr_image_fini(&b.images[i], NULL);
    return good ? 0 : 2;
}
