// SPDX-License-Identifier: Apache-2.0
/* The completions of bash, zsh and fish. */
#include "help.h"

#include <string.h>

/* Text inside single quotes of a shell; `special` characters get a backslash. */
static void put_quoted(FILE *stream, const char *text, const char *special)
{
    for (; *text != '\0'; text++) {
        if (*text == '\'') {
            fputs("'\\''", stream);
            continue;
        }
        if (strchr(special, *text) != NULL)
            fputc('\\', stream);
        fputc(*text, stream);
    }
}

static void put_command_names(FILE *stream)
{
    for (size_t i = 0; commands[i] != NULL; i++)
        fprintf(stream, "%s%s", i > 0 ? " " : "", commands[i]->name);
}

/* bash */

static void put_bash_value(const option *o, void *user)
{
    char words[256];
    if (o->argument == NULL || o->hidden)
        return;
    option_words(o, words, sizeof words);
    fprintf(user, "        --%s", o->name);
    if (o->letter != 0)
        fprintf(user, " | -%c", o->letter);
    fprintf(user, ") values='%s' taken=1 ;;\n", words);
}

static void put_bash_name(const option *o, void *user)
{
    if (!o->hidden)
        fprintf(user, "--%s ", o->name);
}

static void put_bash_command(FILE *stream, const command *c)
{
    static const char *const actions[] = {"-f", "-d", NULL};
    fprintf(stream, "    %s)\n        case $prev in\n", c->name);
    command_each_option(c, put_bash_value, stream);
    fputs("        esac\n        options='", stream);
    command_each_option(c, put_bash_name, stream);
    fputs("'\n        ", stream);
    if (c->operand == OPERAND_COMMAND) {
        fputs("operands=(-W '", stream);
        put_command_names(stream);
        fputs("')\n", stream);
    } else {
        fprintf(stream, "operands=(%s)\n", actions[c->operand]);
    }
    fputs("        ;;\n", stream);
}

void help_bash(FILE *stream)
{
    fputs("# bash completion for millrace, made by 'millrace help --completion bash'\n"
          "_millrace()\n{\n"
          "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
          "    local command= options= values= taken= operands=() i\n"
          "    COMPREPLY=()\n"
          "    # --name=value comes as three words\n"
          "    if [[ $cur == '=' ]]; then\n        cur=\n"
          "    elif [[ $prev == '=' ]]; then\n        prev=${COMP_WORDS[COMP_CWORD-2]}\n    fi\n"
          "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
          "        if [[ ${COMP_WORDS[i]} != -* ]]; then\n"
          "            command=${COMP_WORDS[i]}\n            break\n        fi\n    done\n"
          "    case $command in\n    '')\n        options='--help --version'\n        operands=(-W '",
          stream);
    put_command_names(stream);
    fputs("')\n        ;;\n", stream);
    for (size_t i = 0; commands[i] != NULL; i++)
        put_bash_command(stream, commands[i]);
    fputs("    *) return ;;\n    esac\n"
          "    if [[ -n $taken ]]; then\n"
          "        mapfile -t COMPREPLY < <(compgen -W \"$values\" -- \"$cur\")\n"
          "    elif [[ $cur == -* ]]; then\n"
          "        mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$cur\")\n"
          "    else\n"
          "        [[ ${operands[0]} == -W ]] || compopt -o filenames 2>/dev/null\n"
          "        mapfile -t COMPREPLY < <(compgen \"${operands[@]}\" -- \"$cur\")\n"
          "    fi\n}\n"
          "complete -F _millrace millrace\n",
          stream);
}

/* zsh */

static void put_zsh_option(const option *o, void *user)
{
    char words[256];
    if (o->hidden)
        return;
    const char *sign = o->argument != NULL ? "=" : "";
    if (o->letter != 0)
        fprintf(user, "            '(-%c --%s)'{-%c%s,--%s%s}'[", o->letter, o->name, o->letter,
                o->argument != NULL ? "+" : "", o->name, sign);
    else
        fprintf(user, "            '--%s%s[", o->name, sign);
    put_quoted(user, o->help, "[]:\\");
    fputc(']', user);
    option_words(o, words, sizeof words);
    if (o->argument != NULL)
        fprintf(user, ":%s:%s%s%s", o->argument, words[0] != '\0' ? "(" : "", words, words[0] != '\0' ? ")" : "");
    fputs("' \\\n", user);
}

