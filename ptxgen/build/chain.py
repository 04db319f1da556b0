"""The attribute chain `k.mad.lo.u32`: each word an attribute, driven by the rows."""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from isa.forms import continuations
from ptxgen.build.blame import origin_of_frame, users_frame
from ptxgen.errors import Finding, KernelError, Severity

if TYPE_CHECKING:
    from ptxgen.build.draft import Draft


_LISTED = 30
_RATIO = re.compile(r"(?<=__\d)_(?=\d+$)")


class UnknownWord(KernelError, AttributeError):
    """A word that cannot stand there. It is an AttributeError too, so that `hasattr` and completion work."""


def attribute_of(word: str) -> str:
    """How a word of an instruction is written as an attribute: `global_`, `_2d`, `shared__cta`, `sp__2_4`."""
    name = word.replace("::", "__").replace(":", "_")
    if name[:1].isdigit():
        return f"_{name}"
    return f"{name}_" if keyword.iskeyword(name) else name


def word_of(attribute: str) -> str:
    """The word that an attribute spells, the inverse of `attribute_of`."""
    if attribute[:1] == "_" and attribute[1:2].isdigit():
        attribute = attribute[1:]
    elif attribute.endswith("_"):
        attribute = attribute[:-1]
    return _RATIO.sub(":", attribute).replace("__", "::")


def _nearest(attribute: str, choices: list[str]) -> str:
    """The choices that are spelled alike; where none is, the first of all."""
    near = get_close_matches(attribute, choices, n=5)
    if near:
        return f"perhaps: {', '.join(near)}"
    more = f" and {len(choices) - _LISTED} more" if len(choices) > _LISTED else ""
    return f"possible: {', '.join(each or '(end)' for each in choices[:_LISTED])}{more}"


class Word:
    """The beginning of an instruction's name. Attributes are the words that may follow; callable where it may end."""

    def __init__(self, kernel: Draft, words: tuple[str, ...]) -> None:
        self._kernel = kernel
        self._words = words

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        found = self.__dict__[attribute] = follow(self._kernel, self._words, attribute)
        return found

    def __call__(self, *sources: object, into: object = None, _depth: int = 1) -> Any:
        return self._kernel.emit(".".join(self._words), *sources, into=into, _depth=_depth + 1)

    def __dir__(self) -> list[str]:
        return [attribute_of(word) for word in continuations(self._words) if word]

    def __repr__(self) -> str:
        further = continuations(self._words)
        ways = ["a call with its operands"] * ("" in further) + [f".{attribute_of(word)}" for word in further if word]
        return f"<the instruction {'.'.join(self._words)}, not yet written; next: {', '.join(ways)}>"


def follow(kernel: Draft, words: tuple[str, ...], attribute: str, others: Callable[[], Iterable[str]] = tuple) -> Any:
    """What the attribute behind `words` is: a further Word, or the instruction's function where the name is complete.

    Raises UnknownWord on the user's line with the nearest of what could stand there, `others()` among it.
    """
    longer = (*words, word_of(attribute))
    possible = continuations(words)
    if longer[-1] not in possible or not longer[-1]:
        choices = list(dict.fromkeys([*map(attribute_of, possible), *others()]))
        what = (
            f"{attribute!r} cannot follow {'.'.join(words)}" if words else f"a kernel has nothing called {attribute!r}"
        )
        origin = origin_of_frame(users_frame())
        message = f"{what}; {_nearest(attribute, choices)}"
        raise UnknownWord([Finding("instruction.unknown", Severity.ERROR, message, origin)])
    further = continuations(longer)
    if "" in further:
        kernel.read_by(users_frame().f_code)
    if further == ("",):
        return kernel.function(".".join(longer))
    return Word(kernel, longer)
