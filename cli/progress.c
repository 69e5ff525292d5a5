// SPDX-License-Identifier: Apache-2.0
#include "progress.h"
#include "json.h"
#include "quantity.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double line_s = 0.1, json_s = 1, mark_s = 10;

enum { BAR_MOST = 24, BAR_LEAST = 6, TAIL_PARTS = 6, PART_NBYTES = 96 };

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void progress_init(progress *p, const char *word)
{
    *p = (progress){.to = terminal_of(stderr)};
    if (word != NULL && strcmp(word, "json") == 0)
        p->kind = PROGRESS_JSON;
    else
        p->kind = (word != NULL && strcmp(word, "none") == 0) || !p->to.moves ? PROGRESS_NONE : PROGRESS_LINE;
    pthread_mutex_init(&p->lock, NULL);
}

void progress_hold(progress *p)
{
    interrupts_hold(&p->held);
    p->holds = true;
}

bool progress_is_stopped(const progress *p)
{
    return p->holds && interrupts_wait(&p->held);
}

/* Of the last 10 to 20 seconds, so that what an earlier run had done, or a slow beginning, does not count for long. */
static double rate_of(progress *p, double now)
{
    if (now - p->mark_at[1] > mark_s) {
        p->mark_at[0] = p->mark_at[1];
        p->mark_done[0] = p->mark_done[1];
        p->mark_at[1] = now;
        p->mark_done[1] = p->last.done;
    }
    double elapsed = now - p->mark_at[0];
    return elapsed > 0 && p->last.done > p->mark_done[0] ? (double)(p->last.done - p->mark_done[0]) / elapsed : 0;
}

static double left_of(const progress *p, double rate)
{
    return p->last.total > p->last.done && rate > 0 ? (double)(p->last.total - p->last.done) / rate : 0;
}

static void put_json(progress *p, double now, double rate)
{
    json j = {.stream = stderr};
    const mr_progress *l = &p->last;
    flockfile(stderr);
    json_open(&j, NULL, '{');
    json_text(&j, "verb", l->verb);
    json_number(&j, "done", l->done);
    json_number(&j, "total", l->total);
    json_text(&j, "unit", l->unit);
    json_number(&j, "in_nbytes", l->in_nbytes);
    json_number(&j, "out_nbytes", l->out_nbytes);
    json_number(&j, "refused", l->refused);
    if (p->note[0] != '\0')
        json_text(&j, "note", p->note);
    json_real(&j, "elapsed_s", now - p->start);
    json_real(&j, "rate", rate);
    if (l->total != 0 && (rate > 0 || l->done >= l->total))
        json_real(&j, "eta_s", left_of(p, rate));
    else
        json_null(&j, "eta_s");
    json_close(&j, '}');
    fputc('\n', stderr);
    funlockfile(stderr);
}

/* What stands behind the bar, the most wanted first; bytes in and out last. Returns how many parts there are. */
static size_t tail_of(const progress *p, double rate, char tail[TAIL_PARTS][PART_NBYTES])
{
    const mr_progress *l = &p->last;
    bool bytes = strcmp(l->unit, "bytes") == 0;
    size_t n = 0;
    short_text done = bytes ? bytes_text(l->done) : count_text(l->done);
    short_text total = bytes ? bytes_text(l->total) : count_text(l->total);
    if (l->total != 0)
        snprintf(tail[n++], PART_NBYTES, " %3.0f%%  %s of %s", (double)l->done / (double)l->total * 100, done.text,
                 total.text);
    else
        snprintf(tail[n++], PART_NBYTES, " %s %s", done.text, bytes ? "" : l->unit);
    if (rate > 0 && bytes)
        snprintf(tail[n++], PART_NBYTES, "  %s a second", bytes_text((uint64_t)rate).text);
    else if (rate > 0)
        snprintf(tail[n++], PART_NBYTES, "  %.*f a second", rate < 10 ? 1 : 0, rate);
    if (p->note[0] != '\0')
        snprintf(tail[n++], PART_NBYTES, "  %.90s", p->note);
    if (rate > 0 && l->total != 0)
        snprintf(tail[n++], PART_NBYTES, "  %s left", time_text(left_of(p, rate)).text);
    if (l->refused != 0)
        snprintf(tail[n++], PART_NBYTES, "  %s refused", count_text(l->refused).text);
    if (l->out_nbytes != 0)
        snprintf(tail[n++], PART_NBYTES, "  %s > %s", bytes_text(l->in_nbytes).text, bytes_text(l->out_nbytes).text);
    else if (l->in_nbytes != 0 && !bytes)
        snprintf(tail[n++], PART_NBYTES, "  %s", bytes_text(l->in_nbytes).text);
    return n;
}

