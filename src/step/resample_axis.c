// SPDX-License-Identifier: Apache-2.0
/*
 * The weights. Every operation on doubles is Pillow's, in its order, so that every weight is its weight; no contraction
 * (cmake/flags.cmake), so that this holds on every processor.
 */
#include "base/size.h"
#include "step/resample.h"

#include <string.h>

static double absolute(double x)
{
    return x < 0.0 ? -x : x;
}

/* r - r^3/3! + r^5/5! - ... for |r| <= pi/4; `tail` is what r lacks. */
static double sine_near_0(double r, double tail)
{
    static const double term[] = {
        -1.0 / 6,
        1.0 / 120,
        -1.0 / 5040,
        1.0 / 362880,
        -1.0 / 39916800.0,
        1.0 / 6227020800.0,
        -1.0 / 1307674368000.0,
        1.0 / 355687428096000.0,
    };
    double z = r * r, sum = 0.0;
    for (size_t i = sizeof term / sizeof *term; i-- > 0;)
        sum = sum * z + term[i];
    return r + (sum * z * r + tail * (1.0 - 0.5 * z));
}

/* 1 - r^2/2! + r^4/4! - ...; the first two by hand, so that little is lost. */
static double cosine_near_0(double r, double tail)
{
    static const double term[] = {
        1.0 / 24,
        -1.0 / 720,
        1.0 / 40320,
        -1.0 / 3628800,
        1.0 / 479001600.0,
        -1.0 / 87178291200.0,
        1.0 / 20922789888000.0,
        -1.0 / 6402373705728000.0,
    };
    double z = r * r, half = 0.5 * z, sum = 0.0;
    for (size_t i = sizeof term / sizeof *term; i-- > 0;)
        sum = sum * z + term[i];
    double most = 1.0 - half;
    return most + (((1.0 - most) - half) + (sum * z * z - r * tail));
}

/*
 * sin(x + quarter * pi/2) for 0 <= x < 10. Not the C library's, which is not the same on every processor in its last
 * bit. pi/2 is taken off in three parts, of which the first two have so few bits that a small multiple is exact.
 */
static double sine(double x, unsigned quarter)
{
    static const double part1 = 0x1.921fb544p+0, part2 = 0x1.0b4611a6p-34, part3 = 0x1.3198a2e037073p-69;
    unsigned k = (unsigned)(x * 0.63661977236758134308 + 0.5);
    double high = x - k * part1, middle = k * part2;
    double r = high - middle, tail = ((high - r) - middle) - k * part3;
    double value = (k + quarter) % 2 == 0 ? sine_near_0(r, tail) : cosine_near_0(r, tail);
    return (k + quarter) % 4 >= 2 ? -value : value;
}

#define PI 3.14159265358979323846

static double sinc(double x)
{
    if (x == 0.0)
        return 1.0;
    x = absolute(x) * PI;
    return sine(x, 0) / x;
}

static double box(double x)
{
    return x > -0.5 && x <= 0.5 ? 1.0 : 0.0;
}

static double bilinear(double x)
{
    x = absolute(x);
    return x < 1.0 ? 1.0 - x : 0.0;
}

/* Its two constants are floats there. */
static double hamming(double x)
{
    x = absolute(x);
    if (x == 0.0)
        return 1.0;
    if (x >= 1.0)
        return 0.0;
    x = x * PI;
    return sine(x, 0) / x * ((double)0.54f + (double)0.46f * sine(x, 1));
}

static double bicubic(double x)
{
    const double a = -0.5;
    x = absolute(x);
    if (x < 1.0)
        return ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0;
    if (x < 2.0)
        return (((x - 5.0) * x + 8.0) * x - 4.0) * a;
    return 0.0;
}

static double lanczos(double x)
{
    return x >= -3.0 && x < 3.0 ? sinc(x) * sinc(x / 3.0) : 0.0;
}

typedef struct shape {
    double (*weight)(double x);
    double support; /* beyond which it is 0 */
} shape;

static shape shape_of(mr_filter filter)
{
    switch (filter) {
    case MR_FILTER_BOX:
        return (shape){box, 0.5};
    case MR_FILTER_HAMMING:
        return (shape){hamming, 1.0};
    case MR_FILTER_BICUBIC:
        return (shape){bicubic, 2.0};
    case MR_FILTER_LANCZOS:
        return (shape){lanczos, 3.0};
    default:
        return (shape){bilinear, 1.0};
    }
}

/* How an axis goes over its source. */
typedef struct walk {
    shape shape;
    double scale;   /* source samples to one output */
    double support; /* in source samples, either way */
    double step;    /* of the filter's argument, from one source sample to the next */
    size_t most;    /* taps that an output can have, up to a multiple of 4 */
} walk;

static walk walk_of(uint32_t in, uint32_t out, mr_filter filter)
{
    walk w = {.shape = shape_of(filter), .scale = (double)in / out};
    double wide = w.scale < 1.0 ? 1.0 : w.scale;
    w.support = w.shape.support * wide;
    w.step = 1.0 / wide;
    size_t whole = (size_t)w.support;
    w.most = (2 * (whole + (w.support > (double)whole)) + 1 + 3) / 4 * 4;
    return w;
}

/* The source samples of one output, whose middle is at `center`: from `from` to before `end`. */
static void reach(const walk *w, uint32_t in, double center, int64_t *from, int64_t *end)
{
    *from = (int64_t)(center - w->support + 0.5);
    *end = (int64_t)(center + w->support + 0.5);
    *from = *from < 0 ? 0 : *from;
    *end = *end > in ? in : *end;
}

