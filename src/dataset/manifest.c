// SPDX-License-Identifier: Apache-2.0
#include "dataset/manifest.h"

#include "base/hash.h"
#include <stdio.h>
#include <string.h>

enum { HELD_CLASSES, HELD_SAMPLES, HELD_FILES };

void mr__manifest_init(mr__manifest *m, const mr_hooks *hooks)
{
    *m = (mr__manifest){.hooks = hooks};
}

void mr__manifest_fini(mr__manifest *m)
{
    const mr_hooks *hooks = m->hooks;
    for (uint64_t i = 0; i < m->class_count; i++)
        mr__free(hooks, m->classes[i]);
    for (size_t i = 0; i < sizeof m->held / sizeof *m->held; i++)
        mr__buffer_fini(&m->held[i], hooks);
    mr__manifest_init(m, hooks);
}

int mr__manifest_add_class(mr__manifest *m, const char *name, size_t nbytes)
{
    size_t used = (size_t)m->class_count * sizeof(char *);
    if (m->class_count == MR__CLASS_MAX)
        return MR_ELIMIT;
    char *copy = mr__alloc(m->hooks, nbytes + 1);
    if (copy == NULL || mr__buffer_grow(&m->held[HELD_CLASSES], m->hooks, used, used + sizeof(char *)) != 0) {
        mr__free(m->hooks, copy);
        return MR_ENOMEM;
    }
    memcpy(copy, name, nbytes);
    copy[nbytes] = '\0';
    m->classes = (char **)(void *)m->held[HELD_CLASSES].bytes;
    m->classes[m->class_count++] = copy;
    return 0;
}

int mr__manifest_add_shard(mr__manifest *m, uint64_t samples, const mr__manifest_file *files)
{
    size_t n = m->shard_count, per = m->form_count * sizeof *files;
    if (n == MR__SHARD_MAX)
        return MR_ELIMIT;
    if (mr__buffer_grow(&m->held[HELD_SAMPLES], m->hooks, n * sizeof samples, (n + 1) * sizeof samples) != 0 ||
        mr__buffer_grow(&m->held[HELD_FILES], m->hooks, n * per, (n + 1) * per) != 0)
        return MR_ENOMEM;
    m->shard_samples = (uint64_t *)(void *)m->held[HELD_SAMPLES].bytes;
    m->files = (mr__manifest_file *)(void *)m->held[HELD_FILES].bytes;
    m->shard_samples[n] = samples;
    memcpy(&m->files[n * m->form_count], files, per);
    m->shard_count++;
    return 0;
}

int mr__shard_name(char *path, size_t nbytes, const char *folder, const char *form, uint64_t shard, const char *ending)
{
    return snprintf(path, nbytes, "%s/%s/%06llu.%s", folder, form, (unsigned long long)shard, ending);
}

static void put_number(mr__text *t, const char *name, uint64_t value)
{
    mr__text_addf(t, "\"%s\": %llu", name, (unsigned long long)value);
}

static void put_hash(mr__text *t, const char *name, uint64_t value)
{
    mr__text_addf(t, "\"%s\": \"%016llx\"", name, (unsigned long long)value);
}

static void put_form(mr__text *t, const mr__manifest_form *f)
{
    mr__text_addf(t, "{\"name\": \"%s\", \"form\": \"%s\", ", f->of.name,
                  f->of.form != MR_FORM_NONE ? mr_form_name(f->of.form) : "any");
    if (f->of.max_side != 0)
        mr__text_addf(t, "\"max_side\": %u, ", f->of.max_side);
    if (f->of.short_side != 0)
        mr__text_addf(t, "\"short_side\": %u, ", f->of.short_side);
    if (f->filter[0] != '\0')
        mr__text_addf(t, "\"filter\": \"%s\", \"pillow\": %u, ", f->filter, f->pillow);
    put_number(t, "alignment", f->alignment);
    mr__text_add_z(t, ", ");
    put_number(t, "samples", f->of.samples);
    mr__text_add_z(t, ", ");
    put_number(t, "nbytes", f->of.nbytes);
    mr__text_add_z(t, "}");
}

