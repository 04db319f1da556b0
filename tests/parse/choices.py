"""Choices made by a string of bytes: hypothesis draws the bytes at once, and makes them fewer and smaller to shrink."""

from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


class Choices:
    """Choices one after another; when the bytes are at their end, each choice is the first and each list is empty."""

    def __init__(self, given: bytes) -> None:
        self._given, self._at = given, 0

    def below(self, count: int) -> int:
        """A number from 0 up to `count`, exclusive."""
        value = 0
        for _ in range((count - 1).bit_length() + 7 >> 3):
            value = value << 8 | self._byte()
        return value % count

    def _byte(self) -> int:
        self._at += 1
        return self._given[self._at - 1] if self._at <= len(self._given) else 0

    def pick(self, from_: Sequence[T]) -> T:
        """One of a sequence; the first when the bytes are at their end."""
        return from_[self.below(len(from_))]

    def several(self, make: Callable[[], T], most: int, least: int = 0) -> tuple[T, ...]:
        """Between `least` and `most` of what `make` gives."""
        return tuple(make() for _ in range(least + self.below(most - least + 1)))

    def maybe(self, make: Callable[[], T]) -> T | None:
        """What `make` gives, or None."""
        return make() if self.below(2) else None

    def text(self, letters: str, most: int, least: int = 0) -> str:
        """Letters of an alphabet."""
        return "".join(self.several(lambda: self.pick(letters), most, least))
