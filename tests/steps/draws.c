// SPDX-License-Identifier: Apache-2.0
/*
 * draws DOC [--write]: how often what is drawn, of a million draws for each policy and for each weight, beside what
 * torchvision's definition says, by chi-square. The draws are the same on every machine, and so are the rows of the
 * table in DOC (doc/steps.md): without --write it is checked that they stand there. No row may be less likely than
 * 10^-4.
 */
#include "../golden/policy_golden.h"
#include "base/rng.h"
#include "loader/mix.h"
#include "policy_seen.h"
#include "step/step.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DRAWS = 1000000, CELLS_MAX = 1024, TEXT_NBYTES = 16384, DOC_NBYTES = 1 << 20, WIDTH = 224, HEIGHT = 160 };

#define BEGIN      "<!-- drawn: begin -->\n"
#define END        "<!-- drawn: end -->"
#define CHANCE_MIN 1e-4

typedef struct tally {
    double expected[CELLS_MAX]; /* as parts of 1 */
    uint32_t counts[CELLS_MAX];
} tally;

static char text[TEXT_NBYTES];
static bool bad;
static policy_bench bench;

/* The part of a Gamma(a) distribution that lies above x: by its series, or by its continued fraction. */
static double gamma_above(double a, double x)
{
    double head = exp(a * log(x) - x - lgamma(a));
    if (x < a + 1.0) {
        double term = 1.0 / a, sum = term;
        for (double n = a + 1.0; term > 1e-16 * sum; n += 1.0)
            sum += term *= x / n;
        return 1.0 - head * sum;
    }
    double b = x + 1.0 - a, c = 1e300, d = 1.0 / b, h = d;
    for (int i = 1; i < 10000; i++) {
        double an = -i * (i - a);
        b += 2.0;
        d = 1.0 / (an * d + b);
        c = b + an / c;
        h *= d * c;
        if (fabs(d * c - 1.0) < 1e-15)
            break;
    }
    return head * h;
}

/* The part of Beta(a, a) below x, by the continued fraction. */
static double beta_below(double a, double x)
{
    if (x <= 0.0 || x >= 1.0 || x > 0.5)
        return x <= 0.0 ? 0.0 : x >= 1.0 ? 1.0 : 1.0 - beta_below(a, 1.0 - x);
    double head = exp(lgamma(2.0 * a) - 2.0 * lgamma(a) + a * log(x) + a * log1p(-x)) / a;
    double c = 1.0, d = 1.0 / (1.0 - 2.0 * a * x / (a + 1.0)), h = d;
    for (int m = 1; m < 1000; m++) {
        double even = m * (a - m) * x / ((a + 2 * m - 1.0) * (a + 2 * m));
        double odd = -(a + m) * (2.0 * a + m) * x / ((a + 2 * m) * (a + 2 * m + 1.0));
        d = 1.0 / (1.0 + even * d);
        c = 1.0 + even / c;
        h *= d * c;
        d = 1.0 / (1.0 + odd * d);
        c = 1.0 + odd / c;
        h *= d * c;
        if (fabs(d * c - 1.0) < 1e-15)
            break;
    }
    return head * h;
}

/* A line of the table. Cells of which less than five are expected are one. */
static void add_row(const char *step, const char *what, const tally *t, double n)
{
    double sum = 0.0, few = 0.0, few_count = 0.0, all = 0.0;
    int cells = 0;
    for (size_t i = 0; i < CELLS_MAX; i++) {
        double e = t->expected[i] * n, d = t->counts[i] - e;
        all += t->expected[i];
        if (e < 5.0) {
            few += e;
            few_count += t->counts[i];
            bad |= e == 0.0 && t->counts[i] != 0;
            continue;
        }
        sum += d * d / e;
        cells++;
    }
    if (few > 0.5) {
        sum += (few_count - few) * (few_count - few) / few;
        cells++;
    }
    double p = gamma_above((cells - 1) / 2.0, sum / 2.0);
    if (!(p >= CHANCE_MIN) || fabs(all - 1.0) > 1e-9) {
        printf("%s, %s: chi-square %g of %d cells, parts of %.12g\n", step, what, sum, cells, all);
        bad = true;
    }
    size_t used = strlen(text);
    snprintf(text + used, sizeof text - used, "| `%s` | %s | %.0f | %d | %.1f | %.2g |\n", step, what, n, cells, sum,
             p);
}

