"""Schedule trees judged: against islpy's times of islpy's dependences, with witnesses that are true."""

import random

import islpy as isl
import pytest

from polyhedral import (
    Affine,
    Band,
    Domain,
    Filter,
    Map,
    ScheduledStatement,
    Sequence,
    Space,
    System,
    UnionMap,
    UnionSet,
    band_violation,
    const,
    dependences,
    parse_schedule,
    schedule_violation,
    tiled,
    var,
)
from tests.polyhedral.polybench import PROGRAMS, Program
from tests.polyhedral.test_dependences import matmul, text, union_map
from tests.polyhedral.test_polybench import Schedules, assert_true, isl_refuses, random_schedules, their_dependences

TRIES = 4
FLAGGED = ("matmul", "trmm", "jacobi-1d", "seidel-2d", "floyd-warshall", "gemver", "lu")


def space_of(statement: ScheduledStatement) -> Space:
    return Space(str(statement.name), len(statement.domain.dims))


def domain_of(program: Program) -> UnionSet:
    return UnionSet(tuple((space_of(s), s.domain) for s in program))


def padded(program: Program, schedules: Schedules) -> dict[str, tuple[Affine, ...]]:
    width = max(len(t) for t in schedules.values())
    return {str(s.name): (*schedules[str(s.name)], *[const(0)] * width)[:width] for s in program}


def members(program: Program, schedules: Schedules) -> tuple[UnionMap, ...]:
    times = padded(program, schedules)
    columns = zip(*(times[str(s.name)] for s in program), strict=True)
    return tuple(
        UnionMap(
            tuple(
                (space_of(s), Space("", 1), Map.affine(s.domain.dims, {"time": entry}))
                for s, entry in zip(program, column, strict=True)
            )
        )
        for column in columns
    )


def in_program_order(program: Program) -> Sequence:
    return Sequence(tuple(Filter(UnionSet(((space_of(s), s.domain),))) for s in program))


@pytest.mark.parametrize("name", PROGRAMS)
def test_random_trees_are_judged_as_isl_judges(name: str) -> None:
    program, chance = PROGRAMS[name](), random.Random(name)
    found = dependences(program)
    for _ in range(TRIES):
        schedules = random_schedules(program, chance)
        tree = Domain(domain_of(program), Band(members(program, schedules), child=in_program_order(program)))
        witness = schedule_violation(found, tree)
        assert (witness is not None) == isl_refuses(name, program, schedules), schedules
        if witness is not None:
            assert_true(witness, program, schedules)


def their_deltas(name: str, program: Program, schedules: Schedules, outer: int) -> isl.Set:
    """How far apart in time dependent instances are, of those that the outer times keep together."""
    times = padded(program, schedules)
    new = union_map([text(str(s.name), s.domain.dims, "", times[str(s.name)], s.domain) for s in program])
    apart = isl.Set.from_union_set(their_dependences(name).apply_domain(new).apply_range(new).deltas())
    for level in range(outer):
        apart = apart.fix_val(isl.dim_type.set, level, isl.Val(0))
    return apart


def some(apart: isl.Set, level: int, sign: int) -> bool:
    bound = apart.lower_bound_val if sign > 0 else apart.upper_bound_val
    return not bound(isl.dim_type.set, level, isl.Val(sign)).is_empty()


@pytest.mark.parametrize("name", FLAGGED)
def test_flags_of_bands_are_judged_as_isl_judges(name: str) -> None:
    program, chance = PROGRAMS[name](), random.Random(name)
    found, verdicts = dependences(program), []
    for _ in range(TRIES):
        schedules = random_schedules(program, chance)
        every = members(program, schedules)
        outer = chance.randrange(len(every))
        inner = every[outer:]
        apart = their_deltas(name, program, schedules, outer)
        levels = range(outer, len(every))
        permutable = not any(some(apart, k, -1) for k in levels)
        coincident = tuple(not (some(apart, k, -1) or some(apart, k, 1)) for k in levels)
        for flags in ((True, (False,) * len(inner)), *((False, one_of(len(inner), k)) for k in range(len(inner)))):
            tree = Domain(domain_of(program), Band(every[:outer], child=Band(inner, *flags)))
            right = permutable if flags[0] else coincident[flags[1].index(True)]
            witness = band_violation(found, tree)
            assert (witness is None) == right, (schedules, outer, flags)
            verdicts.append(right)
    assert any(verdicts)
    assert not all(verdicts)


