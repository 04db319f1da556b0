"""Initial values of variables."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Real

from isa.types import Type
from ptxgen.build.blame import failure
from ptxgen.build.handles import Symbol
from ptxgen.build.immediates import UnfitNumber, immediate
from ptxgen.ir import Initial, SymbolAddress


def initial_of(given: object, type_: Type) -> Initial:
    """The initialiser for a number, a symbol (its address) or nested sequences of them; else KernelError."""
    match given:
        case Symbol(name=name):
            return SymbolAddress(name)
        case Real():
            try:
                return immediate(given, type_)
            except UnfitNumber as unfit:
                raise failure("variable.initial", str(unfit)) from unfit
        case Iterable() if not isinstance(given, str):
            return tuple(initial_of(each, type_) for each in given)
        case _:
            raise failure(
                "variable.initial", f"an initial value is a number, a symbol or a sequence of them, not {given!r}"
            )