static void draw(progress *p, double rate)
{
    char tail[TAIL_PARTS][PART_NBYTES];
    const terminal *t = &p->to;
    const mr_progress *l = &p->last;
    size_t parts = tail_of(p, rate, tail), shown = 0, used = strlen(l->verb) + 4; /* a space, two ends, the last cell */
    size_t bar = l->total != 0 ? BAR_LEAST : 0;
    while (shown < parts && (shown == 0 || used + bar + strlen(tail[shown]) <= t->width))
        used += strlen(tail[shown++]);
    size_t room = t->width > used ? t->width - used : 0;
    fprintf(stderr, "\r%s ", l->verb);
    if (bar != 0) {
        fprintf(stderr, "%s%s", t->utf8 ? "▕" : "[", style_of(t, STYLE_GREEN));
        put_bar(stderr, t->utf8, (double)l->done / (double)l->total, (unsigned)(room < BAR_MOST ? room : BAR_MOST));
        fprintf(stderr, "%s%s", style_of(t, STYLE_NONE), t->utf8 ? "▏" : "]");
    }
    for (size_t i = 0; i < shown; i++)
        fputs(tail[i], stderr);
    fputs("\033[K", stderr);
    p->drawn = true;
}

static void wipe(progress *p)
{
    if (p->drawn)
        fputs("\r\033[K", stderr);
    p->drawn = false;
}

/* All of a verb, over all of its time. */
static void finish(progress *p)
{
    double now = seconds(), elapsed = now - p->start;
    uint64_t done = p->last.done - (p->first < p->last.done ? p->first : p->last.done);
    double rate = elapsed > 0 ? (double)done / elapsed : 0;
    if (p->kind == PROGRESS_JSON)
        put_json(p, now, rate);
    else if (p->kind == PROGRESS_LINE)
        draw(p, rate);
    wipe(p);
    p->begun = false;
}

static void begin_verb(progress *p, const mr_progress *now, double at)
{
    if (p->begun)
        finish(p);
    p->begun = true;
    p->start = p->mark_at[0] = p->mark_at[1] = at;
    p->first = p->mark_done[0] = p->mark_done[1] = now->done;
    p->told = at - json_s;
}

bool progress_hook(void *user, const mr_progress *now)
{
    progress *p = user;
    double at = seconds();
    pthread_mutex_lock(&p->lock);
    if (!p->begun || strcmp(p->last.verb, now->verb) != 0)
        begin_verb(p, now, at);
    p->last = *now;
    if (p->kind != PROGRESS_NONE && at - p->told >= (p->kind == PROGRESS_JSON ? json_s : line_s)) {
        double rate = rate_of(p, at);
        if (p->kind == PROGRESS_JSON)
            put_json(p, at, rate);
        else
            draw(p, rate);
        p->told = at;
    }
    pthread_mutex_unlock(&p->lock);
    return !progress_is_stopped(p);
}

void progress_note(progress *p, const char *format, ...)
{
    va_list args;
    pthread_mutex_lock(&p->lock);
    va_start(args, format);
    vsnprintf(p->note, sizeof p->note, format, args);
    va_end(args);
    pthread_mutex_unlock(&p->lock);
}

void progress_pause(progress *p)
{
    pthread_mutex_lock(&p->lock);
    wipe(p);
}

void progress_resume(progress *p)
{
    pthread_mutex_unlock(&p->lock);
}

void progress_finish(progress *p)
{
    pthread_mutex_lock(&p->lock);
    if (p->begun)
        finish(p);
    pthread_mutex_unlock(&p->lock);
}

void progress_fini(progress *p)
{
    progress_finish(p);
    pthread_mutex_destroy(&p->lock);
    if (p->holds)
        interrupts_release(&p->held);
    p->holds = false;
}
