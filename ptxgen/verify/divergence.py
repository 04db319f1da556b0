"""Which values differ between the lanes of a warp, and what a warp must execute together under such conditions."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from attrs import frozen

from ptxgen.errors import Finding, Severity
from ptxgen.ir import Component, Instruction, Int, Operand, Register, Special, registers_of
from ptxgen.ir.flow import Block, Flow, immediate_dominators, is_branch
from ptxgen.verify.values import ENTRY, Values

_LANE_BITS = 5
_FULL = 0xFFFFFFFF
_ALIGNED = frozenset({"bar", "wmma.mma", "wmma.load", "wmma.store", "mma", "wgmma", "setmaxnreg"})
_MASKED = frozenset({"shfl", "vote", "match", "redux.sync", "bar.warp.sync"})
_UNIFORM = frozenset({"vote", "redux.sync", "activemask"})
_DIFFERING = frozenset({"laneid", "lanemask_eq", "lanemask_le", "lanemask_lt", "lanemask_ge", "lanemask_gt"})
_PASSING = frozenset({"mov", "cvt", "cvta"})


@frozen
class Same:
    """Every lane has the same value, as far as anybody can tell."""


@frozen
class Lane:
    """The number of the lane, times 2**shift, plus what all lanes of the warp share."""

    shift: int = 0


@frozen
class Mixed:
    """The lanes have different values; `source` says where that began.

    Values of one `base` differ by what all lanes share.
    """

    source: str
    base: int = 0


Spread = Same | Lane | Mixed
SAME = Same()


class Divergence:
    """The spread of registers over a warp, from the lane's number, followed backwards through what defines them."""

    def __init__(self, values: Values) -> None:
        self._values = values
        self._known: dict[tuple[Register, tuple[int, ...]], Spread] = {}
        self._open: set[tuple[Register, tuple[int, ...]]] = set()
        self._asked: set[tuple[Register, tuple[int, ...]]] = set()
        self._bases: dict[tuple[object, ...], int] = {}

    def of(self, operand: Operand, index: int) -> Spread:
        """The spread of an operand before the instruction of that index."""
        if isinstance(operand, Special):
            if operand.name in _DIFFERING or operand.name in ("tid.x", "tid"):
                return Lane() if operand.name in ("tid.x", "tid", "laneid") else Mixed(operand.text)
            return SAME
        if isinstance(operand, Register):
            return self._register(operand, index)
        if isinstance(operand, Component):
            return self._register(operand.base, index)
        return _joined([self._register(each, index) for each in registers_of(operand)])

    def _register(self, register: Register, index: int) -> Spread:
        """The joined spread of what may arrive; in a loop what was found once is put in again until it stays."""
        made = self._values.reaching(register, index)
        key = (register, made)
        if key in self._known:
            if key in self._open:
                self._asked.add(key)
            return self._known[key]
        before = len(self._known)
        found: Spread = SAME
        self._open.add(key)
        while True:
            for later in list(self._known)[before:]:
                del self._known[later]
            self._known[key] = found
            new = _joined([self._made(register, each) for each in made if each != ENTRY])
            settled = key not in self._asked or new == found or isinstance(found, Mixed)
            found = new
            if settled:
                break
        self._open.discard(key)
        self._known[key] = found
        return found

    def _made(self, register: Register, index: int) -> Spread:
        instruction = self._values.body.flow.instructions[index]
        opcode, operands = instruction.form.opcode, instruction.operands
        if opcode in _UNIFORM or (opcode == "match" and instruction.form.words.get("mode") == "all"):
            return SAME
        if opcode == "elect.sync":
            return Mixed("elect.sync", -index) if register.type.name == "pred" else SAME
        if opcode == "atom":
            return Mixed(f"what {instruction.form.name} returns", -index)
        if opcode == "shfl":
            alike = instruction.form.words.get("mode") == "idx" and self.of(operands[2], index) == SAME
            return SAME if alike else self._worst(operands[1:2], index)
        if opcode == "setp":
            return self._compared(instruction, index)
        if opcode in _PASSING:
            return self.of(operands[1], index)
        return self._arithmetic(instruction, index)

    def _arithmetic(self, instruction: Instruction, index: int) -> Spread:
        opcode, sources = instruction.form.opcode, instruction.operands[1:]
        spreads = [self.of(each, index) for each in sources]
        lanes = [(place, each) for place, each in enumerate(spreads) if isinstance(each, Lane)]
        if all(each == SAME for each in spreads):
            return SAME
        if len(lanes) == 1 and not any(isinstance(each, Mixed) for each in spreads):
            place, lane = lanes[0]
            found = _kept(opcode, instruction, sources, place, lane)
            if found is not None:
                return found
        mixed = [each for each in spreads if isinstance(each, Mixed)]
        if opcode in ("add", "sub") and len(spreads) == 2:
            if spreads[1] == SAME or (opcode == "add" and spreads[0] == SAME):
                return mixed[0]
            if opcode == "sub" and spreads[0] == spreads[1]:
                return SAME
        if opcode == "mad" and spreads[:2] == [SAME, SAME]:
            return mixed[0]
        return Mixed(_source(spreads), self._base(instruction, spreads))

    def _base(self, instruction: Instruction, spreads: list[Spread]) -> int:
        """The number of a way to mix spreads: the same name, spreads and constants give the same number."""
        constants = tuple(each for each in instruction.operands[1:] if isinstance(each, Int))
        return self._bases.setdefault((instruction.form.name, tuple(spreads), constants), len(self._bases) + 1)

    def _compared(self, instruction: Instruction, index: int) -> Spread:
        """A comparison of the lane's number with a multiple of the warp is alike in all lanes."""
        places = [each for each in instruction.operands if not _is_predicate(each)]
        more = [each for each in instruction.operands[1:] if _is_predicate(each)]
        extra = self._worst(tuple(more), index) if instruction.form.has("bool") else SAME
        if len(places) != 2:
            return self._worst(instruction.operands[1:], index)
        left, right = (self.of(each, index) for each in places)
        if left == right:
            return extra
        bound = self._values.constant(places[1], index)
        if isinstance(left, Lane) and right == SAME and bound is not None:
            edge = bound + 1 if instruction.form.words["cmp"] in ("gt", "hi", "le", "ls") else bound
            ordered = instruction.form.words["cmp"] not in ("eq", "ne")
            if ordered and edge % (1 << (left.shift + _LANE_BITS)) == 0:
                return extra
        return Mixed(_source([left, right]))

    def _worst(self, operands: tuple[Operand, ...], index: int) -> Spread:
        found = _joined([self.of(each, index) for each in operands])
        return Mixed(_source([found]), -index) if isinstance(found, Lane) else found