static mr_step settled(mr_step step)
{
    mr__detail detail = {{0}};
    step.struct_size = sizeof step;
    if (mr__step_type_of(step.kind)->settle(&step, &detail) != 0) {
        printf("%s\n", detail.text);
        exit(2);
    }
    return step;
}

static void resolve(const mr_step *step, uint32_t sample)
{
    uint32_t draws[64];
    mr__rng rng;
    const mr__step_type *type = mr__step_type_of(step->kind);
    mr__rng_init(&rng, 20261117, 3, sample, 0);
    for (uint32_t i = 0, n = mr__step_draw_count(step); i < n && i < 64; i++)
        draws[i] = mr__rng_u32(&rng);
    policy_begin(&bench, WIDTH, HEIGHT);
    bad |= type->resolve(step, draws, &bench.chain, &bench.detail) != 0;
}

/* What torchvision hands on, by magnitude, the negative ones behind them; NULL for operations without one. */
static const uint64_t *values_of(mr__space_kind space, mr__policy_op op, uint32_t bins)
{
    for (size_t i = 0; i < sizeof golden_values / sizeof *golden_values; i++)
        if (golden_values[i].space == space && golden_values[i].op == (uint32_t)op && golden_values[i].bins == bins)
            return golden_numbers + golden_values[i].first;
    return NULL;
}

static policy_seen value_of(mr__space_kind space, mr__policy_op op, uint32_t bins, uint32_t number)
{
    const uint64_t *values = values_of(space, op, bins);
    policy_seen s = {op, 0.0};
    if (values != NULL)
        memcpy(&s.value, &values[number], sizeof s.value);
    return s;
}

/* Pairs of what is seen: 0 is nothing, cell c of an operation c + 1. */
static size_t pair_cell(const policy_seen *list, size_t count)
{
    size_t first = count > 0 ? policy_cell(list[0]) + 1 : 0, second = count > 1 ? policy_cell(list[1]) + 1 : 0;
    return first * 32 + second;
}

static void tally_pairs(const mr_step *step, tally *t)
{
    policy_seen list[POLICY_SEEN_MAX];
    for (uint32_t i = 0; i < DRAWS; i++) {
        resolve(step, i);
        size_t count = policy_see(&bench, list);
        t->counts[pair_cell(list, count)]++;
    }
}

static void draw_randaug(void)
{
    tally t = {{0}, {0}};
    mr_step step = settled((mr_step){.kind = MR_STEP_RANDAUG});
    for (size_t i = 0; i < 28 * 28; i++) {
        policy_seen list[2];
        size_t count = 0, which[2] = {i / 28, i % 28};
        for (size_t k = 0; k < 2; k++) {
            mr__policy_op op = (mr__policy_op)golden_randaug_ops[which[k] / 2];
            bool negative = which[k] % 2 && mr__policy_signed(op);
            list[count] = value_of(MR__SPACE_RANDAUG, op, 31, 9 + (negative ? 31 : 0));
            count += op != MR__POLICY_IDENTITY;
        }
        t.expected[pair_cell(list, count)] += 1.0 / (28 * 28);
    }
    tally_pairs(&step, &t);
    add_row("randaug(2, 9)", "which two operations, with which signs", &t, DRAWS);
}

static size_t trivial_cell(policy_seen s)
{
    bool sign = mr__policy_signed(s.op);
    if (policy_is_neutral(s))
        return 0;
    if (s.op == MR__POLICY_POSTERIZE)
        return 64 * (size_t)s.op + (size_t)s.value;
    const uint64_t *values = values_of(MR__SPACE_TRIVIAL, s.op, 31);
    for (uint32_t i = 0; values != NULL && i < (sign ? 62 : 31); i++) {
        double value;
        memcpy(&value, &values[i], sizeof value);
        if (fabs(value - s.value) < 1e-9)
            return 64 * (size_t)s.op + i;
    }
    bad |= values != NULL;
    return 64 * (size_t)s.op;
}

