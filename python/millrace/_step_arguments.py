# SPDX-License-Identifier: Apache-2.0
"""How arguments of steps are written in a recipe's text."""
from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from typing import Annotated, Any, NamedTuple

# Each takes a value and gives its text, None to leave it out; a ValueError or TypeError says what is allowed, behind
# the argument's name.


class As(NamedTuple):
    """Marks an argument with what writes it, and with the type that help() shows, where it is another."""

    write: Callable[[Any], str | None]
    shown: Any = None


class Part(NamedTuple):
    """A parameter in a step's text, and the argument it comes from."""

    argument: str
    word: str
    text: str


def _number(value: Any) -> str:
    if isinstance(value, (bool, str)) or not hasattr(value, "__float__"):
        raise TypeError(f"is a number, not {value!r}")
    number = float(value)
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)


def _is_list(value: Any) -> bool:
    """Whether it is several numbers: a sequence, an array, or a tensor that has a length."""
    return not isinstance(value, (str, bytes)) and hasattr(value, "__len__") and getattr(value, "ndim", 1) == 1


def _numbers(value: Any) -> str:
    return "/".join(_number(v) for v in value) if _is_list(value) else _number(value)


def _one_or_numbers(value: Any) -> str:
    """Several that are equal are one, so that it is the same recipe however it was typed."""
    if _is_list(value) and len(value) not in (1, 3, 4):
        raise ValueError(f"is one number, or one for each channel (3, or 4 with alpha), not {len(value)}: {value!r}")
    texts = _numbers(value).split("/")
    return texts[0] if len(set(texts)) == 1 else "/".join(texts)


def _given_numbers(value: Any) -> str | None:
    return None if value is None else _numbers(value)


def _given_number(value: Any) -> str | None:
    return None if value is None else _number(value)


def _size(value: Any) -> str:
    if not _is_list(value):
        return _number(value)
    if len(value) not in (1, 2):
        raise ValueError(f"is one number or (height, width), not {value!r}")
    return "x".join(_number(v) for v in reversed(value))


def _given_size(value: Any) -> str | None:
    return None if value is None else _size(value)


def _range(value: Any) -> str:
    if not _is_list(value) or len(value) != 2:
        raise ValueError(f"is (low, high), not {value!r}")
    return f"{_number(value[0])}..{_number(value[1])}"


def _given_range(value: Any) -> str | None:
    return None if value is None else _range(value)


def _spread(value: Any) -> str | None:
    """A range, or a number that the text reads as this step reads one."""
    if value is None:
        return None
    return _range(value) if _is_list(value) else _number(value)


def _shear(value: Any) -> str | None:
    if value is None or not _is_list(value):
        return _given_number(value)
    if len(value) not in (2, 4):
        raise ValueError(f"is one number, (low, high) along x, or (low, high, low, high) along x and y, not {value!r}")
    return "/".join(_range(value[i : i + 2]) for i in range(0, len(value), 2))


_FILTERS = ("nearest", "lanczos", "bilinear", "bicubic", "box", "hamming")  # by Pillow's numbers


def _filter(value: Any) -> str:
    name = getattr(value, "value", value)  # of an enum
    if isinstance(name, int) and not isinstance(name, bool) and 0 <= name < len(_FILTERS):
        name = _FILTERS[name]
    name = "nearest" if name == "nearest-exact" else name  # as torchvision has it for PIL images
    if name not in _FILTERS:
        raise ValueError(f"is one of {', '.join(_FILTERS)}, not {value!r}")
    return str(name)


def _sampling(value: Any) -> str:
    name = _filter(value)
    if name not in ("nearest", "bilinear", "bicubic"):
        raise ValueError(f"is one of nearest, bilinear, bicubic, not {value!r}")
    return name


_BORDERS = {"constant": "fill", "edge": "edge", "reflect": "reflect", "symmetric": "symmetric"}


def _border(value: Any) -> str:
    if value not in _BORDERS:
        raise ValueError(f"is one of {', '.join(_BORDERS)}, not {value!r}")
    return _BORDERS[value]


def _switch(value: Any) -> str:
    if not isinstance(value, bool):
        raise TypeError(f"is True or False, not {value!r}")
    return "yes" if value else "no"


def _opposite(value: Any) -> str:
    return "no" if _switch(value) == "yes" else "yes"


def _antialias(value: Any) -> None:
    if value is not True:
        raise ValueError(
            f"is always True, not {value!r}: Millrace makes images smaller as Pillow does, and so does torchvision "
            "for PIL images, whatever it is told"
        )


def _max_size(value: Any) -> None:
    if value is not None:
        raise ValueError(f"is None, not {value!r}: RandomShortestSize(size, max_size) has a bound on the longer side")


