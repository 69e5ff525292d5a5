# SPDX-License-Identifier: Apache-2.0
"""mr.Dataset: samples in their order, by number, by key, by slices."""

from __future__ import annotations

import base64
import builtins
import difflib
import glob
import html
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Literal, Union, overload

from . import _core
from ._arguments import read_path, whole_or_none
from ._core import Array, Error
from ._progress import Show, showing
from ._quantity import bytes_text, count_text
from ._text import printable
from .images import _named

__all__ = ["Annotation", "Dataset", "Sample", "Samples"]

Path = str | os.PathLike[str]
DatasetLike = Union[Path, Sequence[Path], "Dataset"]  # what a loader takes for one
_KEYS_COMPARED = 5000  # a key that may have been meant is looked for among so many
_SHOWN_SIDE = 768  # of a picture in a notebook


@dataclass(frozen=True, eq=False)
class Annotation:
    """What a sample's JSON says of the objects in its image. Arrays have one row for each object."""

    count: int
    boxes: Array  #: n x 4, float32: left, top, width, height
    rotated: Array  #: n x 5, float32: middle x, y, width, height, degrees counterclockwise
    categories: Array  #: int64; -1: none
    areas: Array  #: float32
    flags: Array  #: uint8: 1 has a box, 2 an area, 4 a crowd, 8 a rotated box, 16 a segmentation
    keypoints: Array  #: k x 3, float32: x, y, and whether it can be seen
    keypoint_starts: Array  #: n + 1: object i has those from [i] to before [i + 1]
    width: int  #: of the image; 0: it is not said
    height: int
    label: int | None  #: of the image

    def __len__(self) -> int:
        return self.count

    def __repr__(self) -> str:
        return f"Annotation({count_text(self.count, 'object')})"


class Sample:
    """One sample of a dataset. Nothing is read before it is asked for.

    It unpacks into its image and its label:

    >>> image, label = dataset[3]
    >>> sample = dataset["land/00003"]
    >>> sample.key, sample.label, sample.class_name, sample.image.shape
    """

    __slots__ = ("_core", "_dataset", "_fields", "_image", "ordinal")

    def __init__(self, dataset: Dataset, ordinal: int) -> None:
        self._dataset = dataset
        self._core = dataset._core
        self._fields: dict[str, Any] | None = None
        self._image: Array | None = None
        #: its number in the dataset's order
        self.ordinal = ordinal

    def _field(self, name: str) -> Any:
        if self._fields is None:
            self._fields = self._core.sample(self.ordinal)
        return self._fields[name]

    @property
    def image(self) -> Array:
        """Its pixels, decoded once: height x width x 3, uint8, RGB, upright."""
        if self._image is None:
            self._image = self.decode(mode="RGB")
        return self._image

    @property
    def label(self) -> Any:
        """Its label: a number, a list of them, text, bytes, or None."""
        return self._field("label")

    @property
    def key(self) -> str:
        """Its key: in a folder the path, in shards the name that its members share."""
        key: str = self._field("key")
        return key

    @property
    def class_name(self) -> str | None:
        """The name of its class; None where labels have no names."""
        label, classes = self.label, self._dataset.classes
        return classes[label] if isinstance(label, int) and 0 <= label < len(classes) else None

    @property
    def members(self) -> list[str]:
        """The names of what else is stored with it: ["json", ...]."""
        return list(self._field("members"))

    def member(self, name: str) -> bytes:
        """The bytes of a member, by its name; KeyError."""
        try:
            return self._core.member(self.ordinal, name)
        except KeyError:
            has = ", ".join(self.members) or "none"
            raise KeyError(f"sample {self.key!r} has no member {name!r} (it has: {has})") from None

    def bytes(self, form: str | None = None) -> builtins.bytes:
        """Its image as stored, in the form of this name; else in the first that it has."""
        return self._core.read(self.ordinal, form or self._dataset._form_of(self.ordinal))

    def decode(self, form: str | None = None, **how: Any) -> Array:
        """Its image with the options of mr.decode: sample.decode(region=(0, 0, 64, 64), mode="L")."""
        from .images import decode

        try:
            return decode(self.bytes(form), **how)
        except Error as error:
            if self.key in str(error):
                raise
            raise _named(error, self.key) from None

    def info(self, form: str | None = None) -> dict[str, Any]:
        """What the header of its stored image says: mr.info."""
        try:
            return _core.info(self.bytes(form))
        except Error as error:
            if self.key in str(error):
                raise
            raise _named(error, self.key) from None

    def annotation(self) -> Annotation | None:
        """The objects of its member "json": boxes, categories, keypoints; None where it has no such member."""
        if "json" not in self._field("members"):
            return None
        try:
            told = _core.annotation(self._core.member(self.ordinal, "json"))
        except Error as error:
            raise _named(error, f"{self.key}.json") from None
        return Annotation(**{field.name: told[field.name] for field in fields(Annotation)})

    def __iter__(self) -> Iterator[Any]:
        yield self.image
        yield self.label

    def __len__(self) -> int:
        return 2

    def __getitem__(self, at: int) -> Any:
        return (lambda: self.image, lambda: self.label)[at]()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sample):
            return NotImplemented
        return self.ordinal == other.ordinal and self._dataset is other._dataset

    def __hash__(self) -> int:
        return hash((id(self._dataset), self.ordinal))

    def __reduce__(self) -> tuple[Any, ...]:
        return Sample, (self._dataset, self.ordinal)

    def _words(self) -> list[str]:
        name = self.class_name
        words = [repr(self.key), f"label={self.label!r}" + (f" ({name})" if name is not None else "")]
        record = self._core.record(self.ordinal, self._dataset._form_of(self.ordinal))
        if record["width"]:
            words.append(f"{record['width']} x {record['height']} {record['form']}")
        return words + (["members=" + ", ".join(self.members)] if self.members else [])

    def __repr__(self) -> str:
        return f"Sample({self.ordinal}, {printable(', '.join(self._words()))})"

    def _repr_html_(self) -> str:
        head = self.info()
        reduce = next((n for n in (1, 2, 4, 8) if max(head["width"], head["height"]) <= n * _SHOWN_SIDE), 8)
        form = "png" if head["lossless"] else "jpeg"
        picture = _core.encode(self.decode(mode="RGB", reduce=reduce), form)
        words = html.escape(", ".join(self._words()))
        data = base64.b64encode(picture).decode()
        return f'<figure><img src="data:image/{form};base64,{data}"><figcaption>{words}</figcaption></figure>'


