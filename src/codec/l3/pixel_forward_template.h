// SPDX-License-Identifier: Apache-2.0
/*
 * Forward prediction for one type of sample and one instruction set, out of FORWARD_TARGET (an attribute, or nothing),
 * FORWARD_NAME(x), SAMPLE (uint8_t or uint16_t) and SIGNED (the same with a sign). Included once for each; its loops
 * are plain, for the compiler to make vectors of.
 */

#if defined(FORWARD_TARGET) /* there is nothing in it otherwise */

/* One array of samples with margins. */
typedef struct FORWARD_NAME(array) {
    SAMPLE *at;
    size_t pitch;
    unsigned w, h;
} FORWARD_NAME(array);
#define ARRAY FORWARD_NAME(array)

/* Residual rows of up to four candidates for one row of groups. */
typedef struct FORWARD_NAME(rows) {
    SAMPLE *of[4]; /* four rows each, `pitch` apart */
    size_t pitch;
} FORWARD_NAME(rows);
#define ROWS FORWARD_NAME(rows)

FORWARD_TARGET static inline SAMPLE FORWARD_NAME(avg)(SAMPLE a, SAMPLE b)
{
    return (SAMPLE)((a + b + 1u) >> 1);
}
#define AVG FORWARD_NAME(avg)

#define HALF ((SAMPLE)(1u << (8 * sizeof(SAMPLE) - 1)))

/* Row y, clamped to the array. */
FORWARD_TARGET static inline SAMPLE *FORWARD_NAME(row)(const ARRAY *a, long y)
{
    long last = (long)a->h - 1;
    return a->at + (size_t)(y < 0 ? 0 : y > last ? last : y) * a->pitch;
}
#define ROW FORWARD_NAME(row)

/* A row's margins: the sample before the first and the one behind the last repeat them. */
FORWARD_TARGET static inline void FORWARD_NAME(repeat_ends)(SAMPLE *row, unsigned w)
{
    row[-1] = row[0];
    row[w] = row[w - 1];
}

FORWARD_TARGET static inline void FORWARD_NAME(split_row)(const SAMPLE *restrict row, unsigned w, SAMPLE *restrict even,
                                                          SAMPLE *restrict odd)
{
    for (unsigned x = 0; x < w / 2; x++) {
        even[x] = row[2 * x];
        odd[x] = row[2 * x + 1];
    }
    if (w % 2 != 0)
        even[w / 2] = row[w - 1];
}

/* A level's samples apart: A, B, C, D. */
typedef struct FORWARD_NAME(level) {
    ARRAY a, b, c, d;
} FORWARD_NAME(level);
#define LEVEL FORWARD_NAME(level)

FORWARD_TARGET static ARRAY FORWARD_NAME(place)(SAMPLE **work, unsigned w, unsigned h)
{
    ARRAY a = {*work + MR__L3_FORWARD_MARGIN, (w + 2 * MR__L3_FORWARD_MARGIN + 31) / 32 * 32, w, h};
    *work += a.pitch * h;
    return a;
}

FORWARD_TARGET static LEVEL FORWARD_NAME(split_level)(const ARRAY *from, SAMPLE **work)
{
    unsigned we = (from->w + 1) / 2, he = (from->h + 1) / 2, wo = from->w / 2, ho = from->h / 2;
    LEVEL l;
    l.a = FORWARD_NAME(place)(work, we, he);
    l.b = FORWARD_NAME(place)(work, wo, he);
    l.c = FORWARD_NAME(place)(work, we, ho);
    l.d = FORWARD_NAME(place)(work, wo, ho);
    for (unsigned y = 0; y < from->h; y++) {
        SAMPLE *even = (y % 2 == 0 ? l.a.at : l.c.at) + y / 2 * l.a.pitch;
        SAMPLE *odd = (y % 2 == 0 ? l.b.at : l.d.at) + y / 2 * l.b.pitch;
        FORWARD_NAME(split_row)(from->at + y * from->pitch, from->w, even, odd);
        FORWARD_NAME(repeat_ends)(even, we);
        if (wo > 0)
            FORWARD_NAME(repeat_ends)(odd, wo);
    }
    return l;
}