def one_of(width: int, chosen: int) -> tuple[bool, ...]:
    return tuple(k == chosen for k in range(width))


TREE = """
domain: "[M, N, K] -> { init[i,j] : 0 <= i < M and 0 <= j < N; update[i,j,k] : 0 <= i < M and 0 <= j < N and 0 <= k < K;
  store[i,j] : 0 <= i < M and 0 <= j < N }"
child:
  schedule: "[{ init[i,j] -> [i]; update[i,j,k] -> [i]; store[i,j] -> [i] },
    { init[i,j] -> [j]; update[i,j,k] -> [j]; store[i,j] -> [j] }]"
  permutable: 1
  coincident: [ 1, 1 ]
  child:
    sequence:
    - filter: "{ init[i,j] }"
    - filter: "{ update[i,j,k] }"
      child:
        schedule: "[{ update[i,j,k] -> [k] }]"
        permutable: 1
        coincident: [ 0 ]
    - filter: "{ store[i,j] }"
"""


def test_a_matmul_and_its_tiles_are_legal_and_what_they_say() -> None:
    found = dependences(matmul())
    tree = parse_schedule(TREE.replace("\n  store", " store").replace("\n    {", " {"))
    assert isinstance(tree.child, Band)
    for child in (tree.child, tiled(tree.child, (128, 64))):
        one = Domain(tree.domain, child)
        assert schedule_violation(found, one) is None
        assert band_violation(found, one) is None
        assert band_violation(found, one, reductions_are_free=False) is None


def test_a_wrong_order_of_children_and_a_wrong_flag_are_told() -> None:
    found = dependences(matmul())
    words = TREE.replace("\n  store", " store").replace("\n    {", " {")
    late = words.replace('"{ init[i,j] }"', '"{ other }"').replace('"{ store[i,j] }"', '"{ init[i,j] }"')
    late = late.replace('"{ other }"', '"{ store[i,j] }"')
    witness = schedule_violation(found, parse_schedule(late))
    assert witness is not None
    assert {witness.dependence.source, witness.dependence.sink} & {"init", "store"}
    flagged = parse_schedule(words.replace("coincident: [ 0 ]", "coincident: [ 1 ]"))
    assert band_violation(found, flagged) is None
    told = band_violation(found, flagged, reductions_are_free=False)
    assert told is not None
    assert told[0].coincident == (True,)
    assert str(told[1]).startswith("flow dependence on C[0, 0] from update(i=0, j=0, k=0) to update(i=0, j=0, k=1)")
    assert band_violation(found, flagged, System.of(var("K") <= 1), reductions_are_free=False) is None


def test_dependent_instances_of_one_time_are_told() -> None:
    found = dependences(matmul())
    outer = parse_schedule(TREE.replace("\n  store", " store").replace("\n    {", " {")).child
    assert isinstance(outer, Band)
    witness = schedule_violation(found, Domain(domain_of(matmul()), Band(outer.members)))
    assert witness is not None
    assert witness.level is None
    assert dict(witness.source)["i"] == dict(witness.sink)["i"]


def test_a_statement_without_instances_is_named() -> None:
    tree = parse_schedule('domain: "[M, N] -> { init[i,j] : 0 <= i < M and 0 <= j < N }"')
    with pytest.raises(ValueError, match="runs no instances of the statement update"):
        schedule_violation(dependences(matmul()), tree)
