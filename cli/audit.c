// SPDX-License-Identifier: Apache-2.0
#include "audit.h"
#include "progress.h"
#include "quantity.h"
#include "text.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct audit {
    const settings *s;
    const char *folder;
    json *j;
    progress progress;
} audit;

static void put_object(json *j, const mr_finding *f)
{
    json_line(j);
    json_open(j, NULL, '{');
    json_text(j, "code", mr_error_name(f->code));
    json_named(j, "file", f->path != NULL ? f->path : "");
    if (f->form != NULL)
        json_text(j, "form", f->form);
    if (f->ordinal != UINT64_MAX)
        json_number(j, "ordinal", f->ordinal);
    if (f->key != NULL)
        json_named(j, "key", f->key);
    if (f->ordinal != UINT64_MAX)
        json_text(j, "survivors", f->survivors != NULL ? f->survivors : "");
    json_text(j, "text", f->text);
    json_close(j, '}');
}

/* One line: where, which sample, what, and what is left of it. */
static void put_line(const mr_finding *f)
{
    if (f->ordinal == UINT64_MAX)
        complain(f->path, "%s", f->text);
    else if (f->survivors != NULL && f->survivors[0] != '\0')
        complain(f->path, "sample %s (#%" PRIu64 "), form %s: %s; whole as %s", f->key != NULL ? f->key : "",
                 f->ordinal, f->form != NULL ? f->form : "", f->text, f->survivors);
    else
        complain(f->path, "sample %s (#%" PRIu64 "), form %s: %s; whole in no other form", f->key != NULL ? f->key : "",
                 f->ordinal, f->form != NULL ? f->form : "", f->text);
}

static void found(void *user, const mr_finding *f)
{
    audit *a = user;
    progress_pause(&a->progress);
    if (a->j != NULL)
        put_object(a->j, f);
    else
        put_line(f);
    progress_resume(&a->progress);
}

/* What is to be done now. */
static void advise(const audit *a, const mr_verify_report *r)
{
    uint64_t saved = r->damaged_samples - r->lost_samples;
    if (r->lost_samples != 0)
        printf("  %s sample%s lost in every form: pack the dataset again from its source, or take these shards from a "
               "copy\n",
               count_text(r->lost_samples).text, r->lost_samples == 1 ? " is" : "s are");
    if (saved != 0)
        printf("  %s damaged sample%s whole in another form: millrace cat and unpack read it with --form\n",
               count_text(saved).text, saved == 1 ? " is" : "s are");
    if (r->findings != 0 && r->damaged_samples == 0)
        puts("  no sample is damaged, but the dataset's own files are: take these files from a copy, or pack again");
    (void)a;
}

static void put(const audit *a, const mr_verify_report *r)
{
    put_escaped(stdout, a->folder);
    printf(": %s file%s (%s), %s record%s: ", count_text(r->files).text, plural(r->files), bytes_text(r->nbytes).text,
           count_text(r->records).text, plural(r->records));
    if (r->findings == 0)
        fputs("all whole", stdout);
    else
        printf("%s finding%s, %s damaged sample%s", count_text(r->findings).text, plural(r->findings),
               count_text(r->damaged_samples).text, plural(r->damaged_samples));
    if (r->files_before != 0)
        printf("; %s file%s verified before, by the report", count_text(r->files_before).text, plural(r->files_before));
    putchar('\n');
    advise(a, r);
}

static void put_sums(json *j, const mr_verify_report *r)
{
    json_number(j, "files", r->files);
    json_number(j, "files_before", r->files_before);
    json_number(j, "nbytes", r->nbytes);
    json_number(j, "records", r->records);
    json_number(j, "damaged_samples", r->damaged_samples);
    json_number(j, "lost_samples", r->lost_samples);
}

static int verify(audit *a)
{
    char detail[1024] = "";
    mr_verify_report report = {.struct_size = sizeof report};
    mr_verify_options options = {.struct_size = sizeof options,
                                 .threads = a->s->threads,
                                 .report = a->s->report,
                                 .found = found,
                                 .found_user = a,
                                 .progress = progress_hook,
                                 .progress_user = &a->progress};
    if (a->j != NULL)
        json_open(a->j, "findings", '[');
    int result = mr_dataset_verify(a->folder, &options, &report, detail, sizeof detail);
    progress_finish(&a->progress);
    if (a->j != NULL)
        json_close(a->j, ']');
    if (result == 0 && a->j != NULL)
        put_sums(a->j, &report);
    else if (result == 0)
        put(a, &report);
    else if (a->j != NULL)
        json_error(a->j, result, detail[0] != '\0' ? detail : mr_error_text(result));
    if (result == MR_ECLOSED && progress_is_stopped(&a->progress))
        complain(NULL, "verify: stopped; %s",
                 a->s->report != NULL ? "the same command goes on where it stopped"
                                      : "with --report=FILE the same command would go on where it stopped");
    else if (result != 0)
        complain(detail[0] != '\0' ? NULL : a->folder, "%s", detail[0] != '\0' ? detail : mr_error_text(result));
    return result == 0 && report.findings == 0 ? EXIT_GOOD : EXIT_BAD_INPUT;
}

int audit_run(const settings *s, const char *folder, json *j)
{
    audit a = {.s = s, .folder = folder, .j = j};
    progress_init(&a.progress, s->progress);
    progress_hold(&a.progress);
    if (j != NULL) {
        json_line(j);
        json_open(j, NULL, '{');
        json_name(j, folder);
    }
    int result = verify(&a);
    if (j != NULL)
        json_close(j, '}');
    progress_fini(&a.progress);
    return result;
}

/* "part-2-of-8.json" */
static bool is_part_name(const char *name)
{
    return strncmp(name, "part-", 5) == 0 && strstr(name, "-of-") != NULL && ending_of(name) != NULL &&
           strcmp(ending_of(name), "json") == 0;
}

const char *audit_unfinished(const char *folder)
{
    bool begun = false, part = false; /* a finished part may have both files, in any order */
    DIR *entries = opendir(folder);
    for (struct dirent *e; entries != NULL && (e = readdir(entries)) != NULL;) {
        begun = begun || strcmp(e->d_name, "pack.json") == 0;
        part = part || is_part_name(e->d_name);
    }
    if (entries != NULL)
        closedir(entries);
    if (part)
        return "is a part of a packed dataset: millrace merge joins the parts, checks them, and makes a dataset of all";
    return begun ? "is not packed to its end: the same millrace pack goes on, and verify can check it then" : NULL;
}
