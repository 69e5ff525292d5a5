// SPDX-License-Identifier: Apache-2.0
/* What is the same table for every image: gamma, invert, posterize, solarize. */
#include "step/op_table.h"
#include "step/ops.h"
#include "step/real.h"

/* x to the power gamma, x from 0 to 1. */
static double power_of(double x, double gamma)
{
    if (gamma == 0.0)
        return 1.0;
    if (x == 0.0)
        return 0.0;
    double exponent = gamma * mr__real_log(x);
    return exponent < -700.0 ? 0.0 : mr__real_exp(exponent);
}

static void make_gamma(mr__table_work *work)
{
    uint8_t own[256];
    double most = (255.0 + 1.0 - 1e-3) * work->op->more;
    for (size_t v = 0; v < 256; v++) {
        double value = most * power_of((double)v / 255.0, work->op->amount);
        own[v] = value >= 255.0 ? 255 : value <= 0.0 ? 0 : (uint8_t)value;
    }
    mr__tables_put_all(work, own);
}

static void make_invert(mr__table_work *work)
{
    uint8_t own[256];
    for (size_t v = 0; v < 256; v++)
        own[v] = (uint8_t)(255 - v);
    mr__tables_put_all(work, own);
}

static void make_posterize(mr__table_work *work)
{
    uint8_t own[256];
    uint32_t bits = work->op->whole < 8 ? work->op->whole : 8;
    for (size_t v = 0; v < 256; v++)
        own[v] = (uint8_t)(v >> (8 - bits) << (8 - bits));
    mr__tables_put_all(work, own);
}

static void make_solarize(mr__table_work *work)
{
    uint8_t own[256];
    for (size_t v = 0; v < 256; v++)
        own[v] = (uint8_t)((double)v < work->op->amount ? v : 255 - v);
    mr__tables_put_all(work, own);
}

static int tell_gamma(const mr__op *op, char *text, size_t nbytes)
{
    return snprintf(text, nbytes, "gamma %.4g", op->amount);
}

static int tell_posterize(const mr__op *op, char *text, size_t nbytes)
{
    return snprintf(text, nbytes, "posterized to %u bits", op->whole);
}

static int tell_solarize(const mr__op *op, char *text, size_t nbytes)
{
    return snprintf(text, nbytes, "solarized from %.4g on", op->amount);
}

const mr__op_type mr__op_gamma = {.name = "gamma", .table = make_gamma, .tell = tell_gamma};
const mr__op_type mr__op_invert = {.name = "inverted", .table = make_invert};
const mr__op_type mr__op_posterize = {.name = "posterize", .table = make_posterize, .tell = tell_posterize};
const mr__op_type mr__op_solarize = {.name = "solarize", .table = make_solarize, .tell = tell_solarize};
