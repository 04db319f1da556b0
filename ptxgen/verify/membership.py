"""Which lanes and threads take part: masks of shuffles, counts of barriers, blocks that are no whole warps."""

from __future__ import annotations

from collections.abc import Iterator

from ptxgen.errors import Finding, Severity
from ptxgen.ir import Instruction, signature_of
from ptxgen.verify.values import Values

_LANES = 32
_FULL = 0xFFFFFFFF
_WHOLE_WARPS = frozenset({"mma", "wmma.mma", "wmma.load", "wmma.store", "ldmatrix", "stmatrix", "movmatrix"})


def membership_findings(values: Values) -> Iterator[Finding]:
    """`mask.source`, `mask.lanes`, `barrier.count`, `barrier.alone` and `warp.partial`, as far as constants tell."""
    yield from _sources(values)
    yield from _left_out(values)
    yield from _counts(values)
    yield from _alone(values)
    yield from _partial(values)


def _at(instruction: Instruction, code: str, message: str) -> Finding:
    return Finding(code, Severity.ERROR, f"{instruction.form.name}: {message}", instruction.origin)


def _sources(values: Values) -> Iterator[Finding]:
    """Shuffles of which no lane of the mask reads from a lane of the mask."""
    for index in values.body.by_opcode.get("shfl", ()):
        instruction = values.body.flow.instructions[index]
        lane, clamp, mask = (values.constant(each, index) for each in instruction.operands[-3:])
        if len(instruction.operands) < 4 or lane is None or clamp is None or mask is None or not mask & _FULL:
            continue
        mode = instruction.form.words["mode"]
        read = {
            source for each in range(_LANES) if mask >> each & 1 and (source := _source(mode, each, lane, clamp)) >= 0
        }
        if read and not any(mask >> each & 1 for each in read):
            first = min(read)
            yield _at(instruction, "mask.source", f"reads lane {first}, which is not in the mask {mask & _FULL:#x}")


def _source(mode: str, lane: int, b: int, c: int) -> int:
    """The lane that a lane reads, -1 where it keeps its own value (the manual's pseudocode)."""
    segment, clamp = c >> 8 & 31, c & 31
    most = (lane & segment) | (clamp & ~segment)
    match mode:
        case "up":
            return lane - (b & 31) if lane - (b & 31) >= most else -1
        case "down":
            return lane + (b & 31) if lane + (b & 31) <= most else -1
        case "bfly":
            return lane ^ (b & 31) if lane ^ (b & 31) <= most else -1
        case _:
            source = (lane & segment) | (b & 31 & ~segment)
            return source if source <= most else -1


def _left_out(values: Values) -> Iterator[Finding]:
    """Whole warps at an instruction whose mask leaves some of their lanes out, where nothing parts the lanes."""
    threads = values.launch.threads
    if threads is None or threads % _LANES or values.parts_threads:
        return
    for opcode in ("shfl", "vote", "match", "redux.sync", "bar.warp.sync"):
        for index in values.body.by_opcode.get(opcode, ()):
            instruction = values.body.flow.instructions[index]
            mask = values.constant(instruction.operands[-1], index)
            if mask is not None and mask & _FULL not in (0, _FULL):
                message = f"is executed by all lanes of a warp, of which the mask {mask & _FULL:#x} leaves some out"
                yield _at(instruction, "mask.lanes", message)


def _counts(values: Values) -> Iterator[Finding]:
    """Barriers for more threads than the block has."""
    most = values.launch.most_threads
    for opcode in ("bar", "barrier") if most is not None else ():
        for index in values.body.by_opcode.get(opcode, ()):
            instruction = values.body.flow.instructions[index]
            count = _count(values, instruction, index)
            if most is not None and count is not None and count > most:
                message = f"waits for {count} threads; a block has at most {most}"
                yield _at(instruction, "barrier.count", message)


def _count(values: Values, instruction: Instruction, index: int) -> int | None:
    signature = signature_of(instruction.form, instruction.operands)
    for slot, operand in zip(() if signature is None else signature.slots, instruction.operands, strict=False):
        if slot.name == "b" and not instruction.form.has("red"):
            return values.constant(operand, index)
    return None


def _alone(values: Values) -> Iterator[Finding]:
    """Arrivals at a barrier of a kernel that nothing in it waits for."""
    arriving, waiting = [], set()
    for opcode in ("bar", "barrier"):
        for index in values.body.by_opcode.get(opcode, ()):
            instruction = values.body.flow.instructions[index]
            number = values.constant(instruction.operands[0], index) if instruction.operands else None
            if instruction.form.has("arrive"):
                arriving.append((instruction, number))
            else:
                waiting.add(number)
    if None in waiting or values.body.calls:
        return
    for instruction, number in arriving:
        if number is not None and number not in waiting:
            yield _at(instruction, "barrier.alone", f"nothing in the function waits at barrier {number}")


def _partial(values: Values) -> Iterator[Finding]:
    """Matrix instructions, which want whole warps, where the last warp is none and nothing keeps it out."""
    threads = values.launch.threads
    if threads is None or threads % _LANES == 0 or (threads > _LANES and values.parts_threads):
        return
    found = sorted(index for opcode in _WHOLE_WARPS for index in values.body.by_opcode.get(opcode, ()))
    for index in found[:1]:
        instruction = values.body.flow.instructions[index]
        message = f"wants all lanes of a warp; the last warp of {threads} threads has {threads % _LANES}"
        yield _at(instruction, "warp.partial", message)