static void draw_trivialaug(void)
{
    tally t = {{0}, {0}};
    mr_step step = settled((mr_step){.kind = MR_STEP_TRIVIALAUG});
    policy_seen list[POLICY_SEEN_MAX];
    for (size_t i = 0; i < 14 * 62; i++) {
        mr__policy_op op = (mr__policy_op)golden_trivial_ops[i / 62];
        uint32_t bin = (uint32_t)(i % 62);
        policy_seen s = value_of(MR__SPACE_TRIVIAL, op, 31, mr__policy_signed(op) ? bin : bin % 31);
        t.expected[trivial_cell(s)] += 1.0 / (14 * 62);
    }
    for (uint32_t i = 0; i < DRAWS; i++) {
        resolve(&step, i);
        size_t count = policy_see(&bench, list);
        t.counts[count == 0 ? 0 : trivial_cell(list[0])]++;
    }
    add_row("trivialaug", "which operation, magnitude and sign", &t, DRAWS);
}

/* What a pair of a table may come to: k says which of its two are done, and which are negative. */
static double pair_part(uint32_t policy, size_t pair, size_t k, policy_seen list[2], size_t *count)
{
    double part = 1.0 / 25.0 / 4.0;
    *count = 0;
    for (size_t w = 0; w < 2; w++) {
        const uint8_t *g = &golden_pairs[policy][pair][w].op;
        bool done = k >> w & 1, negative = (k >> (2 + w) & 1) && mr__policy_signed((mr__policy_op)g[0]);
        policy_seen s = value_of(MR__SPACE_RANDAUG, (mr__policy_op)g[0], 10, g[2] + (negative ? 10u : 0u));
        part *= done ? g[1] / 10.0 : 1.0 - g[1] / 10.0;
        if (done && !policy_is_neutral(s))
            list[(*count)++] = s;
    }
    return part;
}

static void draw_autoaug(void)
{
    static const char *const names[3] = {"autoaug(imagenet)", "autoaug(cifar10)", "autoaug(svhn)"};
    for (uint32_t policy = 0; policy < 3; policy++) {
        tally t = {{0}, {0}};
        mr_step step = settled((mr_step){.kind = MR_STEP_AUTOAUG, .policy = (mr_autoaug)policy});
        for (size_t i = 0; i < 25 * 16; i++) {
            policy_seen list[2];
            size_t count;
            double part = pair_part(policy, i / 16, i % 16, list, &count);
            t.expected[pair_cell(list, count)] += part;
        }
        tally_pairs(&step, &t);
        add_row(names[policy], "which operations are done, with which signs", &t, DRAWS);
    }
}

/* Of augmix nobody notes moves: a warp's coefficients tell. 0: one that does nothing. */
static size_t mixed_cell(const mr__op *op)
{
    const double *c = op->u.warp.c;
    switch (op->kind) {
    case MR__OP_WARP:
        if (c[1] != 0.0 && c[3] != 0.0)
            return c[1] > 0.0 ? 1 : 2;
        if (c[1] != 0.0 || c[3] != 0.0)
            return c[1] != 0.0 ? (c[1] > 0.0 ? 3 : 4) : (c[3] > 0.0 ? 5 : 6);
        if (c[2] != 0.0 || c[5] != 0.0)
            return c[2] != 0.0 ? (c[2] > 0.0 ? 7 : 8) : (c[5] > 0.0 ? 9 : 10);
        return 0;
    case MR__OP_POSTERIZE:
        return 11 + op->whole; /* 4 to 0 */
    case MR__OP_SOLARIZE:
        return 16 + (size_t)lround((255.0 - op->amount) / (255.0 / 9.0));
    case MR__OP_AUTOCONTRAST:
        return 26;
    case MR__OP_EQUALIZE:
        return 27;
    default:
        return 32 * ((size_t)op->kind + 1) + (size_t)lround((op->amount - 1.0) * 10.0) + 10;
    }
}

