"""From an instruction's name to the checked function that writes it, chosen among its signatures."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from isa.forms import Form, UnknownInstruction, resolve
from isa.operands import OperandKind, OperandSlot, Signature
from ptxgen.build.blame import fail
from ptxgen.build.handles import Label, Not, Offset, SpecialRegister, Symbol, Value, sink
from ptxgen.build.patterns import Call, factory, is_destination, pattern_of, sources_of
from ptxgen.build.registers import fresh_type

if TYPE_CHECKING:
    from isa.types import Type
    from ptxgen.build.draft import Draft


def function_for(kernel: Draft, name: str) -> Call:
    """The function `(*sources, into=None)` that writes instruction `name` into the kernel.

    An unknown name raises KernelError now; a name that the target or PTX version lacks gives a function that raises
    when called, so that completion may look at it.
    """
    try:
        candidates = resolve(name)
    except UnknownInstruction as unknown:
        fail("instruction.unknown", str(unknown))
    able = [form for form in candidates if kernel.module.has(form.availability)]
    if not able:
        return _unavailable(kernel, name, str(candidates.availability))
    ways = [(form, index) for form in able for index in range(len(form.signatures))]
    made = [(form.signatures[index], _specialised(kernel, form, index)) for form, index in ways]
    if len(made) == 1:
        return made[0][1]
    choose = _choosing(name, made)
    if len({sources_of(signature) for signature, _ in made}) > 1:
        return choose
    form, index = min(ways, key=lambda way: _destination_count(way[0].signatures[way[1]]))
    return _specialised(kernel, form, index, choose)


def _unavailable(kernel: Draft, name: str, availability: str) -> Call:
    def refuse(*sources: object, into: object = None, _depth: int = 1) -> None:
        fail("target.unsupported", f"{name} exists since {availability}; this module is for {kernel.module.described}")

    refuse.__qualname__ = f"k.{name}"
    return refuse


def _choosing(name: str, made: list[tuple[Signature, Call]]) -> Call:
    """A function that picks the signature by the number and sort of the sources and the shape of `into`.

    Without `into`, the signature with the fewest destinations of those that take the same sources.
    """
    plain = sorted(made, key=lambda each: _destination_count(each[0]))
    fresh: dict[int, dict[tuple[OperandSlot, ...], Call]] = {}
    for signature, call in plain:
        slots = sources_of(signature)
        fresh.setdefault(len(slots), {}).setdefault(slots, call)
    only = {count: next(iter(ways.values())) for count, ways in fresh.items() if len(ways) == 1}

    def choose(*sources: object, into: object = None, _depth: int = 1) -> Any:
        if into is None and (call := only.get(len(sources))) is not None:
            return call(*sources, _depth=_depth + 1)
        fitting = [each for each in plain if len(sources_of(each[0])) == len(sources) and _takes_into(each[0], into)]
        exact = (each for each in fitting if all(map(_stands, sources_of(each[0]), sources)))
        chosen = next(exact, fitting[0] if fitting else None)
        if chosen is None:
            ways = " or ".join(f"'{signature}'" for signature, _ in made)
            fail("operand.count", f"{name} takes {ways}; got {len(sources)} sources" + _told_into(into))
        return chosen[1](*sources, into=into, _depth=_depth + 1)

    choose.__qualname__ = f"k.{name}"
    return choose


def _destination_count(signature: Signature) -> int:
    return sum(map(is_destination, signature.slots))


def _told_into(into: object) -> str:
    return "" if into is None else f" and into={into!r}"


def _takes_into(signature: Signature, into: object) -> bool:
    written = [slot for slot in signature.slots if is_destination(slot)]
    if into is None:
        return True
    if isinstance(into, tuple | list):
        vector = len(written) == 1 and written[0].kind is OperandKind.VECTOR
        return len(into) == (written[0].count if vector else len(written)) and (vector or len(written) > 1)
    return len(written) == 1 and written[0].kind is not OperandKind.VECTOR


_SORTS: dict[OperandKind, tuple[type, ...]] = {
    OperandKind.REGISTER: (Value,),
    OperandKind.VALUE: (Value, int, float),
    OperandKind.PREDICATE: (Value, Not),
    OperandKind.VECTOR: (tuple, list),
    OperandKind.ADDRESS: (Value, Offset, Symbol, int),
    OperandKind.COORDINATE: (tuple, list),
    OperandKind.BRACKET: (tuple, list),
    OperandKind.IMMEDIATE: (int, float),
    OperandKind.LABEL: (Label,),
    OperandKind.SYMBOL: (Symbol, Offset),
    OperandKind.SPECIAL: (SpecialRegister,),
    OperandKind.SINK: (),
}


def _stands(slot: OperandSlot, given: object) -> bool:
    if isinstance(given, Value):
        return slot.kind in _SORTS and Value in _SORTS[slot.kind] and given.type in slot.accepts
    if isinstance(given, int) and slot.domain is not None and not slot.domain.holds(given):
        return False
    return (
        isinstance(given, _SORTS[slot.kind])
        or (slot.symbol and isinstance(given, Symbol | Offset))
        or (slot.special and isinstance(given, SpecialRegister))
        or (slot.sink and given is sink)
    )


def _specialised(kernel: Draft, form: Form, index: int, choose: Call | None = None) -> Call:
    """The function for the signature of that index; `choose` takes over where `into` asks for more destinations."""
    signature = form.signatures[index]
    slots = signature.slots
    make, fresh = _prepared(form)[index]
    takers = [None if type_ is None else kernel.pool(type_).take for type_ in fresh]
    accepts = [kernel.accepted(slot.accepts) for slot in slots]
    made: Call = make(kernel, form, signature, slots, accepts, takers, choose)
    return made


@cache
def _prepared(form: Form) -> tuple[tuple[Call, tuple[Type | None, ...]], ...]:
    """What is the same in every kernel, per signature: the maker of its function, and each slot's fresh register."""
    return tuple((factory(pattern_of(each)), tuple(map(_fresh, each.slots))) for each in form.signatures)


def _fresh(slot: OperandSlot) -> Type | None:
    return fresh_type(slot.type, slot.accepts) if slot.type is not None and is_destination(slot) else None
