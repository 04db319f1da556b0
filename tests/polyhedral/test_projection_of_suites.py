"""Systems of CLooG's inputs, eliminated innermost out: every level is islpy's exact projection."""

import time
from pathlib import Path

import islpy as isl
import pytest
from attrs import frozen

from polyhedral import Set, System
from polyhedral.quotients import determined
from tests.polyhedral.cloog_reader import NotTaken, Scanning, read
from tests.polyhedral.oracle import isl_set
from tests.polyhedral.test_cloog import OTHER_NOTATION, inputs

QUICK = (
    *("byu98-1-2-3", "classen", "durbin_e_s", "equality2", "faber", "isl/jacobi-shared", "isl/mod3", "stride4"),
    *("otl", "sor1d", "thomasset", "vasilache", "yosr"),
)
SECONDS_PER_SYSTEM, SECONDS_IN_ALL = 5.0, 30.0
LEAST_SYSTEMS, LEAST_LEVELS = 500, 4000


@frozen
class Measured:
    """What was eliminated: levels in all, those whose rational shadow is not exact, and processor seconds of ours."""

    levels: int = 0
    inexact: int = 0
    seconds: float = 0.0


def systems(scanning: Scanning) -> list[tuple[tuple[str, ...], System]]:
    """The pieces of the statements, each with its variables from the parameters to the innermost dimension."""
    return [((*scanning.params, *s.dims), piece) for s in scanning.statements for piece in s.pieces]


def eliminate_innermost_out(names: tuple[str, ...], system: System) -> Measured:
    theirs = isl_set(Set(names, (system,)))
    inexact, seconds = 0, 0.0
    for level in range(len(names) - 1, -1, -1):
        shadow, exact = system.eliminate(names[level])
        start = time.process_time()
        system = system.project_out(names[level])
        pieces = determined(system)
        seconds += time.process_time() - start
        theirs = theirs.project_out(isl.dim_type.set, level, 1).compute_divs().coalesce()
        left = names[:level]
        assert isl_set(Set(left, (system,))).is_equal(theirs), names[level]
        assert isl_set(Set(left, tuple(p.system for p in pieces))).is_equal(theirs), names[level]
        rational = isl_set(Set(left, (shadow,)))
        assert rational.is_equal(theirs) if exact else theirs.is_subset(rational), names[level]
        inexact += not exact
    return Measured(len(names), inexact, seconds)


def of_input(path: Path) -> list[Measured]:
    found = [eliminate_innermost_out(names, system) for names, system in systems(read(path))]
    slowest = max((m.seconds for m in found), default=0.0)
    assert slowest <= SECONDS_PER_SYSTEM, slowest
    return found


@pytest.mark.parametrize("name", QUICK)
def test_every_level_is_the_exact_projection(name: str, shared_folder: Path) -> None:
    assert of_input(inputs(shared_folder)[name])


@pytest.mark.slow
def test_every_level_of_every_input_is_the_exact_projection(shared_folder: Path) -> None:
    found: list[Measured] = []
    other = set()
    for name, path in inputs(shared_folder).items():
        try:
            found += of_input(path)
        except NotTaken:
            other.add(name)
    assert other == OTHER_NOTATION
    assert len(found) >= LEAST_SYSTEMS
    assert sum(m.levels for m in found) >= LEAST_LEVELS
    assert any(m.inexact for m in found)
    assert sum(m.seconds for m in found) <= SECONDS_IN_ALL
