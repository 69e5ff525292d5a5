# SPDX-License-Identifier: Apache-2.0
"""The extension module: libmillrace as Python objects, one to one. What people use is built on it (millrace.Loader, ...)."""
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, final

class Error(Exception):
    """Whatever Millrace reports. Its text says what, where (the sample's key) and what to do."""

    code: str  # "MR_ETRUNCATED"

class ArgumentError(Error, ValueError): ...  # MR_EARGUMENT
class MemoryError(Error, MemoryError): ...  # type: ignore[misc]  # MR_ENOMEM
class StorageError(Error, OSError): ...  # MR_EIO, MR_ESYSTEM
class DataError(Error, ValueError): ...  # MR_EFORMAT, MR_ETRUNCATED, MR_ECORRUPT, MR_EUNSUPPORTED
class LimitError(Error, ValueError): ...  # MR_ELIMIT
class ClosedError(Error, RuntimeError): ...  # MR_ECLOSED
class TimeoutError(Error, TimeoutError): ...  # type: ignore[misc]  # MR_ETIMEOUT
class InternalError(Error, RuntimeError): ...  # MR_EINTERNAL
class DeviceError(Error, RuntimeError): ...  # MR_EDEVICE
class ForkedError(Error, RuntimeError): ...  # MR_EFORKED

Progress = Callable[[Mapping[str, Any]], object]  # {"verb", "done", "total", "unit", "in_nbytes", "out_nbytes", "refused"}

