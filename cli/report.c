// SPDX-License-Identifier: Apache-2.0
#include "report.h"
#include "json.h"
#include "quantity.h"
#include "text.h"

#include <inttypes.h>

enum { BAR_CELLS = 16 };

void tally_add(tally *to, const tally *from)
{
    to->images += from->images;
    to->warned_images += from->warned_images;
    to->stored_nbytes += from->stored_nbytes;
    to->pixels += from->pixels;
    to->pixel_nbytes += from->pixel_nbytes;
    to->warnings += from->warnings;
    to->read_ns += from->read_ns;
    to->decode_ns += from->decode_ns;
    to->core_ns += from->core_ns;
}

const char *bad_file_text(const bad_file *bad)
{
    return bad->text != NULL ? bad->text : mr_error_text(bad->code);
}

static double per(double value, double by)
{
    return by > 0 ? value / by : 0;
}

/* Four figures, at most as many digits behind the point as mean something. */
static void put_number(double value, int width)
{
    printf(" %*.*f", width, value < 10 ? 2 : value < 1000 ? 1 : 0, value);
}

static void put_row(const terminal *t, const char *name, const tally *row, const tally *total)
{
    double core_s = (double)row->core_ns * 1e-9, share = per((double)row->core_ns, (double)total->core_ns);
    printf("  %-6s %7" PRIu64, name, row->images);
    put_number((double)row->stored_nbytes * 1e-6, 10);
    put_number((double)row->pixels * 1e-6, 8);
    put_number(per((double)row->pixel_nbytes * 1e-6, core_s), 10);
    put_number(per((double)row->images, core_s), 10);
    put_number(per(core_s * 1e3, (double)row->images), 9);
    printf("  %s", style_of(t, STYLE_GREEN));
    put_bar(stdout, t->utf8, share, BAR_CELLS);
    printf("%s %3.0f%%\n", style_of(t, STYLE_NONE), share * 100);
}

static void put_table(const terminal *t, const report *r)
{
    printf("  %s%-6s %7s %10s %8s %10s %10s %9s  %s%s\n", style_of(t, STYLE_BOLD), "form", "images", "stored MB",
           "Mpixel", "MB/s/core", "img/s/core", "ms/image", "share of core time", style_of(t, STYLE_NONE));
    unsigned rows = 0;
    for (int form = 1; form < FORM_COUNT; form++)
        if (r->forms[form].images != 0) {
            put_row(t, mr_form_name((mr_form)form), &r->forms[form], &r->total);
            rows++;
        }
    if (rows > 1)
        put_row(t, "total", &r->total, &r->total);
}

/* Where the threads' time went, each on its own line. */
static void put_times(const terminal *t, const report *r)
{
    const char *names[] = {"reading", "decoding", "idle"};
    double all = (double)r->wall_ns * r->threads;
    double reading = (double)(r->total.read_ns + r->failed.read_ns);
    double decoding = (double)(r->total.decode_ns + r->failed.decode_ns), spent = reading + decoding;
    double parts[] = {reading, decoding, all > spent ? all - spent : 0};
    for (size_t i = 0; i < 3; i++) {
        double share = per(parts[i], spent > all ? spent : all);
        printf("  %-9s %9.3f s  %s", names[i], parts[i] * 1e-9, style_of(t, STYLE_CYAN));
        put_bar(stdout, t->utf8, share, BAR_CELLS);
        printf("%s %3.0f%%\n", style_of(t, STYLE_NONE), share * 100);
    }
}

static void put_remarks(const terminal *t, const report *r)
{
    if (r->other_files != 0)
        printf("  %" PRIu64 " other file%s passed over: no images\n", r->other_files, plural(r->other_files));
    if (r->total.warnings != 0)
        printf("  %" PRIu64 " warning%s in %" PRIu64 " image%s: %s\n", r->total.warnings, plural(r->total.warnings),
               r->total.warned_images, plural(r->total.warned_images),
               r->accept_damaged ? "damage that --accept-damaged accepts, or oddities that do no harm"
                                 : "oddities that do no harm");
    if (r->bad_count != 0)
        printf("  %s%zu bad file%s%s of %" PRIu64 "\n", style_of(t, STYLE_RED), r->bad_count, plural(r->bad_count),
               style_of(t, STYLE_NONE), r->files);
}

