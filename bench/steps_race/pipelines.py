# SPDX-License-Identifier: Apache-2.0
"""Whole pipelines of the peers over JPEG files, on one thread: a function of how many images, giving processor nanoseconds and images."""
import itertools
import time

MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
BATCH = 64


def torchvision_pil(kind, files):
    """PIL decodes, v2 transforms; no DataLoader in between."""
    import peer_torchvision as peer
    import PIL.Image
    import torch

    T = peer.T
    steps = {"crop first": [T.RandomResizedCrop(224), T.RandomHorizontalFlip(), T.RandAugment()],
             "source resolution": [T.RandAugment(), T.RandomResizedCrop(224), T.RandomHorizontalFlip()],
             "without randaug": [T.RandomResizedCrop(224), T.RandomHorizontalFlip()]}[kind]
    steps = T.Compose([*steps, T.ToImage(), T.ToDtype(torch.float32, scale=True), T.Normalize(MEAN, STD)])
    names = itertools.cycle(files)
    batch = torch.empty(BATCH, 3, 224, 224)

    def run(count):
        begin = time.process_time_ns()
        for n in range(count):
            batch[n % BATCH] = steps(PIL.Image.open(next(names)).convert("RGB"))
        return time.process_time_ns() - begin, count

    return run


def dali(kind, files):
    from nvidia.dali import fn, pipeline_def, types
    from nvidia.dali.auto_aug import rand_augment

    def crop(image):
        return fn.random_resized_crop(image, size=[224, 224], random_area=[0.08, 1.0], random_aspect_ratio=[3 / 4, 4 / 3],
                                      interp_type=types.INTERP_LINEAR, antialias=True)

    @pipeline_def(batch_size=BATCH, num_threads=1, device_id=None, seed=1, enable_conditionals=True)
    def steps():
        stored, _ = fn.readers.file(files=files, random_shuffle=True, initial_fill=256)
        if kind == "source resolution":
            shape = fn.peek_image_shape(stored)
            image = crop(rand_augment.rand_augment(fn.decoders.image(stored, output_type=types.RGB), shape=shape, n=2, m=9))
        else:
            image = fn.decoders.image_random_crop(stored, output_type=types.RGB, random_area=[0.08, 1.0], random_aspect_ratio=[3 / 4, 4 / 3])
            image = fn.resize(image, resize_x=224, resize_y=224, interp_type=types.INTERP_LINEAR, antialias=True)
            if kind == "crop first":
                image = rand_augment.rand_augment(image, shape=[224, 224], n=2, m=9)
        return fn.crop_mirror_normalize(image, dtype=types.FLOAT, output_layout="CHW", mean=[255 * m for m in MEAN], std=[255 * s for s in STD],
                                        mirror=fn.random.coin_flip())

    pipeline = steps()
    pipeline.build()
    pipeline.run()

    def run(count):
        begin = time.process_time_ns()
        for _ in range((count + BATCH - 1) // BATCH):
            pipeline.run()
        return time.process_time_ns() - begin, (count + BATCH - 1) // BATCH * BATCH

    return run


PEERS = {"torchvision on PIL": torchvision_pil, "DALI": dali}
