"""Systems and unions written in isl's notation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from polyhedral.affine import Affine, Condition, Congruence, Constraint
from polyhedral.spelling import is_existential

if TYPE_CHECKING:
    from polyhedral.system import System


def spelled(name: str) -> str:
    """The name as isl can read it: characters that it does not allow are written as their code."""
    return re.sub(r"[^A-Za-z_0-9']|'(?=[^'])", lambda m: f"_{ord(m.group()):x}_", name)


def affine_text(affine: Affine) -> str:
    """The expression, as `2i - j + 3`."""
    text = ""
    for name, coefficient in affine.terms:
        size = spelled(name) if abs(coefficient) == 1 else f"{abs(coefficient)}{spelled(name)}"
        text += f" {'-' if coefficient < 0 else '+'} {size}" if text else f"{'-' if coefficient < 0 else ''}{size}"
    if not text:
        return str(affine.constant)
    return text + (f" {'-' if affine.constant < 0 else '+'} {abs(affine.constant)}" if affine.constant else "")


def condition_text(condition: Condition) -> str:
    """The condition, as `i >= 2j + 1` or `(i + j) mod 2 = 0`."""
    if isinstance(condition, Congruence):
        return f"({affine_text(condition.affine)}) mod {condition.modulus} = 0"
    affine = condition.affine
    left = Affine(tuple(t for t in affine.terms if t[1] > 0), max(affine.constant, 0))
    if not left.terms:
        return f"{affine_text(left - affine)} {'=' if condition.equality else '<='} {affine_text(left)}"
    left = Affine(left.terms)
    return f"{affine_text(left)} {'=' if condition.equality else '>='} {affine_text(left - affine)}"


def system_text(system: System) -> str:
    """The conjunction, with `exists` where an existential is more than a congruence; empty where it says nothing."""
    if system.is_false:
        return "false"
    plain = system.plain_conditions()
    if plain is not None:
        return " and ".join(map(condition_text, plain))
    shown = _shown(system)
    rows = [Constraint(system.affine(r), equality=True) for r in system.equalities]
    rows += [Constraint(system.affine(r)) for r in system.inequalities]
    named: dict[str, Affine | int] = {n: Affine(((e, 1),)) for n, e in shown.items()}
    body = " and ".join(condition_text(r.substitute(named)) for r in rows)
    return f"exists ({', '.join(shown.values())} : {body})"


def _shown(system: System) -> dict[str, str]:
    """Names that isl can read for the existentials, none of which is a variable's."""
    taken = set(map(spelled, system.visible))
    mark = "_"
    while any(n.startswith("e") and n.endswith(mark) for n in taken):
        mark += "_"
    return {n: f"e{spelled(n[1:])}{mark}" for n in system.names if is_existential(n)}


def tuple_text(name: str, dims: Iterable[str]) -> str:
    """A named tuple."""
    return f"{name}[{', '.join(map(spelled, dims))}]"


def arrow(source: str, target: str) -> str:
    """A pair of tuples."""
    return f"{source} -> {target}"


def body_texts(tuples: str, pieces: Iterable[System]) -> list[str]:
    """For each piece the tuples, none for parameters alone, and its conditions."""
    return [f"{tuples} : {text}".strip() if (text := system_text(p)) or not tuples else tuples for p in pieces]


def braces(params: Sequence[str], bodies: Sequence[str]) -> str:
    """The whole: parameters before, bodies in braces."""
    prefix = f"[{', '.join(map(spelled, params))}] -> " if params else ""
    return f"{prefix}{{ {'; '.join(bodies)} }}" if bodies else f"{prefix}{{ }}"