def _is_predicate(operand: Operand) -> bool:
    return any(each.type.name == "pred" for each in registers_of(operand))


def _source(spreads: list[Spread]) -> str:
    return next((each.source for each in spreads if isinstance(each, Mixed)), "the number of the lane")


def _joined(spreads: list[Spread]) -> Spread:
    differing = [each for each in spreads if each != SAME]
    if not differing:
        return SAME
    return differing[0] if all(each == differing[0] for each in differing) else Mixed(_source(differing))


def _kept(opcode: str, instruction: Instruction, sources: tuple[Operand, ...], place: int, lane: Lane) -> Spread | None:
    """What arithmetic leaves of the lane's number where it stays one, or goes away; None where it is mixed up."""
    numbers = [each.value for each in sources[1:] if isinstance(each, Int)]
    number = numbers[0] if numbers else None
    if opcode == "add" or (opcode == "sub" and place == 0) or (opcode == "mad" and place == 2):
        return lane
    if number is None or place != 0:
        return None
    above = lane.shift + _LANE_BITS
    match opcode:
        case "shl":
            return Lane(lane.shift + number)
        case "shr" | "bfe" if number >= above:
            return SAME
        case "shr" if number <= lane.shift:
            return Lane(lane.shift - number)
        case "and" if not number >> lane.shift & 0x1F:
            return SAME
        case "div" if number and number % (1 << above) == 0:
            return SAME
        case "mul" if number > 0 and number & (number - 1) == 0 and instruction.form.words.get("mode") != "hi":
            return Lane(lane.shift + number.bit_length() - 1)
        case _:
            return None