FORWARD_TARGET static void FORWARD_NAME(residual_d)(const LEVEL *l, unsigned y, SAMPLE *restrict to)
{
    const SAMPLE *s = l->d.at + y * l->d.pitch;
    const SAMPLE *n = ROW(&l->a, y), *m = ROW(&l->a, (long)y + 1);
    for (unsigned x = 0; x < l->d.w; x++)
        to[x] = (SAMPLE)(s[x] - AVG(AVG(n[x], m[x + 1]), AVG(n[x + 1], m[x])));
}

/* A row from its four neighbours: three candidates, in the order of the selectors. */
FORWARD_TARGET static inline void FORWARD_NAME(residual_cross)(const SAMPLE *s, const SAMPLE *west, const SAMPLE *east,
                                                               const SAMPLE *north, const SAMPLE *south, unsigned w,
                                                               SAMPLE *restrict both, SAMPLE *restrict across,
                                                               SAMPLE *restrict down)
{
    for (unsigned x = 0; x < w; x++) {
        SAMPLE h = AVG(west[x], east[x]), v = AVG(north[x], south[x]);
        both[x] = (SAMPLE)(s[x] - AVG(h, v));
        across[x] = (SAMPLE)(s[x] - h);
        down[x] = (SAMPLE)(s[x] - v);
    }
}

FORWARD_TARGET static void FORWARD_NAME(residual_b)(const LEVEL *l, unsigned y, const ROWS *rows, size_t at)
{
    const SAMPLE *a = l->a.at + y * l->a.pitch;
    bool alone = l->d.h == 0;
    const SAMPLE *n = alone ? a : ROW(&l->d, (long)y - 1), *s = alone ? a + 1 : ROW(&l->d, y);
    FORWARD_NAME(residual_cross)
    (l->b.at + y * l->b.pitch, a, a + 1, n, s, l->b.w, rows->of[0] + at, rows->of[1] + at, rows->of[2] + at);
}

FORWARD_TARGET static void FORWARD_NAME(residual_c)(const LEVEL *l, unsigned y, const ROWS *rows, size_t at)
{
    const SAMPLE *n = ROW(&l->a, y), *s = ROW(&l->a, (long)y + 1);
    bool alone = l->d.w == 0;
    const SAMPLE *d = l->d.at + y * l->d.pitch;
    const SAMPLE *west = alone ? n : d - 1, *east = alone ? s : d;
    FORWARD_NAME(residual_cross)
    (l->c.at + y * l->c.pitch, west, east, n, s, l->c.w, rows->of[0] + at, rows->of[1] + at, rows->of[2] + at);
}

/* What is beyond the grid is 0. */
FORWARD_TARGET static void FORWARD_NAME(clear_beyond)(SAMPLE *rows, size_t pitch, unsigned w, unsigned count)
{
    unsigned end = (w + 31) / 32 * 32;
    for (unsigned r = 0; r < 4; r++)
        if (r < count)
            memset(rows + r * pitch + w, 0, (end - w) * sizeof(SAMPLE));
        else
            memset(rows + r * pitch, 0, end * sizeof(SAMPLE));
}

/* Unless the file that includes this has a better one for its samples. */
#ifndef FORWARD_HAS_MAGNITUDE
FORWARD_TARGET static inline unsigned FORWARD_NAME(magnitude)(const SAMPLE *at, size_t pitch)
{
    unsigned sum = 0;
    for (unsigned r = 0; r < 4; r++)
        for (unsigned x = 0; x < 8; x++) {
            int v = (SIGNED)at[r * pitch + x];
            sum += (unsigned)(v < 0 ? ~v : v);
        }
    return sum;
}
#endif

/* One block's residuals into its words: the low bytes, and what is left above them. */
FORWARD_TARGET static inline void FORWARD_NAME(store_block)(const SAMPLE *at, size_t pitch, uint64_t low[4],
                                                            uint64_t high[4])
{
    for (unsigned r = 0; r < 4; r++) {
        uint8_t bytes[8], above[8];
        if (sizeof(SAMPLE) == 1) {
            low[r] = mr__load_le64((const uint8_t *)(at + r * pitch));
            continue;
        }
        for (unsigned x = 0; x < 8; x++) {
            SAMPLE v = at[r * pitch + x];
            bytes[x] = (uint8_t)v;
            above[x] = (uint8_t)((v + 128u) >> 8);
        }
        low[r] = mr__load_le64(bytes);
        high[r] = mr__load_le64(above);
    }
}