/* The weights of one output, whose sum is 1, into `to`. With a filter that the compiler knows where that pays. */
static inline __attribute__((always_inline)) void weigh_by(double (*weight)(double x), const walk *w, uint32_t in,
                                                           uint32_t index, uint32_t *first, uint32_t *count, double *to)
{
    double center = (index + 0.5) * w->scale, sum = 0.0;
    int64_t from, end;
    reach(w, in, center, &from, &end);
    size_t n = end > from ? (size_t)(end - from) : 0;
    for (size_t i = 0; i < n; i++) {
        to[i] = weight(((double)((int64_t)i + from) - center + 0.5) * w->step);
        sum += to[i];
    }
    for (size_t i = 0; i < n && sum != 0.0; i++)
        to[i] /= sum;
    *first = n != 0 ? (uint32_t)from : 0;
    *count = (uint32_t)n;
}

static void weigh(const walk *w, uint32_t in, uint32_t index, uint32_t *first, uint32_t *count, double *to)
{
    if (w->shape.weight == bilinear)
        weigh_by(bilinear, w, in, index, first, count, to);
    else
        weigh_by(w->shape.weight, w, in, index, first, count, to);
}

/* As whole numbers, without the zeros at both ends: they cost time and change nothing. */
static void round_weights(const double *from, size_t pitch, uint32_t *first, uint32_t *count, int32_t *to)
{
    uint32_t used = 0, n = *count, leading = 0;
    for (uint32_t i = 0; i < n; i++) {
        double scaled = from[i] * (1 << MR__RESAMPLE_BITS);
        int32_t value = (int32_t)(scaled + (scaled < 0.0 ? -0.5 : 0.5));
        leading += value == 0 && leading == i;
        to[i - (leading <= i ? leading : i)] = value;
        used = value != 0 ? i - leading + 1 : used;
    }
    for (size_t i = used; i < pitch; i++)
        to[i] = 0;
    *first = used != 0 ? *first + leading : 0;
    *count = used;
}

/* Neither end ever goes back from one output to the next, so that the outermost outputs say it all. */
void mr__resample_reach(uint32_t in, uint32_t out, mr_filter filter, uint32_t index, uint32_t n, uint32_t *first,
                        uint32_t *count)
{
    walk w = walk_of(in, out, filter);
    int64_t from, end, other;
    reach(&w, in, (index + 0.5) * w.scale, &from, &other);
    reach(&w, in, (index + n - 1 + 0.5) * w.scale, &other, &end);
    *first = from < in ? (uint32_t)from : in - 1;
    *count = end > *first ? (uint32_t)(end - *first) : 1;
}

/* Where things lie in an axis' memory: weights first, which want the alignment. */
typedef struct places {
    size_t weights, one, first, count, end;
} places;

static bool place_parts(const walk *w, uint32_t out, uint32_t depth, places *p)
{
    size_t each = depth == 16 ? sizeof(double) : sizeof(int32_t), row, nbytes;
    size_t one = depth == 16 ? 0 : w->most * sizeof(double); /* one output before it is rounded */
    if (!mr__size_mul(w->most, each, &row) || !mr__size_mul(row, out, &nbytes) ||
        !mr__size_add(nbytes, one + 64 + 2 * sizeof(uint32_t) * (size_t)out, &nbytes))
        return false;
    p->one = 0;
    p->weights = one;
    p->first = one + row * out;
    p->count = p->first + sizeof(uint32_t) * out;
    p->end = p->count + sizeof(uint32_t) * out;
    return true;
}

mr__resample_side mr__resample_side_whole(uint32_t in, uint32_t out, mr_filter filter, uint32_t depth)
{
    return (mr__resample_side){in, out, filter, depth, 0, out, 0, in};
}

bool mr__resample_axis_nbytes(const mr__resample_side *side, size_t *nbytes)
{
    walk w = walk_of(side->in, side->out, side->filter);
    places p;
    if (!place_parts(&w, side->count, side->depth, &p))
        return false;
    *nbytes = p.end;
    return true;
}

/* To count source samples from where they begin to be there. */
static bool move_first(const mr__resample_side *side, uint32_t *first, uint32_t count)
{
    if (count == 0) {
        *first = 0;
        return true;
    }
    if (*first < side->origin || *first - side->origin > side->span || side->span - (*first - side->origin) < count)
        return false;
    *first -= side->origin;
    return true;
}

bool mr__resample_axis_init(mr__resample_axis *axis, const mr__resample_side *side, void *memory)
{
    uint8_t *bytes = memory;
    walk w = walk_of(side->in, side->out, side->filter);
    places p;
    if (!place_parts(&w, side->count, side->depth, &p))
        return false;
    *axis = (mr__resample_axis){.in = side->span, .out = side->count, .taps = 1, .pitch = w.most};
    axis->first = (void *)(bytes + p.first);
    axis->count = (void *)(bytes + p.count);
    axis->weights = side->depth == 16 ? NULL : (void *)(bytes + p.weights);
    axis->weights16 = side->depth == 16 ? (void *)(bytes + p.weights) : NULL;
    for (uint32_t i = 0; i < side->count; i++) {
        double *exact = side->depth == 16 ? axis->weights16 + i * w.most : (void *)(bytes + p.one);
        weigh(&w, side->in, side->begin + i, axis->first + i, axis->count + i, exact);
        if (side->depth != 16)
            round_weights(exact, w.most, axis->first + i, axis->count + i, axis->weights + i * w.most);
        if (!move_first(side, axis->first + i, axis->count[i]))
            return false;
        if (axis->count[i] > axis->taps)
            axis->taps = axis->count[i];
    }
    return true;
}
