// SPDX-License-Identifier: Apache-2.0
/*
 * The portable kernels that depend on the type of a sample. pixel_kernels.c includes this once for each, with
 * T the type, DEPTH its bits, and NAME(x) the name of kernel x for it.
 *
 * Rows may be read and written beyond their ends, so inner loops have a constant length, CHUNK, and compilers make
 * vectors of them without a remainder.
 */
#ifdef T

enum { NAME(half) = 1 << (DEPTH - 1) };

static inline T NAME(average)(T a, T b)
{
    return (T)((a + b + 1) >> 1);
}

/* A row of residuals. Samples of 8 bits have no high bytes; the low ones stand in and are not looked at. */
typedef struct NAME(residuals) {
    const uint8_t *low, *high;
} NAME(residuals);

static inline NAME(residuals) NAME(row)(const uint8_t *low, const uint8_t *high, size_t pitch, unsigned y)
{
    return (NAME(residuals)){low + y * pitch, (DEPTH == 8 ? low : high) + y * pitch};
}

static inline T NAME(join)(uint8_t low, uint8_t high)
{
    return DEPTH == 8 ? low : (T)(256 * high + (int8_t)low);
}

/* For each column, whether its block's selector says H and whether it says V. */
typedef struct NAME(masks) {
    T h[TILE_SIDE_MAX / 2 + CHUNK], v[TILE_SIDE_MAX / 2 + CHUNK];
} NAME(masks);

static void NAME(expand_selectors)(const uint8_t *selectors, unsigned w, NAME(masks) * to)
{
    for (unsigned block = 0; block * MR__L3_BLOCK_W < w; block++) {
        unsigned selector = selectors[block / 4] >> 2 * (block % 4) & 3;
        T h = (T)(selector == 1 ? -1 : 0), v = (T)(selector == 2 ? -1 : 0);
        for (unsigned i = 0; i < MR__L3_BLOCK_W; i++) {
            to->h[block * MR__L3_BLOCK_W + i] = h;
            to->v[block * MR__L3_BLOCK_W + i] = v;
        }
    }
}

static inline void NAME(d_chunk)(const T *restrict a, const T *restrict below, const uint8_t *restrict r,
                                 const uint8_t *restrict h, T *restrict d)
{
    for (unsigned i = 0; i < CHUNK; i++) {
        T falling = NAME(average)(a[i], below[i + 1]), rising = NAME(average)(a[i + 1], below[i]);
        d[i] = (T)(NAME(average)(falling, rising) + NAME(join)(r[i], h[i]));
    }
}

static void NAME(lift_d)(const mr__l3_lift *lift, unsigned y)
{
    const T *a = lift->a[y], *below = lift->a[y + 1];
    T *d = lift->d[y + 1];
    NAME(residuals) r = NAME(row)(lift->rd, lift->hd, lift->pitch, y);
    for (unsigned x = 0; x < lift->wo; x += CHUNK)
        NAME(d_chunk)(a + x, below + x, r.low + x, r.high + x, d + x);
    d[-1] = d[0];
    d[lift->wo] = d[lift->wo - 1];
}

static inline T NAME(choose)(T h, T v, T mask_h, T mask_v)
{
    return (T)((h & mask_h) | (v & mask_v) | (NAME(average)(h, v) & ~(mask_h | mask_v)));
}

static inline void NAME(b_chunk)(const T *restrict a, const T *up, const T *down, const uint8_t *restrict r,
                                 const uint8_t *restrict h, const T *restrict mask_h, const T *restrict mask_v,
                                 T *restrict to)
{
    for (unsigned i = 0; i < CHUNK; i++) {
        T flat = NAME(average)(a[i], a[i + 1]), steep = NAME(average)(up[i], down[i]);
        T b = (T)(NAME(choose)(flat, steep, mask_h[i], mask_v[i]) + NAME(join)(r[i], h[i]));
        to[2 * i] = a[i];
        to[2 * i + 1] = b;
    }
}

/* The same where D has no rows: there is only one prediction. */
static inline void NAME(b_alone)(const T *restrict a, NAME(residuals) r, unsigned wo, T *restrict to)
{
    for (unsigned x = 0; x < wo; x++) {
        to[2 * x] = a[x];
        to[2 * x + 1] = (T)(NAME(average)(a[x], a[x + 1]) + NAME(join)(r.low[x], r.high[x]));
    }
}