def _pad_if_needed(value: Any) -> None:
    if value is not False:
        raise ValueError(
            f"is False, not {value!r}: images that are too small are refused; put Resize(size) before the crop, or "
            "take CenterCrop, which fills"
        )


def _word(value: Any) -> str:
    name = getattr(value, "value", value)
    if not isinstance(name, str) or not re.fullmatch(r"\w+", name):
        raise TypeError(f"is a word, not {value!r}")
    return name


_DTYPES = {"uint8": "u8", "float32": "f32", "float16": "f16", "bfloat16": "bf16", "auto": "auto"}


def _dtype(value: Any) -> str:
    name = getattr(value, "__name__", None) or str(value).removeprefix("torch.")
    name = _DTYPES.get(name, name)
    if name not in _DTYPES.values():
        raise ValueError(f"is one of {', '.join(_DTYPES)}, not {value!r}")
    return name


def _path(value: Any) -> str | None:
    if value is None:
        return None
    path = str(value)
    if '"' in path or not path.isprintable():
        raise ValueError(f"has no quotes and no control characters, not {path!r}")
    return f'"{path}"'


def _depth_of_chains(value: Any) -> str:
    number = _number(value)
    return "0" if float(number) <= 0 else number  # torchvision: -1 is any


def _target_size(value: Any) -> str:
    if not _is_list(value):
        return _number(value)
    if len(value) != 2:
        raise ValueError(f"is one number or two, not {value!r}")
    return "x".join(_number(v) for v in value)


def _value(value: Any) -> str:
    if isinstance(value, str):
        raise ValueError(f'is a number, one for each channel, or "random", not {value!r}')
    return _numbers(value)


# What arguments are for type checkers, what writes them, and what help() shows where that is shorter.
Number = Annotated[float, As(_number)]
Whole = Annotated[int, As(_number)]
Numbers = Annotated[float | Sequence[float], As(_numbers, float | tuple[float, ...])]
Wholes = Annotated[int | Sequence[int], As(_numbers, int | tuple[int, ...])]
Levels = Annotated[float | Sequence[float], As(_one_or_numbers, float | tuple[float, ...])]
Chance = Annotated[float, As(_number)]
Side = Annotated[int, As(_number)]
Size = Annotated[int | Sequence[int], As(_size, int | tuple[int, int])]
Range = Annotated[Sequence[float], As(_range, tuple[float, float])]
MaybeRange = Annotated[Sequence[float] | None, As(_given_range, tuple[float, float] | None)]
Spread = Annotated[float | Sequence[float], As(_spread, float | tuple[float, float])]
MaybeSpread = Annotated[float | Sequence[float] | None, As(_spread, float | tuple[float, float] | None)]
Shears = Annotated[float | Sequence[float] | None, As(_shear, float | tuple[float, ...] | None)]
Center = Annotated[Sequence[float] | None, As(_given_numbers, tuple[float, float] | None)]
Shares = Annotated[Sequence[float] | None, As(_given_numbers, tuple[float, float] | None)]
Padding = Annotated[int | Sequence[int] | None, As(_given_numbers, int | tuple[int, ...] | None)]
Options = Annotated[Sequence[float] | None, As(_given_numbers, tuple[float, ...] | None)]
Fill = Annotated[float | Sequence[float] | None, As(_given_numbers, float | tuple[float, ...] | None)]
Filter = Annotated[Any, As(_filter, str)]
Sampling = Annotated[Any, As(_sampling, str)]
Border = Annotated[str, As(_border)]
Switch = Annotated[bool, As(_switch)]
Opposite = Annotated[bool, As(_opposite)]
Antialias = Annotated[bool, As(_antialias)]
Never = Annotated[bool, As(_pad_if_needed)]
Nothing = Annotated[None, As(_max_size)]
Word = Annotated[str, As(_word)]
Policy = Annotated[Any, As(_word, str)]
Path = Annotated[Any, As(_path, str | os.PathLike[str] | None)]
AnyDtype = Annotated[Any, As(_dtype, str)]
Qualities = Annotated[int | Sequence[int], As(_spread, int | tuple[int, int])]
MaybeSide = Annotated[int | None, As(_given_number)]
MaybeSize = Annotated[int | Sequence[int] | None, As(_given_size, int | tuple[int, int] | None)]
TargetSize = Annotated[int | Sequence[int], As(_target_size, int | tuple[int, int])]
ChainDepth = Annotated[int, As(_depth_of_chains)]
Value = Annotated[float | Sequence[float] | str, As(_value, float | tuple[float, ...] | str)]