def divergence_findings(values: Values) -> Iterator[Finding]:
    """`convergence.guard` for what a whole warp must execute and a differing condition guards or leads to.

    Conditions that begin at the lane's number and are not known to be alike in all lanes of a warp count. Threads that
    leave the function are not waited for, so a guarded `ret` or `exit` is no condition. A branch is told of once.
    """
    body = values.body
    if body.opaque:
        return
    needing = sorted(
        index
        for opcode, indices in body.by_opcode.items()
        for index in indices
        if _converges(values, opcode, body.flow.instructions[index], index)
    )
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
        found = _condition(values, divergence, deciding, index)
        if found is not None and found[0] not in said:
            said.add(found[0])
            yield _told(body.flow.instructions[index], body.flow.instructions[found[0]], found[1])


def _converges(values: Values, opcode: str, instruction: Instruction, index: int) -> bool:
    if instruction.form.has("aligned") or opcode in _ALIGNED:
        return True
    if opcode not in _MASKED or not instruction.operands:
        return False
    mask = values.constant(instruction.operands[-1], index)
    return mask is not None and mask & _FULL == _FULL


def _condition(values: Values, divergence: Divergence, deciding: _Deciding, index: int) -> tuple[int, Mixed] | None:
    """The index of the instruction whose guard decides differently from lane to lane whether `index` is executed."""
    flow = values.body.flow
    for each in (index, *deciding.branches(flow.block_of(index))):
        guard = flow.instructions[each].guard
        if guard is not None and isinstance(spread := divergence.of(guard.register, each), Mixed):
            return each, spread
    return None


def _told(instruction: Instruction, decided: Instruction, spread: Mixed) -> Finding:
    assert decided.guard is not None
    how = "stands under" if decided is instruction else "is reached by a branch on"
    message = (
        f"{instruction.form.name} wants all lanes of a warp, but {how} {decided.guard.text}, "
        f"which differs between lanes because of {spread.source}"
    )
    related = () if decided is instruction else ((f"the branch: {decided}", decided.origin),)
    return Finding("convergence.guard", Severity.ERROR, message, instruction.origin, None, related)


class _Deciding:
    """The branches that decide whether a block is executed: control dependence, through branches that decide those."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow
        self._known: dict[int, tuple[int, ...]] = {}

    def branches(self, block: int) -> tuple[int, ...]:
        """The indices of the branches, the nearest first."""
        if block not in self._known:
            direct = self._direct
            found: dict[int, None] = {}
            stack = list(direct.get(block, ()))
            while stack:
                above = stack.pop(0)
                if above not in found:
                    found[above] = None
                    stack += direct.get(above, ())
            self._known[block] = tuple(self._flow.blocks[each].stop - 1 for each in found)
        return self._known[block]

    @cached_property
    def _direct(self) -> dict[int, list[int]]:
        """For each block the blocks whose branch decides on it directly."""
        behind = _post_dominators(self._flow)
        found: dict[int, list[int]] = {}
        for block, each in enumerate(self._flow.blocks):
            if len(each.successors) < 2 or not is_branch(self._flow.instructions[each.stop - 1]):
                continue
            for successor in each.successors:
                reached: int | None = successor
                while reached is not None and reached != behind[block]:
                    found.setdefault(reached, []).append(block)
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
