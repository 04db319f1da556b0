"""Instructions and calls from text to nodes."""

from __future__ import annotations

from functools import cache
from typing import Any

from attrs import define, field

from isa.forms import Candidates, Form, UnknownInstruction, resolve
from isa.operands import OperandKind, OperandSlot, Signature
from isa.order import rearranged
from isa.targets import PtxVersion, Target
from ptxgen.ir import (
    Bracket,
    Call,
    Float,
    Guard,
    Instruction,
    Int,
    LabelName,
    Origin,
    Register,
    SymbolAddress,
    TensorCoordinate,
    VectorRegister,
    form_of,
    joined_slots,
)
from ptxgen.parse.constants import Decimal
from ptxgen.parse.names import UNPLACED, Open
from ptxgen.parse.operands import element, operand
from ptxgen.parse.reader import Reader

_CALLS = ("call", "call.uni")
_JUMPS = ("bra", "bra.uni", "brx.idx", "brx.idx.uni")


@define(eq=False)
class Known:
    """Which form each name and pattern of operands met so far means, for one version and target.

    `ordered` has the forms of a name, those that the target has first; `chosen` form and signature by name and sorts of
    operands; the rest is what `Instructions.quick` needs.
    """

    ordered: dict[str, list[Form]] = field(factory=dict)
    chosen: dict[tuple[object, ...], tuple[Form, Signature | None]] = field(factory=dict)
    plain: dict[str, dict[int, Form]] = field(factory=dict)
    barred: dict[tuple[str, int], Form] = field(factory=dict)
    sorted: dict[tuple[object, ...], Form] = field(factory=dict)


@cache
def _known(version: PtxVersion, target: Target) -> Known:
    """What modules of that version and target have met; it follows from the rows alone."""
    return Known()


class Instructions:
    """Reads the instructions of one module."""

    def __init__(self, reader: Reader, version: PtxVersion, target: Target) -> None:
        self._reader, self._version, self._target = reader, version, target
        self._known = _known(version, target)
        self.plain = self._known.plain

    def read(self, scope: Open, function: str) -> Instruction | Call:
        """The instruction or call that begins here, and a step past its semicolon."""
        reader = self._reader
        at = reader.start
        guard = self.guard(scope) if reader.text == "@" else None
        named = reader.start
        name = reader.name()
        origin = reader.origin(at, function)
        if name in _CALLS:
            return self._call(scope, name == "call.uni", guard, origin)
        operands, bars = self._operands(scope)
        if name in _JUMPS:
            operands = tuple(_label(each) for each in operands)
        form, signature = self.form(name, operands, named)
        self._check_bars(form, len(operands), bars, named)
        if signature is not None and (
            any(each.__class__ is tuple and len(each) == 1 for each in operands) or _bracketed(signature)
        ):
            operands = tuple(map(_unwrapped, operands, signature.slots))
        return Instruction(form, _settled(operands, signature), guard, origin)

    def guard(self, scope: Open) -> Guard:
        """The guard `@p` or `@!p` that begins here, and a step past it."""
        reader = self._reader
        reader.expect("@")
        negated = reader.accept("!")
        at, name = reader.start, reader.take("word", "a predicate")
        found = scope.find(name)
        if not isinstance(found, Register):
            reader.misuse(f"predicate {name} is not declared here", "register.undeclared", at=at)
        scope.cache[name] = found
        return Guard(found, negated)

    def _operands(self, scope: Open) -> tuple[tuple[Any, ...], tuple[int, ...]]:
        """The operands up to the semicolon, and the indices of those behind `|`."""
        reader = self._reader
        if reader.accept(";"):
            return (), ()
        found, bars = [operand(reader, scope)], []
        while reader.text in (",", "|"):
            if reader.advance() == "|":
                bars.append(len(found))
            found.append(operand(reader, scope))
        reader.expect(";", "',' or ';'")
        return tuple(found), tuple(bars)

    def form(self, name: str, operands: tuple[Any, ...], at: int) -> tuple[Form, Signature | None]:
        """The form that a name means with these operands, and the signature that they follow."""
        key = (name, *map(_sort, operands))
        found = self._known.chosen.get(key)
        if found is None:
            forms = self._forms(name, at)
            found = form_of(forms, tuple(map(_stand_in, operands)))
            if len(forms) == 1 or not any(each.__class__ is Int for each in operands):
                self._known.chosen[key] = found
                self._remember(key, len(operands), found[0], len(forms) == 1)
        return found

    def _remember(self, key: tuple[object, ...], count: int, form: Form, only: bool) -> None:
        """Keeps what `quick` needs: forms told by the number of operands, by a bar behind the first, by their sorts."""
        if any(map(_bracketed, form.signatures)):
            return
        joined = joined_slots(form, count)
        if only and not joined:
            self.plain.setdefault(str(key[0]), {})[count] = form
        elif only and joined == {1}:
            self._known.barred[str(key[0]), count] = form
        elif not joined:
            self._known.sorted[key] = form

    def quick(self, name: str, operands: tuple[Any, ...], barred: bool) -> Form | None:
        """The form of a name that was met before with such operands; None where `form` must find it.

        `barred` tells that the second operand stands behind a bar. Names in `plain` need not ask: there the number of
        operands says it all.
        """
        if barred:
            return self._known.barred.get((name, len(operands)))
        return self._known.sorted.get((name, *map(_sort, operands)))

    def _forms(self, name: str, at: int) -> list[Form]:
        found = self._known.ordered.get(name)
        if found is None:
            candidates = _candidates(name)
            if isinstance(candidates, UnknownInstruction):
                self._reader.misuse(str(candidates), "instruction.unknown", at=at)
            found = sorted(candidates, key=lambda form: not form.availability.holds(self._version, self._target))
            self._known.ordered[name] = found
        return found

    def _check_bars(self, form: Form, count: int, bars: tuple[int, ...], at: int) -> None:
        joined = joined_slots(form, count)
        for index in sorted(joined.symmetric_difference(bars)):
            came, wanted = ("|", ",") if index in bars else (",", "|")
            message = f"{form.name}: operand {index + 1} stands behind '{came}', where '{wanted}' belongs"
            self._reader.misuse(message, "operand.joined", at=at)

    def _call(self, scope: Open, uniform: bool, guard: Guard | None, origin: Origin) -> Call:
        reader = self._reader
        returns: tuple[Any, ...] = ()
        if reader.text == "(":
            returns = self._listed(scope)
            reader.expect(",")
        at = reader.start
        target = element(reader, scope)
        if isinstance(target, LabelName):
            reader.misuse(f"function {target.name} is not declared here", "symbol.unknown", at=at)
        if not isinstance(target, Register | SymbolAddress):
            reader.fail("a call goes to a function or a register", at=at)
        arguments: tuple[Any, ...] = ()
        declared: LabelName | None = None
        if reader.accept(","):
            if reader.text == "(":
                arguments = self._listed(scope)
                if reader.accept(","):
                    declared = LabelName(reader.take("word", "a prototype or a list of targets"), UNPLACED)
            else:
                declared = LabelName(reader.take("word", "'(' or a prototype"), UNPLACED)
        reader.expect(";", "',' or ';'")
        return Call(target, returns, arguments, uniform, declared, guard, origin)

    def _listed(self, scope: Open) -> tuple[Any, ...]:
        reader = self._reader
        reader.expect("(")
        found: list[Any] = []
        while reader.text != ")":
            at = reader.start
            node = element(reader, scope)
            if isinstance(node, LabelName):
                reader.misuse(f"{node.name} is not declared here", "symbol.unknown", at=at)
            found.append(node.of(None) if isinstance(node, Decimal) else node)
            if not reader.accept(","):
                break
        reader.expect(")", "',' or ')'")
        return tuple(found)


