"""From an instruction's name to the checked function that writes it, chosen among its signatures."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

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
    ways = _ways(tuple(able))
    if len(ways.all) == 1:
        return _specialised(kernel, ways.all[0])
    choose = _choosing(kernel, name, ways)
    return _specialised(kernel, ways.all[0], choose) if ways.alike else choose


class Way(NamedTuple):
    """One way to write an instruction: a signature of a form, by its place, and the slots that sources fill."""

    form: Form
    place: int
    sources: tuple[OperandSlot, ...]

    @property
    def signature(self) -> Signature:
        return self.form.signatures[self.place]


class Ways(NamedTuple):
    """All ways to write an instruction, those with few destinations first.

    `alike` tells that all take the same sources, `only` has the first for each number of sources that tells enough,
    `by_sorts` that no number given decides between them.
    """

    all: tuple[Way, ...]
    alike: bool
    only: Mapping[int, Way]
    by_sorts: bool


@cache
def _ways(forms: tuple[Form, ...]) -> Ways:
    every = (Way(form, index, sources_of(each)) for form in forms for index, each in enumerate(form.signatures))
    ways = tuple(sorted(every, key=lambda way: _destination_count(way.signature)))
    first: dict[int, dict[tuple[OperandSlot, ...], Way]] = {}
    for way in ways:
        first.setdefault(len(way.sources), {}).setdefault(way.sources, way)
    only = {count: next(iter(each.values())) for count, each in first.items() if len(each) == 1}
    by_sorts = all(slot.domain is None for way in ways for slot in way.sources)
    return Ways(ways, len({way.sources for way in ways}) == 1, only, by_sorts)


def _unavailable(kernel: Draft, name: str, availability: str) -> Call:
    def refuse(*sources: object, into: object = None, _depth: int = 1) -> None:
        fail("target.unsupported", f"{name} exists since {availability}; this module is for {kernel.module.described}")

    refuse.__qualname__ = f"k.{name}"
    return refuse


def _choosing(kernel: Draft, name: str, ways: Ways) -> Call:
    """A function that picks the signature by the number and sort of the sources and the shape of `into`.

    Without `into`, the signature with the fewest destinations of those that take the same sources.
    """
    made: dict[tuple[Form, int], Call] = {}
    chosen: dict[object, Way | None] = {}

    def choose(*sources: object, into: object = None, _depth: int = 1) -> Any:
        way = ways.only.get(len(sources)) if into is None else None
        if way is None:
            sorts = (_sort(sources), _sort(into)) if ways.by_sorts else None
            way = chosen.get(sorts)
            if way is None:
                way = _fitting(ways, sources, into)
                if sorts is not None:
                    chosen[sorts] = way
        if way is None:
            told = " or ".join(f"'{way.signature}'" for way in ways.all)
            fail("operand.count", f"{name} takes {told}; got {len(sources)} sources" + _told_into(into))
        call = made.get(way[:2])
        if call is None:
            call = made[way[:2]] = _specialised(kernel, way)
        return call(*sources, into=into, _depth=_depth + 1)

    choose.__qualname__ = f"k.{name}"
    return choose


def _sort(given: object) -> object:
    """What decides where something given may stand, apart from the number that it is."""
    if type(given) is Value:
        return given.pool
    if type(given) is tuple or type(given) is list:
        return tuple(map(_sort, given))
    return type(given)


def _fitting(ways: Ways, sources: tuple[object, ...], into: object) -> Way | None:
    """The first way that takes the sources by their sorts, else by their number alone, and the shape of `into`."""
    found = None
    for way in ways.all:
        if len(way.sources) == len(sources) and _takes_into(way.signature, into):
            if all(map(_stands, way.sources, sources)):
                return way
            found = found or way
    return found


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
    if isinstance(given, tuple | list) and slot.kind is OperandKind.VECTOR:
        return len(given) == slot.count and all(each.type in slot.accepts for each in given if isinstance(each, Value))
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


def _specialised(kernel: Draft, way: Way, choose: Call | None = None) -> Call:
    """The function for one signature; `choose` takes over where `into` asks for another number of destinations."""
    slots = way.signature.slots
    make, fresh = _prepared(way.form)[way.place]
    pools = [None if type_ is None else kernel.pool(type_) for type_ in fresh]
    accepts = [kernel.accepted(slot.accepts) for slot in slots]
    made: Call = make(kernel, way.form, way.signature, slots, accepts, pools, choose)
    return made


@cache
def _prepared(form: Form) -> tuple[tuple[Call, tuple[Type | None, ...]], ...]:
    """What is the same in every kernel, per signature: the maker of its function, and each slot's fresh register."""
    return tuple((factory(pattern_of(each)), tuple(map(_fresh, each.slots))) for each in form.signatures)


def _fresh(slot: OperandSlot) -> Type | None:
    return fresh_type(slot.type, slot.accepts) if slot.type is not None and is_destination(slot) else None