/* The parts that operations of severity 10 have. */
static void expect_mixed(bool few, tally *t)
{
    static const mr__op_kind kinds[MR__POLICY_OPS] = {
        [MR__POLICY_BRIGHTNESS] = MR__OP_BRIGHTNESS, [MR__POLICY_COLOR] = MR__OP_SATURATION,
        [MR__POLICY_CONTRAST] = MR__OP_CONTRAST,     [MR__POLICY_SHARPNESS] = MR__OP_SHARPNESS,
        [MR__POLICY_POSTERIZE] = MR__OP_POSTERIZE,   [MR__POLICY_SOLARIZE] = MR__OP_SOLARIZE,
        [MR__POLICY_EQUALIZE] = MR__OP_EQUALIZE,     [MR__POLICY_AUTO_CONTRAST] = MR__OP_AUTOCONTRAST};
    static const size_t warps[] = {[MR__POLICY_ROTATE] = 1,
                                   [MR__POLICY_SHEAR_X] = 3,
                                   [MR__POLICY_SHEAR_Y] = 5,
                                   [MR__POLICY_TRANSLATE_X] = 7,
                                   [MR__POLICY_TRANSLATE_Y] = 9};
    size_t count = few ? sizeof golden_augmix_few_ops : sizeof golden_augmix_ops;
    for (size_t i = 0; i < 20 * count; i++) {
        mr__policy_op op = (mr__policy_op)(few ? golden_augmix_few_ops : golden_augmix_ops)[i / 20];
        uint32_t number = (uint32_t)(i % 20);
        policy_seen s = value_of(MR__SPACE_AUGMIX, op, 10, mr__policy_signed(op) ? number : number % 10);
        const mr__op as_op = {.kind = kinds[op], .amount = s.value, .whole = (uint32_t)s.value};
        size_t cell = op > MR__POLICY_ROTATE ? mixed_cell(&as_op)
                      : policy_is_neutral(s) ? 0
                                             : warps[op] + (number >= 10);
        t->expected[cell] += 1.0 / (20.0 * (double)count);
    }
}

/* An operation that moves nothing may not be in the chain at all: then a branch has one less. */
static void draw_augmix(bool few)
{
    enum { BRANCHES = 10 };
    tally ops = {{0}, {0}}, depths = {{0}, {0}};
    mr_step step = settled(
        (mr_step){.kind = MR_STEP_AUGMIX, .magnitude = 10, .branches = BRANCHES, .few_ops = few, .ops = few ? 1 : 0});
    double all = 0.0;
    expect_mixed(few, &ops);
    double idle = ops.expected[0];
    for (uint32_t i = 0; i < DRAWS / BRANCHES; i++) {
        resolve(&step, i);
        const mr__mix *mix = &bench.chain.op[0].u.mix;
        for (size_t k = 0; k < BRANCHES; k++)
            depths.counts[mix->depth[k]]++;
        for (size_t k = 1; k <= mix->ops; k++)
            ops.counts[mixed_cell(&bench.chain.op[k])]++;
        all += mix->ops;
    }
    bool kept = ops.counts[0] != 0;
    for (size_t i = 0; i < CELLS_MAX && !kept; i++)
        ops.expected[i] = i == 0 ? 0.0 : ops.expected[i] / (1.0 - idle);
    idle = kept ? 0.0 : idle;
    for (int deep = 1; deep <= 3; deep++)
        for (int d = 0; d <= deep; d++) {
            double ways = d == 0 || d == deep ? 1.0 : deep;
            depths.expected[d] += ways * pow(1.0 - idle, d) * pow(idle, deep - d) / 3.0;
        }
    add_row(few ? "augmix(10, depth=1, few)" : "augmix(10)",
            "which operation, magnitude and sign, where something moves", &ops, all);
    if (!few)
        add_row("augmix(10)", "how many operations a branch has, without those that move nothing", &depths, DRAWS);
}