class Samples(Sequence[Sample]):
    """Samples of a dataset, as a slice of it gives them: a list that is made as it is read."""

    def __init__(self, dataset: Dataset, ordinals: range) -> None:
        self._dataset = dataset
        self._ordinals = ordinals

    @property
    def ordinals(self) -> range:
        """Their numbers in the dataset."""
        return self._ordinals

    def __len__(self) -> int:
        return len(self._ordinals)

    @overload
    def __getitem__(self, at: int) -> Sample: ...
    @overload
    def __getitem__(self, at: slice) -> Samples: ...
    def __getitem__(self, at: int | slice) -> Sample | Samples:
        if isinstance(at, slice):
            return Samples(self._dataset, self._ordinals[at])
        try:
            return Sample(self._dataset, self._ordinals[at])
        except IndexError:
            raise IndexError(f"there is no sample {at}: there are {len(self)}") from None
        except TypeError:
            raise _asked_wrongly(at) from None

    def __repr__(self) -> str:
        return f"Samples({count_text(len(self), 'sample')} of {self._dataset!r})"


class Dataset:
    """Samples in their order, each an image with a label, and perhaps other members.

    path: a folder of images, tar shards (WebDataset), TFRecord, RecordIO, CIFAR or list files, a packed dataset; or
        several files, whose names may have braces or stars: "train-{000000..000146}.tar", "train-*.tar" (sorted).
    layout: "auto" finds out; "packed", "folder", "tar", "tfrecord", "recordio", "cifar", "list".
    index: where the index of what is not packed is kept: in the user's "cache" folder (or in index_folder), "beside"
        the data, or nowhere ("none").
    broken: "skip" leaves out what is broken, and lists it in .problems; "fail" raises.
    list: the samples, a line each: of a folder the path and the label, of the layout "list" place, length, label.
    threads: that look for samples when there is no index yet. rebuild: make the index anew.
    progress: show how far that is, on a terminal alone; or a callable that is given dicts.

    Any number of threads may read at once, and so may forked and spawned processes.

    >>> dataset = mr.Dataset("imagenet/train")
    >>> len(dataset), dataset.classes[:2]
    >>> image, label = dataset[3]
    >>> dataset["n01440764/n01440764_10026"].image.shape
    >>> for image, label in dataset[:100]: ...
    """

    def __init__(
        self,
        path: Path | Sequence[Path],
        *,
        layout: str = "auto",
        index: Literal["cache", "beside", "none"] = "cache",
        index_folder: Path | None = None,
        broken: Literal["fail", "skip"] = "fail",
        list: Path | None = None,
        threads: int | None = None,
        rebuild: bool = False,
        progress: bool | Show = True,
    ) -> None:
        self._paths = _paths_of(path)
        self._options: dict[str, Any] = {
            "layout": layout,
            "index": index,
            "index_folder": read_path("index_folder", index_folder),
            "broken": broken,
            "list": read_path("list", list),
            "threads": whole_or_none("threads", threads),
        }
        try:
            with showing(progress) as show:
                self._core = _core.Dataset(
                    self._paths,
                    **self._options | {"threads": self._options["threads"] or 0},
                    rebuild=rebuild,
                    progress=show,
                )
        except Error as error:
            raise _advised(error) from None
        self._length = len(self._core)

    @property
    def core(self) -> _core.Dataset:
        """The extension's own, which loaders are made of."""
        return self._core

    @property
    def paths(self) -> list[str]:
        """What it was opened from."""
        return [*self._paths]

    @cached_property
    def _info(self) -> dict[str, Any]:
        return self._core.info()

    @cached_property
    def classes(self) -> list[str]:
        """The names of the classes, by number; [] where labels have none."""
        return self._core.classes()

    @cached_property
    def forms(self) -> dict[str, dict[str, Any]]:
        """The stored forms by name, each a dict: form, max_side, short_side, samples, nbytes."""
        return {form["name"]: form for form in self._core.forms()}

    @cached_property
    def labels(self) -> Array:
        """The labels of all samples as int64: 0 for those of another kind, -1 for none."""
        return self._core.labels()

    @cached_property
    def _label_kinds(self) -> dict[str, int]:
        """How many samples have which kind of label: none, int, float, ints, floats, text, bytes, empty (text)."""
        return self._core.label_kinds()

    @property
    def _has_lists_alone(self) -> bool:
        """Whether all labels are lists of the same kind of numbers, or empty."""
        return set(self._label_kinds) - {"none", "empty"} in ({"ints"}, {"floats"})

    @property
    def _has_labels(self) -> bool:
        return set(self._label_kinds) != {"none"}

    @property
    def problems(self) -> list[dict[str, Any]]:
        """What was found to be wrong when the index was made: dicts with code, file, ordinal, text."""
        return self._core.problems()

    @property
    def fingerprint(self) -> str:
        """16 digits that change with any key, size or stored byte that the index knows of."""
        return str(self._info["fingerprint"])

    @property
    def layout(self) -> str:
        """How samples are stored: "folder", "tar", "packed", ..."""
        return str(self._info["layout"])

    @property
    def nbytes(self) -> int:
        """Of all files."""
        return int(self._info["nbytes"])

    @property
    def samples(self) -> Samples:
        """All samples, as a list that is made as it is read."""
        return Samples(self, range(self._length))

    def info(self) -> dict[str, Any]:
        """What it is: layout, samples, shards, files, classes, forms, problems, nbytes, fingerprint, indexed_now."""
        return dict(self._info)

    def _form_of(self, ordinal: int) -> str | None:
        """The first form that a sample has; None where there is only one to have."""
        if len(self.forms) > 1:
            for name in self.forms:
                if self._core.record(ordinal, name)["state"] == "present":
                    return name
        return None

    def find(self, key: str) -> int:
        """The ordinal of a key; KeyError, with the key that may have been meant."""
        try:
            return self._core.find(key)
        except KeyError:
            raise KeyError(f"there is no sample {key!r}{self._suggestion(key)}") from None

    def _suggestion(self, key: str) -> str:
        some = [self._core.key(i) for i in range(min(self._length, _KEYS_COMPARED))]
        near = difflib.get_close_matches(key, some, n=1)
        return f"; did you mean {near[0]!r}?" if near else f" (a key looks like {some[0]!r})" if some else ""

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, at: int | str) -> Sample: ...
    @overload
    def __getitem__(self, at: slice) -> Samples: ...
    def __getitem__(self, at: int | str | slice) -> Sample | Samples:
        if isinstance(at, slice):
            return Samples(self, range(self._length)[at])
        if isinstance(at, str):
            return Sample(self, self.find(at))
        try:
            return Sample(self, range(self._length)[at])
        except IndexError:
            raise IndexError(f"there is no sample {at}: the dataset has {count_text(self._length)}") from None
        except TypeError:
            raise _asked_wrongly(at) from None

    def __iter__(self) -> Iterator[Sample]:
        return (Sample(self, ordinal) for ordinal in range(self._length))

    def __contains__(self, key: object) -> bool:
        if isinstance(key, Sample):
            return key._dataset is self
        try:
            self._core.find(key)  # type: ignore[arg-type]
        except (KeyError, TypeError):
            return False
        return True

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopen, ([os.path.abspath(path) for path in self._paths], self._options)

    def _words(self) -> list[str]:
        words = [self.layout, count_text(self._length, "sample")]
        if self.classes:
            words.append(f"{count_text(len(self.classes))} class{'' if len(self.classes) == 1 else 'es'}")
        if not self._has_labels:
            words.append("no labels")
        if len(self.forms) > 1 or self.layout == "packed":
            words.append("forms " + ", ".join(self.forms))
        words.append(bytes_text(self.nbytes))
        return words + ([count_text(len(self.problems), "problem")] if self.problems else [])

    def _name(self) -> str:
        return self._paths[0] if len(self._paths) == 1 else f"{self._paths[0]}, ... ({len(self._paths)} paths)"

    def __repr__(self) -> str:
        return f"Dataset({self._name()!r}: {', '.join(self._words())})"

    def _repr_html_(self) -> str:
        rows = [
            ("layout", self.layout),
            ("samples", count_text(self._length)),
            ("classes", _some(self.classes)),
            ("shards", count_text(self._info["shards"])),
            ("size", bytes_text(self.nbytes)),
        ]
        rows += [
            (f"form {name}", f"{count_text(form['samples'], 'sample')}, {bytes_text(form['nbytes'])}")
            for name, form in self.forms.items()
        ]
        if self.problems:
            rows.append(("problems", _some([str(problem["text"]) for problem in self.problems])))
        cells = "".join(f"<tr><th>{html.escape(a)}</th><td>{html.escape(b)}</td></tr>" for a, b in rows)
        return f"<table><caption>{html.escape(self._name())}</caption>{cells}</table>"


