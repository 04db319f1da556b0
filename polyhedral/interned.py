"""Values of which equal ones are one object for as long as somebody has it."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar
from weakref import ref

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Interned(Generic[Key, Value]):
    """The objects that there are, in `refs` by what they are made of; an object that nobody has is forgotten."""

    def __init__(self) -> None:
        self.refs: dict[Key, ref[Value]] = {}

    def add(self, key: Key, value: Value) -> Value:
        """Keeps the object, which was not there, for as long as somebody else does."""

        def forget(dead: ref[Value]) -> None:
            if self.refs.get(key) is dead:
                del self.refs[key]

        self.refs[key] = ref(value, forget)
        return value
