"""Of what kind what is said of a product must be: named, with what was wanted and what came."""

from __future__ import annotations

from collections.abc import Callable
from types import UnionType
from typing import Any

from attrs import Attribute

Validator = Callable[[Any, "Attribute[Any]", object], None]


def kind(kinds: type | tuple[type, ...], wanted: str) -> Validator:
    """TypeError for what is none of some kinds, `wanted` in words."""

    def check(owner: Any, attribute: Attribute[Any], value: object) -> None:
        if not isinstance(value, kinds):
            refuse(owner, attribute, wanted, value)

    return check


def check_kind(of: str, name: str, value: object, kinds: type, wanted: str) -> None:
    """TypeError for an argument of a function `of` kernels that is not of a kind, `wanted` in words."""
    if not isinstance(value, kinds):
        raise TypeError(f"{of}: {name} is {wanted}, got {value!r}")


def pieces_of(piece: UnionType) -> Validator:
    """TypeError for what is no tuple of pieces of an epilogue."""

    def check(owner: Any, attribute: Attribute[Any], value: object) -> None:
        if not isinstance(value, tuple) or not all(isinstance(each, piece) for each in value):
            refuse(owner, attribute, "a tuple of pieces, as parse_epilogue('bias,relu') gives", value)

    return check


def measured(owner: Any, attribute: Attribute[Any], value: object) -> None:
    """TypeError for what tells no tilings."""
    if value is not None and not callable(getattr(value, "tiling", None)):
        refuse(owner, attribute, "None or what knows tilings, as ptxgen.tune.best()", value)


def a_chain(owner: Any, attribute: Attribute[Any], value: object) -> None:
    """ValueError for what is no length of chains."""
    if value is not None and (type(value) is not int or value < 1 or value & (value - 1)):
        raise ValueError(f"{type(owner).__name__}: {attribute.name} is a power of two or None, got {value!r}")


def two_counts(owner: Any, attribute: Attribute[Any], value: object) -> None:
    """TypeError for what is not the rows and columns of a tile."""
    pair = isinstance(value, tuple) and len(value) == 2 and all(type(each) is int for each in value)
    if value is not None and not pair:
        refuse(owner, attribute, "the rows and columns of a tile, or None", value)


def refuse(owner: Any, attribute: Attribute[Any], wanted: str, value: object) -> None:
    raise TypeError(f"{type(owner).__name__}: {attribute.name} is {wanted}, got {value!r}")
