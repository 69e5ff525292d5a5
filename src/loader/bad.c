// SPDX-License-Identifier: Apache-2.0
/* Bad samples: what becomes of them, how many there may be, and the file that lists them. */
#include "loader/loader.h"

#include "base/log.h"
#include "dataset/pack.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* So many substitutes are tried for a place before it stays black: with half of a dataset bad, one in 65,536. */
enum { ATTEMPTS = 16, LISTED_FIRST = 64 };

static uint64_t most_of(const mr_loader_options *o, uint64_t positions)
{
    uint64_t some = positions / 100 > 16 ? positions / 100 : 16;
    return o->bad_max != 0 ? o->bad_max : some;
}

static int open_file(mr__bad *bad, const char *path, mr__detail *detail)
{
    bad->file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);
    if (bad->file >= 0)
        return 0;
    return mr__fail(detail, MR_EIO, "the quarantine file %s cannot be written: %s", path, mr__errno_text(errno).text);
}

int mr__bad_init(mr_loader *l, const mr_loader_options *o, mr__detail *detail)
{
    mr__bad *bad = &l->bad;
    bad->policy = o->bad;
    bad->most = most_of(o, l->order.positions);
    bad->epoch = UINT64_MAX;
    mr__text_init(&bad->line, &l->hooks);
    int result = mr__mutex_init(&bad->mutex);
    bad->ready = result == 0;
    if (result != 0)
        return mr__fail(detail, result, "%s", mr_error_text(result));
    return o->quarantine != NULL ? open_file(bad, o->quarantine, detail) : 0;
}

void mr__bad_fini(mr_loader *l)
{
    mr__bad *bad = &l->bad;
    if (bad->file >= 0)
        close(bad->file);
    mr__text_fini(&bad->line);
    mr__free(&l->hooks, bad->listed);
    if (bad->ready)
        mr__mutex_fini(&bad->mutex);
}

/* Where an ordinal is in the table, or would be. */
static size_t find(const mr__bad *bad, uint64_t ordinal)
{
    size_t mask = bad->listed_capacity - 1, at = (size_t)(ordinal * UINT64_C(0x9e3779b97f4a7c15) >> 32) & mask;
    while (bad->listed[at] != UINT64_MAX && bad->listed[at] != ordinal)
        at = (at + 1) & mask;
    return at;
}

/* Room for one more; the table is at most half full. */
static bool reserve(mr__bad *bad, const mr_hooks *hooks)
{
    if (bad->listed_count < bad->listed_capacity / 2)
        return true;
    mr__bad larger = {.listed_capacity = bad->listed_capacity != 0 ? 2 * bad->listed_capacity : LISTED_FIRST};
    larger.listed = mr__alloc_array(hooks, larger.listed_capacity, sizeof *larger.listed);
    if (larger.listed == NULL)
        return false;
    memset(larger.listed, 0xff, larger.listed_capacity * sizeof *larger.listed);
    for (size_t i = 0; i < bad->listed_capacity; i++)
        if (bad->listed[i] != UINT64_MAX)
            larger.listed[find(&larger, bad->listed[i])] = bad->listed[i];
    mr__free(hooks, bad->listed);
    bad->listed = larger.listed;
    bad->listed_capacity = larger.listed_capacity;
    return true;
}

/* In one write where that can be, so that several processes can share the file. False: errno says why not. */
static bool write_line(int file, const char *text, size_t nbytes)
{
    while (nbytes != 0) {
        ssize_t some = write(file, text, nbytes);
        if (some < 0 && errno == EINTR)
            continue;
        if (some <= 0)
            return false;
        text += some;
        nbytes -= (size_t)some;
    }
    return true;
}

/* A line for a sample, once. The bad mutex is held. */
static void list(mr_loader *l, const mr__task *task)
{
    mr__bad *bad = &l->bad;
    mr_sample sample = {.struct_size = sizeof sample};
    const char *text;
    size_t nbytes;
    if (bad->file < 0)
        return;
    bool room = reserve(bad, &l->hooks);
    size_t at = room ? find(bad, task->ordinal) : 0;
    if (room && bad->listed[at] == task->ordinal)
        return;
    bool known = mr_dataset_sample(l->dataset, task->ordinal, &sample) == 0;
    mr__text_clear(&bad->line);
    mr__pack_quarantine_add(&bad->line, task->ordinal, known ? sample.key : "", known ? sample.key_nbytes : 0,
                            task->code, task->detail.text);
    if (!room || mr__text_finish(&bad->line, &text, &nbytes) != 0 || !write_line(bad->file, text, nbytes)) {
        bad->unlisted++;
        mr__log(&l->hooks, MR_LOG_ERROR, "the quarantine file cannot be written: %s", mr__errno_text(errno).text);
        return;
    }
    bad->listed[at] = task->ordinal;
    bad->listed_count++;
}

bool mr__bad_allow(mr_loader *l, uint64_t epoch, uint32_t count)
{
    mr__bad *bad = &l->bad;
    if (bad->epoch != epoch) {
        bad->epoch = epoch;
        bad->in_epoch = 0;
    }
    bad->in_epoch += count;
    return count == 0 || bad->in_epoch <= bad->most;
}

int mr__bad_refuse(const mr_loader *l, uint64_t epoch, mr__detail *detail)
{
    mr__detail last = *detail;
    return mr__fail(detail, MR_ELIMIT, "more than %llu bad sample%s in epoch %llu, such as: %.160s",
                    (unsigned long long)l->bad.most, l->bad.most == 1 ? "" : "s", (unsigned long long)epoch, last.text);
}

mr__verdict mr__bad_judge(mr_loader *l, const mr__task *task, bool guest)
{
    mr__bad *bad = &l->bad;
    if (task->code == MR_ECLOSED)
        return MR__VERDICT_GONE;
    if (task->code == MR_ENOMEM) // says nothing about the sample
        return MR__VERDICT_FAIL;
    bool again = bad->policy == MR_BAD_SKIP && task->attempt < ATTEMPTS;
    if (!guest) {
        mr__mutex_lock(&bad->mutex);
        list(l, task);
        bad->met += task->attempt == 0;
        bad->substitutes += again;
        mr__mutex_unlock(&bad->mutex);
    }
    return bad->policy == MR_BAD_FAIL ? MR__VERDICT_FAIL : again ? MR__VERDICT_AGAIN : MR__VERDICT_REPLACE;
}
