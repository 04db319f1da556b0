"""What a warp must execute together, under conditions that differ between its lanes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from isa.forms import Form
from ptxgen.errors import Finding, Severity
from ptxgen.ir import Guard, Instruction, Operand
from ptxgen.ir.flow import Block, Flow, immediate_dominators, is_branch
from ptxgen.verify.body import CALL
from ptxgen.verify.spread import Divergence, Mixed
from ptxgen.verify.values import Values

_FULL = 0xFFFFFFFF
_ALIGNED = frozenset({"bar", "wmma.mma", "wmma.load", "wmma.store", "mma", "wgmma", "setmaxnreg"})
_MASKED = frozenset({"shfl", "vote", "match", "redux.sync", "bar.warp.sync"})
_INDIRECT = "brx.idx"


def divergence_findings(values: Values) -> Iterator[Finding]:
    """`convergence.guard` for what a whole warp must execute and a differing condition guards or leads to.

    Conditions that begin at the lane's number and are not known to be alike in all lanes of a warp count. Threads that
    leave the function are not waited for, so a guarded `ret` or `exit` is no condition. Since sm_70 lanes of a mask
    meet wherever they stand, so that the same instruction for the other lanes answers. A branch is told of once.
    """
    body = values.body
    needing = _needing(values)
    if not needing:
        return
    divergence = Divergence(values)
    deciding = _Deciding(body.flow)
    said: set[int] = set()
    asked: set[tuple[int, object]] = set()
    for index in needing:
        where = (body.flow.block_of(index), body.flow.instructions[index].guard)
        if where[1] is None and where in asked:
            continue
        asked.add(where)
        found = None if _counted(values, deciding, index) else _condition(values, divergence, deciding, index)
        if found is not None and _answered(values, deciding, index, found[0]):
            continue
        if found is not None and found[0] not in said:
            said.add(found[0])
            yield _told(values, index, *found)


def _needing(values: Values) -> list[int]:
    """The indices of what a whole warp must execute together, in order."""
    body, instructions = values.body, values.body.flow.instructions
    collective = frozenset(filter(is_collective, body.forms))
    found = [index for index, each in enumerate(instructions) if each.form in collective]
    for opcode in (CALL, *_MASKED):
        others = (index for index in body.by_opcode.get(opcode, ()) if instructions[index].form not in collective)
        found += [index for index in others if _converges(values, opcode, instructions[index], index)]
    return sorted(found)


def _converges(values: Values, opcode: str, instruction: Instruction, index: int) -> bool:
    if opcode == CALL:
        return any(map(is_collective, values.effects_at(index).forms))
    if is_collective(instruction.form):
        return True
    if opcode not in _MASKED or not instruction.operands:
        return False
    mask = values.constant(instruction.operands[-1], index)
    return mask is not None and mask & _FULL == _FULL


def is_collective(form: Form) -> bool:
    """True for what all lanes of a warp must execute together, whatever its operands."""
    return form.has("aligned") or form.opcode in _ALIGNED


def _counted(values: Values, deciding: _Deciding, index: int) -> bool:
    """True if a branch before a masked instruction asks which lanes are active, as compilers do before a full mask."""
    flow, active = values.body.flow, frozenset(values.body.by_opcode.get("activemask", ()))
    if not active or flow.instructions[index].form.opcode not in _MASKED:
        return False
    branches = deciding.branches(flow.block_of(index))
    guards = [(flow.instructions[each].guard, each) for each in branches]
    return any(active & values.makers(guard.register, each) for guard, each in guards if guard is not None)


def _answered(values: Values, deciding: _Deciding, index: int, decided: int) -> bool:
    """True if the lanes that a masked instruction lacks execute its like, with all lanes in the mask too."""
    flow = values.body.flow
    instruction = flow.instructions[index]
    opcode, guard = instruction.form.opcode, instruction.guard
    if opcode not in _MASKED or is_collective(instruction.form):
        return False
    like = [each for each in values.body.by_opcode[opcode] if flow.instructions[each].form == instruction.form]
    like = [each for each in like if each != index and _converges(values, opcode, flow.instructions[each], each)]
    block = flow.block_of(index)
    if decided == index and guard is not None:
        opposite = Guard(guard.register, negated=not guard.negated)
        return any(flow.block_of(each) == block and flow.instructions[each].guard == opposite for each in like)
    ways = deciding.ways(block)[decided]
    others = (deciding.ways(flow.block_of(each)).get(decided, frozenset()) for each in like)
    return any(not ways.intersection(other) for other in others if other)


def _condition(values: Values, divergence: Divergence, deciding: _Deciding, index: int) -> tuple[int, Mixed] | None:
    """The index of the instruction whose guard decides differently from lane to lane whether `index` is executed."""
    flow = values.body.flow
    for each in (index, *deciding.branches(flow.block_of(index))):
        condition = _decides(flow.instructions[each], each == index)
        if condition is not None and isinstance(spread := divergence.of(condition, each), Mixed):
            return each, spread
    return None


def _decides(instruction: Instruction, guarded: bool) -> Operand | None:
    """The operand on which it depends whether an instruction is executed, or where a branch goes."""
    if instruction.guard is not None:
        return instruction.guard.register
    return None if guarded or instruction.form.opcode != _INDIRECT else instruction.operands[0]


def _told(values: Values, index: int, decided: int, spread: Mixed) -> Finding:
    instruction, deciding = values.body.flow.instructions[index], values.body.flow.instructions[decided]
    what = instruction.form.name
    if instruction.form.opcode == CALL:
        inside = min((each.name for each in values.effects_at(index).forms if is_collective(each)), default="")
        what = f"{inside} inside {values.body.calls[index].target.text}"
    guard = deciding.guard.text if deciding.guard is not None else deciding.form.name
    how = "stands under" if decided == index else "is reached by a branch on"
    message = (
        f"{what} wants all lanes of a warp, but {how} {guard}, which differs between lanes because of {spread.source}"
    )
    related = () if decided == index else ((f"the branch: {deciding}", deciding.origin),)
    return Finding("convergence.guard", Severity.ERROR, message, instruction.origin, None, related)


class _Deciding:
    """The branches that decide whether a block is executed: control dependence, through branches that decide those."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow
        self._known: dict[int, dict[int, frozenset[int]]] = {}

    def branches(self, block: int) -> tuple[int, ...]:
        """The indices of the branches, the nearest first."""
        return tuple(self.ways(block))

    def ways(self, block: int) -> dict[int, frozenset[int]]:
        """The same branches, each with those of its successors that lead to the block."""
        if block not in self._known:
            found: dict[int, frozenset[int]] = {}
            stack, seen = [block], {block}
            while stack:
                for above, successor in self._direct.get(stack.pop(0), ()):
                    branch = self._flow.blocks[above].stop - 1
                    found[branch] = found.get(branch, frozenset()) | {successor}
                    if above not in seen:
                        seen.add(above)
                        stack.append(above)
            self._known[block] = found
        return self._known[block]

    @cached_property
    def _direct(self) -> dict[int, list[tuple[int, int]]]:
        """For each block the blocks whose branch decides on it directly, and the successor that leads to it."""
        behind = _post_dominators(self._flow)
        found: dict[int, list[tuple[int, int]]] = {}
        for block, each in enumerate(self._flow.blocks):
            last = self._flow.instructions[each.stop - 1]
            if len(each.successors) < 2 or not (is_branch(last) or last.form.opcode == _INDIRECT):
                continue
            for successor in each.successors:
                reached: int | None = successor
                while reached is not None and reached != behind[block]:
                    found.setdefault(reached, []).append((block, successor))
                    reached = behind[reached]
        return found


def _post_dominators(flow: Flow) -> tuple[int | None, ...]:
    """For each block the nearest block that every path to the end passes; None where there is none."""
    ends = [block for block, each in enumerate(flow.blocks) if not each.successors or block in flow.falls_off]
    turned = [Block(0, 0, (), tuple(each + 1 for each in ends), ())]
    for block, each in enumerate(flow.blocks):
        before = tuple(other + 1 for other in each.predecessors)
        after = tuple(other + 1 for other in each.successors) + ((0,) if block in ends else ())
        turned.append(Block(each.start, each.stop, (), before, after))
    nearest = immediate_dominators(Flow((), tuple(turned), (), ()))
    return tuple(None if each is None or each == 0 else each - 1 for each in nearest[1:])
