// SPDX-License-Identifier: Apache-2.0
/* The tables of the commands as text, as a man page, as completions. */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "command.h"

#include <stdio.h>

void help_overview(FILE *stream);
void help_command(FILE *stream, const command *c);

void help_man(FILE *stream);
void help_bash(FILE *stream);
void help_zsh(FILE *stream);
void help_fish(FILE *stream);

#endif
