#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The samples of a folder in the order that torchvision's ImageFolder documents: for each class (the folders in the root,
sorted) what os.walk gives, sorted, and in each folder the names, sorted. Prints PATH<TAB>CLASS, bytes as they are."""
import os
import sys

ENDINGS = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp") + (".l3", ".raw", ".mrraw")


def samples(root):
    classes = sorted(name for name in os.listdir(root) if os.path.isdir(os.path.join(root, name)))
    for number, name in enumerate(classes):
        for folder, _, files in sorted(os.walk(os.path.join(root, name), followlinks=True)):
            for file in sorted(files):
                path = os.path.join(folder, file)
                if path.lower().endswith(ENDINGS):
                    yield os.path.relpath(path, root), number


for path, number in samples(sys.argv[1]):
    sys.stdout.buffer.write(os.fsencode(path) + b"\t%d\n" % number)
