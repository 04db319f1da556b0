"""Basic blocks and what follows from them, derived from a function and never stored in it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Container, Mapping
from operator import attrgetter

from attrs import field, frozen

from ptxgen.ir.calling import as_instruction
from ptxgen.ir.calls import BranchTargets, Call
from ptxgen.ir.nodes import Function, Instruction, Label, walk
from ptxgen.ir.operands import LabelName

_BRANCHES = frozenset({"bra"})
_INDIRECT = "brx.idx"
_ENDS = frozenset({"ret", "exit", "trap"})
_START = attrgetter("start")
_LEAVES = _BRANCHES | _ENDS | {_INDIRECT}


@frozen
class Block:
    """Instructions `start` to `stop` (exclusive) of the function, entered only at the first, left only after the last.

    `successors` has the fall-through first, then the branch; block 0 is the entry.
    """

    start: int
    stop: int
    labels: tuple[LabelName, ...]
    successors: tuple[int, ...]
    predecessors: tuple[int, ...]


@frozen
class Flow:
    """A function's instructions in the order of the text, nested scopes flattened, and its blocks.

    Calls stand among the instructions as `as_instruction` makes them; `calls` has each by the index of its instruction.
    `falls_off` are the blocks whose last instruction may run past the end of the function.
    `unknown` are the branches (instruction index, label) to labels that the function does not have.
    """

    instructions: tuple[Instruction, ...]
    blocks: tuple[Block, ...]
    falls_off: tuple[int, ...]
    unknown: tuple[tuple[int, LabelName], ...]
    calls: Mapping[int, Call] = field(factory=dict)

    def block_of(self, instruction: int) -> int:
        """The index of the block that holds the instruction of that index."""
        return max(0, bisect_right(self.blocks, instruction, key=_START) - 1)


@frozen
class NaturalLoop:
    """A loop: the block every round enters by, and all blocks of the loop, the header included."""

    header: int
    blocks: frozenset[int]


def is_branch(instruction: Instruction) -> bool:
    """True for a direct branch, whose only operand is a label."""
    return instruction.form.opcode in _BRANCHES


def ends_thread(instruction: Instruction) -> bool:
    """True for `ret`, `exit` and `trap`, after which the function runs no further."""
    return instruction.form.opcode in _ENDS


def branch_target(instruction: Instruction) -> LabelName | None:
    """The label that a direct branch names; None for any other instruction."""
    if not is_branch(instruction):
        return None
    return next((operand for operand in instruction.operands if isinstance(operand, LabelName)), None)


def flow_of(function: Function, *, endless: Container[str] = ()) -> Flow:
    """The blocks of a function; a declaration has none.

    A call of one of the functions named in `endless`, which never return, ends the path unless it has a guard.
    """
    instructions, labels, lists, calls = _linear(function)
    last = {index for index, call in calls.items() if getattr(call.target, "name", None) in endless}
    last |= {index for index, instruction in enumerate(instructions) if instruction.form.opcode in _LEAVES}
    leaders = {0, *labels.values(), *(index + 1 for index in last)}
    starts = sorted(start for start in leaders if start < len(instructions))
    number = {start: block for block, start in enumerate(starts)}
    stops = [*starts[1:], len(instructions)] if starts else []
    edges, falls_off, unknown = _edges(instructions, labels, lists, starts, stops, number, last)
    before: list[list[int]] = [[] for _ in starts]
    for block, after in enumerate(edges):
        for successor in after:
            before[successor].append(block)
    names: dict[int, list[LabelName]] = {}
    for label, start in labels.items():
        names.setdefault(start, []).append(label)
    blocks = tuple(
        Block(start, stop, tuple(names.get(start, ())), edges[block], tuple(before[block]))
        for block, (start, stop) in enumerate(zip(starts, stops, strict=True))
    )
    return Flow(tuple(instructions), blocks, tuple(falls_off), tuple(unknown), calls)


def _linear(
    function: Function,
) -> tuple[list[Instruction], dict[LabelName, int], dict[LabelName, tuple[LabelName, ...]], dict[int, Call]]:
    """The instructions, where each label stands among them, the lists of indirect branches, and the calls."""
    instructions: list[Instruction] = []
    labels: dict[LabelName, int] = {}
    lists: dict[LabelName, tuple[LabelName, ...]] = {}
    calls: dict[int, Call] = {}
    for node in walk(function.body) if function.body is not None else ():
        if node.__class__ is Instruction:
            instructions.append(node)
        elif isinstance(node, Call):
            calls[len(instructions)] = node
            instructions.append(as_instruction(node))
        elif isinstance(node, Label):
            labels[node.name] = len(instructions)
        elif isinstance(node, BranchTargets):
            lists[node.name] = node.labels
    return instructions, labels, lists, calls


def _targets(instruction: Instruction, lists: dict[LabelName, tuple[LabelName, ...]]) -> tuple[LabelName, ...]:
    """The labels that a branch may go to: the one that it names, or those of its list."""
    if instruction.form.opcode == _INDIRECT:
        named = next((each for each in instruction.operands if isinstance(each, LabelName)), None)
        return () if named is None else lists.get(named, ())
    target = branch_target(instruction)
    return () if target is None else (target,)


def _edges(
    instructions: list[Instruction],
    labels: dict[LabelName, int],
    lists: dict[LabelName, tuple[LabelName, ...]],
    starts: list[int],
    stops: list[int],
    number: dict[int, int],
    ends: set[int],
) -> tuple[list[tuple[int, ...]], list[int], list[tuple[int, LabelName]]]:
    edges: list[tuple[int, ...]] = []
    falls_off: list[int] = []
    unknown: list[tuple[int, LabelName]] = []
    for block, stop in enumerate(stops):
        last = instructions[stop - 1]
        after: list[int] = []
        places = [stop] if stop - 1 not in ends or last.guard is not None else []
        for target in _targets(last, lists):
            if target in labels:
                places.append(labels[target])
            else:
                unknown.append((stop - 1, target))
        for place in places:
            if place in number:
                after.append(number[place])
            else:
                falls_off.append(block)
        edges.append(tuple(dict.fromkeys(after)))
    return edges, falls_off, unknown


def reverse_post_order(flow: Flow) -> tuple[int, ...]:
    """The reachable blocks, each before its successors but for back edges; the entry first."""
    if not flow.blocks:
        return ()
    order: list[int] = []
    seen = {0}
    stack = [(0, iter(flow.blocks[0].successors))]
    while stack:
        block, rest = stack[-1]
        successor = next((each for each in rest if each not in seen), None)
        if successor is None:
            order.append(block)
            stack.pop()
        else:
            seen.add(successor)
            stack.append((successor, iter(flow.blocks[successor].successors)))
    return tuple(reversed(order))


def immediate_dominators(flow: Flow) -> tuple[int | None, ...]:
    """For each block the nearest block that every path from the entry passes; None for the entry and unreachable ones.

    The iterative algorithm of Cooper, Harvey and Kennedy.
    """
    order = reverse_post_order(flow)
    place = {block: index for index, block in enumerate(order)}
    nearest: dict[int, int] = {0: 0} if order else {}
    changed = True
    while changed:
        changed = False
        for block in order[1:]:
            known = [each for each in flow.blocks[block].predecessors if each in nearest]
            meeting = known[0]
            for other in known[1:]:
                meeting = _meet(meeting, other, nearest, place)
            if nearest.get(block) != meeting:
                nearest[block] = meeting
                changed = True
    return tuple(nearest.get(block) if block else None for block in range(len(flow.blocks)))


def _meet(a: int, b: int, nearest: dict[int, int], place: dict[int, int]) -> int:
    while a != b:
        while place[a] > place[b]:
            a = nearest[a]
        while place[b] > place[a]:
            b = nearest[b]
    return a


def natural_loops(flow: Flow) -> tuple[NaturalLoop, ...]:
    """The natural loops, one per header, by header; loops that share a header are one."""
    nearest = immediate_dominators(flow)
    bodies: dict[int, set[int]] = {}
    for block in reverse_post_order(flow):
        for successor in flow.blocks[block].successors:
            if _dominates(successor, block, nearest):
                body = bodies.setdefault(successor, {successor})
                body |= _reaching(flow, block, successor)
    return tuple(NaturalLoop(header, frozenset(bodies[header])) for header in sorted(bodies))


def _dominates(above: int, block: int | None, nearest: tuple[int | None, ...]) -> bool:
    while block is not None:
        if block == above:
            return True
        block = nearest[block]
    return False


def _reaching(flow: Flow, tail: int, header: int) -> set[int]:
    body = {header}
    stack = [tail]
    while stack:
        block = stack.pop()
        if block not in body:
            body.add(block)
            stack.extend(flow.blocks[block].predecessors)
    return body
