"""Which values differ between the lanes of a warp: from the numbers of threads and lanes, through what defines them."""

from __future__ import annotations

from attrs import frozen

from ptxgen.ir import Component, Instruction, Int, Operand, Register, Special, registers_of
from ptxgen.verify.body import CALL
from ptxgen.verify.launch import Launch
from ptxgen.verify.values import ENTRY, Values

_LANE_BITS = 5
_FULL = 0xFFFFFFFF
_COLUMN, _ROW, _PLANE, _ROW_OF_ALL, _SCALED_ROW, _SCALED_PLANE = range(-1_000_000, -999_994)
_UNIFORM = frozenset({"vote", "redux.sync", "activemask", "bar", "barrier"})
_DIFFERING = frozenset({"lanemask_eq", "lanemask_le", "lanemask_lt", "lanemask_ge", "lanemask_gt"})
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
            return _special(operand, self._values.launch)
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
        if opcode in _UNIFORM or opcode == CALL or (opcode == "match" and instruction.form.words.get("mode") == "all"):
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
        counted = _counted(opcode, spreads)
        if counted is not None:
            return counted
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
        ordered = instruction.form.words["cmp"] not in ("eq", "ne")
        if bound is not None and not ordered and self._matched(places[0], index, bound):
            return extra
        if isinstance(left, Lane) and right == SAME and bound is not None:
            edge = bound + 1 if instruction.form.words["cmp"] in ("gt", "hi", "le", "ls") else bound
            if ordered and edge % (1 << (left.shift + _LANE_BITS)) == 0:
                return extra
        return Mixed(_source([left, right]))

    def _matched(self, operand: Operand, index: int, mask: int) -> bool:
        """True if the operand is the mask of lanes with one value, of all in `mask`: if one lane has all, each has."""
        made = self._values.reaching(operand, index) if isinstance(operand, Register) else ()
        for each in made:
            instruction = None if each == ENTRY else self._values.body.flow.instructions[each]
            if instruction is not None and instruction.form.opcode == "popc" and 0 < mask <= 1 << _LANE_BITS:
                if not self._matched(instruction.operands[1], each, _FULL >> ((1 << _LANE_BITS) - mask)):
                    return False
                continue
            if instruction is None or instruction.form.opcode != "match" or instruction.form.words["mode"] != "any":
                return False
            members = self._values.constant(instruction.operands[2], each)
            if members is None or members & _FULL != mask & _FULL:
                return False
        return bool(made)

    def _worst(self, operands: tuple[Operand, ...], index: int) -> Spread:
        found = _joined([self.of(each, index) for each in operands])
        return Mixed(_source([found]), -index) if isinstance(found, Lane) else found


def _special(operand: Special, launch: Launch) -> Spread:
    """A special register; y and z count as alike unless rows or planes of the block are known to be no whole warps."""
    match operand.name:
        case "laneid":
            return Lane()
        case "tid" | "tid.x":
            return Lane() if launch.rows_are_warps else Mixed("%tid.x", _COLUMN)
        case "tid.y" if not launch.rows_are_warps:
            return Mixed("%tid.y", _ROW)
        case "tid.z" if not launch.planes_are_warps:
            return Mixed("%tid.z", _PLANE)
        case name if name in _DIFFERING:
            return Mixed(operand.text)
        case _:
            return SAME


def _counted(opcode: str, spreads: list[Spread]) -> Spread | None:
    """The number of the thread in its block, put together from its axes; None where a value is not part of that."""
    bases = [each.base if isinstance(each, Mixed) else None for each in spreads]
    if (opcode in ("mul", "shl") and spreads[1:] == [SAME]) or (opcode == "mul" and spreads[0] == SAME):
        axis = bases[0] if bases[0] is not None else bases[1]
        scaled = {_ROW: _SCALED_ROW, _ROW_OF_ALL: _SCALED_ROW, _PLANE: _SCALED_PLANE}.get(axis or 0)
        return None if scaled is None else Mixed("the number of the thread", scaled)
    if opcode == "mad" and SAME in spreads[:2]:
        factor = _counted("mul", spreads[:2])
        return None if factor is None else _counted("add", [factor, spreads[2]])
    if opcode == "add" and set(bases) == {_COLUMN, _SCALED_ROW}:
        return Lane()
    if opcode == "add" and set(bases) == {_ROW, _SCALED_PLANE}:
        return Mixed("the number of the thread", _ROW_OF_ALL)
    return None


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
        case "and" if number >> lane.shift & 0x1F == 0x1F:
            return lane
        case "div" if number and number % (1 << above) == 0:
            return SAME
        case "mul" if number > 0 and number & (number - 1) == 0 and instruction.form.words.get("mode") != "hi":
            return Lane(lane.shift + number.bit_length() - 1)
        case _:
            return None
