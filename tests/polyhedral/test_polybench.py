"""Programs in the manner of PolyBench: dependences equal isl's; random schedules judged as enumeration judges."""

import itertools
import random
from collections.abc import Sequence

import pytest

from polyhedral import Affine, Kind, ScheduledStatement, Violation, const, dependences, violations
from tests.polyhedral.polybench import PROGRAMS, Program
from tests.polyhedral.test_dependences import isl_dataflow, ours

CASES = [(Kind.FLOW, "writes", "reads"), (Kind.ANTI, "reads", "writes"), (Kind.OUTPUT, "writes", "writes")]
LARGE = ("fdtd-2d", "heat-3d", "durbin", "seidel-2d", "jacobi-2d")
SMALL = tuple(n for n in PROGRAMS if n not in LARGE)
Schedules = dict[str, tuple[Affine, ...]]
Instance = tuple[ScheduledStatement, dict[str, int]]
SEED, TRIES = 20, 18


def memory_based(name: str) -> None:
    statements = PROGRAMS[name]()
    found = dependences(statements)
    for kind, sources, sinks in CASES:
        assert ours(found, kind).is_equal(isl_dataflow(statements, sources, sinks, exact=False)), kind


def value_based(name: str) -> None:
    statements = PROGRAMS[name]()
    found = ours(dependences(statements, last_writer=True), Kind.FLOW)
    assert found.is_equal(isl_dataflow(statements, "writes", "reads", exact=True))


@pytest.mark.parametrize("name", SMALL)
def test_dependences_equal_isl_s(name: str) -> None:
    memory_based(name)


@pytest.mark.parametrize("name", ["matmul", "jacobi-1d", "trmm", "syrk"])
def test_last_writers_equal_isl_s(name: str) -> None:
    value_based(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_all_dependences_equal_isl_s(name: str) -> None:
    memory_based(name)
    value_based(name)


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


def judged(names: Sequence[str], tries: int) -> tuple[int, int]:
    legal = illegal = 0
    chance = random.Random(SEED)
    for name in names:
        program = PROGRAMS[name]()
        found = dependences(program)
        order = tuple(s.name for s in program)
        for _ in range(tries):
            schedules = random_schedules(program, chance)
            witness = violations(found, schedules, order=order)
            broken = is_broken(program, schedules, {"K": 3, "M": 4, "N": 4})
            if witness is None:
                assert not broken, (name, schedules)
                legal += 1
            else:
                assert_true(witness, program, schedules)
                illegal += 1
            assert not broken or witness is not None
    return legal, illegal


def test_random_schedules_are_judged_as_enumeration_judges() -> None:
    legal, illegal = judged(SMALL, TRIES)
    assert legal >= 60, legal
    assert illegal >= 60, illegal


@pytest.mark.slow
def test_random_schedules_of_all_programs() -> None:
    legal, illegal = judged(tuple(PROGRAMS), TRIES)
    assert legal >= 60
    assert illegal >= 60
