// SPDX-License-Identifier: Apache-2.0
/* millrace: finds the subcommand, reads its options, runs it, and sees that all it printed arrived. */
#include "command.h"
#include "help.h"
#include "text.h"

#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const command *const commands[] = {
    &command_info, &command_convert, &command_hash,    &command_verify,   &command_decode, &command_index,
    &command_pack, &command_unpack,  &command_merge,   &command_ls,       &command_cat,    &command_feed,
    &command_show, &command_recipe,  &command_devices, &command_generate, &command_help,   NULL,
};

const command *command_find(const char *name)
{
    for (size_t i = 0; commands[i] != NULL; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

static int put_version(char **arguments)
{
    char cpu[256];
    if (arguments[0] != NULL) {
        complain(NULL, "'%s' is one too many: millrace --version", arguments[0]);
        return EXIT_USAGE;
    }
    mr_cpu_text(cpu, sizeof cpu);
    printf("millrace %s\ncpu: %s\n", mr_version_text(), cpu[0] != '\0' ? cpu : "portable");
    return EXIT_GOOD;
}

static int unknown_command(const char *name)
{
    char list[256] = "", near[64];
    size_t used = 0;
    for (size_t i = 0; commands[i] != NULL; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s ", commands[i]->name);
    const char *kind = name[0] == '-' ? "option" : "command";
    if (nearest_word(list, name + strspn(name, "-"), near, sizeof near))
        complain(NULL, "unknown %s '%s'; did you mean '%s'? (millrace help lists all)", kind, name, near);
    else
        complain(NULL, "unknown %s '%s' (millrace help lists all)", kind, name);
    return EXIT_USAGE;
}

/* The library takes an unknown name for the slowest; who typed it should hear of it. */
static void check_environment(void)
{
    char names[256];
    const char *text = getenv("MILLRACE_CPU");
    mr_cpu_names(names, sizeof names);
    if (text != NULL && text[0] != '\0' && !list_has(names, text))
        remark(NULL, "MILLRACE_CPU is '%s', which is not known and counts as portable (one of: %s)", text, names);
}

static int run(char **arguments, bool *may_be_cut)
{
    settings s;
    size_t count;
    if (arguments[0] == NULL) {
        help_overview(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(arguments[0], "--version") == 0 || strcmp(arguments[0], "-V") == 0)
        return put_version(arguments + 1);
    bool help = strcmp(arguments[0], "--help") == 0 || strcmp(arguments[0], "-h") == 0;
    const command *c = help ? &command_help : command_find(arguments[0]);
    if (c == NULL)
        return unknown_command(arguments[0]);
    int result = options_parse(c, arguments + 1, &s, &count);
    if (result != EXIT_GOOD)
        return result;
    if (s.help) {
        help_command(stdout, c);
        return EXIT_GOOD;
    }
    *may_be_cut = c->may_be_cut;
    return c->run(&s, arguments + 1, count);
}

/* Whether nobody reads our output any more: what an earlier write failed of is forgotten by now. */
static bool is_pipe_closed(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&out, 1, 0) == 1 && (out.revents & POLLERR) != 0;
}

/*
 * A full disk is seen at the latest here. Whoever closed the pipe knows it: that is no news, but no success either,
 * except of a list, whose first lines may be all that was wanted.
 */
static int close_stdout(int result, bool may_be_cut)
{
    bool failed = ferror(stdout) != 0, closed = failed && is_pipe_closed();
    errno = 0;
    if (fclose(stdout) != 0)
        failed = true;
    if (!failed)
        return result;
    closed = closed || errno == EPIPE;
    if (closed && may_be_cut)
        return result;
    if (!closed)
        fprintf(stderr, "millrace: standard output: %s\n", errno != 0 ? strerror(errno) : "writing failed");
    return result == EXIT_GOOD ? EXIT_BAD_INPUT : result;
}

int main(int argc, char **argv)
{
    bool may_be_cut = false;
    (void)argc;
    signal(SIGPIPE, SIG_IGN); /* writes fail instead, and are checked; so too at the limit of a file's size */
    signal(SIGXFSZ, SIG_IGN);
    setlocale(LC_CTYPE, ""); /* for the terminal's encoding; numbers stay as they are in C */
    check_environment();
    int result = run(argv + (argv[0] != NULL), &may_be_cut);
    return close_stdout(result, may_be_cut);
}