/* A row of A and B. */
static void NAME(lift_b)(const mr__l3_lift *lift, const NAME(masks) * masks, unsigned y)
{
    unsigned we = lift->we, wo = lift->wo;
    const T *a = lift->a[y], *up = lift->d[y], *down = y < lift->rows_d ? lift->d[y + 1] : up;
    T *to = lift->to[2 * y];
    if (up == NULL)
        up = down;
    if (wo != 0) {
        NAME(residuals) r = NAME(row)(lift->rb, lift->hb, lift->pitch, y);
        if (up == NULL)
            NAME(b_alone)(a, r, wo, to);
        for (unsigned x = 0; up != NULL && x < wo; x += CHUNK)
            NAME(b_chunk)(a + x, up + x, down + x, r.low + x, r.high + x, masks->h + x, masks->v + x, to + 2 * x);
    }
    to[2 * (we - 1)] = a[we - 1];
    to[we + wo] = to[we + wo - 1];
}

static inline void NAME(c_chunk)(const T *restrict a, const T *restrict below, const T *restrict d,
                                 const uint8_t *restrict r, const uint8_t *restrict h, const T *restrict mask_h,
                                 const T *restrict mask_v, T *restrict to)
{
    for (int i = 0; i < CHUNK; i++) {
        T flat = NAME(average)(d[i - 1], d[i]), steep = NAME(average)(a[i], below[i]);
        T c = (T)(NAME(choose)(flat, steep, mask_h[i], mask_v[i]) + NAME(join)(r[i], h[i]));
        to[2 * i] = c;
        to[2 * i + 1] = d[i];
    }
}

/* A row of C and D. */
static void NAME(lift_c)(const mr__l3_lift *lift, const NAME(masks) * masks, unsigned y)
{
    unsigned we = lift->we, wo = lift->wo;
    const T *a = lift->a[y], *below = lift->a[y + 1], *d = lift->d[y + 1];
    T *to = lift->to[2 * y + 1];
    NAME(residuals) r = NAME(row)(lift->rc, lift->hc, lift->pitch, y);
    if (wo == 0)
        to[0] = (T)(NAME(average)(a[0], below[0]) + NAME(join)(r.low[0], r.high[0]));
    for (unsigned x = 0; wo != 0 && x < we; x += CHUNK)
        NAME(c_chunk)(a + x, below + x, d + x, r.low + x, r.high + x, masks->h + x, masks->v + x, to + 2 * x);
    to[we + wo] = to[we + wo - 1];
}

static void NAME(lift)(const mr__l3_lift *lift)
{
    NAME(masks) masks_b, masks_c;
    if (lift->wo != 0)
        NAME(expand_selectors)(lift->sb, lift->wo, &masks_b);
    if (lift->rows_d != 0)
        NAME(expand_selectors)(lift->sc, lift->we, &masks_c);
    for (unsigned y = 0; y < lift->rows_b; y++) {
        if (y < lift->rows_d && lift->wo != 0)
            NAME(lift_d)(lift, y);
        NAME(lift_b)(lift, &masks_b, y);
        if (y < lift->rows_d)
            NAME(lift_c)(lift, &masks_c, y);
    }
}

static inline void NAME(base_chunk)(const T *restrict above, const uint8_t *restrict r, const uint8_t *restrict h,
                                    T *restrict to)
{
    for (unsigned i = 0; i < CHUNK; i++)
        to[i] = (T)(above[i] + NAME(join)(r[i], h[i]));
}

static void NAME(base)(const void *above, const uint8_t *low, const uint8_t *high, unsigned w, void *to)
{
    const T *north = above;
    T *t = to, west = NAME(half);
    NAME(residuals) r = NAME(row)(low, high, 0, 0);
    for (unsigned x = 0; north == NULL && x < w; x++)
        t[x] = west = (T)(west + NAME(join)(r.low[x], r.high[x]));
    for (unsigned x = 0; north != NULL && x < w; x += CHUNK)
        NAME(base_chunk)(north + x, r.low + x, r.high + x, t + x);
    t[w] = t[w - 1];
}

/* Eight samples of one block; `corner` is NW of the first. Returns the last, the W of the next block. */
static inline T NAME(prefix_block)(const T *restrict north, T corner, T west, const uint8_t *restrict r,
                                   const uint8_t *restrict h, unsigned selector, T *restrict to)
{
    for (unsigned i = 0; i < MR__L3_BLOCK_W; i++) {
        T n = north[i], slope = (T)(n - corner), gentle = (T)(SIGNED(slope) >> 1);
        T prediction = selector == 0 ? n : (T)(west + (selector == 1 ? 0 : selector == 2 ? slope : gentle));
        to[i] = west = (T)(prediction + NAME(join)(r[i], h[i]));
        corner = n;
    }
    return west;
}

