// SPDX-License-Identifier: Apache-2.0
#include "help.h"
#include "text.h"

#include <string.h>

static const option options_help[] = {
    {.name = "man",
     .letter = 0,
     .kind = OPTION_FLAG,
     .offset = offsetof(settings, man),
     .help = "Print the man page, in mdoc",
     .hidden = true},
    {.name = "completion",
     .letter = 0,
     .kind = OPTION_WORD,
     .offset = offsetof(settings, completion),
     .argument = "SHELL",
     .help = "Print the completion of a shell",
     .words = "bash zsh fish",
     .hidden = true},
    {0},
};

const char *const command_notes[] = {
    "Exit codes: 0 when all went well; 1 when some input was bad or something could not be written (the others were "
    "still dealt with); 2 when the command line was wrong.",
    "Forms are found by content, never by the name. '-' is standard input or output. Errors go to standard error; "
    "with --json what ends a command is also an object with \"error\" on standard output. "
    "Colors and progress are for terminals only; NO_COLOR and TERM=dumb are obeyed. MILLRACE_CPU=portable, avx2 and "
    "so on masks instruction sets; the pixels are the same with any.",
    NULL,
};

enum { MAX_WIDTH = 100, OPTION_COLUMN = 28 };

static unsigned width_of(const terminal *t)
{
    return t->width < MAX_WIDTH ? t->width : MAX_WIDTH;
}

static void put_heading(FILE *stream, const terminal *t, const char *text)
{
    fprintf(stream, "\n%s%s%s\n", style_of(t, STYLE_BOLD), text, style_of(t, STYLE_NONE));
}

static void put_paragraph(FILE *stream, const char *text, unsigned width)
{
    fputs("  ", stream);
    put_wrapped(stream, text, 2, 2, width);
}

void help_overview(FILE *stream)
{
    terminal t = terminal_of(stream);
    unsigned width = width_of(&t);
    fprintf(stream, "%smillrace%s turns stored images into training batches.\n", style_of(&t, STYLE_BOLD),
            style_of(&t, STYLE_NONE));
    put_heading(stream, &t, "Usage");
    fputs("  millrace COMMAND [OPTION]... [FILE]...\n  millrace --version\n", stream);
    put_heading(stream, &t, "Commands");
    for (size_t i = 0; commands[i] != NULL; i++) {
        fprintf(stream, "  %s%-10s%s ", style_of(&t, STYLE_CYAN), commands[i]->name, style_of(&t, STYLE_NONE));
        put_wrapped(stream, commands[i]->summary, 13, 13, width);
    }
    put_heading(stream, &t, "Notes");
    for (size_t i = 0; command_notes[i] != NULL; i++)
        put_paragraph(stream, command_notes[i], width);
    fputs("\n'millrace help COMMAND' tells all about one.\n", stream);
}

static void put_option(FILE *stream, const terminal *t, const option *o)
{
    char sentence[512], forms[128];
    if (o->hidden)
        return;
    fputs("  ", stream);
    if (o->letter != 0)
        fprintf(stream, "%s-%c%s, ", style_of(t, STYLE_CYAN), o->letter, style_of(t, STYLE_NONE));
    else
        fputs("    ", stream);
    fprintf(stream, "%s--%s%s%s%s", style_of(t, STYLE_CYAN), o->name, style_of(t, STYLE_NONE),
            o->argument != NULL ? "=" : "", o->argument != NULL ? o->argument : "");
    unsigned column = 8 + (unsigned)strlen(o->name) + (o->argument != NULL ? 1 + (unsigned)strlen(o->argument) : 0);
    if (column + 2 > OPTION_COLUMN) {
        fputc('\n', stream);
        column = 0;
    }
    fprintf(stream, "%*s", (int)(OPTION_COLUMN - column), "");
    option_forms(o, forms, sizeof forms);
    snprintf(sentence, sizeof sentence, "%s%s%s%s%s%s", o->help, forms[0] != '\0' ? "; for " : "", forms,
             o->initial != NULL ? " [" : "", o->initial != NULL ? o->initial : "", o->initial != NULL ? "]" : "");
    put_wrapped(stream, sentence, OPTION_COLUMN, OPTION_COLUMN, width_of(t));
}

static bool is_shown(const option *o)
{
    bool shown = false;
    for (; o->name != NULL; o++)
        shown = shown || !o->hidden;
    return shown;
}

void help_command(FILE *stream, const command *c)
{
    terminal t = terminal_of(stream);
    fprintf(stream, "%s.\n", c->summary);
    put_heading(stream, &t, "Usage");
    fprintf(stream, "  millrace %s [OPTION]... %s\n\n", c->name, c->operands);
    for (size_t i = 0; c->text[i] != NULL; i++)
        put_paragraph(stream, c->text[i], width_of(&t));
    for (const option_group *g = c->groups; g->options != NULL; g++) {
        if (!is_shown(g->options))
            continue;
        put_heading(stream, &t, g->title);
        for (const option *o = g->options; o->name != NULL; o++)
            put_option(stream, &t, o);
    }
    put_heading(stream, &t, "Examples");
    for (const example *e = c->examples; e->line != NULL; e++)
        fprintf(stream, "  %s%s%s%s\n    %s\n", style_of(&t, STYLE_DIM), e->text,
                strchr(e->text, '?') != NULL ? "" : ":", style_of(&t, STYLE_NONE), e->line);
    put_heading(stream, &t, "Exit codes");
    put_paragraph(stream, strchr(command_notes[0], '0'), width_of(&t));
}

static int put_completion(const char *shell)
{
    if (strcmp(shell, "bash") == 0)
        help_bash(stdout);
    else if (strcmp(shell, "zsh") == 0)
        help_zsh(stdout);
    else
        help_fish(stdout);
    return EXIT_GOOD;
}

static int run(const settings *s, char **names, size_t count)
{
    if (s->man)
        help_man(stdout);
    if (s->completion != NULL)
        return put_completion(s->completion);
    if (s->man)
        return EXIT_GOOD;
    const command *c = count == 1 ? command_find(names[0]) : NULL;
    if (count == 1 && c == NULL) {
        complain(NULL, "help: there is no command '%s' (millrace help lists all)", names[0]);
        return EXIT_USAGE;
    }
    if (c != NULL)
        help_command(stdout, c);
    else
        help_overview(stdout);
    return EXIT_GOOD;
}

const command command_help = {
    .name = "help",
    .operands = "[COMMAND]",
    .summary = "Tell what the commands do, or all about one",
    .text = (const char *const[]){"Without COMMAND it lists the commands; with one it tells its options, with "
                                  "examples. 'millrace COMMAND --help' is the same.",
                                  NULL},
    .groups = (const option_group[]){{"Print", options_help}, {"Help", options_common}, {NULL, NULL}},
    .examples = (const example[]){{"millrace help convert", "All about convert"}, {NULL, NULL}},
    .operand_min = 0,
    .operand_max = 1,
    .operand = OPERAND_COMMAND,
    .run = run,
};