def _candidates(name: str) -> Candidates | UnknownInstruction:
    try:
        return resolve(name)
    except UnknownInstruction as unknown:
        ordered = rearranged(name)
        return resolve(ordered) if ordered else unknown


def _label(node: Any) -> Any:
    return LabelName(node.name, UNPLACED) if isinstance(node, SymbolAddress) else node


def _sort(node: Any) -> object:
    """All of an operand that decides between forms: its class, its register's type, a vector's elements."""
    kind = node.__class__
    if kind is Register:
        return node.type
    if kind is VectorRegister:
        return node.type, node.vector
    if kind is tuple:
        return tuple(map(_sort, node))
    if kind is Bracket:
        return kind, tuple(map(_sort, node.parts))
    if kind is TensorCoordinate:
        return kind, node.sampler is None, _sort(node.coordinates)
    base = getattr(node, "base", None) or getattr(node, "register", None)
    return (kind, base.type) if isinstance(base, Register) else kind


def _settled(operands: tuple[Any, ...], signature: Signature | None) -> tuple[Any, ...]:
    """The operands with their decimals as floats of the width that each slot has."""
    if not any(map(_undecided, operands)):
        return operands
    types = [None] * len(operands) if signature is None else [slot.type for slot in signature.slots]
    return tuple(_float(each, type_) for each, type_ in zip(operands, types, strict=True))


def _bracketed(signature: Signature) -> bool:
    return any(slot.kind is OperandKind.BRACKET for slot in signature.slots)


def _unwrapped(node: Any, slot: OperandSlot) -> Any:
    """A vector of one element is the element where a single register stands, handles are operands in brackets."""
    if node.__class__ is TensorCoordinate and slot.kind is OperandKind.BRACKET:
        handles = (node.map,) if node.sampler is None else (node.map, node.sampler)
        return Bracket((*handles, *node.coordinates))
    return node[0] if node.__class__ is tuple and len(node) == 1 and slot.kind is not OperandKind.VECTOR else node


def _undecided(node: Any) -> bool:
    return node.__class__ is Decimal or (node.__class__ is tuple and any(map(_undecided, node)))


def _stand_in(node: Any) -> Any:
    return _float(node, None) if _undecided(node) else node


def _float(node: Any, type_: Any) -> Any:
    if node.__class__ is Decimal:
        made: Float = node.of(type_)
        return made
    return tuple(_float(each, type_) for each in node) if node.__class__ is tuple else node
