"""Which sizes and work lists a program is looked at with: enough to go through all that its control can do.

Control is affine: bounds and conditions change with a size from one value to the next only where a quotient steps or a
condition turns. Between such values nothing changes, and far from all thresholds one step more of a loop repeats what
the step before did. Sizes up to the thresholds and two rounds of the deepest ring beyond them therefore show each
neighbourhood that a larger size has. Blocks that share a sum have thresholds of their own, each of which is gone up to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from math import lcm

from attrs import define, field, frozen

from polyhedral import Affine, const
from ptxgen.errors import Finding, Severity
from ptxgen.prove.trees.shares import Share
from ptxgen.tile import (
    TILE_COUNT,
    TILE_NUMBER,
    Advance,
    Counter,
    ForEachItem,
    Grid,
    Let,
    Loop,
    Node,
    ParameterKind,
    Program,
    Quotient,
    Segmented,
    Sequence,
    Space,
    When,
    rank_name,
)

LEAST_PERIOD = 1
ROUNDS = 2
FEW = 6
MOST_NUMBERS = 16
MOST_ROUNDS = 1000


@frozen(eq=False)
class Case:
    """Sizes, how many items a block has, and, where indices come in segments, how long that of each is. Where blocks
    share the slabs of `items` tiles, what each has of those."""

    sizes: Mapping[str, int]
    items: int
    lengths: tuple[int, ...] = ()
    shares: tuple[Share, ...] = ()

    def bounds(self, segments: Segmented | None, item: int) -> dict[str, int]:
        """The variables of an item's group, as if it began at 0: control knows but where a group ends behind that."""
        return {} if segments is None else {segments.first: 0, segments.end: self.lengths[item]}


@define
class Control:
    """The expressions that decide what runs: those of loops, and those of conditions alone."""

    quotients: list[Quotient] = field(factory=list)
    conditions: list[Affine] = field(factory=list)
    most_items: int = 1
    numbers: set[str] = field(factory=set)

    @classmethod
    def of(cls, program: Program) -> Control:
        """What decides what the roles of a program do."""
        found = cls()
        for role in program.roles:
            found.collect(role.body)
        return found

    @property
    def names(self) -> frozenset[str]:
        """Everything that they ask for."""
        found = (*(quotient.numerator for quotient in self.quotients), *self.conditions)
        return frozenset(name for affine in found for name in affine.names)

    @property
    def looping(self) -> frozenset[str]:
        """What loops run over."""
        return frozenset(name for quotient in self.quotients for name in quotient.numerator.names)

    @property
    def told_apart(self) -> int:
        """Up to what number control tells items from each other by their number alone."""
        found = (*(quotient.numerator for quotient in self.quotients), *self.conditions)
        return max((abs(affine.constant) for affine in found if self.numbers.intersection(affine.names)), default=0)

    def turning(self, name: str) -> list[Affine]:
        """The conditions that ask for a name."""
        return [affine for affine in self.conditions if name in affine.names]

    def about(self, name: str) -> list[Quotient]:
        """All that asks for a name."""
        own = [quotient for quotient in self.quotients if name in quotient.numerator.names]
        return own + [Quotient(affine, 1) for affine in self.turning(name)]

    def collect(self, node: Node) -> None:
        match node:
            case Sequence(children):
                for child in children:
                    self.collect(child)
            case Loop(_, lower, upper, _, body):
                self.quotients += [*lower, *upper]
                self.collect(body)
            case Let(_, value, body):
                self.quotients.append(value)
                self.collect(body)
            case When(conditions, then, otherwise):
                self.conditions += [c.affine for c in conditions]
                self.collect(then)
                if otherwise is not None:
                    self.collect(otherwise)
            case ForEachItem(variable, body, first, step):
                self.numbers.add(variable)
                self.most_items = max(self.most_items, first + 1, ROUNDS * step + 1)
                self.collect(body)
            case Counter(_, body):
                self.collect(body)
            case Advance(_, by):
                self.quotients.append(by)
            case _:
                pass


def cases(program: Program) -> Iterator[Case]:
    """The sizes and items to look at, small ones first. Of several sizes that loops run over one at a time is large,
    and of several segments the first."""
    control = Control.of(program)
    many: dict[str, list[int]] = {}
    few: dict[str, list[int]] = {}
    ends = () if program.grid.segments is None else (program.grid.segments.end,)
    for name in (*sizes_of(program), *ends):
        turning = control.turning(name)
        if name in control.looping:
            many[name] = loop_values(name, control.about(name), program)
            few[name] = many[name][:FEW]
        else:
            few[name] = edge_values(name, turning, program) if turning else [0]
    for count in range(1, control.most_items + control.told_apart + 1):
        for one in many or [""]:
            held = {name: many[name] if name == one else values for name, values in few.items()}
            for values in product(*held.values()):
                case = dict(zip(held, values, strict=True))
                first = tuple(case.pop(end) for end in ends)
                others = product(*(few[end][:FEW:2] for end in ends * (count - 1)))
                yield from (Case(case, count, (*first, *rest)) for rest in others)


