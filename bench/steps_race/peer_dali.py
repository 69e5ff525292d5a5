# SPDX-License-Identifier: Apache-2.0
"""DALI's CPU operators, in pipelines of one thread over batches that are in memory already."""
import nvidia.dali as dali
from nvidia.dali import fn, pipeline_def, types
from nvidia.dali.auto_aug import auto_augment, rand_augment, trivial_augment

NAME, VERSION = "DALI", dali.__version__
BATCH = 16
MODES = {"nearest": types.INTERP_NN, "bilinear": types.INTERP_LINEAR}


def lookup(values):
    return lambda i, s: fn.lookup_table(i, keys=list(range(256)), values=values, dtype=types.UINT8)


ROWS = {
    "identity": lambda i, s: fn.copy(i),
    "flip": lambda i, s: fn.flip(i, horizontal=1),
    "shear, nearest": lambda i, s: fn.warp_affine(i, matrix=[1, -0.3, 0, 0, 1, 0], interp_type=types.INTERP_NN, fill_value=0),
    "translate, nearest": lambda i, s: fn.warp_affine(i, matrix=[1, 0, 17, 0, 1, -9], interp_type=types.INTERP_NN, fill_value=0),
    "brightness": lambda i, s: fn.brightness(i, brightness=1.3),
    "contrast": lambda i, s: fn.contrast(i, contrast=1.3),
    "saturation": lambda i, s: fn.saturation(i, saturation=1.3),
    "hue": lambda i, s: fn.hue(i, hue=36.0),
    "jitter": lambda i, s: fn.color_twist(i, brightness=1.2, contrast=0.8, saturation=1.3, hue=36.0),
    "grayscale": lambda i, s: fn.color_space_conversion(fn.color_space_conversion(i, image_type=types.RGB, output_type=types.GRAY),
                                                        image_type=types.GRAY, output_type=types.RGB),
    "gamma": lookup([round(255 * (v / 255) ** 0.8) for v in range(256)]),
    "invert": lookup([255 - v for v in range(256)]),
    "posterize": lookup([v & 0xF0 for v in range(256)]),
    "solarize": lookup([v if v < 128 else 255 - v for v in range(256)]),
    "equalize": lambda i, s: fn.experimental.equalize(i),
    "blur, 5": lambda i, s: fn.gaussian_blur(i, window_size=5, sigma=1.2),
    "blur, 23": lambda i, s: fn.gaussian_blur(i, window_size=23, sigma=2.0),
    "jpeg, 50": lambda i, s: fn.jpeg_compression_distortion(i, quality=50),
    "permute": lambda i, s: fn.color_space_conversion(i, image_type=types.RGB, output_type=types.BGR),
    "noise": lambda i, s: fn.noise.gaussian(i, stddev=25.5),
    "erase": lambda i, s: fn.erase(i, anchor=[20.0, 20.0], shape=[(0.05 * s[0] * s[1]) ** 0.5] * 2, axis_names="HW", fill_value=0),
    "cutout": lambda i, s: fn.erase(i, anchor=[20.0, 20.0], shape=[56.0, 56.0], axis_names="HW", fill_value=0),
    "randaug(2, 9)": lambda i, s: rand_augment.rand_augment(i, shape=s, n=2, m=9),
    "autoaug(imagenet)": lambda i, s: auto_augment.auto_augment_image_net(i, shape=s),
    "trivialaug": lambda i, s: trivial_augment.trivial_augment_wide(i, shape=s),
}
for name, mode in MODES.items():
    ROWS[f"rotate, {name}"] = lambda i, s, m=mode: fn.rotate(i, angle=30.0, keep_size=True, interp_type=m, fill_value=0)
    ROWS[f"affine, {name}"] = lambda i, s, m=mode: fn.warp_affine(i, matrix=[0.90, 0.12, 4.0, -0.15, 0.93, 9.0], interp_type=m, fill_value=0)


def pipeline(name, images):
    """A built pipeline; run() makes BATCH images."""
    h, w = images[0].shape[:2]
    batch = [images[n % len(images)] for n in range(BATCH)]

    @pipeline_def(batch_size=BATCH, num_threads=1, device_id=None, seed=1, prefetch_queue_depth=1, enable_conditionals=True)
    def steps():
        image = fn.external_source(source=lambda: batch, layout="HWC", no_copy=True)
        return ROWS[name](image, [h, w])

    made = steps()
    made.build()
    return made
