// SPDX-License-Identifier: Apache-2.0
#include "quarantine.h"
#include "text.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOLD = 3, LINE_NBYTES = 16 << 10 };

/* The character that stands behind a backslash, and how much of the text it takes; '\0': one that is left as it is. */
static char read_escape(const char *text, size_t *length)
{
    static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    char digits[5] = "";
    *length = 2;
    if (text[1] == 'u') {
        memcpy(digits, text + 2, strnlen(text + 2, 4));
        unsigned long code = strspn(digits, "0123456789abcdefABCDEF") == 4 ? strtoul(digits, NULL, 16) : 0;
        *length = 6;
        return code < 0x80 ? (char)code : '\0';
    }
    const char *letter = text[1] != '\0' ? strchr(letters, text[1]) : NULL;
    return letter != NULL ? meant[letter - letters] : '\0';
}

/* The string of a member, its escapes undone, in its own place. Moves *line behind it; NULL: there is none. */
static char *take_string(char **line, const char *name)
{
    char *at = strstr(*line, name), *out;
    if (at == NULL)
        return NULL;
    char *text = out = at += strlen(name);
    while (*at != '"' && *at != '\0') {
        size_t length = 1;
        char meant = *at == '\\' ? read_escape(at, &length) : *at;
        if (meant == '\0')
            length = 1; /* the backslash stays */
        *out++ = meant != '\0' ? meant : *at;
        at += length;
    }
    *line = at + (*at == '"');
    *out = '\0';
    return text;
}

void quarantine_tell(const char *folder)
{
    char path[PATH_MAX];
    char *line = malloc(LINE_NBYTES);
    int length = snprintf(path, sizeof path, "%s/quarantine.jsonl", folder);
    FILE *file = line != NULL && length > 0 && (size_t)length < sizeof path ? fopen(path, "r") : NULL;
    for (int i = 0; file != NULL && i < TOLD && fgets(line, LINE_NBYTES, file) != NULL; i++) {
        char *rest = line;
        if (strchr(line, '\n') == NULL)
            break; /* too long to be one of packing's, or cut */
        char *key = take_string(&rest, "\"key\": \"");
        char *error = key != NULL ? take_string(&rest, "\"error\": \"") : NULL;
        if (error != NULL)
            complain(key, "%s", error);
    }
    if (file != NULL)
        fclose(file);
    free(line);
}
