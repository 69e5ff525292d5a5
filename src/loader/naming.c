// SPDX-License-Identifier: Apache-2.0
#include "loader/naming.h"

#include "base/log.h"
#include <stdio.h>
#include <string.h>

enum { WORD_NBYTES = 64, FOUND_MAX = 64 };

static const char AUTO[] = "auto", SIM[] = "sim";

/* One name of a list, without blanks around it. */
typedef struct word {
    char text[WORD_NBYTES];
    size_t name_nbytes; /* before a colon */
    bool whole;         /* there was room for all of it */
} word;

static word word_of(const char *text, size_t nbytes)
{
    word w = {0};
    for (; nbytes != 0 && *text == ' '; nbytes--)
        text++;
    while (nbytes != 0 && text[nbytes - 1] == ' ')
        nbytes--;
    w.whole = nbytes < sizeof w.text;
    memcpy(w.text, text, w.whole ? nbytes : sizeof w.text - 1);
    w.name_nbytes = strcspn(w.text, ":");
    return w;
}

static bool is_named(const word *w, const char *name)
{
    return strlen(name) == w->name_nbytes && memcmp(w->text, name, w->name_nbytes) == 0;
}

static const mr__device_type *type_of(const word *w, const mr__device_type *const *types)
{
    for (; *types != NULL; types++)
        if (is_named(w, (*types)->name))
            return *types;
    return NULL;
}

/* 1. What is said of names that are none. */

/* Letters to be put in, taken out or replaced, to make one of the other. */
static size_t letters_between(const char *a, size_t a_nbytes, const char *b)
{
    size_t row[WORD_NBYTES], b_nbytes = strlen(b);
    if (b_nbytes >= WORD_NBYTES)
        return SIZE_MAX;
    for (size_t j = 0; j <= b_nbytes; j++)
        row[j] = j;
    for (size_t i = 0; i < a_nbytes; i++) {
        size_t corner = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < b_nbytes; j++) {
            char letter = a[i] >= 'A' && a[i] <= 'Z' ? (char)(a[i] - 'A' + 'a') : a[i];
            size_t replaced = corner + (letter != b[j]), other = row[j] < row[j + 1] ? row[j] + 1 : row[j + 1] + 1;
            corner = row[j + 1];
            row[j + 1] = replaced < other ? replaced : other;
        }
    }
    return row[b_nbytes];
}

/* What others call it; NULL: nobody does. */
static const char *meant_by(const word *w, const mr__device_type *const *types)
{
    static const char *const meant[][2] = {{"gpu", "opencl"}, {"cuda", "opencl"}, {"cl", "opencl"}, {"host", "cpu"}};
    for (size_t i = 0; i < sizeof meant / sizeof *meant; i++)
        for (size_t k = 0; types[k] != NULL; k++)
            if (is_named(w, meant[i][0]) && strcmp(types[k]->name, meant[i][1]) == 0)
                return types[k]->name;
    return NULL;
}

/* NULL: it is like none of them. */
static const char *nearest_of(const word *w, const mr__device_type *const *types)
{
    const char *nearest = AUTO, *meant = meant_by(w, types);
    if (meant != NULL)
        return meant;
    size_t least = letters_between(w->text, w->name_nbytes, AUTO);
    for (; *types != NULL; types++) {
        size_t its = letters_between(w->text, w->name_nbytes, (*types)->name);
        if (its < least) {
            least = its;
            nearest = (*types)->name;
        }
    }
    return 2 * least <= strlen(nearest) ? nearest : NULL;
}

static int fail_unknown(const word *w, const mr__device_type *const *types, mr__detail *detail)
{
    char all[120] = "";
    size_t at = 0;
    const char *nearest = nearest_of(w, types);
    if (nearest != NULL)
        return mr__fail(detail, MR_EARGUMENT, "there is no device \"%s\": do you mean %s%s?", w->text, nearest,
                        w->text[w->name_nbytes] != '\0' && strcmp(nearest, AUTO) != 0 ? w->text + w->name_nbytes : "");
    for (; *types != NULL && at < sizeof all; types++)
        at += (size_t)snprintf(all + at, sizeof all - at, ", %s%s", (*types)->name,
                               (*types)->list != NULL      ? "[:N]"
                               : *types == &mr__device_sim ? "[:FILE]"
                                                           : "");
    return mr__fail(detail, MR_EARGUMENT, "there is no device \"%s\": %s%s, or several of them with commas between",
                    w->text, AUTO, all);
}

