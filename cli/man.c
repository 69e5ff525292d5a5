// SPDX-License-Identifier: Apache-2.0
/* The man page, in mdoc. */
#include "help.h"

#include <string.h>

/* When the tables last changed their meaning; a page made from one source twice is the same page. */
#define PAGE_DATE "November 17, 2026"

/* One character of text, harmless to troff. */
static void put_character(FILE *stream, const char *text, size_t i)
{
    if (text[i] == '\\')
        fputs("\\e", stream);
    else if (text[i] == '-' && text[i + 1] != ' ')
        fputs("\\-", stream); /* a minus that can be copied into a shell */
    else if (text[i] == '\'')
        fputs("\\(aq", stream);
    else if (text[i] == '"')
        fputs("\\(dq", stream);
    else
        fputc(text[i], stream);
}

static void put_text(FILE *stream, const char *text)
{
    if (text[0] == '.')
        fputs("\\&", stream);
    for (size_t i = 0; text[i] != '\0'; i++)
        put_character(stream, text, i);
}

/* Text lines: a new sentence begins a new line, as mdoc wants it, and none is long. */
static void put_sentences(FILE *stream, const char *text, const char *end)
{
    size_t column = 0;
    for (size_t i = 0; text[i] != '\0'; i++) {
        bool sentence = i > 0 && strchr(".?!", text[i - 1]) != NULL;
        if (text[i] == ' ' && (sentence || column + strcspn(text + i + 1, " ") > 68)) {
            fputs(text[i + 1] == '.' ? "\n\\&" : "\n", stream);
            column = 0;
            continue;
        }
        put_character(stream, text, i);
        column++;
    }
    fprintf(stream, "%s\n", end);
}

static void put_operands(FILE *stream, const command *c)
{
    if (c->operands[0] == '[') {
        fprintf(stream, ".Op Ar %.*s\n", (int)strlen(c->operands) - 2, c->operands + 1);
        return;
    }
    fprintf(stream, ".Ar %s\n", c->operands);
}

static void put_synopsis(FILE *stream)
{
    fputs(".Sh SYNOPSIS\n", stream);
    for (size_t i = 0; commands[i] != NULL; i++) {
        fprintf(stream, ".Nm\n.Cm %s\n.Op Ar OPTION ...\n", commands[i]->name);
        put_operands(stream, commands[i]);
    }
    fputs(".Nm\n.Fl -version\n", stream);
}

static void put_option(FILE *stream, const option *o)
{
    char sentence[512], forms[128];
    if (o->hidden)
        return;
    fputs(".It ", stream);
    if (o->letter != 0)
        fprintf(stream, "Fl %c , ", o->letter);
    fputs("Fl -", stream);
    put_text(stream, o->name);
    if (o->argument != NULL)
        fprintf(stream, " Ns = Ns Ar %s", o->argument);
    fputc('\n', stream);
    option_forms(o, forms, sizeof forms);
    snprintf(sentence, sizeof sentence, "%s%s%s", o->help, forms[0] != '\0' ? "; for " : "", forms);
    put_sentences(stream, sentence, ".");
    if (o->initial != NULL) {
        fputs("The default is\n", stream);
        put_text(stream, o->initial);
        fputs(".\n", stream);
    }
}

static void put_options(FILE *stream, const option *o)
{
    fputs(".Bl -tag -width Ds\n", stream);
    for (; o->name != NULL; o++)
        put_option(stream, o);
    fputs(".El\n", stream);
}

static void put_group(FILE *stream, const option_group *g)
{
    bool shown = false;
    for (const option *o = g->options; o->name != NULL; o++)
        shown = shown || !o->hidden;
    if (!shown)
        return;
    fprintf(stream, ".Pp\n%s:\n", g->title);
    put_options(stream, g->options);
}

/* Options that several commands take stand once, under a title of their own. */
static const struct {
    const option *options;
    const char *title;
} shared[] = {{options_hints, "How to decode"}, {options_source, "How to read the dataset"}};

enum { SHARED_COUNT = sizeof shared / sizeof *shared };

static const char *shared_title(const option *options)
{
    for (size_t i = 0; i < SHARED_COUNT; i++)
        if (shared[i].options == options)
            return shared[i].title;
    return NULL;
}

/* "info , index\nand\n.Cm ls": the commands that take them. */
static void put_takers(FILE *stream, const option *options)
{
    const command *takers[32];
    size_t count = 0;
    for (size_t i = 0; commands[i] != NULL; i++)
        for (const option_group *g = commands[i]->groups; g->options != NULL; g++)
            if (g->options == options && count < sizeof takers / sizeof *takers)
                takers[count++] = commands[i];
    fputs("What\n.Cm", stream);
    for (size_t i = 0; i + 1 < count; i++)
        fprintf(stream, " %s%s", takers[i]->name, i + 2 < count ? " ," : "\nand\n.Cm");
    fprintf(stream, " %s\ntake alike.\n", takers[count - 1]->name);
}

static void put_command(FILE *stream, const command *c)
{
    fprintf(stream, ".Ss millrace %s\n", c->name);
    put_text(stream, c->summary);
    fputs(".\n", stream);
    for (size_t i = 0; c->text[i] != NULL; i++) {
        fputs(".Pp\n", stream);
        put_sentences(stream, c->text[i], "");
    }
    for (const option_group *g = c->groups; g->options != NULL; g++) {
        if (shared_title(g->options) != NULL)
            fprintf(stream, ".Pp\nFurther the options of\n.Sx %s ,\nbelow.\n", shared_title(g->options));
        else if (g->options != options_common)
            put_group(stream, g);
    }
}

static void put_examples(FILE *stream)
{
    const char *lead = "";
    fputs(".Sh EXAMPLES\n", stream);
    for (size_t i = 0; commands[i] != NULL; i++)
        for (const example *e = commands[i]->examples; e->line != NULL; e++) {
            fputs(lead, stream);
            put_text(stream, e->text);
            fputs(strchr(e->text, '?') != NULL ? "\n.Pp\n.Dl $ " : ":\n.Pp\n.Dl $ ", stream);
            put_text(stream, e->line);
            fputc('\n', stream);
            lead = ".Pp\n";
        }
}

void help_man(FILE *stream)
{
    fprintf(stream,
            ".Dd " PAGE_DATE "\n.Dt MILLRACE 1\n.Os Millrace %s\n.Sh NAME\n.Nm millrace\n"
            ".Nd turn stored images into training batches\n",
            mr_version_text());
    put_synopsis(stream);
    fputs(".Sh DESCRIPTION\n"
          "Each command takes\n.Fl h\nor\n.Fl -help ,\nwhich tells about it and leaves;\n"
          "options may stand before or after the operands, and\n.Fl -\nends them.\n",
          stream);
    for (size_t i = 1; command_notes[i] != NULL; i++) {
        fputs(".Pp\n", stream);
        put_sentences(stream, command_notes[i], "");
    }
    fputs(".Sh COMMANDS\n", stream);
    for (size_t i = 0; commands[i] != NULL; i++)
        put_command(stream, commands[i]);
    for (size_t i = 0; i < SHARED_COUNT; i++) {
        fprintf(stream, ".Ss %s\n", shared[i].title);
        put_takers(stream, shared[i].options);
        put_options(stream, shared[i].options);
    }
    fputs(".Sh EXIT STATUS\n", stream);
    put_sentences(stream, strchr(command_notes[0], '0'), "");
    put_examples(stream);
}
