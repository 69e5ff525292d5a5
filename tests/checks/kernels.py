#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The kernels of src/kernel/lane, without a device: the text that tools/make-kernels writes is up to date; every kernel of
MR__KERNELS is there, of the kind it says; and all of it compiles, as OpenCL C 1.2 with and without doubles, as OpenCL C 2.0
with sub-groups, as CUDA C, and as C. A compiler that is not here is left out with a word."""
import importlib.machinery
import importlib.util
import pathlib
import re
import shutil
import tempfile

import harness

LANE = "src/kernel/lane"
MAKER = pathlib.Path(__file__).resolve().parents[2] / "tools/make-kernels"
CLANG = harness.compiler("", "clang-14", "clang")
NVCC = harness.compiler("NVCC", "nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
CC = harness.compiler("CC", "cc", "gcc", "clang")
STRICT = ["-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-fsyntax-only"]
OPENCL = ["-x", "cl", "-Xclang", "-finclude-default-header", "-target", "spir64-unknown-unknown", "-ferror-limit=3"]
# A device's own compiler says which version the device has.
DIALECTS = {
    "OpenCL C 1.2": ["-cl-std=CL1.2", "-D__OPENCL_VERSION__=120"],
    "OpenCL C 1.2 without doubles": ["-cl-std=CL1.2", "-D__OPENCL_VERSION__=120", "-Xclang", "-cl-ext=-cl_khr_fp64"],
    "OpenCL C 2.0 with sub-groups": ["-cl-std=CL2.0", "-D__OPENCL_VERSION__=200", "-DMR_SUBGROUPS"],
}
# As a player of PTX would build it: nothing contracted, divisions as IEEE says. 177: a function that nobody calls.
CUDA = ["-x", "cu", "-std=c++14", "-fmad=false", "-prec-div=true", "--ptx", "-arch=compute_75", "-Werror", "all-warnings",
        "--diag-suppress", "177"]


def maker(root):
    """tools/make-kernels, for this tree."""
    loader = importlib.machinery.SourceFileLoader("make_kernels", str(MAKER))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("make_kernels", loader))
    loader.exec_module(module)
    module.ROOT = root
    return module


def up_to_date(root, module):
    text = root / LANE / "opencl_text.c"
    if not text.exists() or text.read_text() != module.made():
        yield f"{LANE}/opencl_text.c", 1, "is not what tools/make-kernels writes: run it, and commit what it writes"


def kinds(root):
    """What MR__KERNELS says of each kernel, beside how it begins."""
    table = (root / LANE / "kernels.h").read_text()
    said = dict(re.findall(r"\bK\((\w+), MR__(ALONE|TEAM)_LANES\)", table))
    found = {}
    for path in harness.files(root, [LANE], {".h"}):
        text = (root / path).read_text()
        for match in re.finditer(r"^MR_KERNEL\((\w+)\)\n\{\n\s*(\w+)", text, re.M):
            name, kind = match.groups()
            line = text[:match.start()].count("\n") + 1
            found[name] = kind
            if name not in said:
                yield path, line, f"the kernel {name} is not in MR__KERNELS"
            elif kind != f"MR_{said[name]}":
                yield path, line, f"the kernel {name} begins with {kind}, and MR__KERNELS has it with MR__{said[name]}_LANES"
    for name in sorted(said.keys() - found.keys()):
        yield f"{LANE}/kernels.h", 1, f"there is no kernel {name}"


def compiles(what, *command):
    status, said = harness.run(*command)
    if status != 0:
        yield LANE, 1, f"does not compile as {what}:\n{said.strip()}"


def has_opencl(folder):
    empty = folder / "empty.cl"
    empty.write_text("kernel void f(global int *a) { a[get_global_id(0)] = 1; }\n")
    return CLANG is not None and harness.run(CLANG, *OPENCL, "-cl-std=CL1.2", "-fsyntax-only", empty)[0] == 0


def as_opencl(folder, module):
    if not has_opencl(folder):
        print("no clang that has OpenCL: the text is not compiled")
        return
    text = folder / "kernels.cl"
    text.write_text("\n".join(module.joined(module.gather(module.FIRST, set()))) + "\n")
    for what, words in DIALECTS.items():
        yield from compiles(what, CLANG, *OPENCL, *words, *STRICT, "-Wno-unused-parameter", text)


def as_cuda(root, folder):
    if NVCC is None:
        print("no nvcc: the kernels are not compiled as CUDA C")
        return
    source = folder / "kernels.cu"
    source.write_text('#include "kernel/lane/all.h"\n')
    yield from compiles("CUDA C", NVCC, *CUDA, f"-I{root}/src", "-o", folder / "kernels.ptx", source)


def as_c(root, folder):
    source = folder / "kernels.c"
    source.write_text('#include "kernel/lane/all.h"\nint nothing_else;\n')
    yield from compiles("C", CC, "-std=c11", "-pedantic", *STRICT, f"-I{root}/include", f"-I{root}/src", source)


def check(root):
    module = maker(root)
    yield from up_to_date(root, module)
    yield from kinds(root)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        yield from as_opencl(folder, module)
        yield from as_cuda(root, folder)
        yield from as_c(root, folder)


def tree(kernel="out[lane.id] = 1;", kind="ALONE", helper="", name="one", made=True):
    """A house with one kernel, written in the language that this one has."""
    house = MAKER.parent.parent
    own = {f"src/{name}": (house / "src" / name).read_text() for name in ["kernel/language.h", "kernel/lane/lane.h"]}
    kernels = f"#define MR__KERNELS(K) K({name}, MR__{kind}_LANES)\n"
    all_h = f'#include "kernel/lane/lane.h"\n{helper}\nMR_KERNEL(one)\n{{\n    MR_ALONE;\n    (void)list;\n    (void)arena;\n    {kernel}\n}}\n'
    files = {**own, f"{LANE}/kernels.h": kernels, f"{LANE}/all.h": all_h}
    with tempfile.TemporaryDirectory() as folder:
        for path, text in files.items():
            (pathlib.Path(folder) / path).parent.mkdir(parents=True, exist_ok=True)
            (pathlib.Path(folder) / path).write_text(text)
        text = maker(pathlib.Path(folder)).made()
    return {**files, f"{LANE}/opencl_text.c": text if made else text + "\n"}


GOOD = [tree(), tree(helper="MR_INLINE uint32_t two(void)\n{\n    return 2;\n}\n", kernel="out[0] = (uint8_t)two();")]
BAD = [
    (tree(made=False), "is not what tools/make-kernels writes"),
    (tree(kind="TEAM"), "begins with MR_ALONE"),
    (tree(name="two"), "there is no kernel two"),
    (tree(name="two"), "the kernel one is not in MR__KERNELS"),
    (tree(kernel="out[0] = 1"), "does not compile as C:"),
]
if CLANG and harness.run(CLANG, *OPENCL, "-fsyntax-only", "/dev/null")[0] == 0:
    BAD += [
        (tree(kernel="uint8_t *p = out; p[0] = 1;"), "as OpenCL C 1.2:"),
        (tree(kernel="out[0] = (uint8_t)((double)list * 0.5);"), "as OpenCL C 1.2 without doubles:"),
        (tree(helper="#if defined(MR_SUBGROUPS)\n#error wrong\n#endif"), "as OpenCL C 2.0 with sub-groups:"),
    ]
if NVCC:
    BAD += [(tree(helper="static inline uint32_t two(void)\n{\n    return 2;\n}\n", kernel="out[0] = (uint8_t)two();"), "as CUDA C:")]

if __name__ == "__main__":
    harness.main(check, GOOD, BAD)
