// SPDX-License-Identifier: Apache-2.0
/* Names with braces, by a table and, where it is there, beside bash itself. */
#include "test.h"

#include "dataset/braces.h"

#include <millrace/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static mr_hooks hooks;

static int setup(void **state)
{
    (void)state;
    return mr__hooks_init(&hooks, NULL);
}

/* The names with a space between, and one before the first, on the heap. */
static char *expand(const char *text)
{
    mr__names names = {.count = 0};
    mr__detail detail = {""};
    char *all;
    size_t nbytes, count = 0;
    if (mr__names_expand(&names, &hooks, text, &detail) != 0)
        fail_msg("%s", detail.text);
    FILE *to = open_memstream(&all, &nbytes);
    for (const char *name = NULL; (name = mr__names_next(&names, name)) != NULL; count++)
        fprintf(to, " %s", name);
    fclose(to);
    assert_int_equal(count, names.count);
    mr__names_fini(&names, &hooks);
    return all;
}

static void expansions_are_those_of_bash(void **state)
{
    (void)state;
    static const struct {
        const char *text, *names;
    } cases[] = {
        {"a.tar", " a.tar"},
        {"x-{000..003}.tar", " x-000.tar x-001.tar x-002.tar x-003.tar"},
        {"{9..11}", " 9 10 11"},
        {"{09..11}", " 09 10 11"},
        {"{9..011}", " 009 010 011"},
        {"{3..1}", " 3 2 1"},
        {"{0..10..4}", " 0 4 8"},
        {"{10..0..4}", " 10 6 2"},
        {"{0..10..-4}", " 0 4 8"},
        {"{1..3..0}", " 1 2 3"},
        {"{-1..1}", " -1 0 1"},
        {"{-01..1}", " -01 000 001"},
        {"{+1..3}", " 1 2 3"},
        {"{a..e..2}", " a c e"},
        {"{C..A}", " C B A"},
        {"{a,b}.tar", " a.tar b.tar"},
        {"{a,b}{1..2}", " a1 a2 b1 b2"},
        {"{train-{0..1},val}.tar", " train-0.tar train-1.tar val.tar"},
        {"x{,y}", " x xy"},
        {"{a}", " {a}"},
        {"{a{1,2}}", " {a1} {a2}"},
        {"{a..1}", " {a..1}"},
        {"{1..}", " {1..}"},
        {"{..1}", " {..1}"},
        {"{1..2..}", " {1..2..}"},
        {"{1..2..3..4}", " {1..2..3..4}"},
        {"{1.5..3}", " {1.5..3}"},
        {"{1..99999999999999999999}", " {1..99999999999999999999}"},
        {"{9223372036854775806..9223372036854775807}", " 9223372036854775806 9223372036854775807"},
        {"a{b", " a{b"},
        {"a}b{1,2}", " a}b1 a}b2"},
        {"{a}b,c}", " a}b c"},
        {"{{1,2}", " {1 {2"},
        {"{},x}", " {},x}"},
        {"\\{a,b\\}", " {a,b}"},
        {"{a\\,b,c}", " a,b c"},
        {"{a\\{,b}", " a{ b"},
        {"a\\\\{1,2}", " a\\1 a\\2"},
        {"a\\b", " a\\b"}, /* bash has no backslash there; names may */
        {"a\\", " a\\"},
        {"", " "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *names = expand(cases[i].text);
        assert_string_equal(names, cases[i].names);
        free(names);
    }
}

static uint32_t draw(uint64_t *seed, uint32_t n)
{
    *seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(*seed >> 33) % n;
}

enum { WORDS = 3000, WORD_NBYTES = 128 };

/* Made of the parts that matter, in any order. */
static void make_word(uint64_t *seed, char word[WORD_NBYTES])
{
    static const char *const parts[] = {"{", "}", ",", "..", "0",      "1",     "2",   "a",   "c",  "-",
                                        "{", "}", ",", "..", "{1..3}", "{a,b}", "\\{", "\\,", "07", "\\}"};
    size_t used = 0;
    for (uint32_t n = 1 + draw(seed, 11); n != 0; n--)
        used += (size_t)snprintf(word + used, WORD_NBYTES - used, "%s", parts[draw(seed, 20)]);
}

/* What bash says, a line a word, with a space before each name. It leaves out empty names: an x behind keeps them. */
static FILE *ask_bash(char (*words)[WORD_NBYTES])
{
    static char path[] = "/tmp/millrace-braces-XXXXXX";
    char command[128];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    FILE *script = fdopen(fd, "w");
    fprintf(script, "set -f\n");
    for (int i = 0; i < WORDS; i++)
        fprintf(script, "printf ' %%s' %sx; echo\n", words[i]);
    fclose(script);
    snprintf(command, sizeof command, "LC_ALL=C bash %s; rm %s", path, path);
    return popen(command, "r");
}

static void random_words_are_as_in_bash(void **state)
{
    (void)state;
    if (system("bash --version >/dev/null 2>&1") != 0) {
        print_message("no bash: its answers are not compared\n");
        skip();
    }
    char(*words)[WORD_NBYTES] = calloc(WORDS, WORD_NBYTES);
    uint64_t seed = 1;
    for (int i = 0; i < WORDS; i++)
        do
            make_word(&seed, words[i]);
        while (words[i][0] == '-');
    FILE *bash = ask_bash(words);
    char *line = NULL;
    size_t capacity = 0;
    for (int i = 0; i < WORDS; i++) {
        char word[WORD_NBYTES + 1];
        snprintf(word, sizeof word, "%sx", words[i]);
        assert_true(getline(&line, &capacity, bash) > 0);
        line[strcspn(line, "\n")] = '\0';
        char *names = expand(word);
        if (strcmp(names, line) != 0)
            fail_msg("%s is%.200s, in bash%.200s", word, names, line);
        free(names);
    }
    assert_int_equal(pclose(bash), 0);
    free(line);
    free(words);
}

static void expect_failure(const char *text, int code, const char *word)
{
    mr__names names = {.count = 0};
    mr__detail detail = {""};
    assert_int_equal(mr__names_expand(&names, &hooks, "first{1,2}", &detail), 0);
    size_t nbytes = names.nbytes;
    assert_int_equal(mr__names_expand(&names, &hooks, text, &detail), code);
    assert_contains(detail.text, word);
    assert_int_equal(names.count, 2);
    assert_int_equal(names.nbytes, nbytes);
    assert_string_equal(mr__names_next(&names, mr__names_next(&names, NULL)), "first2");
    mr__names_fini(&names, &hooks);
}

static void there_are_limits(void **state)
{
    (void)state;
    char text[5000];
    mr__names names = {.count = 0};
    mr__detail detail = {""};
    assert_int_equal(mr__names_expand(&names, &hooks, "{1..65536}", &detail), 0);
    assert_int_equal(names.count, 65536);
    assert_int_equal(mr__names_expand(&names, &hooks, "a", &detail), MR_ELIMIT);
    mr__names_fini(&names, &hooks);
    assert_int_equal(mr__names_expand(&names, &hooks, "{0..255}{0..255}", &detail), 0);
    assert_int_equal(names.count, 65536);
    mr__names_fini(&names, &hooks);
    expect_failure("x{1..65537}", MR_ELIMIT, "x{1..65537} stands for more than 65536 names");
    expect_failure("{1..9223372036854775807}", MR_ELIMIT, "more than 65536 names");
    expect_failure("{-9223372036854775807..9223372036854775807}", MR_ELIMIT, "more than 65536 names");
    expect_failure("{1..300}{1..300}", MR_ELIMIT, "more than 65536 names");
    memset(text, 'x', sizeof text);
    text[4097] = '\0';
    expect_failure(text, MR_ELIMIT, "a name of 4097 bytes");
    text[4096] = '\0';
    memcpy(text, "{1..20000}", 10);
    expect_failure(text, MR_ELIMIT, "more than 64 MiB");
    memset(text, '{', 1000);
    memcpy(text + 1000, ",1", 3);
    for (size_t i = 1002; i < 3900; i += 3)
        memcpy(text + i, "},2", 4);
    expect_failure(text, MR_ELIMIT, "braces more than 32 deep");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expansions_are_those_of_bash),
        cmocka_unit_test(random_words_are_as_in_bash),
        cmocka_unit_test(there_are_limits),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