/* The image's own weight, and of the rest the part of one branch: uniform, and Beta(1, 2) with three branches. */
static void draw_weights(void)
{
    enum { SIDE = 25 };
    tally t = {{0}, {0}};
    mr_step step = settled((mr_step){.kind = MR_STEP_AUGMIX, .ops = 1});
    for (size_t i = 0; i < SIDE * SIDE; i++) {
        double low = (double)(i % SIDE) / SIDE, high = (double)(i % SIDE + 1) / SIDE;
        t.expected[i] = ((1.0 - low) * (1.0 - low) - (1.0 - high) * (1.0 - high)) / SIDE;
    }
    for (uint32_t i = 0; i < DRAWS; i++) {
        resolve(&step, i);
        const mr__mix *mix = &bench.chain.op[0].u.mix;
        double rest = (double)mix->weight[0] + (double)mix->weight[1] + (double)mix->weight[2];
        double share = rest > 0.0 ? (double)mix->weight[i % 3] / rest : 0.0;
        size_t a = (size_t)((double)mix->original * SIDE), b = (size_t)(share * SIDE);
        t.counts[(a < SIDE ? a : SIDE - 1) * SIDE + (b < SIDE ? b : SIDE - 1)]++;
    }
    add_row("augmix", "weights: of the image Beta(1, 1), of a branch its part of Dirichlet(1, 1, 1)", &t, DRAWS);
}

static void draw_jitter(void)
{
    enum { BINS = 40 };
    tally orders = {{0}, {0}}, factors = {{0}, {0}};
    mr_step step = settled((mr_step){.kind = MR_STEP_JITTER,
                                     .brightness = {0.6, 1.4},
                                     .contrast = {0.6, 1.4},
                                     .saturation = {0.6, 1.4},
                                     .hue = {-0.1, 0.1}});
    for (uint32_t i = 0; i < DRAWS; i++) {
        size_t order = 0, bin = 0;
        resolve(&step, i);
        for (size_t k = 0; k < 4; k++) {
            const mr__op *op = &bench.chain.op[k];
            size_t part = op->kind == MR__OP_BRIGHTNESS   ? 0
                          : op->kind == MR__OP_CONTRAST   ? 1
                          : op->kind == MR__OP_SATURATION ? 2
                                                          : 3;
            order = 4 * order + part;
            bin = part == 0 ? (size_t)((op->amount - 0.6) / 0.8 * BINS) : bin;
        }
        orders.counts[order]++;
        factors.counts[bin < BINS ? bin : BINS - 1]++;
    }
    for (size_t i = 0; i < 256; i++) {
        unsigned seen = 1u << (i >> 6) | 1u << (i >> 4 & 3) | 1u << (i >> 2 & 3) | 1u << (i & 3);
        orders.expected[i] = seen == 15 ? 1.0 / 24.0 : 0.0;
    }
    for (size_t i = 0; i < BINS; i++)
        factors.expected[i] = 1.0 / BINS;
    add_row("jitter", "in which order", &orders, DRAWS);
    add_row("jitter", "a factor of 0.6..1.4: uniform", &factors, DRAWS);
}

static void draw_mixup(double alpha, const char *name, const char *what)
{
    enum { BINS = 100 };
    tally t = {{0}, {0}};
    mr__mixing m = {.mixup = true, .alpha = {alpha, 1.0}, .chance = {1.0, 1.0}};
    for (uint64_t i = 0; i < DRAWS; i++) {
        size_t bin = (size_t)(mr__mix_draw(&m, 20261117, 3, 64 * i).weight * BINS);
        t.counts[bin < BINS ? bin : BINS - 1]++;
    }
    for (size_t i = 0; i < BINS; i++)
        t.expected[i] = beta_below(alpha, (double)(i + 1) / BINS) - beta_below(alpha, (double)i / BINS);
    add_row(name, what, &t, DRAWS);
}

/* How likely which width a box has, its middle anywhere: half of it is `half`, of `side`. By tenths, and left or right.
 */
