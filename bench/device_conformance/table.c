// SPDX-License-Identifier: Apache-2.0
#include "conformance.h"

#include "base/hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOLD_MAX = 20 }; /* differences that are told of one by one */

void give_up(const char *what, const char *why)
{
    fprintf(stderr, "device-conformance: %s: %s\n", what, why);
    exit(2);
}

void table_head(session *s, const char *what)
{
    printf("\n| %s | cases | %s |", what, s->backends[0].name);
    for (size_t i = 1; i < s->count; i++)
        printf(" %s |", s->backends[i].name);
    printf("\n| --- | ---: | --- |");
    for (size_t i = 1; i < s->count; i++)
        printf(" --- |");
    printf("\n");
}

bool row_begin(session *s, const char *name)
{
    if (s->only != NULL && strstr(name, s->only) == NULL)
        return false;
    (void)snprintf(s->row, sizeof s->row, "%s", name);
    s->cases = 0;
    for (size_t i = 0; i < s->count; i++) {
        backend *b = &s->backends[i];
        b->hash = 0;
        b->made = b->left = b->different = 0;
    }
    return true;
}

static void tell(session *s, const backend *b, const char *label, int code, const mr__detail *detail)
{
    if (s->told++ >= TOLD_MAX)
        return;
    if (code != 0)
        fprintf(stderr, "%s: %s on %s: %s (%s)\n", s->row, label, b->name, detail->text, mr_error_text(code));
    else
        fprintf(stderr, "%s: %s on %s is not what the host makes of it\n", s->row, label, b->name);
}

static void add_to(backend *b, uint64_t hash)
{
    b->hash = mr__hash_seeded(&hash, sizeof hash, b->hash);
}

void row_try(session *s, make_case *make, const void *what, const char *label)
{
    uint64_t right = 0;
    mr__detail detail = {0};
    if (make(&s->backends[0], what, &right, &detail) != 0) {
        (void)snprintf(s->why, sizeof s->why, "%s: %s", label, detail.text);
        return;
    }
    add_to(&s->backends[0], right);
    s->cases++;
    for (size_t i = 1; i < s->count; i++) {
        backend *b = &s->backends[i];
        uint64_t hash = right;
        bool spared = s->spare && b->slow;
        detail = (mr__detail){0};
        int code = spared ? MR_EUNSUPPORTED : make(b, what, &hash, &detail);
        hash ^= s->spoil && i + 1 == s->count;
        if (code == MR_EUNSUPPORTED) {
            hash = right;
            b->left += !spared;
        } else {
            b->made++;
            if (code != 0 || hash != right) {
                b->different++;
                tell(s, b, label, code, &detail);
            }
        }
        add_to(b, code == 0 || code == MR_EUNSUPPORTED ? hash : ~right);
    }
}

/* "=": all cases, the same; "= 30": so many of them; "host": there is no kernel for it. */
static void print_cell(const session *s, const backend *b)
{
    if (b->different != 0)
        printf(" **%016" PRIx64 "**, %u differ |", b->hash, b->different);
    else if (b->made == 0)
        printf(b->left != 0 ? " host |" : " |");
    else if (b->made == s->cases)
        printf(" = |");
    else
        printf(" = %u |", b->made);
}

void row_end(session *s)
{
    printf("| %s | %u | %016" PRIx64 " |", s->row, s->cases, s->backends[0].hash);
    for (size_t i = 1; i < s->count; i++) {
        const backend *b = &s->backends[i];
        print_cell(s, b);
        s->all_left += b->left;
        s->all_different += b->different;
        s->all_cases += b->made;
    }
    if (s->cases == 0) {
        fprintf(stderr, "%s: the host refuses all cases: %s\n", s->row, s->why);
        s->all_different++;
    }
    printf("\n");
    (void)fflush(stdout);
    s->rows++;
}
