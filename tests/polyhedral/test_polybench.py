"""Programs in the manner of PolyBench: dependences equal isl's; random schedules judged as enumeration judges."""

import itertools
import random
from collections.abc import Sequence
from functools import lru_cache

import islpy as isl
import pytest

from polyhedral import Affine, Kind, ScheduledStatement, Violation, const, dependences, violations
from tests.polyhedral.polybench import PROGRAMS, Program
from tests.polyhedral.test_dependences import isl_dataflow, ours, text, union_map

CASES = [(Kind.FLOW, "writes", "reads"), (Kind.ANTI, "reads", "writes"), (Kind.OUTPUT, "writes", "writes")]
Schedules = dict[str, tuple[Affine, ...]]
Instance = tuple[ScheduledStatement, dict[str, int]]
DIFFERENT = 14
SIZES = {"K": 3, "M": 4, "N": 4}
VERDICTS = {
    "matmul": (5, 9),
    "2mm": (4, 10),
    "syrk": (12, 2),
    "trmm": (5, 9),
    "lu": (1, 13),
    "cholesky": (1, 13),
    "gemver": (11, 3),
    "jacobi-1d": (9, 5),
    "jacobi-2d": (7, 7),
    "seidel-2d": (7, 7),
    "fdtd-2d": (7, 7),
    "heat-3d": (7, 7),
    "floyd-warshall": (8, 6),
    "durbin": (3, 11),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_memory_based_dependences_equal_isl_s(name: str) -> None:
    statements = PROGRAMS[name]()
    found = dependences(statements)
    for kind, sources, sinks in CASES:
        assert ours(found, kind).is_equal(isl_dataflow(statements, sources, sinks, exact=False)), kind


@pytest.mark.parametrize("name", PROGRAMS)
def test_last_writers_equal_isl_s(name: str) -> None:
    statements = PROGRAMS[name]()
    found = ours(dependences(statements, last_writer=True), Kind.FLOW)
    assert found.is_equal(isl_dataflow(statements, "writes", "reads", exact=True))


def random_schedules(program: Program, chance: random.Random) -> Schedules:
    found = {}
    kind = chance.choice(["permute", "shift", "reverse", "scalars", "skew"])
    victim = chance.choice(program).name
    for s in program:
        times = list(s.schedule)
        places = [p for p, t in enumerate(times) if not t.is_constant]
        if kind == "permute" and len(places) > 1:
            order = chance.sample(places, len(places))
            times = [times[order[places.index(p)]] if p in places else t for p, t in enumerate(times)]
        elif s.name == victim and kind == "shift":
            place = chance.choice(places)
            times[place] = times[place] + chance.choice([-1, 1])
        elif s.name == victim and kind == "reverse":
            place = chance.choice(places)
            times[place] = -times[place]
        elif s.name == victim and kind == "scalars":
            times = [const(chance.choice([0, 1, 2, 9])) if t.is_constant else t for t in times]
        elif kind == "skew" and len(places) > 1:
            times[places[-1]] = times[places[-1]] + times[places[0]] * chance.choice([1, 2])
        found[str(s.name)] = tuple(times)
    return found


def instances(program: Program, sizes: dict[str, int]) -> list[Instance]:
    found = [(s, dict(zip(s.domain.dims, p, strict=True)) | sizes) for s in program for p in s.domain.points(sizes)]
    width = max(len(s.schedule) for s in program)
    return sorted(found, key=lambda x: padded(x[0].schedule, x[1], width))


def padded(times: Sequence[Affine], values: dict[str, int], width: int) -> tuple[int, ...]:
    own = tuple(t.evaluate(values) for t in times)
    return own + (0,) * (width - len(own))


def touched(instance: Instance) -> tuple[set[tuple[object, ...]], set[tuple[object, ...]]]:
    s, values = instance
    reads, writes = (
        {(a.array, *(i.evaluate(values) for i in a.indices)) for a in accesses} for accesses in (s.reads, s.writes)
    )
    return reads, writes


def is_broken(program: Program, schedules: Schedules, sizes: dict[str, int]) -> bool:
    """Whether two instances that touch one element, one of them writing, come in another order or at once."""
    width = max(len(t) for t in schedules.values())
    listed = [
        (*touched(x), padded(schedules[str(x[0].name)], x[1], width), program.index(x[0]))
        for x in instances(program, sizes)
    ]
    return any(
        (time, rank) >= (later, rank_) and (writes & (reads_ | writes_) or reads & writes_)
        for (reads, writes, time, rank), (reads_, writes_, later, rank_) in itertools.combinations(listed, 2)
    )


def assert_true(witness: Violation, program: Program, schedules: Schedules) -> None:
    by_name = {s.name: s for s in program}
    one, other = by_name[witness.dependence.source], by_name[witness.dependence.sink]
    sizes = dict.fromkeys(("K", "M", "N"), 0) | dict(witness.params)
    first, second = dict(witness.source) | sizes, dict(witness.sink) | sizes
    assert one.domain.contains(first)
    assert other.domain.contains(second)
    width = max(len(t) for t in (*schedules.values(), *(s.schedule for s in program)))
    assert padded(one.schedule, first, width) <= padded(other.schedule, second, width)
    (reads, writes), (later_reads, later_writes) = touched((one, first)), touched((other, second))
    element = (witness.dependence.array, *witness.element)
    assert element in (writes & (later_reads | later_writes)) | (reads & later_writes)
    assert padded(schedules[str(one.name)], first, width) >= padded(schedules[str(other.name)], second, width)


@lru_cache
def their_dependences(name: str) -> isl.UnionMap:
    found = [isl_dataflow(PROGRAMS[name](), sources, sinks, exact=False) for _, sources, sinks in CASES]
    return found[0].union(found[1]).union(found[2])


def isl_refuses(name: str, program: Program, schedules: Schedules) -> bool:
    """Whether isl finds dependent instances whose new times, then the places of their statements, do not increase."""
    width = max(len(t) for t in schedules.values())
    parts = []
    for rank, s in enumerate(program):
        times = [*schedules[str(s.name)], *[const(0)] * (width - len(schedules[str(s.name)])), const(rank)]
        parts.append(text(str(s.name), s.domain.dims, "", times, s.domain))
    new = union_map(parts)
    times_of_pairs = their_dependences(name).apply_domain(new).apply_range(new)
    late = isl.Map.lex_ge(isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, width + 1))
    return not times_of_pairs.intersect(isl.UnionMap.from_map(late)).is_empty()


@pytest.mark.parametrize("name", PROGRAMS)
def test_random_schedules_are_judged_as_isl_and_enumeration_judge(name: str) -> None:
    program, chance = PROGRAMS[name](), random.Random(name)
    found, order = dependences(program), tuple(s.name for s in program)
    verdicts: dict[str, bool] = {}
    while len(verdicts) < DIFFERENT:
        schedules = random_schedules(program, chance)
        if str(schedules) in verdicts:
            continue
        witness = violations(found, schedules, order=order)
        verdicts[str(schedules)] = witness is None
        assert (witness is not None) == isl_refuses(name, program, schedules), schedules
        if witness is None:
            assert not is_broken(program, schedules, SIZES), schedules
        else:
            assert_true(witness, program, schedules)
    legal = sum(verdicts.values())
    assert (legal, DIFFERENT - legal) == VERDICTS[name]


def test_many_schedules_of_both_kinds_were_judged() -> None:
    legal, illegal = (sum(v[k] for v in VERDICTS.values()) for k in (0, 1))
    assert set(VERDICTS) == set(PROGRAMS)
    assert legal >= 60
    assert illegal >= 60
