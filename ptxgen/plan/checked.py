"""What the fields of words must be: TypeError or ValueError names the word, what it wants and what came."""

from __future__ import annotations

from typing import Any

from attrs import Attribute


def whole(instance: Any, attribute: Attribute[int], value: object) -> None:
    """A whole number of at least 1."""
    what = f"{type(instance).__name__}: {attribute.name}"
    if type(value) is not int:
        raise TypeError(f"{what} is a whole number of at least 1, got {value!r}")
    if value < 1:
        raise ValueError(f"{what} is at least 1, got {value}")


def whole_or_none(instance: Any, attribute: Attribute[int], value: object) -> None:
    """A whole number of at least 1, or 0 for none."""
    if value != 0:
        whole(instance, attribute, value)


def instance_of(kind: type | tuple[type, ...], wanted: str) -> Any:
    """An instance of `kind`, which an error calls `wanted`."""

    def check(instance: Any, attribute: Attribute[Any], value: object) -> None:
        if not isinstance(value, kind):
            raise TypeError(f"{type(instance).__name__}: {attribute.name} is {wanted}, got {value!r}")

    return check