def item_faults(program: Program) -> Iterator[Finding]:
    """Control that tells more items apart than are laid out, or turns at larger sizes (`synchronisation.control`)."""
    control = Control.of(program)
    if control.told_apart > MOST_NUMBERS:
        text = f"control asks for item number {control.told_apart}: items up to number {MOST_NUMBERS} may be told apart"
        yield Finding("synchronisation.control", Severity.ERROR, text)
    for name in (name for name in sizes_of(program) if name in control.looping):
        own = _in_blocks(control.about(name), program)
        rounds = _rounds_to_turn(name, own)
        if rounds > MOST_ROUNDS:
            away = f"{rounds} rounds of {_period_of(name, own)} away from {name} = 0"
            text = f"control turns {away}, {MOST_ROUNDS} may be"
            yield Finding("synchronisation.control", Severity.ERROR, text)


def sizes_of(program: Program) -> tuple[str, ...]:
    """The sizes and strides of a launch."""
    return tuple(p.name for p in program.parameters if p.kind in (ParameterKind.SIZE, ParameterKind.STRIDE))


def modulus_of(name: str, program: Program) -> int:
    """What a size is known to be a multiple of."""
    return lcm(*(fact.modulus for fact in program.facts if fact.value.terms == ((name, 1),)))


def loop_values(name: str, own: list[Quotient], program: Program) -> list[int]:
    """Values of a size that loops run over, at which control differs, in ascending order."""
    own = _in_blocks(own, program)
    period, modulus = _period_of(name, own), modulus_of(name, program)
    rounds = 2 * deepest(program) + 2 + _rounds_to_turn(name, own)
    residues = {0, 1, *(_turn(name, quotient, period) for quotient in own)}
    found = {-(-(turn * period + residue) // modulus) * modulus for turn in range(rounds + 1) for residue in residues}
    return sorted(found)


def _in_blocks(own: list[Quotient], program: Program) -> list[Quotient]:
    return list(dict.fromkeys(quotient for each in own for quotient in _of_blocks(each, program.grid)))


def _period_of(name: str, own: list[Quotient]) -> int:
    return lcm(*(_period(name, quotient) for quotient in own))


def _rounds_to_turn(name: str, own: list[Quotient]) -> int:
    """After how many periods of a size the last expression has turned by its constant."""
    return -(-max((abs(quotient.numerator.constant) for quotient in own), default=0) // _period_of(name, own))


def deepest(program: Program) -> int:
    """The slots of the deepest ring in shared memory."""
    return max((b.depth for b in program.buffers if b.space is Space.SHARED), default=1)


def _of_blocks(quotient: Quotient, grid: Grid) -> Iterator[Quotient]:
    """An expression in each block, where that is told by tile indices of which all values are laid out."""
    known = [dim.variable for dim in grid.dims if dim.count == Quotient(const(dim.cluster), 1)]
    known += [dim.variable for dim in grid.dims[:1] if grid.parts > 1]
    for indices in tiles_of(grid):
        held: dict[str, Affine | int] = {name: indices[name] for name in known}
        yield Quotient(quotient.numerator.substitute(held), quotient.divisor)


def edge_values(name: str, turning: list[Affine], program: Program) -> list[int]:
    """Values of a size that decides nothing but where the edge is: those at which a condition turns in some block of
    the first cluster, and those just below."""
    modulus, found = modulus_of(name, program), set[int]()
    for affine, indices in product(turning, tiles_of(program.grid)):
        own = affine.coefficient(name)
        rest = sum(c * indices.get(other, 0) for other, c in affine.terms if other != name) + affine.constant
        turn = -(rest // own) if own > 0 else rest // -own + 1
        found |= {-(-turn // modulus) * modulus, (turn - 1) // modulus * modulus}
    return sorted(value for value in found if value >= 0)


def _period(name: str, quotient: Quotient) -> int:
    """After how many values of a size an expression has stepped by a whole: its divisor, or what the other names are
    multiplied by."""
    own = abs(quotient.numerator.coefficient(name))
    others = [abs(c) for n, c in quotient.numerator.terms if n != name]
    whole = quotient.divisor if quotient.divisor > 1 else max(others, default=LEAST_PERIOD)
    return max(1, whole // own)


def _turn(name: str, quotient: Quotient, period: int) -> int:
    """The residue of a size at which an expression steps."""
    sign = 1 if quotient.numerator.coefficient(name) > 0 else -1
    return -sign * quotient.numerator.constant % period


def tiles_of(grid: Grid) -> list[dict[str, int]]:
    """The tile indices of each block of the first cluster, by rank; where tiles have parts, those of each part."""
    found: list[dict[str, int]] = []
    for part, *ranks in product(range(grid.parts), *(range(dim.cluster) for dim in grid.dims)):
        indices = {dim.variable: rank for dim, rank in zip(grid.dims, ranks, strict=True)}
        own = {rank_name(d.variable): r for d, r in zip(grid.dims, ranks, strict=True) if d.cluster > 1}
        if grid.parts > 1:
            own |= {grid.dims[0].variable: part, TILE_NUMBER: len(found) % grid.cluster, TILE_COUNT: grid.cluster}
        found.append(indices | own)
    return found
