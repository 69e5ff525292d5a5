// SPDX-License-Identifier: Apache-2.0
#include "text.h"

#include <langinfo.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

terminal terminal_of(FILE *stream)
{
    const char *kind = getenv("TERM");
    const char *no_color = getenv("NO_COLOR");
    struct winsize size = {0};
    terminal t = {.width = 80, .utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0};
    t.is_terminal = isatty(fileno(stream)) == 1;
    t.moves = t.is_terminal && kind != NULL && *kind != '\0' && strcmp(kind, "dumb") != 0;
    t.color = t.moves && (no_color == NULL || *no_color == '\0');
    if (t.is_terminal && ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col >= 20)
        t.width = size.ws_col;
    return t;
}

const char *style_of(const terminal *t, style wanted)
{
    static const char *const codes[] = {"\033[0m",  "\033[1m",  "\033[2m", "\033[31m",
                                        "\033[32m", "\033[33m", "\033[36m"};
    return t->color ? codes[wanted] : "";
}

size_t utf8_next(const char *text, size_t nbytes, unsigned *code)
{
    static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *p = (const unsigned char *)text;
    if (nbytes == 0)
        return 0;
    size_t length = p[0] < 0x80 ? 1 : p[0] >> 5 == 6 ? 2 : p[0] >> 4 == 14 ? 3 : p[0] >> 3 == 30 ? 4 : 0;
    if (length == 0 || length > nbytes)
        return 0;
    unsigned value = length == 1 ? p[0] : p[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if (p[i] >> 6 != 2)
            return 0;
        value = value << 6 | (p[i] & 0x3f);
    }
    if (value < least[length] || value > 0x10ffff || (value >= 0xd800 && value < 0xe000))
        return 0;
    *code = value;
    return length;
}

void put_escaped(FILE *stream, const char *text)
{
    size_t left = strlen(text);
    while (left != 0) {
        unsigned code = 0;
        size_t length = utf8_next(text, left, &code);
        if (length == 0 || code < 0x20 || (code >= 0x7f && code < 0xa0)) {
            length = length == 0 ? 1 : length;
            if (code == '\n' || code == '\t')
                fputs(code == '\n' ? "\\n" : "\\t", stream);
            else
                for (size_t i = 0; i < length; i++)
                    fprintf(stream, "\\x%02x", (unsigned char)text[i]);
        } else if (code == '\\') {
            fputs("\\\\", stream);
        } else {
            fwrite(text, 1, length, stream);
        }
        text += length;
        left -= length;
    }
}

/* The whole line is made first, so that lines of several programs do not mix. */
static void tell(const char *name, const char *kind, const char *format, va_list args)
{
    char message[1024];
    char *line = NULL;
    size_t nbytes = 0;
    vsnprintf(message, sizeof message, format, args);
    fflush(stdout);
    FILE *stream = open_memstream(&line, &nbytes);
    if (stream == NULL)
        return;
    fputs("millrace: ", stream);
    if (name != NULL) {
        put_escaped(stream, strcmp(name, "-") == 0 ? "standard input" : name);
        fputs(": ", stream);
    }
    fputs(kind, stream);
    put_escaped(stream, message);
    fputc('\n', stream);
    if (fclose(stream) == 0)
        fwrite(line, 1, nbytes, stderr);
    free(line);
}

void complain(const char *name, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    tell(name, "", format, args);
    va_end(args);
}

void remark(const char *name, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    tell(name, "note: ", format, args);
    va_end(args);
}

const char *ending_of(const char *path)
{
    const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
    return dot != NULL && (slash == NULL || dot > slash) ? dot + 1 : NULL;
}

void put_wrapped(FILE *stream, const char *text, unsigned at, unsigned indent, unsigned width)
{
    unsigned column = at;
    bool fresh = true;
    while (*text != '\0') {
        size_t length = strcspn(text, " ");
        if (!fresh && column + 1 + length > width) {
            fprintf(stream, "\n%*s", (int)indent, "");
            column = indent;
            fresh = true;
        }
        if (!fresh) {
            fputc(' ', stream);
            column++;
        }
        fwrite(text, 1, length, stream);
        column += (unsigned)length;
        fresh = false;
        text += length + (text[length] == ' ');
    }
    fputc('\n', stream);
}

/* Levenshtein's distance, letters without case; words of more than 31 letters are far from everything. */
static unsigned distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    unsigned row[32];
    if (a_length > 31 || b_length > 31)
        return UINT32_MAX;
    for (size_t j = 0; j <= b_length; j++)
        row[j] = (unsigned)j;
    for (size_t i = 1; i <= a_length; i++) {
        unsigned corner = row[0];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= b_length; j++) {
            unsigned best = corner + (strncasecmp(a + i - 1, b + j - 1, 1) != 0);
            corner = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[b_length];
}

bool list_has(const char *list, const char *word)
{
    size_t length = strlen(word);
    while (length != 0 && *list != '\0') {
        size_t item = strcspn(list, " ");
        if (item == length && strncmp(list, word, length) == 0)
            return true;
        list += item + (list[item] == ' ');
    }
    return false;
}

bool nearest_word(const char *list, const char *word, char *out, size_t nbytes)
{
    size_t length = strlen(word);
    unsigned best = (unsigned)(length < 4 ? 1 : length < 8 ? 2 : 3) + 1;
    bool found = false;
    while (*list != '\0') {
        size_t item = strcspn(list, " ");
        unsigned d = distance(list, item, word, length);
        /* The beginning of a word stands for it: `--sub` is --subsampling. */
        if (length >= 2 && length < item && strncasecmp(list, word, length) == 0)
            d = 1;
        if (item != 0 && d < best && item < nbytes) {
            best = d;
            memcpy(out, list, item);
            out[item] = '\0';
            found = true;
        }
        list += item + (list[item] == ' ');
    }
    return found;
}

void put_bar(FILE *stream, bool utf8, double share, unsigned cells)
{
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    share = share < 0 ? 0 : share > 1 ? 1 : share;
    unsigned parts = utf8 ? 8 : 1;
    unsigned filled = (unsigned)(share * cells * parts + 0.5);
    if (filled == 0 && share > 0 && utf8)
        filled = 1; /* there, if small */
    unsigned whole = filled / parts, used = whole;
    for (unsigned i = 0; i < whole; i++)
        fputs(utf8 ? "█" : "#", stream);
    if (filled % parts != 0) {
        fputs(eighths[filled % parts], stream);
        used++;
    }
    fprintf(stream, "%*s", (int)(cells - used), "");
}