@final
class Array:
    """Numbers in memory: a view of a batch, or memory of its own. What it is a view of stays until the last view is gone."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def strides(self) -> tuple[int, ...]: ...  # bytes
    @property
    def dtype(self) -> str: ...  # NumPy's names: "uint8", "uint16", "float32", "float16", "bfloat16", "int64", "uint64", "float64"
    @property
    def ndim(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def itemsize(self) -> int: ...
    @property
    def readonly(self) -> bool: ...
    @property
    def address(self) -> int: ...
    def __len__(self) -> int: ...
    def __getitem__(self, at: int | slice, /) -> Array: ...  # along the first axis: views
    def __int__(self) -> int: ...  # of one number, as the next two
    def __float__(self) -> float: ...
    def __index__(self) -> int: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...
    def __dlpack__(
        self,
        *,
        stream: None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def reshape(self, *shape: int) -> Array: ...  # a view; of what lies without gaps
    def copy(self) -> Array: ...
    def __copy__(self) -> Array: ...  # as copy(), likewise the next
    def __deepcopy__(self, memo: Any, /) -> Array: ...
    def __reduce__(self) -> tuple[Any, ...]: ...  # _array and its arguments
    def tobytes(self) -> bytes: ...
    def tolist(self) -> list[Any]: ...
    def numpy(self) -> Any: ...
    def torch(self) -> Any: ...
    def jax(self) -> Any: ...
    def _repr_png_(self) -> bytes | None: ...  # u8 or u16, height x width (x 1, 3, 4), sides up to 4096; else None

def empty(shape: Sequence[int], dtype: str) -> Array: ...  # zeroed memory of its own, 64-byte aligned
def _array(shape: Sequence[int], dtype: str, data: Any, /) -> Array: ...  # of what tobytes() gave, which pickles have; data: a buffer

@final
class Recipe:
    def __new__(cls, text: str) -> Recipe: ...
    @property
    def text(self) -> str: ...
    @property
    def hash(self) -> int: ...
    def output(self) -> dict[str, Any]: ...  # {"shape": (3, 224, 224), "dtype": "float32", "layout": "nchw", "width", "height", "channels", "nbytes"}
    def steps(self) -> list[str]: ...  # the text of each
    def visible(self) -> Recipe: ...
    def set_fusing(self, fuse: bool, /) -> None: ...
    def explain(self, width: int, height: int, seed: int = 0, epoch: int = 0, key: int = 0) -> str: ...
    def apply(self, image: Any, seed: int = 0, epoch: int = 0, key: int = 0) -> Array: ...  # image: a buffer, height x width (x channels), u8

@final
class Dataset:
    def __new__(
        cls,
        paths: Sequence[str],
        *,
        layout: str = "auto",
        index: Literal["cache", "beside", "none"] = "cache",
        index_folder: str | None = None,
        broken: Literal["fail", "skip"] = "fail",
        list: str | None = None,
        threads: int = 0,
        rebuild: bool = False,
        progress: Progress | None = None,
    ) -> Dataset: ...
    def __len__(self) -> int: ...
    def info(self) -> dict[str, Any]: ...  # the fields of mr_dataset_info; layout as its name, fingerprint as 16 hex digits
    def forms(self) -> list[dict[str, Any]]: ...  # the fields of mr_dataset_form; form as its name
    def classes(self) -> list[str]: ...
    def problems(self) -> list[dict[str, Any]]: ...
    def file(self, number: int, /) -> str: ...
    def find(self, key: str, /) -> int: ...  # KeyError
    def key(self, ordinal: int, /) -> str: ...
    def label(self, ordinal: int, /) -> None | int | float | list[int] | list[float] | str | bytes: ...
    def labels(self) -> Array: ...  # int64, of all samples; 0 for those that have another kind, -1 for none
    def label_kinds(self) -> dict[str, int]: ...  # how many have which: none, int, float, ints, floats, text, bytes, empty (text)
    def sample(self, ordinal: int, /) -> dict[str, Any]: ...  # {"ordinal", "shard", "position", "key", "label", "members": ["json", ...]}
    def record(self, ordinal: int, form: str | None = None) -> dict[str, Any]: ...  # the fields of mr_record but the row index
    def read(self, ordinal: int, form: str | None = None) -> bytes: ...  # as stored
    def member(self, ordinal: int, name: str, /) -> bytes: ...  # KeyError

@final
class Batch:
    """Given back when it and all views of it are gone."""

    epoch: int
    number: int
    position: int
    last: bool
    size: int
    count: int
    images: Array  # ArgumentError with keep="device"
    device_data: int | None  # with keep="device": a cl_mem
    labels: Array  # int64
    mask: Array  # uint8, mr_mask
    ordinals: Array  # uint64
    positions: Array  # uint64
    def key(self, place: int, /) -> str: ...
    def label(self, place: int, /) -> Any: ...
    def lists(self) -> tuple[Array, Array] | None: ...  # values (int64 or float64), offsets (uint64)
    def mix(self) -> dict[str, Any] | None: ...  # {"kind": "mixup", "weight", "box": (x, y, width, height), "partners": Array, "ordinals": Array}
    def soft_labels(self, classes: int, /) -> Array: ...  # float32, size x classes; up to 2**24 of those
    def targets(self, place: int, /) -> dict[str, Any]: ...
    # {"width", "height", "boxes": (n, 4) f32, "rotated": (n, 5), "categories": int64, "areas": f32, "flags": u8, "origins": u64,
    #  "keypoints": (k, 3) f32, "keypoint_starts": u64, "mask": (h, w) u8, "masks": (n, h, w) u8}; those that were not asked for are None
    def device(self) -> dict[str, Any] | None: ...  # {"name", "memory", "context", "device", "queue"}, with keep="device"
    def hash(self) -> int: ...

@final
class Loader:
    """Options are those of mr_loader_options by name; None and 0 are the defaults."""

    def __new__(
        cls,
        dataset: Dataset,
        recipe: Recipe,
        *,
        batch: int = 0,
        seed: int = 0,
        epoch: int = 0,
        epochs: int = 0,
        start: int = 0,
        order: Literal["shuffled", "sequential", "windowed", "weighted", "repeated"] = "shuffled",
        block: int = 0,
        window: int = 0,
        weights: Any = None,  # a buffer of float64, or a sequence of numbers
        draws: int = 0,
        repeats: int = 0,
        rank: int | None = None,
        world: int | None = None,
        drop_last: bool = False,
        form: str | None = None,
        threads: int = 0,
        slots: int = 0,
        memory_nbytes: int = 0,
        reading: Literal["auto", "threads", "direct", "ahead"] = "auto",
        read_depth: int = 0,
        check_all: bool = False,
        pinning: Literal["none", "cores"] = "none",
        numa_node: int | None = None,
        bad: Literal["fail", "skip", "replace"] = "fail",
        bad_max: int | None = None,
        quarantine: str | PathLike[str] | None = None,
        timeout_ns: int = 0,
        device: str | None = None,
        targets: Sequence[str] = (),  # "boxes", "keypoints", "mask", "masks"
        mask_member: str | None = None,
        policy: str | None = None,
        beside: str | None = None,
        share: str | None = None,
        trace: int = 0,
        device_memory_nbytes: int = 0,
        keep: Literal["host", "device"] = "host",
        limits: Mapping[str, int] | None = None,  # pixels, nbytes, scans, memory_nbytes
    ) -> Loader: ...
    def next(self) -> Batch | None: ...  # None when all epochs are over
    def stop(self) -> None: ...
    def close(self) -> None: ...  # stops; its threads end when the last view is gone, or now
    @property
    def batches(self) -> int: ...
    @property
    def held(self) -> int: ...  # batches that are with consumers
    def state(self) -> str: ...
    def restore(self, text: str, /) -> None: ...
    def write_trace(self, path: str | PathLike[str], /) -> None: ...
    def stats(self) -> dict[str, Any]: ...  # the fields of mr_loader_stats; "stages" and "devices" are lists of dicts

@final
class Preparer:
    def __new__(cls, dataset: Dataset, recipe: Recipe, *, seed: int = 0, form: str | None = None, check_all: bool = False,
                targets: Sequence[str] = (), mask_member: str | None = None, limits: Mapping[str, int] | None = None) -> Preparer: ...
    def run(self, ordinal: int, epoch: int = 0, repeat: int = 0) -> Array: ...
    def run_into(self, ordinal: int, to: Any, epoch: int = 0, repeat: int = 0) -> None: ...  # to: a writable buffer of as many bytes
    def targets(self) -> dict[str, Any]: ...  # of the last run; as Batch.targets, with memory of its own

def info(data: Any, /) -> dict[str, Any]: ...  # the fields of mr_info; names for numbers
def decode(
    data: Any,
    *,
    region: tuple[int, int, int, int] | None = None,  # x, y, width, height
    reduce: int = 0,
    channels: int = 0,
    depth: int = 0,
    orient: bool = False,
    accept_damaged: bool = False,
    values: bool = False,
    index: bytes | None = None,
    limits: Mapping[str, int] | None = None,
) -> Array: ...  # height x width x channels; height x width for one channel
def encode(
    image: Any,  # a buffer: height x width (x channels), u8 or u16
    form: str,
    *,
    quality: int = 0,
    subsampling: str | None = None,  # "4:2:0"
    progressive: bool = False,
    lossless: bool = False,
    effort: int = 0,
    orientation: int = 0,
    icc: bytes | None = None,
    preset: Literal["default", "fast", "small"] = "default",
    threads: int = 0,
) -> bytes: ...
def recode(data: Any, form: str, *, quality: int = 0, without_origin: bool = False, threads: int = 0) -> tuple[bytes, dict[str, Any]]: ...
def row_index(data: Any, /) -> bytes | None: ...
def annotation(data: Any, /) -> dict[str, Any]: ...  # the fields of mr_annotation_view as Arrays with memory of their own
def pack(
    dataset: Dataset,
    folder: str,
    forms: Sequence[Mapping[str, Any]],  # fields of mr_pack_form; form by name, "original" for none
    *,
    shard_nbytes: int = 0,
    shard_samples: int = 0,
    budget_nbytes: int = 0,
    no_row_index: bool = False,
    no_check: bool = False,
    alignment: str = "auto",  # "tar", "page"
    filter: str = "bilinear",
    pillow: int = 0,
    part: int = 0,
    parts: int = 0,
    max_bad: int = 0,
    threads: int = 0,
    progress: Progress | None = None,
) -> dict[str, Any]: ...  # the fields of mr_pack_report
def verify(
    folder: str, *, threads: int = 0, report: str | None = None, progress: Progress | None = None
) -> dict[str, Any]: ...  # the fields of mr_verify_report, and "found": a list of dicts with the fields of mr_finding
def version() -> str: ...
def cpu() -> str: ...
def threads_default() -> int: ...
def devices() -> list[dict[str, Any]]: ...  # the fields of mr_device_info, "decodes" (a list), "lacks" (words)