void report_put(const report *r)
{
    terminal t = terminal_of(stdout);
    double wall_s = (double)r->wall_ns * 1e-9;
    const tally *all = &r->total;
    printf("%sDecoded %" PRIu64
           " image%s in %.2f s on %u thread%s%s: %.0f images/s, %.1f Mpixel/s, %.0f MB/s of pixels\n",
           style_of(&t, STYLE_BOLD), all->images, plural(all->images), wall_s, r->threads, plural(r->threads),
           style_of(&t, STYLE_NONE), per((double)all->images, wall_s), per((double)all->pixels * 1e-6, wall_s),
           per((double)all->pixel_nbytes * 1e-6, wall_s));
    if (all->images != 0) {
        putchar('\n');
        put_table(&t, r);
        printf("\n  %sthread time%s\n", style_of(&t, STYLE_BOLD), style_of(&t, STYLE_NONE));
        put_times(&t, r);
    }
    if (r->other_files != 0 || r->total.warnings != 0 || r->bad_count != 0)
        putchar('\n');
    put_remarks(&t, r);
}

static void put_json_times(json *j, const tally *row)
{
    json_real(j, "read_s", (double)row->read_ns * 1e-9);
    json_real(j, "decode_s", (double)row->decode_ns * 1e-9);
    json_real(j, "core_s", (double)row->core_ns * 1e-9);
}

static void put_json_tally(json *j, const char *name, const tally *row)
{
    double core_s = (double)row->core_ns * 1e-9;
    json_open(j, name, '{');
    json_number(j, "images", row->images);
    json_number(j, "stored_bytes", row->stored_nbytes);
    json_number(j, "pixels", row->pixels);
    json_number(j, "pixel_bytes", row->pixel_nbytes);
    json_number(j, "warnings", row->warnings);
    json_number(j, "warned_images", row->warned_images);
    put_json_times(j, row);
    json_real(j, "core_ms_per_image", per(core_s * 1e3, (double)row->images));
    json_real(j, "images_per_core_s", per((double)row->images, core_s));
    json_real(j, "pixel_mb_per_core_s", per((double)row->pixel_nbytes * 1e-6, core_s));
    json_close(j, '}');
}

static void put_json_bad(json *j, const report *r)
{
    json_open(j, "bad", '[');
    for (size_t i = 0; i < r->bad_count; i++) {
        json_line(j);
        json_open(j, NULL, '{');
        json_name(j, r->bad[i].path);
        json_error(j, r->bad[i].code, bad_file_text(&r->bad[i]));
        json_close(j, '}');
    }
    json_close(j, ']');
}

void report_put_json(const report *r)
{
    json j = {.stream = stdout};
    double wall_s = (double)r->wall_ns * 1e-9;
    json_open(&j, NULL, '{');
    json_number(&j, "threads", r->threads);
    json_number(&j, "repeat", r->repeat);
    json_real(&j, "wall_s", wall_s);
    json_real(&j, "images_per_s", per((double)r->total.images, wall_s));
    json_real(&j, "pixel_mb_per_s", per((double)r->total.pixel_nbytes * 1e-6, wall_s));
    json_number(&j, "files", r->files);
    json_number(&j, "other_files", r->other_files);
    json_bool(&j, "accept_damaged", r->accept_damaged);
    put_json_tally(&j, "total", &r->total);
    json_open(&j, "failed", '{'); /* what bad and other files cost; it is in no total */
    put_json_times(&j, &r->failed);
    json_close(&j, '}');
    json_open(&j, "forms", '{');
    for (int form = 1; form < FORM_COUNT; form++)
        if (r->forms[form].images != 0)
            put_json_tally(&j, mr_form_name((mr_form)form), &r->forms[form]);
    json_close(&j, '}');
    put_json_bad(&j, r);
    json_close(&j, '}');
    putchar('\n');
}
