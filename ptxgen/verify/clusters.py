"""Clusters: ranks and masks against their size, and shared memory of CTAs that may not run yet or any more."""

from __future__ import annotations

from collections.abc import Iterator

from ptxgen.errors import Finding, Severity
from ptxgen.ir import Address, FunctionKind, Instruction, Register, signature_of
from ptxgen.verify.body import CALL, states
from ptxgen.verify.values import Values

_WAITS = ("mbarrier.try_wait", "mbarrier.test_wait")
_SYNCHRONOUS = ("ld", "atom")


def cluster_findings(values: Values) -> Iterator[Finding]:
    """`cluster.rank` against `.reqnctapercluster`; `cluster.barrier` around accesses to other CTAs' shared memory.

    Those are accesses through `mapa`. Before the first in a kernel the other CTA must have started, and behind a load
    it must still be there; any cluster barrier or mbarrier is taken to see to that.
    """
    yield from _ranks(values)
    if values.body.function.kind is FunctionKind.ENTRY and "mapa" in values.body.by_opcode:
        yield from _started(values)
        yield from _ended(values)


def _ranks(values: Values) -> Iterator[Finding]:
    size = values.launch.cluster
    if size is None:
        return
    instructions = values.body.flow.instructions
    for index in values.body.by_opcode.get("mapa", ()):
        rank = values.constant(instructions[index].operands[2], index)
        if rank is not None and not 0 <= rank < size:
            yield _at(instructions[index], "cluster.rank", f"names CTA {rank} of a cluster of {size}")
    for opcode, indices in values.body.by_opcode.items():
        for index in indices if opcode.startswith("cp.async.bulk") else ():
            if instructions[index].form.has("multicast::cluster"):
                yield from _mask(values, index, size)


def _mask(values: Values, index: int, size: int) -> Iterator[Finding]:
    instruction = values.body.flow.instructions[index]
    signature = signature_of(instruction.form, instruction.operands)
    for slot, operand in zip(() if signature is None else signature.slots, instruction.operands, strict=False):
        mask = values.constant(operand, index) if slot.name == "ctas" else None
        if mask is not None and mask >> size:
            yield _at(
                instruction, "cluster.rank", f"the mask {mask:#x} names CTAs that a cluster of {size} does not have"
            )


def _at(instruction: Instruction, code: str, message: str) -> Finding:
    return Finding(code, Severity.ERROR, f"{instruction.form.name}: {message}", instruction.origin)


def _remote(values: Values) -> frozenset[int]:
    """The accesses through an address that `mapa` gave."""
    mapped = frozenset(values.body.by_opcode["mapa"])
    found = set()
    for opcode, indices in values.body.by_opcode.items():
        for index in indices if opcode in ("ld", "st", "atom", "red", "st.async", "red.async") else ():
            addresses = [each for each in values.body.flow.instructions[index].operands if isinstance(each, Address)]
            bases = [each.base for each in addresses if isinstance(each.base, Register)]
            if any(mapped & _addends(values, each, index) for each in bases):
                found.add(index)
    return frozenset(found)


def _addends(values: Values, register: Register, index: int) -> frozenset[int]:
    """The instructions that an address is made of, through moves and sums."""
    found: set[int] = set()
    stack = [(register, index)]
    while stack:
        for made in values.reaching(*stack.pop()):
            if made >= 0 and made not in found:
                found.add(made)
                instruction = values.body.flow.instructions[made]
                if instruction.form.opcode in ("mov", "cvt", "cvta", "add", "sub"):
                    stack += [(each, made) for each in instruction.operands[1:] if isinstance(each, Register)]
    return frozenset(found)


def _started(values: Values) -> Iterator[Finding]:
    instructions = values.body.flow.instructions
    remote = _remote(values)
    meeting = [index for index in range(len(instructions)) if _meets(values, index)] if remote else ()

    def after(facts: frozenset[bool], index: int) -> frozenset[bool]:
        return frozenset()

    for index, facts in states(values.body.flow, frozenset({True}), after, meeting, remote):
        if facts:
            message = "on some path no barrier.cluster.wait has seen that the other CTA has started"
            yield _at(instructions[index], "cluster.barrier", message)
            return


def _ended(values: Values) -> Iterator[Finding]:
    instructions = values.body.flow.instructions
    loads = frozenset(each for each in _remote(values) if instructions[each].form.opcode in _SYNCHRONOUS)

    def after(facts: frozenset[int], index: int) -> frozenset[int]:
        return frozenset() if index in telling else facts | {index}

    telling = {n for n in range(len(instructions)) if loads and (_meets(values, n) or _arrives(values, n))}
    ends = (n for opcode in ("ret", "exit") for n in values.body.by_opcode.get(opcode, ()))
    leaving = [index for index in ends if instructions[index].guard is None]
    said: set[int] = set()
    for _, facts in states(values.body.flow, frozenset(), after, telling | loads, leaving if loads else ()):
        said |= facts
    for index in sorted(said)[:1]:
        message = "no barrier.cluster.arrive behind it, so that the other CTA may have ended before"
        yield _at(instructions[index], "cluster.barrier", message)


def _meets(values: Values, index: int) -> bool:
    form = values.body.flow.instructions[index].form
    if form.opcode == CALL:
        effects = values.effects_at(index)
        return not effects.known or any(each.opcode == "barrier.cluster" for each in effects.forms)
    return form.opcode in _WAITS or (form.opcode == "barrier.cluster" and form.has("wait"))


def _arrives(values: Values, index: int) -> bool:
    form = values.body.flow.instructions[index].form
    return form.opcode.startswith("mbarrier.arrive") or (form.opcode == "barrier.cluster" and form.has("arrive"))