/* 2. From text to names. */

static int read_number(const word *w, uint32_t *number, mr__detail *detail)
{
    const char *digits = w->text + w->name_nbytes + 1;
    uint64_t value = 0;
    bool fits = *digits != '\0';
    for (const char *c = digits; *c != '\0' && fits; c++) {
        fits = *c >= '0' && *c <= '9' && value < 1000;
        value = 10 * value + (uint64_t)(*c - '0');
    }
    if (!fits)
        return mr__fail(detail, MR_EARGUMENT, "the device \"%s\": behind the colon stands its number, from 0 on",
                        w->text);
    *number = (uint32_t)value;
    return 0;
}

static void name_it(mr__device_name *name)
{
    if (name->type->list != NULL)
        snprintf(name->text, sizeof name->text, "%.20s:%u", name->type->name, name->number);
    else
        snprintf(name->text, sizeof name->text, "%.20s", name->type->name);
}

static bool is_same(const mr__device_name *a, const mr__device_name *b)
{
    return a->type == b->type && a->any == b->any && (a->any || a->number == b->number);
}

/* The host goes to the front. */
static int add_name(mr__device_names *names, mr__device_name name, mr__detail *detail)
{
    for (uint32_t i = 0; i < names->count; i++)
        if (is_same(&names->at[i], &name))
            return mr__fail(detail, MR_EARGUMENT, "the device %s is named twice", names->at[i].text);
    if (names->count == MR_DEVICES_MAX)
        return mr__fail(detail, MR_EARGUMENT, "more than %d devices are named", MR_DEVICES_MAX);
    bool first = name.type == &mr__device_cpu;
    for (uint32_t i = names->count++; first && i != 0; i--)
        names->at[i] = names->at[i - 1];
    names->at[first ? 0 : names->count - 1] = name;
    return 0;
}

static int read_word(const word *w, const mr__device_type *const *types, bool alone, mr__device_names *names,
                     mr__detail *detail)
{
    mr__device_name name = {.type = type_of(w, types)};
    bool colon = w->text[w->name_nbytes] != '\0';
    if (w->text[0] == '\0')
        return mr__fail(detail, MR_EARGUMENT, "%s",
                        alone ? "the device has no name: cpu is the host" : "a device of the list has no name");
    if (is_named(w, AUTO) && !colon)
        return mr__fail(detail, MR_EARGUMENT,
                        "auto is the host with every accelerator: it is named alone, or devices are, without it");
    if (name.type == &mr__device_sim && !alone)
        return mr__fail(detail, MR_EARGUMENT,
                        "\"%s\" in a list: what is simulated has devices and a time of its own, and is named alone",
                        w->text);
    if (name.type == NULL || !w->whole)
        return fail_unknown(w, types, detail);
    if (colon && name.type->list == NULL)
        return mr__fail(detail, MR_EARGUMENT, "the device \"%s\": there is one %s, and it has no number", w->text,
                        name.type->name);
    int result = colon ? read_number(w, &name.number, detail) : 0;
    name.any = !colon && name.type->list != NULL;
    if (name.any)
        snprintf(name.text, sizeof name.text, "%.20s", name.type->name);
    else
        name_it(&name);
    return result == 0 ? add_name(names, name, detail) : result;
}

static bool begins_with_sim(const char *text)
{
    return strncmp(text, SIM, strlen(SIM)) == 0 && text[strlen(SIM)] == ':';
}

/* A file may have a comma in its name: but not with a device behind the last one. */
static bool is_listed(const char *text, const mr__device_type *const *types)
{
    const char *comma = strrchr(text, ',');
    word last = word_of(comma != NULL ? comma + 1 : "", comma != NULL ? strlen(comma + 1) : 0);
    return type_of(&last, types) != NULL || is_named(&last, AUTO);
}

