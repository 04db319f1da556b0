"""Writes through one proxy that another reads, with no fence between."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from isa.forms import Form
from ptxgen.errors import Finding, Severity
from ptxgen.ir import Address, Instruction
from ptxgen.verify.body import CALL, states
from ptxgen.verify.values import Pointer, Values

_WRITERS = ("st", "stmatrix", "cp.async", "red", "atom")
_MULTIPLIES = ("wgmma", "tcgen05.mma", "tcgen05.cp")


def proxy_findings(values: Values) -> Iterator[Finding]:
    """`proxy.fence`: shared memory written as usual and read asynchronously, tensor maps changed and used.

    A called function that has the fence, or that nobody knows, ends what was known.
    """
    yield from _asynchronous(values)
    yield from _tensor_maps(values)


def _asynchronous(values: Values) -> Iterator[Finding]:
    body = values.body
    instructions = body.flow.instructions
    readers = frozenset(
        index
        for opcode, indices in body.by_opcode.items()
        if opcode in _MULTIPLIES or opcode.startswith("cp.")
        for index in indices
        if _reads_shared(instructions[index])
    )
    writers = _indices(values, _WRITERS, _writes_shared)
    for index, wrote in _meetings(values, writers, readers, _is_async_fence):
        message = (
            f"{instructions[index].form.name} reads shared memory through the asynchronous proxy; "
            f"no fence.proxy.async stands behind the ordinary write: {instructions[wrote]}"
        )
        related = (("the write", instructions[wrote].origin),)
        yield Finding("proxy.fence", Severity.ERROR, message, instructions[index].origin, None, related)


def _tensor_maps(values: Values) -> Iterator[Finding]:
    instructions = values.body.flow.instructions
    writers = frozenset(values.body.by_opcode.get("tensormap.replace", ()))
    readers = frozenset(
        index
        for opcode, indices in values.body.by_opcode.items()
        if opcode.startswith("cp.") and opcode.endswith(".tensor")
        for index in indices
    )
    for index, wrote in _meetings(values, writers, readers, _is_map_fence):
        message = (
            f"{instructions[index].form.name} reads a tensor map; no fence.proxy.tensormap stands behind what changed "
            f"one: {instructions[wrote]}"
        )
        related = (("the change", instructions[wrote].origin),)
        yield Finding("proxy.fence", Severity.ERROR, message, instructions[index].origin, None, related)


def _indices(values: Values, opcodes: tuple[str, ...], wanted: Callable[[Instruction], bool]) -> frozenset[int]:
    instructions = values.body.flow.instructions
    return frozenset(
        index for opcode in opcodes for index in values.body.by_opcode.get(opcode, ()) if wanted(instructions[index])
    )


def _meetings(
    values: Values, writers: frozenset[int], readers: frozenset[int], is_fence: Callable[[Form], bool]
) -> Iterator[tuple[int, int]]:
    """Readers with the first write that some path brings to them with no fence on it."""
    if not writers or not readers:
        return
    instructions = values.body.flow.instructions

    def after(facts: frozenset[int], index: int) -> frozenset[int]:
        form = instructions[index].form
        if form.opcode == CALL:
            effects = values.effects_at(index)
            return facts if effects.known and not any(map(is_fence, effects.forms)) else frozenset()
        if is_fence(form):
            return frozenset()
        return facts | {index} if index in writers else facts

    ending = {n for n, each in enumerate(instructions) if each.form.opcode == CALL or is_fence(each.form)}
    for index, facts in states(values.body.flow, frozenset(), after, ending | writers, readers):
        wrote = next((each for each in sorted(facts) if _may_meet(values, each, index)), None)
        if wrote is not None:
            yield index, wrote


def _is_async_fence(form: Form) -> bool:
    """A fence, or the copy of a tensor map that was put together in shared memory: its words are no operands."""
    fences = form.opcode == "fence" and form.has("proxy") and "async" in form.name.split(".")
    return fences or form.opcode == "tensormap.cp_fenceproxy"


def _is_map_fence(form: Form) -> bool:
    return "tensormap::generic" in form.name or form.opcode == "tensormap.cp_fenceproxy"


def _reads_shared(instruction: Instruction) -> bool:
    form = instruction.form
    if form.opcode.startswith("cp."):
        return "bulk" in form.name.split(".") and form.words.get("source", "").startswith("shared")
    return form.opcode != "wgmma" or form.has("mma_async")


def _writes_shared(instruction: Instruction) -> bool:
    form = instruction.form
    if form.opcode == "cp.async":
        return form.has("cop")
    return form.words.get("space", "").startswith("shared") and form.words.get("space") != "shared::cluster"


def _may_meet(values: Values, wrote: int, read: int) -> bool:
    first, second = _pointer(values, wrote, None), _pointer(values, read, "source")
    return first is None or second is None or first.variable is second.variable


def _pointer(values: Values, index: int, name: str | None) -> Pointer | None:
    """What the first address of an instruction points to, or the second where its source is wanted."""
    instruction = values.body.flow.instructions[index]
    found = [each for each in instruction.operands if isinstance(each, Address)]
    if not found or (name is not None and instruction.form.opcode in _MULTIPLIES):
        return None
    chosen = found[-1] if name is not None and len(found) > 1 else found[0]
    pointer = values.pointer(chosen.base, index)
    return None if pointer is None else Pointer(pointer.variable, pointer.offset + chosen.offset)
