// SPDX-License-Identifier: Apache-2.0
#include "dataset/folder_note.h"

#include "dataset/index_file.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int mr__folder_broken(const mr__folder_notes *notes, int code, const char *format, ...)
{
    char text[sizeof notes->detail->text];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    static const char advice[] = "; --broken=skip leaves it out";
    if (notes->options->broken != MR_BROKEN_SKIP) /* however long the text is, the advice is there */
        return mr__fail(notes->detail, code, "%.*s%s", (int)(sizeof text - sizeof advice), text, advice);
    int result = mr__index_add_problem(notes->to, MR__INDEX_NO_POSITION, code, "%s", text);
    return result != 0 ? mr__folder_failed(notes, result) : 0;
}

int mr__folder_failed(const mr__folder_notes *notes, int code)
{
    const char *root = mr__name_end(notes->options->root);
    if (code == MR_ENOMEM)
        return mr__fail(notes->detail, code, "%s: out of memory while the folder was scanned", root);
    if (code == MR_ECLOSED)
        return mr__fail(notes->detail, code, "%s: stopped while the folder was scanned", root);
    return mr__fail(notes->detail, code, "%s: scanning the folder failed: %s", root, mr_error_text(code));
}

int mr__folder_broken_by(const mr__folder_notes *notes, const char *path, const char *what, int error)
{
    return mr__folder_broken(notes, MR_EIO, "%s: %s: %s", mr__name_end(path), what, mr__errno_text(error).text);
}
