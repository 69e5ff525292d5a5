#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Other people's tar beside ours, for tests/unit/test_tar_interop.c.

tar_interop.py write FOLDER   writes shards there with GNU tar, Python's tarfile and webdataset, and prints for each: its
                              name, and the name of the file that says what is in it
tar_interop.py read SHARD WHAT  reads a shard of ours with the three, and holds it against the lines of WHAT:
                              member name, tab, size. A member's bytes are its name again and again
What is not installed is left out with a word on stderr."""
import io
import os
import shutil
import subprocess
import sys
import tarfile

try:
    import webdataset
except ImportError:
    webdataset = None
    print("no webdataset: its shards are left out (MILLRACE_PYTHON names a python that has it)", file=sys.stderr)

LONG = "d" * 60 + "/" + "e" * 60
SHORT = ["a/0001", "b/0002", LONG + "/3", "c/sp ace"]
EVERY = SHORT + ["f" * 240, "g" * 200 + "/" + "h" * 200, "\u00e4/\u00f6\u4e2d"]
MAGIC = {"jpg": b"\xff\xd8\xff\xe0", "png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"}


def samples(keys):
    """Key, and its members as they go into the archive."""
    for number, key in enumerate(keys):
        image = "png" if number % 2 else "jpg"
        members = {image: MAGIC[image] + key.encode() + b"." * number * 300}
        if number != 2:
            members["cls"] = b"%d" % (number * 10)
        if number % 3 == 0:
            members["json"] = b'{"number": %d}' % number
        yield key, members


def describe(keys):
    """As tar_describe in tar_file.c does it."""
    for key, members in samples(keys):
        image = "png" if "png" in members else "jpg"
        line = f"{key} {'jpeg' if image == 'jpg' else 'png'} +{len(members[image])}"
        line += f" {members['cls'].decode()}" if "cls" in members else ""
        line += f" json@+{len(members['json'])}" if "json" in members else ""
        yield line + "\n"


def write_gnu(folder, name, layout, keys):
    if shutil.which("tar") is None:
        print("no tar: its shards are left out", file=sys.stderr)
        return False
    names = []
    for key, members in samples(keys):
        for member, content in members.items():
            path = os.path.join(folder, "tree", f"{key}.{member}")
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(content)
            names.append(f"{key}.{member}")
    listing = "\n".join(names).encode()
    subprocess.run(["tar", f"--format={layout}", "-C", f"{folder}/tree", "-cf", f"{folder}/{name}", "-T", "-"],
                   input=listing, check=True)
    return True


def write_python(folder, name, layout, keys):
    with tarfile.open(f"{folder}/{name}", "w", format=layout) as tar:
        for key, members in samples(keys):
            folder_info = tarfile.TarInfo(os.path.dirname(key) or ".")
            folder_info.type = tarfile.DIRTYPE
            tar.addfile(folder_info)
            for member, content in members.items():
                info = tarfile.TarInfo(f"{key}.{member}")
                info.size = len(content)
                info.mtime = 1234567890.5 if layout == tarfile.PAX_FORMAT else 1234567890
                tar.addfile(info, io.BytesIO(content))
    return True


def write_webdataset(folder, name, keys):
    if webdataset is None:
        return False
    with webdataset.TarWriter(f"{folder}/{name}") as writer:
        for key, members in samples(keys):
            writer.write({"__key__": key, **members})
    return True


def write(folder):
    for what, keys in (("short", SHORT), ("every", EVERY)):
        with open(f"{folder}/{what}.txt", "w", encoding="utf-8") as file:
            file.writelines(describe(keys))
        jobs = [(f"tar-{x}-{what}.tar", write_gnu, x) for x in ("ustar", "oldgnu", "gnu", "pax", "posix")]
        jobs += [(f"python-{n}-{what}.tar", write_python, x) for n, x in
                 (("ustar", tarfile.USTAR_FORMAT), ("gnu", tarfile.GNU_FORMAT), ("pax", tarfile.PAX_FORMAT))]
        for name, writer, layout in jobs:
            if "ustar" in name and what == "every":
                continue  # it cannot say these names
            if writer(folder, name, layout, keys):
                print(name, f"{what}.txt")
        if write_webdataset(folder, f"webdataset-{what}.tar", keys):
            print(f"webdataset-{what}.tar", f"{what}.txt")


def payload(name, size):
    raw = name.encode("utf-8", "surrogateescape")
    return (raw * (size // len(raw) + 1))[:size]


def check(condition, words):
    if not condition:
        sys.exit(f"tar_interop.py: {words}")


def read_python(shard, members):
    with tarfile.open(shard) as tar:
        infos = tar.getmembers()
        check([(i.name, i.size) for i in infos] == members, f"tarfile lists other members: {infos}")
        for info in infos:
            check(info.isreg() and (info.mode, info.uid, info.gid, info.mtime) == (0o644, 0, 0, 0), f"{info.name}: metadata")
            check(tar.extractfile(info).read() == payload(info.name, info.size), f"{info.name}: tarfile reads other bytes")


def read_gnu(shard, members):
    if shutil.which("tar") is None:
        print("no tar: ours is not read by it", file=sys.stderr)
        return
    folder = shard + ".extracted"
    os.mkdir(folder)
    done = subprocess.run(["tar", "-C", folder, "-xvf", shard], capture_output=True, env={**os.environ, "LC_ALL": "C.UTF-8"})
    check(done.returncode == 0 and done.stderr == b"", f"tar says: {done.stderr}")
    check(len(done.stdout.splitlines()) == len(members), "tar extracts other members")
    for name, size in members:
        with open(os.fsencode(folder) + b"/" + name.encode("utf-8", "surrogateescape"), "rb") as file:
            check(file.read() == payload(name, size), f"{name}: tar extracts other bytes")


def read_webdataset(shard, members):
    if webdataset is None:
        return
    expected = {}
    for name, size in members:
        base = name.rfind("/") + 1
        dot = name.index(".", base)
        expected.setdefault(name[:dot], {})[name[dot + 1:]] = payload(name, size)
    read = {s.pop("__key__"): {k: v for k, v in s.items() if not k.startswith("__")}
            for s in webdataset.WebDataset(shard, shardshuffle=False)}
    check(read == expected, "webdataset reads other samples")


def main():
    if sys.argv[1] == "write":
        write(sys.argv[2])
        return
    with open(sys.argv[3], encoding="utf-8", errors="surrogateescape") as file:
        members = [(line.split("\t")[0], int(line.split("\t")[1])) for line in file]
    for reader in (read_python, read_gnu, read_webdataset):
        reader(sys.argv[2], members)


main()