FORWARD_TARGET static inline unsigned FORWARD_NAME(cost_block)(const SAMPLE *at, size_t pitch,
                                                               const mr__l3_forward_choice *choice)
{
    if (choice->cost == NULL)
        return FORWARD_NAME(magnitude)(at, pitch);
    uint64_t low[4], high[4] = {0};
    FORWARD_NAME(store_block)(at, pitch, low, high);
    return choice->cost(low, choice->layers) + (sizeof(SAMPLE) == 2 ? choice->cost(high, choice->layers) : 0);
}

/* A row of groups: for each block the best candidate. */
FORWARD_TARGET static void FORWARD_NAME(store_groups)(const ROWS *rows, unsigned candidates, unsigned w,
                                                      const mr__l3_forward_choice *choice, mr__l3_residuals *out)
{
    for (unsigned x = 0; x < w; x += 32, out->groups++) {
        unsigned selectors = 0;
        for (unsigned b = 0; b < 4; b++) {
            unsigned best = 0, least = UINT_MAX;
            for (unsigned i = 0; i < candidates && candidates > 1 && x + 8 * b < w; i++) {
                unsigned cost = FORWARD_NAME(cost_block)(rows->of[i] + x + 8 * b, rows->pitch, choice);
                if (cost < least) {
                    least = cost;
                    best = i;
                }
            }
            selectors |= best << (2 * b);
            size_t at = out->groups * MR__L3_GROUP_WORDS + 4 * b;
            FORWARD_NAME(store_block)
            (rows->of[best] + x + 8 * b, rows->pitch, out->low + at, sizeof(SAMPLE) == 2 ? out->high + at : NULL);
        }
        if (candidates > 1)
            out->selectors[out->selected++] = (uint8_t)selectors;
    }
}

FORWARD_TARGET static ROWS FORWARD_NAME(place_rows)(SAMPLE **work, unsigned w)
{
    ROWS rows = {.pitch = (w + 31) / 32 * 32 + MR__L3_FORWARD_MARGIN};
    for (unsigned i = 0; i < 4; i++) {
        rows.of[i] = *work;
        *work += 4 * rows.pitch;
    }
    return rows;
}

FORWARD_TARGET static void FORWARD_NAME(lift_base)(const ARRAY *base, const ROWS *rows, mr__l3_residuals *out)
{
    const mr__l3_forward_choice none = {NULL, 0};
    for (unsigned y = 0; y < base->h; y += 4) {
        unsigned count = base->h - y < 4 ? base->h - y : 4;
        for (unsigned r = 0; r < count; r++) {
            const SAMPLE *s = base->at + (y + r) * base->pitch;
            SAMPLE *to = rows->of[0] + r * rows->pitch;
            for (unsigned x = 0; x < base->w; x++)
                to[x] = (SAMPLE)(s[x] - (y + r > 0 ? s[(ptrdiff_t)x - (ptrdiff_t)base->pitch]
                                         : x > 0   ? s[x - 1]
                                                   : HALF));
        }
        FORWARD_NAME(clear_beyond)(rows->of[0], rows->pitch, base->w, count);
        FORWARD_NAME(store_groups)(rows, 1, base->w, &none, out);
    }
}

/* One row of groups of D, then of B, then of C. */
FORWARD_TARGET static void FORWARD_NAME(lift_row)(const LEVEL *l, unsigned y, const ROWS *rows,
                                                  const mr__l3_forward_choice *choice, mr__l3_residuals *out)
{
    unsigned he = l->a.h - y < 4 ? l->a.h - y : 4;
    unsigned ho = l->d.h <= y ? 0 : l->d.h - y < 4 ? l->d.h - y : 4;
    if (ho > 0 && l->d.w > 0) {
        for (unsigned r = 0; r < ho; r++)
            FORWARD_NAME(residual_d)(l, y + r, rows->of[0] + r * rows->pitch);
        FORWARD_NAME(clear_beyond)(rows->of[0], rows->pitch, l->d.w, ho);
        FORWARD_NAME(store_groups)(rows, 1, l->d.w, choice, out);
    }
    if (l->b.w > 0) {
        for (unsigned r = 0; r < he; r++)
            FORWARD_NAME(residual_b)(l, y + r, rows, r * rows->pitch);
        for (unsigned i = 0; i < 3; i++)
            FORWARD_NAME(clear_beyond)(rows->of[i], rows->pitch, l->b.w, he);
        FORWARD_NAME(store_groups)(rows, 3, l->b.w, choice, out);
    }
    if (ho > 0) {
        for (unsigned r = 0; r < ho; r++)
            FORWARD_NAME(residual_c)(l, y + r, rows, r * rows->pitch);
        for (unsigned i = 0; i < 3; i++)
            FORWARD_NAME(clear_beyond)(rows->of[i], rows->pitch, l->c.w, ho);
        FORWARD_NAME(store_groups)(rows, 3, l->c.w, choice, out);
    }
}