static void put_zsh_command(FILE *stream, const command *c)
{
    static const char *const actions[] = {"_files", "_files -/", NULL};
    fprintf(stream, "        %s)\n            _arguments -s -S \\\n", c->name);
    command_each_option(c, put_zsh_option, stream);
    if (c->operand == OPERAND_COMMAND) {
        fputs("            '1:command:(", stream);
        put_command_names(stream);
        fputs(")'\n            ;;\n", stream);
    } else {
        fprintf(stream, "            '*:%s:%s'\n            ;;\n", c->operand == OPERAND_FOLDER ? "folder" : "file",
                actions[c->operand]);
    }
}

void help_zsh(FILE *stream)
{
    fputs("#compdef millrace\n# zsh completion for millrace, made by 'millrace help --completion zsh'\n"
          "_millrace()\n{\n"
          "    local line state\n    local -a summaries\n"
          "    _arguments -C '(-h --help)'{-h,--help}'[Tell about the commands]' '(-V --version)'{-V,--version}'[Tell "
          "the version]' '1:command:->command' '*::argument:->argument'\n"
          "    case $state in\n    command)\n        summaries=(\n",
          stream);
    for (size_t i = 0; commands[i] != NULL; i++) {
        fprintf(stream, "            '%s:", commands[i]->name);
        put_quoted(stream, commands[i]->summary, ":\\");
        fputs("'\n", stream);
    }
    fputs("        )\n        _describe command summaries\n        ;;\n"
          "    argument)\n        case $line[1] in\n",
          stream);
    for (size_t i = 0; commands[i] != NULL; i++)
        put_zsh_command(stream, commands[i]);
    fputs("        esac\n        ;;\n    esac\n}\n_millrace \"$@\"\n", stream);
}

/* fish */

typedef struct fish {
    FILE *stream;
    const command *command;
} fish;

static void put_fish_option(const option *o, void *user)
{
    const fish *f = user;
    char words[256];
    if (o->hidden)
        return;
    fprintf(f->stream, "complete -c millrace -n '__fish_seen_subcommand_from %s' -l %s", f->command->name, o->name);
    if (o->letter != 0)
        fprintf(f->stream, " -s %c", o->letter);
    option_words(o, words, sizeof words);
    if (o->argument != NULL)
        fprintf(f->stream, " -x -a '%s'", words);
    fputs(" -d '", f->stream);
    for (const char *p = o->help; *p != '\0'; p++) /* fish has backslashes inside single quotes */
        fprintf(f->stream, strchr("'\\", *p) != NULL ? "\\%c" : "%c", *p);
    fputs("'\n", f->stream);
}

static void put_fish_command(FILE *stream, const command *c)
{
    fish f = {stream, c};
    fprintf(stream, "complete -c millrace -n __fish_use_subcommand -f -a %s -d '%s'\n", c->name, c->summary);
    command_each_option(c, put_fish_option, &f);
    if (c->operand == OPERAND_FILE)
        return;
    fprintf(stream, "complete -c millrace -n '__fish_seen_subcommand_from %s' -f -a '", c->name);
    if (c->operand == OPERAND_COMMAND)
        put_command_names(stream);
    else
        fputs("(__fish_complete_directories)", stream);
    fputs("'\n", stream);
}

void help_fish(FILE *stream)
{
    fputs("# fish completion for millrace, made by 'millrace help --completion fish'\n"
          "complete -c millrace -n __fish_use_subcommand -f -s h -l help -d 'Tell about the commands'\n"
          "complete -c millrace -n __fish_use_subcommand -f -s V -l version -d 'Tell the version'\n",
          stream);
    for (size_t i = 0; commands[i] != NULL; i++)
        put_fish_command(stream, commands[i]);
}
