#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every header compiles alone and twice: the public ones as strict C11 and as C++11, the others as C11."""
import harness

CC = harness.compiler("CC", "cc", "gcc", "clang")
CXX = harness.compiler("CXX", "c++", "g++", "clang++")
STRICT = ["-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-pedantic"]
LANGUAGES = {"C": ["-std=c11", "-x", "c"], "C++": ["-std=c++11", "-x", "c++"]}


def compiles(root, header, language):
    """None, or what the compiler says."""
    name = header.relative_to(header.parts[0])
    source = f"#include <{name}>\n#include <{name}>\ntypedef int nothing_else;\n"
    command = CC if language == "C" else CXX
    status, said = harness.run(command, *STRICT, *LANGUAGES[language], f"-I{root}/include", f"-I{root}/src", "-", input=source)
    return None if status == 0 else said.strip()


def check(root):
    for path in harness.files(root, ["include", "src"], {".h"}):
        for language in LANGUAGES if path.parts[0] == "include" else ["C"]:
            said = compiles(root, path, language)
            if said:
                yield path, 1, f"does not compile alone as {language}:\n{said}"


GOOD = [{"include/millrace/a.h": "#ifndef A\n#define A\n#include <stddef.h>\nsize_t mr_a(void);\n#endif\n", "src/base/b.h": "#include <millrace/a.h>\n"}]
BAD = [
    ({"include/millrace/a.h": "#ifndef A\n#define A\nsize_t mr_a(void);\n#endif\n"}, "alone as C:"),
    ({"include/millrace/a.h": "#ifndef A\n#define A\nint mr_a(int class);\n#endif\n"}, "alone as C++:"),
    ({"include/millrace/a.h": "struct mr_a { int a; };\n"}, "alone as C:"),
    ({"src/base/b.h": "#ifndef B\n#define B\nuint8_t mr__b(void);\n#endif\n"}, "src/base/b.h:1: does not compile alone as C:"),
]

if __name__ == "__main__":
    if not CXX:
        harness.skip("no C++ compiler")
    harness.main(check, GOOD, BAD)