FORWARD_TARGET static void FORWARD_NAME(lift)(const mr__l3_samples *channel, unsigned levels,
                                              const mr__l3_forward_choice *choice, void *work, mr__l3_residuals *out)
{
    SAMPLE *at = work;
    LEVEL level[MR__L3_LEVEL_MAX];
    ARRAY from = {channel->samples, channel->pitch, channel->w, channel->h};
    ROWS rows = FORWARD_NAME(place_rows)(&at, channel->w);
    out->groups = out->selected = 0;
    for (unsigned i = 0; i < levels; i++) {
        level[i] = FORWARD_NAME(split_level)(&from, &at);
        from = level[i].a;
    }
    FORWARD_NAME(lift_base)(&from, &rows, out);
    for (unsigned i = levels; i-- > 0;)
        for (unsigned y = 0; y < level[i].a.h; y += 4)
            FORWARD_NAME(lift_row)(&level[i], y, &rows, choice, out);
}

/* A row by its four selectors; n and s have the sample above in their margin. */
FORWARD_TARGET static inline void FORWARD_NAME(residual_prefix)(const SAMPLE *s, const SAMPLE *west, const SAMPLE *n,
                                                                unsigned w, const ROWS *rows, size_t at)
{
    SAMPLE *restrict up = rows->of[0] + at, *restrict left = rows->of[1] + at;
    SAMPLE *restrict plane = rows->of[2] + at, *restrict half = rows->of[3] + at;
    for (unsigned x = 0; x < w; x++) {
        SAMPLE d = (SAMPLE)(n[x] - n[(ptrdiff_t)x - 1]), l = (SAMPLE)(s[x] - west[(ptrdiff_t)x - 1]);
        up[x] = (SAMPLE)(s[x] - n[x]);
        left[x] = l;
        plane[x] = (SAMPLE)(l - d);
        half[x] = (SAMPLE)(l - (SAMPLE)((SIGNED)d >> 1));
    }
}

FORWARD_TARGET static void FORWARD_NAME(prefix)(const mr__l3_samples *channel, unsigned step,
                                                const mr__l3_forward_choice *choice, void *work, mr__l3_residuals *out)
{
    SAMPLE *at = work;
    unsigned w = channel->w;
    ROWS rows = FORWARD_NAME(place_rows)(&at, w);
    SAMPLE *west = at + MR__L3_FORWARD_MARGIN, *above = west + rows.pitch + 2 * MR__L3_FORWARD_MARGIN;
    out->groups = out->selected = 0;
    for (unsigned y = 0; y < channel->h; y += 4 * step) {
        unsigned count = channel->h - y < 4 ? channel->h - y : 4;
        for (unsigned r = 0; r < count; r++) {
            const SAMPLE *s = (const SAMPLE *)channel->samples + (y + r) * channel->pitch;
            if (y + r > 0)
                memcpy(above, s - channel->pitch, w * sizeof(SAMPLE));
            for (unsigned x = 0; x < w && y + r == 0; x++)
                above[x] = HALF;
            memcpy(west, s, w * sizeof(SAMPLE));
            above[-1] = west[-1] = above[0];
            FORWARD_NAME(residual_prefix)(s, west, above, w, &rows, r * rows.pitch);
        }
        for (unsigned i = 0; i < 4; i++)
            FORWARD_NAME(clear_beyond)(rows.of[i], rows.pitch, w, count);
        FORWARD_NAME(store_groups)(&rows, 4, w, choice, out);
    }
}

#undef ARRAY
#undef ROWS
#undef AVG
#undef HALF
#undef ROW
#undef LEVEL
#undef FORWARD_NAME
#undef SAMPLE
#undef SIGNED
#undef FORWARD_HAS_MAGNITUDE

#endif