def _paths_of(given: Any) -> list[str]:
    """What a dataset is opened from: one path, or several, with stars as shells have them."""
    several = [given] if isinstance(given, (str, bytes, os.PathLike)) or not isinstance(given, Iterable) else [*given]
    paths = [path for one in several for path in _expanded(_path_of(one))]
    if not paths:
        raise _core.ArgumentError("no path was given: a dataset is a path, or several")
    return paths


def _path_of(one: Any) -> str:
    path = os.fspath(one) if isinstance(one, os.PathLike) else one
    if isinstance(path, bytes):
        raise TypeError(f"a dataset's path is text: os.fsdecode({path!r})")
    if not isinstance(path, str):
        raise TypeError(
            f"a dataset is a path (str or os.PathLike), several of them, or a millrace.Dataset, not {one!r}"
        )
    return os.path.expanduser(path)


def _advised(error: Error) -> Error:
    """An error of opening with its way out in Python's words: the library's are those of the command."""
    text = str(error)
    if "--broken=skip" not in text:
        return error
    told = type(error)(text.replace("--broken=skip", 'mr.Dataset(path, broken="skip")'))
    told.code = error.code
    return told


def _expanded(path: str) -> list[str]:
    """The files that a pattern matches; a path that is there is none."""
    if os.path.lexists(path) or not glob.has_magic(path):
        return [path]
    return sorted(glob.glob(path)) or [path]


def _asked_wrongly(at: object) -> TypeError:
    return TypeError(
        f"samples are asked for by number, by slice, and of a dataset by key, not by {at!r}; several: [dataset[i] for "
        "i in numbers]"
    )


def _some(names: Sequence[str], most: int = 5) -> str:
    more = f", ... ({count_text(len(names))})" if len(names) > most else ""
    return ", ".join(names[:most]) + more if names else "none"


def _reopen(paths: list[str], options: dict[str, Any]) -> Dataset:
    return Dataset(paths, **options, progress=False)
