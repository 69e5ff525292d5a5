// SPDX-License-Identifier: Apache-2.0
/*
 * Any bytes as a dataset.json: it is read, or there is an error with words. What was read can be looked at everywhere,
 * and written down and read again it is the same bytes. Half of the time the hash at its end is made right first.
 */
#include "check.h"

#include "base/hash.h"
#include "dataset/manifest.h"

#include <stdio.h>
#include <string.h>

enum { TAIL_NBYTES = 29 }; /* "hash": "0123456789abcdef"\n}\n */

/* A copy of its very size; with `mended`, what stands where the last lines should is overwritten by the right ones. */
static char *copy_of(const uint8_t *bytes, size_t nbytes, bool mended)
{
    char *copy = malloc(nbytes != 0 ? nbytes : 1), tail[TAIL_NBYTES + 1];
    FUZZ_REQUIRE(copy != NULL, "no memory");
    if (nbytes != 0)
        memcpy(copy, bytes, nbytes);
    if (mended && nbytes >= TAIL_NBYTES) {
        snprintf(tail, sizeof tail, "\"hash\": \"%016llx\"\n}\n",
                 (unsigned long long)mr__hash(copy, nbytes - TAIL_NBYTES));
        memcpy(copy + nbytes - TAIL_NBYTES, tail, TAIL_NBYTES);
    }
    return copy;
}

/* Looks at all there is, so that a sanitizer sees what is not. */
static void look(const mr__manifest *m)
{
    uint64_t samples = 0, sum = 0;
    FUZZ_REQUIRE(m->form_count >= 1 && m->form_count <= MR__FORM_MAX, "%u forms", m->form_count);
    FUZZ_REQUIRE(m->shard_count <= MR__SHARD_MAX, "%zu shards", m->shard_count);
    for (uint32_t f = 0; f < m->form_count; f++) {
        const mr__manifest_form *form = &m->forms[f];
        FUZZ_REQUIRE(memchr(form->of.name, 0, sizeof form->of.name) != NULL, "a name without its end");
        FUZZ_REQUIRE(form->of.name[0] != '\0' && strpbrk(form->of.name, "/.") == NULL, "a name that leads elsewhere");
        FUZZ_REQUIRE(form->alignment == 512 || form->alignment == 4096, "alignment %u", form->alignment);
    }
    for (size_t i = 0; i < m->shard_count; i++) {
        samples += m->shard_samples[i];
        for (uint32_t f = 0; f < m->form_count; f++)
            sum += m->files[i * m->form_count + f].nbytes ^ m->files[i * m->form_count + f].index_hash;
    }
    for (uint64_t i = 0; i < m->class_count; i++)
        sum += strlen(m->classes[i]);
    FUZZ_REQUIRE(samples == m->samples && m->refused <= samples, "%llu samples (%llu)", (unsigned long long)samples,
                 (unsigned long long)sum);
    FUZZ_REQUIRE(m->parts == 0 ? m->first_shard == 0 && m->total_shards == m->shard_count : m->part < m->parts,
                 "part %u of %u", m->part, m->parts);
    FUZZ_REQUIRE(m->first_shard + m->shard_count <= m->total_shards, "shards beyond the last");
}

/* Reads, and writes what was read into `to`; 0, or what either failed of. */
static int read_and_write(const mr_hooks *hooks, const char *text, size_t nbytes, mr__text *to)
{
    mr__manifest m;
    mr__detail detail;
    mr__detail_clear(&detail);
    mr__manifest_init(&m, hooks);
    int result = mr__manifest_read(&m, text, nbytes, "dataset.json", &detail);
    FUZZ_REQUIRE((result != 0) == (detail.text[0] != '\0'), "%d, and these words: '%s'", result, detail.text);
    if (result == 0) {
        look(&m);
        mr__manifest_write(&m, to);
        result = to->code;
    } else
        FUZZ_REQUIRE(m.class_count == 0 && m.shard_count == 0 && m.files == NULL, "something is left of a failure");
    mr__manifest_fini(&m);
    return result;
}

/* What reads is written, read and written again, the same. */
static int check(const mr_hooks *hooks, const char *text, size_t nbytes)
{
    mr__text once, twice;
    mr__text_init(&once, hooks);
    mr__text_init(&twice, hooks);
    int result = read_and_write(hooks, text, nbytes, &once);
    if (result == 0) {
        result = read_and_write(hooks, (const char *)once.buffer.bytes, once.nbytes, &twice);
        FUZZ_REQUIRE(result == 0 || result == MR_ENOMEM, "what was written is not read: %s", mr_error_name(result));
        FUZZ_REQUIRE(result != 0 || (once.nbytes == twice.nbytes &&
                                     memcmp(once.buffer.bytes, twice.buffer.bytes, once.nbytes) == 0),
                     "written twice it differs");
    }
    mr__text_fini(&once);
    mr__text_fini(&twice);
    return result;
}

static int check_with(fuzz_heap *heap, const char *text, size_t nbytes)
{
    mr_hooks given = fuzz_heap_hooks(heap), hooks;
    FUZZ_REQUIRE(mr__hooks_init(&hooks, &given) == 0, "hooks");
    int result = check(&hooks, text, nbytes);
    FUZZ_REQUIRE(heap->blocks == 0, "%lld blocks are left", (long long)heap->blocks);
    return result;
}

void fuzz_check_manifest(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes)
{
    (void)setting;
    (void)form;
    for (int mended = 0; mended < 2; mended++) {
        fuzz_heap heap = {.fill = 0x5a};
        char *copy = copy_of(bytes, nbytes, mended != 0);
        check_with(&heap, copy, nbytes);
        free(copy);
    }
}

void fuzz_check_manifest_failing(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes)
{
    (void)form;
    fuzz_heap calm = {.fill = 0x5a};
    fuzz_draw draw = fuzz_draw_init(setting, bytes, nbytes);
    char *copy = copy_of(bytes, nbytes, true);
    int wanted = check_with(&calm, copy, nbytes);
    uint64_t each = setting->every || calm.calls < 3 ? calm.calls : 3;
    for (uint64_t i = 1; i <= each; i++) {
        fuzz_heap heap = {.fill = 0xa5, .fail_on = fuzz_draw_below(&draw, 2) == 0};
        heap.fail_at = each == calm.calls ? i : 1 + fuzz_draw_u64(&draw) % calm.calls;
        int result = check_with(&heap, copy, nbytes);
        FUZZ_REQUIRE(result == MR_ENOMEM, "allocation %llu fails: %s, otherwise %s", (unsigned long long)heap.fail_at,
                     mr_error_name(result), mr_error_name(wanted));
    }
    free(copy);
}
