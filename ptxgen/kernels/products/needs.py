"""What each choice of a tiling needs, in rows; and the error for a tiling that asks for what would not be done."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from attrs import Attribute, fields, frozen

from ptxgen.errors import Place, PlanError
from ptxgen.kernels.products import conditions as on
from ptxgen.kernels.products.case import Case, Condition
from ptxgen.kernels.products.compute import MatmulSpec
from ptxgen.kernels.products.drained import PIECES
from ptxgen.kernels.products.tiling import MatmulTiling

OF = fields(MatmulTiling)


@frozen
class Need:
    """The conditions of a choice, in the order in which they are looked at: where it differs from its default, or
    `always`."""

    choice: Attribute[Any]
    conditions: tuple[Condition, ...]
    always: bool = False


@frozen
class Conflict:
    """A choice that would not be carried out: its name, what was asked, why not, and what would serve."""

    name: str
    asked: object
    why: str
    serves: str

    @property
    def choice(self) -> str:
        """The choice as it is written."""
        return f"{self.name}={shown(self.asked)}"


SHARED_SUMS = (
    Need(OF.split, (on.NO_TURNS, on.COMING_AND_GOING, on.NO_INTEGERS, on.UNROUNDED_PARTS, on.UNGROUPED, on.FEW_PARTS)),
    Need(OF.stream, (on.ONE_CUT, on.SHARING, on.NO_TURNS, on.NO_INTEGERS, on.UNROUNDED_SLABS)),
    Need(OF.tickets, (on.PASSING_ON, on.ONE_BY_ONE)),
)
SUMS_IN_PLANS = tuple(Need(choice, (on.SUMS_OF_TILES,)) for choice in (OF.split, OF.stream))
NEEDS = (
    Need(OF.warps, (on.KNOWN_WARPS, on.FILLED_WARPS, on.HELD_BY_THREADS), always=True),
    Need(OF.i, (on.POWER_FOR_WARPS["i"],), always=True),
    Need(OF.j, (on.POWER_FOR_WARPS["j"],), always=True),
    Need(OF.k, (on.POWER_FOR_WARPS["k"], on.WHOLE_STEPS, on.WHOLE_CHAINS, on.ROWS_IN_COLUMNS), always=True),
    Need(OF.fragment_depth, (on.BY_WARPS, on.FRAGMENTS_DIVIDE)),
    Need(OF.workers, (on.CHAINS_OF_PASSING_BLOCKS,)),
    Need(OF.cluster, (on.BY_GROUPS, on.UNGROUPED, on.FEW_IN_CLUSTER)),
    Need(OF.swap, (on.BY_GROUPS,)),
    Need(OF.overlap, (on.OVERLAPPING,)),
    Need(OF.turns, (on.BY_GROUPS, on.SEVERAL_GROUPS, on.STAYING, on.NO_GROUPS_OF_TERMS)),
    Need(OF.evict, (on.BY_GROUPS, on.RESULTS_LEAVE_BOXED)),
    Need(OF.maps_early, (on.BY_GROUPS,)),
    Need(OF.boxed, (on.COPYING, on.MAPPED, on.LONG_ROWS)),
    *SHARED_SUMS,
    Need(OF.drain, (on.KNOWN_WARPS, *PIECES)),
    Need(OF.drain_depth, (on.DRAINED, on.BY_GROUPS)),
    Need(OF.piecewise, (on.BY_GROUPS, on.DRAINED, on.NO_TOTALS)),
    Need(OF.residual_depth, (on.PIECEWISE, on.WITH_RESIDUAL, on.UNSWAPPED)),
    Need(OF.group_rows, (on.BY_GROUPS,)),
)


def conflicts(case: Case, needs: Iterable[Need] = NEEDS) -> Iterator[Conflict]:
    """The choices of a tiling that would not be carried out as they say, of arrays that suit it; each once."""
    for need, failed in failures(case, needs):
        name = need.choice.name
        yield Conflict(name, getattr(case.tiling, name), failed.why(case), failed.serves(case))


def failures(case: Case, needs: Iterable[Need] = NEEDS) -> Iterator[tuple[Need, Condition]]:
    """The needs that are not met, each with its first condition that does not hold."""
    for need in needs:
        if need.always or getattr(case.tiling, need.choice.name) != need.choice.default:
            failed = next((condition for condition in need.conditions if not condition.holds(case)), None)
            if failed is not None:
                yield need, failed


def check_asked(spec: MatmulSpec, target: str, tiling: MatmulTiling, line: Place | None = None) -> None:
    """PlanError with every choice of a tiling that would not be carried out for a product on a target."""
    refuse(conflicts(Case.of(spec, target, tiling)), target, line)


def check_combined(spec: MatmulSpec, target: str, tiling: MatmulTiling) -> None:
    """PlanError, by name, for what is not combined with parts of k, whatever the arrays are; also for sums over whole
    rows or columns, which `Matmul` has each kernel keep tile by tile."""
    if tiling.split > 1 or tiling.stream or tiling.tickets:
        refuse(conflicts(Case.of(spec, target, tiling), (*SHARED_SUMS, *SUMS_IN_PLANS)), target)


def refuse(found: Iterable[Conflict], target: str, line: Place | None = None) -> None:
    """PlanError with all conflicts, where there are any."""
    told = told_together(found)
    if told:
        heading = f"the tiling asks for what would not be carried out on {target}:"
        raise PlanError(heading + "".join(f"\n    {each}" for each in told), line=line)


def told_together(found: Iterable[Conflict], spelled: Callable[[Conflict], str] | None = None) -> list[str]:
    """What is told of conflicts, choices that one reason denies together; each choice as it is `spelled`."""
    choices: dict[tuple[str, str], list[str]] = {}
    for each in found:
        choices.setdefault((each.why, each.serves), []).append(spelled(each) if spelled else each.choice)
    return [f"{', '.join(names)}: {why}; take {serves}" for (why, serves), names in choices.items()]


def shown(value: object) -> str:
    """A choice as it is written."""
    match value:
        case tuple():
            return f"({', '.join(map(shown, value))})"
        case None | bool() | int():
            return str(value)
        case _:
            return str(getattr(value, "value", value))
