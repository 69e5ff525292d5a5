#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""COCO's images and annotations as tar shards: each image, and beside it a JSON with its objects.

    python examples/coco_to_tar.py annotations/instances_train2017.json train2017 coco/train

writes coco/train-000000.tar, ..., of 1000 images each, in COCO's order of images; person_keypoints_*.json goes as well.
Categories keep COCO's numbers (1 to 90). Images without objects have an empty list.

    loader = mr.torch.Loader("coco/train-{000000..000118}.tar", recipe, targets=("boxes", "masks"))
"""

from __future__ import annotations

import argparse
import collections
import io
import json
import pathlib
import tarfile

PARTS = ("bbox", "category_id", "area", "iscrowd", "segmentation", "keypoints")  # of an object, those that are read


def add(tar: tarfile.TarFile, name: str, data: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(data)
    tar.addfile(member, io.BytesIO(data))


def convert(annotations: pathlib.Path, images: pathlib.Path, to: str, per_shard: int = 1000) -> list[pathlib.Path]:
    """Writes the shards; their paths."""
    coco = json.loads(annotations.read_bytes())
    objects = collections.defaultdict(list)
    for one in coco["annotations"]:
        objects[one["image_id"]].append({name: one[name] for name in PARTS if name in one})
    pathlib.Path(to).parent.mkdir(parents=True, exist_ok=True)
    shards = []
    for first in range(0, len(coco["images"]), per_shard):
        shards.append(pathlib.Path(f"{to}-{first // per_shard:06}.tar"))
        with tarfile.open(shards[-1], "w") as tar:
            for image in coco["images"][first : first + per_shard]:
                path = images / image["file_name"]
                said = {name: image[name] for name in ("width", "height")}
                said["annotations"] = objects[image["id"]]
                add(tar, path.name, path.read_bytes())
                add(tar, f"{path.stem}.json", json.dumps(said).encode())
    return shards


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("annotations", type=pathlib.Path, help="instances_train2017.json")
    parser.add_argument("images", type=pathlib.Path, help="the folder of the images")
    parser.add_argument("to", help="what the shards' names begin with: coco/train")
    parser.add_argument("--per-shard", type=int, default=1000, help="images in a shard [1000]")
    args = parser.parse_args()
    shards = convert(args.annotations, args.images, args.to, args.per_shard)
    print(f"{len(shards)} shards: {shards[0]} to {shards[-1]}" if shards else "there are no images")


if __name__ == "__main__":
    main()
