# SPDX-License-Identifier: Apache-2.0
"""What a step is, whichever: a value made of arguments, and its text. For steps.py, which has the steps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, ClassVar, NoReturn, Self, dataclass_transform

from . import _core, _step_arguments
from ._step_arguments import Part

_WORDS = {"p": "chance", "interpolation": "filter", "padding": "pad", "padding_mode": "border"}


class StepType(type):
    """The type of step classes: it reads what arguments they have, and help() shows those, not how steps are made."""

    __module__ = "millrace.steps"  # where steps are for users, whichever file has them
    _arguments: dict[str, str]  # the name of each, and that of its type
    _defaults: dict[str, Any]

    def __new__(
        mcs,
        name: str,
        bases: tuple[type, ...],
        body: dict[str, Any],
        step: str = "",
        words: dict[str, str] | None = None,
    ) -> StepType:
        cls = super().__new__(mcs, name, bases, body | {"__module__": mcs.__module__})
        cls._arguments, cls._defaults = {}, {}
        if bases:
            cls._step = step  # type: ignore[attr-defined]
            cls._words = _WORDS | (words or {})  # type: ignore[attr-defined]
            cls._arguments = dict(body.get("__annotations__", {}))
            cls._defaults = {argument: body[argument] for argument in cls._arguments if argument in body}
            for attribute in (*cls._defaults, *(["__annotations__"] if cls._arguments else [])):
                delattr(cls, attribute)  # help() would show them as if they were more than arguments
        return cls

    def __dir__(cls) -> list[str]:
        return [name for name in super().__dir__() if not name.startswith("_")]

    @property
    def __signature__(cls) -> Any:
        import inspect  # is slow, and seldom needed

        kind, none = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.empty
        return inspect.Signature(
            [
                inspect.Parameter(name, kind, default=cls._defaults.get(name, none), annotation=_shown(said))
                for name, said in cls._arguments.items()
            ]
        )


def _shown(name: str) -> Any:
    """What help() shows of a type of arguments."""
    kind = getattr(_step_arguments, name)
    return kind.__metadata__[0].shown or kind.__origin__


@dataclass_transform(frozen_default=True, eq_default=False)
class Step(metaclass=StepType):
    """One operation of a recipe. Its subclasses are the steps that there are.

    A step is a value: `.text` is what it is in a recipe's text, equal steps are equal, and none can be changed.
    """

    # They are data classes: what they have is what can be given, and each says by its type how it is written. `step` is
    # the word of the text, `words` the text's names of arguments where they are others than those of all steps.
    # (dataclasses.dataclass would do, but takes a tenth of a second for all of them.)

    _step: ClassVar[str]
    _words: ClassVar[dict[str, str]]
    _typed: tuple[tuple[Any, ...], dict[str, Any]]
    _text: str

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        given = self._bind(args, kwargs)
        self.__dict__.update(given, _typed=(args, kwargs))
        self.__dict__["_text"] = self._settle()

    @classmethod
    def _bind(cls, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """All arguments by name, those that are not given as they are anyway."""
        names = list(cls._arguments)
        has = f"it has {', '.join(names)}" if names else "it has none"
        if len(args) > len(names):
            raise TypeError(f"{cls.__name__}: {len(args)} arguments, and {has}")
        given = dict(zip(names, args, strict=False))
        for name, value in kwargs.items():
            if name not in names:
                raise TypeError(f"{cls.__name__} has no argument {name!r}: {has}")
            if name in given:
                raise TypeError(f"{cls.__name__}: {name} is given twice")
            given[name] = value
        missing = [name for name in names if name not in given and name not in cls._defaults]
        if missing:
            raise TypeError(f"{cls.__name__} needs {' and '.join(missing)}: {has}")
        return {name: given[name] if name in given else cls._defaults[name] for name in names}

    def _but(self, **changes: Any) -> Self:
        """The same with other arguments."""
        return type(self)(**{name: changes.get(name, getattr(self, name)) for name in type(self)._arguments})

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{self!r} cannot be changed: make another one")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{self!r} cannot be changed: make another one")

    @property
    def text(self) -> str:
        """The step in a recipe's text, in its shortest form: "rrc(224)"."""
        return self._text

    def _word(self) -> str:
        return self._step

    def _parts(self) -> Iterator[Part]:
        for name in type(self)._arguments:
            yield from self._part(name)

    def _part(self, name: str) -> Iterator[Part]:
        """An argument as it is written; none where it is left out."""
        kind = getattr(_step_arguments, type(self)._arguments[name])
        try:
            text = kind.__metadata__[0].write(getattr(self, name))
        except (TypeError, ValueError, IndexError) as error:
            raise type(error)(f"{self!r}: {name} {error}") from None
        if text is not None:
            yield Part(name, self._words.get(name, name), text)

    def _settle(self) -> str:
        """The shortest text; checks it."""
        parts = list(self._parts())
        written = ", ".join(f"{part.word}={part.text}" for part in parts)
        try:
            return _core.Recipe(f"{self._word()}({written})" if parts else self._word()).text
        except _core.Error as error:
            self._refuse(error, parts)

    def _refuse(self, error: _core.Error, parts: list[Part]) -> NoReturn:
        """What the text's parser says, in words of the arguments."""
        first = str(error).partition("\n")[0]  # behind it, a caret under the text, which nobody has typed
        said = re.sub(r"^(recipe: )?at character \d+: ", "", first).removeprefix(f"{self._word()}: ")
        for part in parts:
            said = re.sub(rf"(?<!\w){part.word}(?=[ =])", part.argument, said, count=1)
        refused = type(error)(f"{self!r}: {said}")
        refused.code = error.code
        raise refused from None

    def __repr__(self) -> str:
        args, kwargs = self._typed
        said = [repr(value) for value in args] + [f"{name}={value!r}" for name, value in kwargs.items()]
        return f"{type(self).__name__}({', '.join(said)})"

    def __eq__(self, other: object) -> bool:
        return self._text == other._text if isinstance(other, Step) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._text)

    def __reduce__(self) -> Any:
        return _again, (type(self), *self._typed)


def _again(cls: type[Step], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Step:
    return cls(*args, **kwargs)
