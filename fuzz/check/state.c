// SPDX-License-Identifier: Apache-2.0
/*
 * Any bytes as a loader's state: it is read, or there is an error with words and nothing was written. What was read can
 * be gone on from, and written down and read again it is the same.
 */
#include "check.h"

#include "loader/state.h"

#include <string.h>

static int read_state(mr__state *state, const char *text, size_t nbytes)
{
    mr__state before;
    mr__detail detail;
    mr__detail_clear(&detail);
    memset(state, 0x5a, sizeof *state);
    before = *state;
    int result = mr__state_read(state, text, nbytes, &detail);
    FUZZ_REQUIRE(result == 0 || result == MR_EARGUMENT, "%s", mr_error_name(result));
    FUZZ_REQUIRE((result != 0) == (detail.text[0] != '\0'), "%d, and these words: '%s'", result, detail.text);
    FUZZ_REQUIRE(result == 0 || memcmp(state, &before, sizeof before) == 0, "something is left of a failure");
    return result;
}

/* Of what reads: 0, or MR_ENOMEM. */
static int write_and_read(const mr_hooks *hooks, const mr__state *state)
{
    mr__text text;
    mr__state again;
    mr__detail detail;
    const char *string;
    size_t nbytes;
    mr__text_init(&text, hooks);
    mr__state_write(state, &text);
    int result = mr__text_finish(&text, &string, &nbytes);
    if (result == 0) {
        FUZZ_REQUIRE(read_state(&again, string, nbytes) == 0, "what was written is not read: %s", string);
        FUZZ_REQUIRE(memcmp(&again, state, sizeof again) == 0, "it is not what was written: %s", string);
        FUZZ_REQUIRE(mr__state_compare(&again, state, &detail) == 0, "%s", detail.text);
        FUZZ_REQUIRE(memchr(string, '\n', nbytes) == NULL, "more than a line: %s", string);
    }
    mr__text_fini(&text);
    return result;
}

static void check(const uint8_t *bytes, size_t nbytes, bool failing)
{
    mr__state state;
    char *copy = malloc(nbytes != 0 ? nbytes : 1); // of its very size
    FUZZ_REQUIRE(copy != NULL, "no memory");
    if (nbytes != 0)
        memcpy(copy, bytes, nbytes);
    for (uint64_t at = 0; read_state(&state, copy, nbytes) == 0 && at <= (failing ? 3 : 0); at++) {
        fuzz_heap heap = {.fill = 0x5a, .fail_at = at};
        mr_hooks given = fuzz_heap_hooks(&heap), hooks;
        FUZZ_REQUIRE(mr__hooks_init(&hooks, &given) == 0, "hooks");
        int result = write_and_read(&hooks, &state);
        FUZZ_REQUIRE(result == (at != 0 && heap.calls >= at ? MR_ENOMEM : 0), "%s", mr_error_name(result));
        FUZZ_REQUIRE(heap.blocks == 0, "%lld blocks are left", (long long)heap.blocks);
    }
    free(copy);
}

void fuzz_check_state(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes)
{
    (void)setting;
    (void)form;
    check(bytes, nbytes, false);
}

void fuzz_check_state_failing(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes)
{
    (void)setting;
    (void)form;
    check(bytes, nbytes, true);
}
