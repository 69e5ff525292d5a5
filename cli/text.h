// SPDX-License-Identifier: Apache-2.0
/* What people read: errors, names of files, styles of a terminal. */
#ifndef CLI_TEXT_H
#define CLI_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* What the stream can show. Colors need a terminal that is not dumb, and no NO_COLOR. */
typedef struct terminal {
    bool is_terminal;
    bool moves; /* a line can be drawn over itself: progress is welcome */
    bool color;
    bool utf8;
    unsigned width; /* 80 when it is no terminal */
} terminal;

terminal terminal_of(FILE *stream);

typedef enum style { STYLE_NONE, STYLE_BOLD, STYLE_DIM, STYLE_RED, STYLE_GREEN, STYLE_YELLOW, STYLE_CYAN } style;

/* The escape sequence; "" where there are no colors. STYLE_NONE ends a style. */
const char *style_of(const terminal *t, style wanted);

/*
 * A name or a message that came from outside, on one line and harmless to a terminal: control characters as \n, \t or
 * \xNN, bytes that are not UTF-8 as \xNN, a backslash as \\, so that nothing is lost.
 */
void put_escaped(FILE *stream, const char *text);

/* "millrace: NAME: what happened", to stderr, after what stdout holds. `name` may be NULL. */
__attribute__((format(printf, 2, 3))) void complain(const char *name, const char *format, ...);

/* The same for what is worth knowing but no error: "millrace: NAME: note: ...". */
__attribute__((format(printf, 2, 3))) void remark(const char *name, const char *format, ...);

/* One code point of UTF-8 at text[0, nbytes): its length, or 0 when the bytes are not UTF-8. */
size_t utf8_next(const char *text, size_t nbytes, unsigned *code);

/* What follows the last dot of a file's name; NULL when there is none. */
const char *ending_of(const char *path);

/* Words of `text`, broken into lines of at most `width` characters, each indented; the first line is begun at `at`. */
void put_wrapped(FILE *stream, const char *text, unsigned at, unsigned indent, unsigned width);

/* Whether a word is in the list (separated by spaces). */
bool list_has(const char *list, const char *word);

/* The word of the list (separated by spaces) that `word` is most likely meant to be, into `out`; false when none is
 * near. */
bool nearest_word(const char *list, const char *word, char *out, size_t nbytes);

/* A bar of at most `cells` characters, `share` of it filled, padded with spaces. */
void put_bar(FILE *stream, bool utf8, double share, unsigned cells);

#endif