static void box_parts(uint32_t half, uint32_t side, double parts[20])
{
    memset(parts, 0, 20 * sizeof *parts);
    for (uint32_t x = 0; x < side; x++) {
        uint32_t low = x > half ? x - half : 0, high = x + half < side ? x + half : side;
        uint32_t tenth = (high - low) * 10 / side;
        parts[2 * (tenth < 10 ? tenth : 9) + (low + high > side)] += 1.0 / side;
    }
}

/* With alpha 1 the share of the area is uniform: the chance of sides of at most s is s^2. */
static void draw_cutmix(void)
{
    enum { W = 100, H = 50 };
    tally t = {{0}, {0}};
    mr__mixing m = {.cutmix = true,
                    .alpha = {1.0, 1.0},
                    .chance = {1.0, 1.0},
                    .output = {.width = W, .height = H, .channels = 3, .dtype = MR_U8}};
    for (uint32_t half = 0; half < W / 2; half++) {
        double across[20], down[20], part = (2.0 * half + 1.0) / (W / 2.0 * (W / 2.0));
        box_parts(half, W, across);
        box_parts(half / 2, H, down);
        for (size_t i = 0; i < 400; i++)
            t.expected[i] += part * across[i / 20] * down[i % 20];
    }
    for (uint64_t i = 0; i < DRAWS; i++) {
        mr_rect box = mr__mix_draw(&m, 20261117, 3, 64 * i).box;
        uint32_t x = box.width * 10 / W, y = box.height * 10 / H;
        size_t across = 2 * (x < 10 ? x : 9) + (2 * box.x + box.width > W);
        t.counts[across * 20 + 2 * (y < 10 ? y : 9) + (2 * box.y + box.height > H)]++;
    }
    add_row("cutmix(1)", "the box: its sides, and in which quarter", &t, DRAWS);
}

/* Puts the text between the marks, or compares it with what stands there. */
static int finish(const char *name, bool write)
{
    static char doc[DOC_NBYTES];
    FILE *file = fopen(name, "rb");
    size_t nbytes = file != NULL ? fread(doc, 1, sizeof doc - 1, file) : 0;
    if (file != NULL)
        fclose(file);
    char *begin = strstr(doc, BEGIN), *end = begin != NULL ? strstr(begin, END) : NULL;
    if (end == NULL || nbytes == sizeof doc - 1) {
        printf("%s cannot be read, or has no %s\n", name, END);
        return 2;
    }
    begin += strlen(BEGIN);
    if (!write) {
        bool same = (size_t)(end - begin) == strlen(text) && memcmp(begin, text, strlen(text)) == 0;
        if (!same)
            printf("%s has other rows than were drawn: draws DOC --write\n", name);
        return same && !bad ? 0 : 1;
    }
    file = fopen(name, "wb");
    if (file == NULL)
        return 2;
    bool good = fwrite(doc, 1, (size_t)(begin - doc), file) == (size_t)(begin - doc) && fputs(text, file) >= 0 &&
                fwrite(end, 1, nbytes - (size_t)(end - doc), file) == nbytes - (size_t)(end - doc);
    return fclose(file) == 0 && good && !bad ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (argc < 2 || argc > 3 || (argc == 3 && strcmp(argv[2], "--write") != 0)) {
        printf("draws DOC [--write]\n");
        return 2;
    }
    snprintf(text, sizeof text, "%s",
             "| step | what is drawn | draws | cells | chi-square | chance of more |\n"
             "| --- | --- | ---: | ---: | ---: | ---: |\n");
    draw_randaug();
    draw_trivialaug();
    draw_autoaug();
    draw_augmix(false);
    draw_augmix(true);
    draw_weights();
    draw_jitter();
    draw_mixup(0.2, "mixup(0.2)", "the weight: Beta(0.2, 0.2)");
    draw_mixup(1.0, "mixup(1)", "the weight: Beta(1, 1)");
    draw_cutmix();
    printf("%s", text);
    return finish(argv[1], argc == 3);
}
