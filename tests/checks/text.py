#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every source file says its licence; the library mentions nothing that writes without a bound, ends the program, prints,
allocates around the hooks or keeps hidden state; no function is longer than 60 lines, no file longer than 800."""
import re

import harness

FOLDERS = ["include", "src", "cli", "python", "tests", "fuzz", "bench", "examples", "tools", ".ci"]
C = {".c", ".h", ".cl", ".cu"}
FUNCTION_LINES = 60
FILE_LINES = 800
GENERATED = {"src/kernel/lane/opencl_text.c"}  # by tools/make-kernels; check.kernels says whether it is that
SPDX = "SPDX-License-Identifier: Apache-2.0"
# To mention a word is enough: what is not called here can be called through a pointer.
FORBIDDEN = {
    "writes without a bound": "strcpy strcat sprintf vsprintf gets scanf sscanf stpcpy alloca strdupa strndupa",
    "ends the program of the user": "abort exit _exit _Exit quick_exit assert",
    "prints; a library reports through its handle or the log hook": "stdout stderr STDOUT_FILENO STDERR_FILENO printf vprintf"
    " fprintf vfprintf dprintf vdprintf puts fputs putchar putc fputc perror psignal syslog vsyslog",
    "goes around the allocation hooks": "malloc calloc realloc reallocarray free cfree strdup strndup asprintf vasprintf aligned_alloc"
    " posix_memalign memalign valloc pvalloc getline getdelim open_memstream",
    "keeps hidden state": "strtok rand srand random strerror localtime gmtime setlocale setenv signal",
}
WHY = {word: why for why, words in FORBIDDEN.items() for word in words.split()}
WORD = re.compile(r"(?<!\w)(?<!\.)(?<!->)(?:__builtin_|__libc_)?(" + "|".join(WHY) + r")\b")
NO_MENTION = re.compile(r"^\s*#\s*include\b.*|\bformat\s*\(\s*(?:__)?printf(?:__)?\s*,")  # <signal.h>; an attribute
# What a file may say nevertheless: the default of the allocation hook is the C library's heap.
ALLOWED = {"src/base/memory.c": {"posix_memalign", "free"}}


def text_lines(root, path):
    """None for what is not text."""
    try:
        return harness.lines(root, path)
    except UnicodeDecodeError:
        return None


def licence(root):
    for path in harness.files(root, FOLDERS, C | {".py", ".pyi", ".sh", ""}):
        text = text_lines(root, path)
        is_script = bool(text) and text[0].startswith("#!")
        if text is None or (path.suffix == "" and not is_script):
            continue
        if not any(SPDX in line for line in text[:2]):
            yield path, 1, f"the first line (the second of a script) must say: {SPDX}"


def words(root):
    for path in harness.files(root, ["src"], C):
        code = harness.code_only((root / path).read_text())
        for number, line in enumerate(code.splitlines(), 1):
            for word in WORD.findall(NO_MENTION.sub("", line)):
                if word not in ALLOWED.get(str(path), {}):
                    yield path, number, f"{word} {WHY[word]}"


def function_lines(text, start, end):
    """Lines from start to end, both counted (1 is the first), without those of constant tables: they are data."""
    count, in_table = 0, False
    for line in text[start - 1 : end]:
        in_table = in_table or bool(re.match(r"\s+static const .*=\s*\{$", line))
        count += not in_table
        in_table = in_table and not re.match(r"\s+\};$", line)
    return count


def lengths(root):
    for path in harness.files(root, FOLDERS, C):
        text = harness.lines(root, path)
        if str(path) in GENERATED:
            continue
        if len(text) > FILE_LINES:
            yield path, FILE_LINES + 1, f"the file has {len(text)} lines; the limit is {FILE_LINES}"
        start = None
        for number, line in enumerate(text, 1):
            if line == "{":
                start = number
            elif line == "}" and start is not None:
                count = function_lines(text, start, number)
                if count > FUNCTION_LINES:
                    yield path, start, f"the function has {count} lines; the limit is {FUNCTION_LINES}"
                start = None


def check(root):
    yield from licence(root)
    yield from words(root)
    yield from lengths(root)


HEAD = f"// {SPDX}\n"
GOOD = [
    {"src/base/a.c": HEAD + "void f(void)\n{\n" + "    g();\n" * 58 + "}\n"},
    {"src/base/memory.c": HEAD + "void *p = posix_memalign(&p, 8, 8);\nvoid f(void)\n{\n    free(p);\n}\n", "cli/a.c": HEAD + "int f(void)\n{\n    exit(1);\n}\n"},
    {"src/base/b.c": HEAD + "/* abort() */ int a = snprintf(b, 3, \"exit()\");\nint b = hooks->realloc(x), my_exit(void);\nhooks h = {.free = f};\n"},
    {"src/base/b.h": HEAD + "#include <signal.h>\n__attribute__((format(printf, 1, 2))) int f(const char *, ...);\n"},
    {"tests/a.c": HEAD + "void f(void)\n{\n    static const int table[] = {\n" + "        1,\n" * 70 + "    };\n}\n"},
    {"src/kernel/lane/opencl_text.c": HEAD + "int a;\n" * 900},
    {"tools/x": f"#!/bin/sh\n# {SPDX}\n", "tests/data.txt": "free\n"},
]
BAD = [
    ({"src/base/a.c": "int a;\n"}, "must say"),
    ({"tools/x": "#!/bin/sh\necho\n"}, "must say"),
    ({"tests/checks/x.py": "import re\n"}, "must say"),
    ({"src/base/a.c": HEAD + "void f(void)\n{\n" + "    g();\n" * 59 + "}\n"}, "a.c:3: the function has 61 lines"),
    ({"src/base/a.c": HEAD + "void f(void)\n{\n    static const int t[] = {\n        1,\n    };\n" + "    g();\n" * 59 + "}\n"}, "61 lines"),
    ({"tests/a.c": HEAD + "int a;\n" * 800}, "the file has 801 lines"),
    ({"src/kernel/opencl_text.c": HEAD + "/* Written by tools/make-kernels. */\n" * 800}, "the file has 801 lines"),
    ({"src/base/a.c": HEAD + "int b = malloc (3);\n"}, "malloc goes around"),
    ({"src/base/a.c": HEAD + "hooks h = {.alloc = malloc};\n"}, "malloc goes around"),
    ({"src/base/a.c": HEAD + "int b = a>malloc(3);\n"}, "malloc goes around"),
    ({"src/base/a.c": HEAD + "int b = __builtin_malloc(3);\n"}, "malloc goes around"),
    ({"src/base/memory.c": HEAD + "int b = malloc(3);\n"}, "malloc goes around"),
    ({"src/base/a.c": HEAD + 'int b = fputs("a", f(stdout));\n'}, "a.c:2: stdout prints"),
    ({"src/base/a.c": HEAD + "FILE *to = stderr;\n"}, "a.c:2: stderr prints"),
] + [({"src/base/a.c": HEAD + f"int a = {word}(b);\n"}, f"a.c:2: {word} ") for word in WHY]

if __name__ == "__main__":
    harness.main(check, GOOD, BAD)
