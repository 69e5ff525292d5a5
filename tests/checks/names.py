#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Everything that the public headers put into a program's name space starts with mr_ or MR_ (include guards: MILLRACE_);
everything that crosses files inside starts with mr_ or mr__, for the static library puts it into the program as well."""
import re

import harness

MACRO = re.compile(r"^\s*#\s*define\s+(\w+)", re.M)
IGNORED = {"typedef", "struct", "enum", "union", "const", "static", "inline", "extern", "C"}


def without_bodies(code):
    """The code at file scope: the braces of structs, unions and functions emptied, those of enums kept."""
    out, depth, keep = [], 0, []
    for piece in re.split(r"([{}])", code):
        if piece == "{":
            keep.append(bool(re.search(r"\benum\b[^;{}]*$", "".join(out))) if all(keep) else False)
            out.append("{")
        elif piece == "}":
            if keep:
                keep.pop()
            out.append("}")
        elif all(keep):
            out.append(piece)
    return "".join(out)


def declared(code):
    """(offset, name) of each name that a header declares at file scope."""
    for found in re.finditer(r"\b(?:struct|enum|union)\s+(\w+)", code):
        yield found.start(1), found.group(1)
    for found in re.finditer(r"\benum\b[^{;]*\{([^}]*)\}", code):
        for constant in re.finditer(r"(?:^|,)\s*(\w+)\s*(?==|,|$)", found.group(1)):
            yield found.start(1) + constant.start(1), constant.group(1)
    # A function's name stands before its parameters; a variable's or a typedef's before ; or [.
    for found in re.finditer(r"(\w+)\s*(\(|\[[^\]]*\]\s*;|;|=)", code):
        before = code[: found.start()]
        depth = before.count("(") - before.count(")")
        if depth == 0 and before.count("{") == before.count("}"):
            yield found.start(1), found.group(1)
    for found in re.finditer(r"\(\s*\*\s*(\w+)\s*\)\s*\(", code):
        if code[: found.start()].count("(") == code[: found.start()].count(")"):
            yield found.start(1), found.group(1)


def linked(archive):
    """(object, name) of each symbol that an archive gives to the linker."""
    status, said = harness.run("nm", "-A", "-g", "--defined-only", "--format=posix", archive)
    if status != 0:
        raise SystemExit(f"nm failed: {said}")
    for found in re.finditer(r"\[(.+?)\]: (\S+) ", said):
        yield found.groups()


def check(root):
    yield from header_problems(root)
    if not harness.files(root, ["src"], {".c"}):
        return
    symbols = list(linked(harness.archive(root)))
    if not symbols:
        yield "src", 1, "no symbols were found; the check is broken"
    for where, name in symbols:
        if not re.match(r"mr__?[a-z]", name):
            yield where, 1, f"'{name}' crosses files and must start with mr__, or is static"


def header_problems(root):
    for path in harness.files(root, ["include"], {".h"}):
        code = harness.code_only((root / path).read_text())
        for found in MACRO.finditer(code):
            if not re.match(r"(MR|MILLRACE)_", found.group(1)):
                yield path, code.count("\n", 0, found.start(1)) + 1, f"the macro {found.group(1)} must start with MR_"
        flat = re.sub(r"^[ \t]*#(?:\\\n|[^\n])*", lambda m: re.sub(r"[^\n]", " ", m.group()), code, flags=re.M)
        flat = re.sub(r"__attribute__\s*\(\(.*?\)\)", "", flat)
        for offset, name in declared(without_bodies(flat)):
            if name not in IGNORED and not re.match(r"(mr_[a-z]|MR_[A-Z])", name):
                yield path, 1, f"'{name}' is public and must start with mr_ or MR_"


GOOD = [
    {
        "include/millrace/a.h": "#ifndef MILLRACE_A_H\n#define MILLRACE_A_H\n#include <stddef.h>\n"
        "/* int wrong; */\ntypedef enum mr_e { MR_A = 1, MR_B } mr_e;\n"
        "typedef struct mr_s { size_t n; void *(*alloc)(void *user, size_t nbytes); } mr_s;\n"
        "typedef struct mr_o mr_o;\nMR_BEGIN_DECLS\nMR_API int mr_f(const mr_s *s, int (*callback)(void *), mr_o **out);\n"
        "MR_API mr_e mr_g(\n    void);\nMR_END_DECLS\n#endif\n"
    },
    {"src/base/a.c": "static int find(void)\n{\n    return 1;\n}\nint mr__a(void)\n{\n    return find();\n}\nint mr_b(void)\n{\n    return 1;\n}\n"},
]
BAD = [
    ({"include/millrace/a.h": "#define LIMIT 3\n"}, "a.h:1: the macro LIMIT"),
    ({"include/millrace/a.h": "int decode(void);\n"}, "'decode'"),
    ({"include/millrace/a.h": "typedef struct mr_a { int x; } image;\n"}, "'image'"),
    ({"include/millrace/a.h": "struct image { int x; };\n"}, "'image'"),
    ({"include/millrace/a.h": "typedef enum mr_a { MR_A, RED = 2, MR_B } mr_a;\n"}, "'RED'"),
    ({"include/millrace/a.h": "typedef enum mr_a { MR_A, MR_B, LAST } mr_a;\n"}, "'LAST'"),
    ({"include/millrace/a.h": "extern int counter;\n"}, "'counter'"),
    ({"include/millrace/a.h": "typedef int (*hook)(void *user);\n"}, "'hook'"),
    ({"include/millrace/a.h": "int mr__inside(void);\n"}, "'mr__inside'"),
    ({"src/base/a.c": "int find(void)\n{\n    return 1;\n}\n"}, "a.o:1: 'find' crosses files"),
    ({"src/base/a.c": "const int limit = 3;\n"}, "'limit' crosses files"),
    ({"src/base/a.c": "int mr___a(void)\n{\n    return 1;\n}\n"}, "'mr___a' crosses files"),
    ({"src/base/a.c": "static int a;\n"}, "no symbols were found"),
]

if __name__ == "__main__":
    harness.main(check, GOOD, BAD)
