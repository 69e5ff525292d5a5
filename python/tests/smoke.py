# SPDX-License-Identifier: Apache-2.0
"""Uses an installed millrace with the standard library alone: makes images, decodes them, packs them, feeds them.
tools/make-wheel runs it in a fresh environment."""
import pathlib
import random
import tempfile

import millrace as mr

WIDTH, HEIGHT, IMAGES = 96, 64, 40


def picture(seed: int) -> memoryview:
    """Noise over a gradient, height x width x 3."""
    rng = random.Random(seed)
    data = bytes((x // 3 % WIDTH + x % 3 * 40 + rng.randrange(32)) % 256 for x in range(HEIGHT * WIDTH * 3))
    return memoryview(data).cast("B", (HEIGHT, WIDTH, 3))


def write_images(folder: pathlib.Path) -> None:
    for number in range(IMAGES):
        to = folder / f"class{number % 4}"
        to.mkdir(parents=True, exist_ok=True)
        form = ["jpeg", "png", "webp"][number % 3]
        (to / f"{number:03}.{form}").write_bytes(mr.encode(picture(number), form))


def main() -> None:
    assert mr.decode(mr.encode(picture(1), "png")).tobytes() == picture(1).tobytes()
    with tempfile.TemporaryDirectory() as scratch:
        folder, packed = pathlib.Path(scratch, "images"), pathlib.Path(scratch, "packed")
        write_images(folder)
        mr.pack(folder, packed, forms=["original", "l3"])
        fed = {}
        for name, dataset, form in [("folder", folder, None), ("packed", packed, None), ("l3", packed, "l3")]:
            recipe = "rrc(32) flip normalize(imagenet)"
            with mr.Loader(dataset, recipe, batch_size=16, shuffle=True, form=form, to="array") as loader:
                fed[name] = [(images.tobytes(), labels.tolist()) for images, labels in loader]
        assert len(fed["folder"]) == 3 and len(fed["folder"][2][1]) == IMAGES % 16
        assert fed["folder"] == fed["packed"] == fed["l3"]
    print(f"millrace {mr.__version__}: {IMAGES} images, from a folder, packed, as L3: the same batches")


if __name__ == "__main__":
    main()
