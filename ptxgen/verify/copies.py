"""Copies under way: their commits and waits, and accesses to their bytes before those."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import evolve, frozen

from isa.mechanisms import BULK_LOAD, BULK_STORE, LANE_COPY, Mechanism, mechanism_of
from ptxgen.errors import Finding, Severity
from ptxgen.ir import Address, FunctionKind, Instruction, Int
from ptxgen.verify.body import CALL, states
from ptxgen.verify.values import Place, Values

_LAST_AGE = 8
_ROW_BYTES = 16
_MECHANISMS = (LANE_COPY, BULK_STORE, BULK_LOAD)


@frozen
class _Copy:
    """Bytes of shared memory that the copy at `index` still writes or reads; `age` counts the commits since."""

    place: Place
    index: int
    age: int = 0


def copy_findings(values: Values) -> Iterator[Finding]:
    """`group.commit`, `group.wait` and `copy.wait` of copies.

    Copies that nothing in a kernel and what it calls commits or waits for; reads of bytes that a copy of this thread
    may still write, writes of bytes that it may still read, where both addresses are known to be the same.
    """
    body = values.body
    copying = [
        index
        for opcode, indices in body.by_opcode.items()
        if opcode.startswith("cp.")
        for index in indices
        if mechanism_of(body.flow.instructions[index].form) in _MECHANISMS
    ]
    if not copying:
        return
    if body.function.kind is FunctionKind.ENTRY and values.effects.known:
        yield from _never(values, copying)
    yield from _early(values, copying)


def _never(values: Values, copying: list[int]) -> Iterator[Finding]:
    """Copies that are never committed or never waited for anywhere."""
    forms = values.effects.forms
    words = {form.opcode: set[str]() for form in forms}
    for form in forms:
        words[form.opcode].update(form.name.split("."))
    lane, bulk = words.get("cp.async", set()), set[str]().union(*(words.get(each, ()) for each in words if _bulk(each)))
    instructions = [values.body.flow.instructions[index] for index in copying]
    copies = [each for each in instructions if mechanism_of(each.form) == LANE_COPY]
    if copies and not lane & {"wait_group", "wait_all"} and "mbarrier" not in lane:
        yield _at(copies[0], "group.wait", "nothing in the function waits for it")
    elif copies and "wait_group" in lane and "commit_group" not in lane and "wait_all" not in lane:
        yield _at(copies[0], "group.commit", "no cp.async.commit_group commits it")
    stores = [each for each in instructions if "bulk_group" in each.form.name.split(".")]
    if stores and "commit_group" not in bulk:
        yield _at(stores[0], "group.commit", "no cp.async.bulk.commit_group commits it")
    elif stores and "wait_group" not in bulk:
        yield _at(stores[0], "group.wait", "nothing in the function waits for it")


def _bulk(opcode: str) -> bool:
    return opcode.startswith("cp.async.bulk")


def _at(instruction: Instruction, code: str, message: str) -> Finding:
    return Finding(code, Severity.ERROR, f"{instruction.form.name}: {message}", instruction.origin)


def _early(values: Values, copying: list[int]) -> Iterator[Finding]:
    """Accesses to bytes that a copy has not let go of on some path."""
    body = values.body
    begun = {index: made for index in copying if (made := _begun(values, index)) is not None}
    touching = {index: place for index in _accesses(values) if (place := _touched(values, index)) is not None}
    if not begun or not touching:
        return

    def after(facts: frozenset[_Copy], index: int) -> frozenset[_Copy]:
        if facts:
            written = body.steps[index].writes
            if written:
                facts = frozenset(each for each in facts if each.place.base not in written)
            facts = _behind(values, facts, index)
        return facts | {begun[index]} if index in begun else facts

    bases = {each.place.base for each in begun.values()}
    renewing = {index for index, step in enumerate(body.steps) if not bases.isdisjoint(step.writes)}
    ending = {index for index, each in enumerate(body.flow.instructions) if _may_end(each)}
    for index, facts in states(body.flow, frozenset(), after, renewing | ending | begun.keys(), touching):
        place = touching[index]
        met = min((each for each in facts if each.place.meets(place) and _hurts(values, each, index)), default=None,
                  key=lambda each: each.index)  # fmt: skip
        if met is not None:
            yield _told(values, index, met)


def _begun(values: Values, index: int) -> _Copy | None:
    """The shared bytes that a copy writes, or reads where it goes to global memory."""
    instruction = values.body.flow.instructions[index]
    addresses = [each for each in instruction.operands if isinstance(each, Address)]
    storing = mechanism_of(instruction.form) == BULK_STORE
    from_shared = instruction.form.words.get("source", "").startswith("shared")
    if not addresses or storing != from_shared:
        return None
    size = next((each.value for each in instruction.operands if isinstance(each, Int)), 1)
    place = values.place(addresses[-1 if storing else 0], index, max(size, 1))
    return None if place is None else _Copy(place, index)


def _accesses(values: Values) -> Iterator[int]:
    for opcode in ("ld", "ldmatrix", "st", "stmatrix", "atom", "red"):
        for index in values.body.by_opcode.get(opcode, ()):
            if values.body.flow.instructions[index].form.words.get("space", "") in ("shared", "shared::cta"):
                yield index


def _touched(values: Values, index: int) -> Place | None:
    instruction = values.body.flow.instructions[index]
    address = next((each for each in instruction.operands if isinstance(each, Address)), None)
    if address is None:
        return None
    form = instruction.form
    rows = form.opcode in ("ldmatrix", "stmatrix")
    size = _ROW_BYTES if rows else form.type_of().bits // 8 * int(form.words.get("vec", "v1")[1:])
    return values.place(address, index, size)


def _hurts(values: Values, copy: _Copy, index: int) -> bool:
    """False for reads of what a copy reads, and for two guards of which nobody knows whether both hold."""
    reading = values.body.flow.instructions[index].form.opcode in ("ld", "ldmatrix")
    guards = values.body.flow.instructions[index].guard, values.body.flow.instructions[copy.index].guard
    if None not in guards and guards[0] != guards[1]:
        return False
    return not (reading and _mechanism(values, copy) == BULK_STORE)


def _mechanism(values: Values, copy: _Copy) -> Mechanism:
    return mechanism_of(values.body.flow.instructions[copy.index].form)


def _may_end(instruction: Instruction) -> bool:
    """Whether copies may be over behind an instruction, or their groups be closed."""
    opcode = instruction.form.opcode
    return opcode == CALL or opcode.startswith(("mbarrier.", "cp.async")) or instruction.form.has("mbarrier")


def _behind(values: Values, facts: frozenset[_Copy], index: int) -> frozenset[_Copy]:
    """The copies that are still under way behind an instruction."""
    instruction = values.body.flow.instructions[index]
    form, opcode = instruction.form, instruction.form.opcode
    if opcode == CALL:
        effects = values.effects_at(index)
        harmless = effects.known and not any(each.opcode.startswith(("cp.", "mbarrier.")) for each in effects.forms)
        return facts if harmless else frozenset()
    if opcode.startswith("mbarrier.") and opcode.endswith("_wait"):
        return frozenset(each for each in facts if _mechanism(values, each) != BULK_LOAD)
    if form.has("mbarrier"):
        return frozenset(each for each in facts if _mechanism(values, each) != LANE_COPY)
    if not opcode.startswith("cp.async"):
        return facts
    kind = BULK_STORE if _bulk(opcode) else LANE_COPY
    if form.has("commit_group"):
        return frozenset(
            evolve(each, age=min(each.age + 1, _LAST_AGE)) if _mechanism(values, each) == kind else each
            for each in facts
        )
    if form.has("wait_all"):
        return frozenset(each for each in facts if _mechanism(values, each) != kind)
    if form.has("wait_group"):
        left = instruction.operands[0]
        most = left.value if isinstance(left, Int) else 0
        return frozenset(each for each in facts if _mechanism(values, each) != kind or each.age <= most)
    return facts


def _told(values: Values, index: int, copy: _Copy) -> Finding:
    instruction, copying = values.body.flow.instructions[index], values.body.flow.instructions[copy.index]
    kind = _mechanism(values, copy)
    related = (("the copy", copying.origin),)
    if kind == BULK_LOAD:
        message = f"{instruction} meets bytes that {copying.form.name} may still write: no wait on an mbarrier between"
        return Finding("copy.wait", Severity.ERROR, message, instruction.origin, None, related)
    does = "write" if kind == LANE_COPY else "read"
    wait = "cp.async.wait_group" if kind == LANE_COPY else "cp.async.bulk.wait_group"
    message = (
        f"{instruction} meets bytes that {copying.form.name} may still {does}: no {wait} between has waited for it"
    )
    return Finding("group.wait", Severity.ERROR, message, instruction.origin, None, related)
