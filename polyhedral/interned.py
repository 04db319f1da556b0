"""Values of which equal ones are one object for as long as somebody has it."""

from __future__ import annotations

from collections.abc import Hashable
from threading import RLock
from typing import Generic, TypeVar
from weakref import ref

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class _Kept(ref[Value], Generic[Key, Value]):
    """A reference that knows under which key it is kept."""

    __slots__ = ("key",)
    key: Key


class Interned(Generic[Key, Value]):
    """The objects that there are, in `refs` by what they are made of; an object that nobody has is forgotten."""

    def __init__(self) -> None:
        self.refs: dict[Key, _Kept[Key, Value]] = {}
        self._changing = RLock()

    def add(self, key: Key, value: Value) -> Value:
        """The one object of a key: this one, kept for as long as somebody else has it, unless another thread has added
        one meanwhile."""
        kept: _Kept[Key, Value] = _Kept(value, self._forget)
        kept.key = key
        with self._changing:
            held = self.refs.get(key)
            other = None if held is None else held()
            if other is not None:
                return other
            self.refs[key] = kept
        return value

    def _forget(self, dead: ref[Value]) -> None:
        assert isinstance(dead, _Kept)
        with self._changing:
            if self.refs.get(dead.key) is dead:
                del self.refs[dead.key]
