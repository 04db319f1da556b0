"""How large or small an expression may be where a system holds."""

from __future__ import annotations

from functools import lru_cache

from polyhedral.affine import Affine
from polyhedral.system import System


@lru_cache(maxsize=1 << 12)
def at_most(system: System, affine: Affine) -> int | None:
    """A constant that `affine` does not exceed in the system, None where none is found.

    It is the greatest value over the rationals, tightened to integers, so the least such constant or a little more.
    """
    if affine.is_constant:
        return affine.constant
    value = Affine((("%value", 1),))
    whole = system & System.of(value.equals(affine))
    shadow, _ = whole.eliminate(*(n for n in whole.names if n != "%value"))
    if shadow.is_false:
        return None
    bounds = [bound.constant // divisor for bound, divisor in shadow.bounds("%value")[1] if bound.is_constant]
    return min(bounds, default=None)


def at_least(system: System, affine: Affine) -> int | None:
    """A constant that `affine` is not below in the system, None where none is found; as `at_most`."""
    found = at_most(system, -affine)
    return None if found is None else -found