static void put_file(mr__text *t, const mr__manifest_file *f)
{
    mr__text_add_z(t, "{");
    put_number(t, "nbytes", f->nbytes);
    mr__text_add_z(t, ", ");
    put_hash(t, "hash", f->hash);
    mr__text_add_z(t, ", ");
    put_number(t, "index_nbytes", f->index_nbytes);
    mr__text_add_z(t, ", ");
    put_hash(t, "index_hash", f->index_hash);
    mr__text_add_z(t, "}");
}

static void put_shard(mr__text *t, const mr__manifest *m, size_t n)
{
    mr__text_add_z(t, "{");
    put_number(t, "samples", m->shard_samples[n]);
    mr__text_add_z(t, ", \"files\": [");
    for (uint32_t f = 0; f < m->form_count; f++) {
        if (f != 0)
            mr__text_add_z(t, ", ");
        put_file(t, &m->files[n * m->form_count + f]);
    }
    mr__text_add_z(t, "]}");
}

static void put_head(mr__text *t, const mr__manifest *m)
{
    mr__text_addf(t, "{\n\"format\": \"millrace-%s\",\n\"version\": %d,\n\"required\": [],\n\"ignorable\": [],\n",
                  m->parts != 0 ? "part" : "dataset", MR__MANIFEST_VERSION);
    if (m->parts != 0)
        mr__text_addf(t, "\"part\": %u,\n\"parts\": %u,\n\"first_shard\": %llu,\n\"shard_count\": %llu,\n", m->part,
                      m->parts, (unsigned long long)m->first_shard, (unsigned long long)m->total_shards);
    put_number(t, "samples", m->samples);
    mr__text_add_z(t, ",\n");
    put_number(t, "refused", m->refused);
    mr__text_add_z(t, ",\n");
    put_hash(t, "plan", m->plan);
    mr__text_addf(t, ",\n\"source\": {\"layout\": \"%s\", ", mr_layout_name(m->source_layout));
    put_hash(t, "fingerprint", m->source_fingerprint);
    mr__text_add_z(t, "},\n");
    put_hash(t, "fingerprint", m->fingerprint);
    mr__text_add_z(t, ",\n");
}

/* Between the elements of an array, each on its line. */
static void put_comma(mr__text *t, uint64_t number)
{
    mr__text_add_z(t, number != 0 ? ",\n" : "\n");
}

void mr__manifest_write(const mr__manifest *m, mr__text *t)
{
    put_head(t, m);
    mr__text_add_z(t, "\"forms\": [");
    for (uint32_t i = 0; i < m->form_count; i++) {
        put_comma(t, i);
        put_form(t, &m->forms[i]);
    }
    mr__text_add_z(t, "\n],\n\"classes\": [");
    for (uint64_t i = 0; i < m->class_count; i++) {
        put_comma(t, i);
        mr__text_add_json(t, m->classes[i], strlen(m->classes[i]));
    }
    mr__text_add_z(t, "\n],\n");
    if (m->has_quarantine) {
        mr__text_add_z(t, "\"quarantine\": {");
        put_number(t, "nbytes", m->quarantine_nbytes);
        mr__text_add_z(t, ", ");
        put_hash(t, "hash", m->quarantine_hash);
        mr__text_add_z(t, "},\n");
    }
    mr__text_add_z(t, "\"shards\": [");
    for (size_t i = 0; i < m->shard_count; i++) {
        put_comma(t, i);
        put_shard(t, m, i);
    }
    mr__text_add_z(t, "\n],\n");
    if (t->code == 0) {
        put_hash(t, "hash", mr__hash(t->buffer.bytes, t->nbytes));
        mr__text_add_z(t, "\n}\n");
    }
}
