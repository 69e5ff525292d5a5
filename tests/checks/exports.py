#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The shared library exports exactly what the public headers declare with MR_API, all of it called mr_...

The library is found through MILLRACE_LIBRARY; the self-test builds its own."""
import os
import pathlib
import re

import harness

DECLARATION = re.compile(r"\bMR_API\b[^;{]*?\b(\w+)\s*\(")


def declared(root):
    names = {}
    for path in harness.files(root, ["include"], {".h"}):
        code = re.sub(r"^[ \t]*#[^\n]*", "", harness.code_only((root / path).read_text()), flags=re.M)
        for found in DECLARATION.finditer(code):
            names[found.group(1)] = path
    return names


def exported(library):
    status, said = harness.run("nm", "-D", "--defined-only", "--format=posix", library)
    if status != 0:
        raise SystemExit(f"nm failed: {said}")
    entries = [line.split()[:2] for line in said.splitlines()]
    return {name.split("@")[0] for name, kind in entries if kind != "A"}  # A: the names of versions


def check(root):
    library = pathlib.Path(os.environ["MILLRACE_LIBRARY"]) if (root / "CMakeLists.txt").exists() else build(root)
    wanted, given = declared(root), exported(library)
    if not wanted:
        yield "include", 1, "no MR_API declaration was found"
    for name in sorted(given):
        if not re.match(r"mr_[a-z]", name):
            yield library.name, 1, f"exports {name}; exported names start with mr_"
        elif name not in wanted:
            yield library.name, 1, f"exports {name}, which no public header declares with MR_API"
    for name, path in wanted.items():
        if name not in given:
            yield path, 1, f"declares {name}, which the library does not export"


def build(root):
    """A library from the small trees of the self-test."""
    library = root / "lib.so"
    sources = sorted(root.rglob("*.c"))
    status, said = harness.run(harness.compiler("CC", "cc", "gcc"), "-shared", "-fPIC", "-fvisibility=hidden", *sources, "-o", library)
    if status != 0:
        raise SystemExit(said)
    return library


API = '__attribute__((visibility("default")))'
GOOD = [{"include/millrace/a.h": "#define MR_API x\n/* MR_API int mr_c(void); */\nMR_API int\nmr_a(int (*f)(void));\n", "a.c": f"int mr__b(void)\n{{\n    return 1;\n}}\n{API} int mr_a(int (*f)(void))\n{{\n    return f() + mr__b();\n}}\n"}]
BAD = [
    ({"include/millrace/a.h": "MR_API int mr_a(void);\n", "a.c": f"{API} int mr_a(void)\n{{\n    return 1;\n}}\n{API} int mr_b(void)\n{{\n    return 1;\n}}\n"}, "exports mr_b, which no public header"),
    ({"include/millrace/a.h": "MR_API int mr_a(void);\n", "a.c": f"{API} int mr_a(void)\n{{\n    return 1;\n}}\n{API} int helper(void)\n{{\n    return 1;\n}}\n"}, "exports helper; exported names"),
    ({"include/millrace/a.h": "MR_API int mr_a(void);\nMR_API int mr_b(void);\n", "a.c": f"{API} int mr_a(void)\n{{\n    return 1;\n}}\n"}, "declares mr_b, which the library does not export"),
    ({"include/millrace/a.h": "int mr_a(void);\n", "a.c": "int a;\n"}, "no MR_API declaration"),
]

if __name__ == "__main__":
    harness.main(check, GOOD, BAD)