static void NAME(prefix_row)(const T *north, NAME(residuals) r, const uint8_t *selectors, unsigned w, T *to)
{
    T west = north[0], corner = north[0];
    for (unsigned x = 0; x < w; x += MR__L3_BLOCK_W) {
        unsigned block = x / MR__L3_BLOCK_W, selector = selectors[block / 4] >> 2 * (block % 4) & 3;
        west = NAME(prefix_block)(north + x, corner, west, r.low + x, r.high + x, selector, to + x);
        corner = north[x + MR__L3_BLOCK_W - 1];
    }
    to[w] = to[w - 1];
}

static void NAME(prefix)(const mr__l3_prefix *prefix)
{
    T top[TILE_SIDE_MAX];
    const T *north = prefix->above;
    if (north == NULL) {
        for (unsigned x = 0; x < TILE_SIDE_MAX; x++)
            top[x] = NAME(half);
        north = top;
    }
    for (unsigned y = 0; y < prefix->rows; y++) {
        NAME(residuals) r = NAME(row)(prefix->r, prefix->h, prefix->pitch, y);
        NAME(prefix_row)(north, r, prefix->s, prefix->w, prefix->to[y]);
        north = prefix->to[y];
    }
}

static inline void NAME(green_chunk)(const T *restrict from, const T *restrict green, T *restrict to)
{
    for (unsigned i = 0; i < CHUNK; i++)
        to[i] = (T)(from[i] + green[i] - NAME(half));
}

/* Looks up what is in the row; DEPTH is a constant, so one of the two is left. */
static inline bool NAME(remap_in_place)(T *t, unsigned n, const mr__l3_remap *remap)
{
    T most = 0;
    for (unsigned x = 0; x < n; x++) {
        most = t[x] > most ? t[x] : most;
        t[x] = DEPTH == 8 ? remap->value[t[x] & 255] : (T)(remap->first + remap->step * t[x]);
    }
    return DEPTH == 16 || most < remap->count;
}

static bool NAME(remap)(const void *from, const void *green, unsigned n, const mr__l3_remap *remap, void *to)
{
    const T *f = from, *g = green;
    T *t = to;
    for (unsigned x = 0; g != NULL && x < n; x += CHUNK)
        NAME(green_chunk)(f + x, g + x, t + x);
    if (g == NULL)
        memcpy(t, f, n * sizeof(T));
    return NAME(remap_in_place)(t, n, remap);
}

/* Inlined with constant channels and colour. */
static inline __attribute__((always_inline)) void NAME(pack)(const void *const channel[4], unsigned n, void *to,
                                                             unsigned channels, bool green)
{
    T *restrict t = to;
    for (unsigned c = 0; c < channels; c++) {
        const T *from = channel[c], *middle = channel[1];
        bool add = green && (c == 0 || c == 2);
        for (unsigned i = 0; i < n; i++)
            t[i * channels + c] = add ? (T)(from[i] + middle[i] - NAME(half)) : from[i];
    }
}

static void NAME(pack1)(const void *const channel[4], unsigned n, void *to)
{
    memcpy(to, channel[0], n * sizeof(T));
}

static void NAME(pack2)(const void *const channel[4], unsigned n, void *to)
{
    NAME(pack)(channel, n, to, 2, false);
}

static void NAME(pack3)(const void *const channel[4], unsigned n, void *to)
{
    NAME(pack)(channel, n, to, 3, false);
}

static void NAME(pack3_green)(const void *const channel[4], unsigned n, void *to)
{
    NAME(pack)(channel, n, to, 3, true);
}

static void NAME(pack4)(const void *const channel[4], unsigned n, void *to)
{
    NAME(pack)(channel, n, to, 4, false);
}

static void NAME(pack4_green)(const void *const channel[4], unsigned n, void *to)
{
    NAME(pack)(channel, n, to, 4, true);
}

static void NAME(fill)(mr__l3_pixel_kernels *table)
{
    unsigned d = DEPTH / 16;
    table->lift[d] = NAME(lift);
    table->base[d] = NAME(base);
    table->prefix[d] = NAME(prefix);
    table->remap[d] = NAME(remap);
    table->pack[d][1][0] = NAME(pack1);
    table->pack[d][2][0] = NAME(pack2);
    table->pack[d][3][0] = NAME(pack3);
    table->pack[d][3][1] = NAME(pack3_green);
    table->pack[d][4][0] = NAME(pack4);
    table->pack[d][4][1] = NAME(pack4_green);
}

#endif
