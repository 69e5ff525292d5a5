#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Nothing but the kernel tables knows the processor. Its macros, intrinsics and target attributes stand in src/cpu and in
files named after an instruction set (unfilter_avx2.c); elsewhere only a table's initialiser may ask, to call theirs:

    #if defined(__x86_64__)
        mr__unfilter_init_x86(table, cpu);
    #endif
"""
import re

import harness

SETS = "x86|sse2|ssse3|sse41|avx2|avx512|bmi2|gfni|arm|neon|sve"
OWN_FILE = re.compile(rf"_(?:{SETS})(?:_\w+)?\.[ch]$")
# Compilers spell one macro in several ways: __x86_64__, __x86_64, _M_X64.
MACRO = re.compile(
    r"\b(__(?:x86_64|amd64|i[3-6]86|aarch64|arm|arm64|thumb)(?:__)?|i386|_M_(?:X64|AMD64|IX86|ARM\w*)"
    r"|__(?:SSE|SSSE|AVX|BMI|FMA|ADX|AES|VAES|SHA|GFNI|PCLMUL|VPCLMUL|POPCNT|LZCNT|F16C|XOP|TBM|MMX|ARM|aarch64|AARCH64|NEON)\w*)\b"
)
# An attribute is known by the word before its bracket, wherever in the list it stands: target("avx2"), __target__("avx2").
OTHER = re.compile(
    r"\b(\w*intrin\.h|arm_neon\.h|arm_sve\.h|arm_acle\.h|cpuid\.h|_mm\d*_\w+|__m\d+\w*"
    r"|__builtin_(?:ia32|cpu|arm|aarch64|neon|sve)_\w+|v(?:ld|st)\dq?_\w+|u?int(?:8x|16x|32x|64x)\w+_t)\b"
    r"|\b_*(?:target|target_clones|target_version|cpu_dispatch|cpu_specific)_*\s*\("
    r"|#\s*pragma\s+(?:GCC|clang)\s+target|\b_Pragma\b|\b(?:__)?asm(?:__)?\b"
)
# Where languages are told apart, one may be told to unroll a loop.
LANGUAGES = ("src", "kernel", "language.h")
CALL = re.compile(r"^\s*(?:void\s+)?mr__\w+_init_\w+\([^;{]*\);\s*$")


def initialiser_lines(code):
    """Numbers of lines in #if...#endif blocks that ask for the processor and do nothing but call initialisers."""
    allowed, stack = set(), []
    for number, line in enumerate(code, 1):
        if re.match(r"\s*#\s*if", line):
            stack.append([number])
        elif stack and re.match(r"\s*#\s*(elif|else|endif)", line):
            stack[-1].append(number)
            if re.match(r"\s*#\s*endif", line):
                marks = stack.pop()
                body = [code[n - 1] for n in range(marks[0], marks[-1]) if n not in marks and code[n - 1].strip()]
                if body and all(CALL.match(text) for text in body):
                    allowed.update(marks)
    return allowed


def check(root):
    for path in harness.files(root, ["src", "include", "cli"], {".c", ".h"}):
        if path.parts[:2] == ("src", "cpu") or OWN_FILE.search(path.name):
            continue
        code = harness.code_only((root / path).read_text()).splitlines()
        allowed = initialiser_lines(code)
        for number, line in enumerate(code, 1):
            other, macro = OTHER.search(line), MACRO.search(line)
            if path.parts == LANGUAGES and line.startswith("#define MR_UNROLL _Pragma("):
                continue
            if other or (macro and number not in allowed):
                yield path, number, f"'{(other or macro).group().strip()}' is for src/cpu and files named after an instruction set"


TABLE = "void mr__t_init(t *table)\n{\n#if defined(__x86_64__)\n    mr__t_init_x86(table);\n#elif defined(__aarch64__)\n    mr__t_init_neon(table);\n#endif\n}\n"
GOOD = [
    {"src/cpu/cpu.c": "#if defined(__x86_64__)\n#endif\n"},
    {"src/codec/png/unfilter_x86.c": "#if defined(__x86_64__)\n#include <immintrin.h>\n#endif\n", "src/codec/png/up_sse41.c": "__m128i a;\n"},
    {"src/codec/png/unfilter.c": TABLE},
    {"src/base/a.c": "/* __x86_64__ and <immintrin.h> in words */\nint uint8_turns;\n"},
]
BAD = [
    ({"src/base/a.c": "#if defined(__x86_64__)\nint a;\n#endif\n"}, "src/base/a.c:1: '__x86_64__'"),
    ({"src/base/a.c": "#ifdef __AVX2__\n#endif\n"}, "'__AVX2__'"),
    ({"src/base/a.c": "#include <immintrin.h>\n"}, "immintrin.h"),
    ({"src/base/a.c": "#include <arm_neon.h>\n"}, "arm_neon.h"),
    ({"src/base/a.c": '__attribute__((target("avx2"))) void f(void);\n'}, "target"),
    ({"src/base/a.c": '__attribute__((noinline, target("avx2"))) void f(void);\n'}, "target"),
    ({"src/base/a.c": '__attribute__((__target__("avx2"))) void f(void);\n'}, "target"),
    ({"src/base/a.c": '__attribute__((noinline,\n               target_clones("avx2"))) void f(void);\n'}, "a.c:2: 'target_clones"),
    ({"src/base/a.c": '#define FAST target("avx2")\n'}, "target"),
    ({"src/base/a.c": '#pragma GCC target("avx2")\n'}, "GCC target"),
    ({"src/base/a.c": '_Pragma("GCC target(\\"avx2\\")")\n'}, "_Pragma"),
    ({"src/base/a.c": "#if __x86_64\nint a;\n#endif\n"}, "a.c:1: '__x86_64'"),
    ({"src/base/a.c": "#if __aarch64\nint a;\n#endif\n"}, "a.c:1: '__aarch64'"),
    ({"src/base/a.c": "#ifdef _M_X64\n#endif\n"}, "'_M_X64'"),
    ({"src/base/a.c": "#ifdef __GFNI__\n#endif\n"}, "'__GFNI__'"),
    ({"src/base/a.c": "void f(void)\n{\n    __asm__(\"nop\");\n}\n"}, "__asm__"),
    ({"src/codec/png/unfilter.c": TABLE.replace("    mr__t_init_x86(table);", "    mr__t_init_x86(table);\n    table->n = 3;")}, "'__x86_64__'"),
    ({"cli/info.c": "int a = __builtin_cpu_supports(0);\n"}, "__builtin_cpu_supports"),
]

if __name__ == "__main__":
    harness.main(check, GOOD, BAD)