int mr__names_read(const char *text, const mr__device_type *const *types, mr__device_names *names, mr__detail *detail)
{
    int result = 0;
    *names = (mr__device_names){0};
    text = text != NULL ? text : mr__device_cpu.name;
    if (begins_with_sim(text) && !is_listed(text, types)) {
        names->machine = text + strlen(SIM) + 1;
        return 0;
    }
    word all = word_of(text, strlen(text));
    names->automatic = strcmp(all.text, AUTO) == 0;
    if (names->automatic)
        text = mr__device_cpu.name;
    bool alone = strchr(text, ',') == NULL;
    while (text != NULL && result == 0) {
        size_t nbytes = strcspn(text, ",");
        word w = word_of(text, nbytes);
        result = read_word(&w, types, alone, names, detail);
        text = text[nbytes] != '\0' ? text + nbytes + 1 : NULL;
    }
    return result;
}

/* 3. Which of those that are here. */

static int find_any(mr__device_name *name, const mr_hooks *hooks, mr__detail *detail)
{
    mr__device_found found[FOUND_MAX];
    size_t count = 0;
    const mr__device_found *best = NULL;
    int result = name->type->list(hooks, found, FOUND_MAX, &count, detail);
    if (result != 0)
        return result;
    for (size_t i = count; i-- != 0;)
        if (found[i].usable && (best == NULL || !found[i].is_host || best->is_host))
            best = &found[i];
    if (best == NULL)
        return mr__fail(detail, MR_EUNSUPPORTED,
                        "of the %zu %s device%s here none can be used: millrace devices says why", count,
                        name->type->name, count == 1 ? "" : "s");
    name->any = false;
    name->number = best->number;
    name_it(name);
    return 0;
}

/* All that are worth it. That there are none is no failure. */
static void find_all(mr__device_names *names, const mr__device_type *type, const mr_hooks *hooks)
{
    mr__device_found found[FOUND_MAX];
    size_t count = 0;
    mr__detail detail = {0};
    if (type->list(hooks, found, FOUND_MAX, &count, &detail) != 0) {
        mr__log(hooks, MR_LOG_INFO, "no %s devices: %s", type->name, detail.text);
        return;
    }
    for (size_t i = 0; i < count && names->count < MR_DEVICES_MAX; i++)
        if (found[i].usable && !found[i].is_host) {
            mr__device_name *name = &names->at[names->count++];
            *name = (mr__device_name){.type = type, .number = found[i].number};
            name_it(name);
        }
}

bool mr__names_have_host(const mr__device_names *names)
{
    return names->count != 0 && names->at[0].type->list == NULL;
}

void mr__names_leave_out(mr__device_names *names, const mr_hooks *hooks, const char *why)
{
    char *text = names->left_out.text;
    size_t length = strlen(text);
    snprintf(text + length, sizeof names->left_out.text - length, "%s%s", length != 0 ? "; " : "", why);
    mr__log(hooks, MR_LOG_WARNING, "%s: it is left out", why);
}

static void leave_out(mr__device_names *names, uint32_t number, const mr_hooks *hooks, const mr__detail *detail)
{
    mr__detail why = {0};
    (void)mr__fail(&why, MR_EUNSUPPORTED, "the device %s: %.200s", names->at[number].text, detail->text);
    mr__names_leave_out(names, hooks, why.text);
    for (names->count--; number < names->count; number++)
        names->at[number] = names->at[number + 1];
}

int mr__names_find(mr__device_names *names, const mr__device_type *const *types, const mr_hooks *hooks,
                   mr__detail *detail)
{
    for (; names->automatic && *types != NULL; types++)
        if ((*types)->list != NULL)
            find_all(names, *types, hooks);
    for (uint32_t i = 0; i < names->count;) {
        mr__device_name *name = &names->at[i];
        int result = name->any ? find_any(name, hooks, detail) : 0;
        if (result != 0 && (i == 0 || !mr__names_have_host(names)))
            return result;
        if (result != 0)
            leave_out(names, i, hooks, detail);
        else
            i++;
    }
    for (uint32_t i = 1; i < names->count; i++)
        for (uint32_t k = 0; k < i; k++)
            if (is_same(&names->at[i], &names->at[k]))
                return mr__fail(detail, MR_EARGUMENT, "the device %s is named twice: once without its number",
                                names->at[i].text);
    return 0;
}
