"""How far the results of approximate instructions may be from the exact ones, as the manual tells it."""

from __future__ import annotations

import math

from attrs import frozen

from isa.forms import resolve


@frozen
class Accuracy:
    """A bound where the magnitude of the last operand lies between `least` and `most`.

    The result differs from the exact one by at most `ulps` units in the last place of the exact one, plus `relative`
    times its magnitude, plus `absolute`.
    """

    ulps: float = 0.0
    relative: float = 0.0
    absolute: float = 0.0
    least: float = 0.0
    most: float = math.inf


_TURN = 2 * math.pi
_WAVES = (Accuracy(absolute=2.0**-20.5, most=_TURN), Accuracy(absolute=2.0**-14.7, least=_TURN, most=50 * _TURN))
_LOGARITHM = (
    Accuracy(relative=2.0**-22, most=0.5), Accuracy(absolute=2.0**-22, least=0.5, most=2.0),
    Accuracy(relative=2.0**-22, least=2.0),
)  # fmt: skip

# opcode, the word that makes it approximate, type: bounds by the last operand's magnitude
_ROWS: dict[tuple[str, str, str], tuple[Accuracy, ...]] = {
    ("div", "approx", "f32"): (Accuracy(ulps=2, least=2.0**-126, most=2.0**126),),
    ("div", "full", "f32"): (Accuracy(ulps=2),),
    ("rcp", "approx", "f32"): (Accuracy(ulps=1),),
    ("sqrt", "approx", "f32"): (Accuracy(relative=2.0**-23),),
    ("rsqrt", "approx", "f32"): (Accuracy(relative=2.0**-22.9),),
    ("sin", "approx", "f32"): _WAVES,
    ("cos", "approx", "f32"): _WAVES,
    ("lg2", "approx", "f32"): _LOGARITHM,
    ("ex2", "approx", "f32"): (Accuracy(ulps=2),),
    ("ex2", "approx", "f16"): (Accuracy(relative=2.0**-9.9),),
    ("ex2", "approx", "bf16"): (Accuracy(relative=2.0**-7),),
    ("tanh", "approx", "f32"): (Accuracy(relative=2.0**-11),),
    ("tanh", "approx", "f16"): (Accuracy(absolute=2.0**-10.987),),
    ("tanh", "approx", "bf16"): (Accuracy(absolute=2.0**-8),),
}


def accuracies(name: str) -> tuple[Accuracy, ...] | None:
    """The bounds of an instruction by its full name; None for one that is not approximate.

    Empty where the manual bounds nothing (`rcp.approx.ftz.f64` and `rsqrt.approx.ftz.f64`). Outside the intervals of
    the bounds nothing is promised. Packed types have the bounds of their elements.
    """
    form = resolve(name)[0]
    words = [word for word in form.words.values() if word in ("approx", "full")]
    if not words:
        return None
    of = form.type_of().name.removesuffix("x2")
    return _ROWS.get((form.opcode, words[0], of), ())
