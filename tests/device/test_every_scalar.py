"""Every scalar instruction of sm_90 on the simulator and on a GPU: equal bits, and approximate ones within the manual's
bounds.
"""

import numpy as np
import pytest

from isa.targets import target
from ptxgen.parse import parse
from ptxgen.simulate import simulate
from ptxgen.simulate.approximations import spacing, tolerance
from tests.simulate.approximate import CASES, element_of, operands, run
from tests.simulate.scalars import (
    ALL,
    COUNT,
    OPCODES,
    THREADS,
    Case,
    cases,
    groups,
    inputs_of,
    kinds_of,
    sequences,
    text_of,
)

TARGET, VERSION = target("sm_90"), "8.8"
PER_KERNEL = 40


def of_opcode(opcode: str) -> list[Case]:
    return list(cases(TARGET, ALL, {opcode}))


def compared(group: list[Case]) -> list[str]:
    """What differs between the simulator and the GPU, at most three places of each case."""
    from ptxgen.runtime import load

    module = parse(text_of(group, TARGET, VERSION))
    kinds = kinds_of(group)
    arrays = [inputs_of(each) for each in kinds]
    rows = sum(len(case.results) for case in group)
    found, wanted = np.zeros((rows, COUNT), np.uint64), np.zeros((rows, COUNT), np.uint64)
    simulate(module, grid=COUNT // THREADS, block=THREADS, args=(*arrays, found)).raise_findings()
    load(module)["many"](*arrays, wanted, grid=COUNT // THREADS, block=THREADS)
    given = dict(zip(kinds, arrays, strict=True))
    told: list[str] = []
    row = 0
    for case in group:
        for _ in case.results:
            wrong = np.flatnonzero(found[row] != wanted[row])
            for at in wrong[:3].tolist():
                operands = [hex(int(given[each][at])) for each in case.sources]
                values = f"{int(found[row][at]):#x}, on the GPU {int(wanted[row][at]):#x}"
                told.append(f"{case.statement} of {operands}: {values} ({len(wrong)} differ)")
            row += 1
    return told


@pytest.mark.device
@pytest.mark.parametrize("opcode", sorted(OPCODES))
def test_equal_bits(opcode: str):
    told = [line for group in groups(of_opcode(opcode), PER_KERNEL) for line in compared(group)]
    assert not told, "\n".join(told[:60])


@pytest.mark.device
def test_carries():
    told = [line for group in groups(sequences(), PER_KERNEL) for line in compared(group)]
    assert not told, "\n".join(told[:60])


@pytest.mark.device
@pytest.mark.parametrize("name", CASES)
def test_approximate_results_are_within_the_bounds(name: str, record_property):
    """Against float64; the units in the last place by which the GPU and the simulator differ are recorded."""
    element = element_of(name)
    a, b = operands(name)
    exact = CASES[name](a.astype(np.float64), b.astype(np.float64))
    on_gpu, here = run(name, a, b, on_gpu=True), run(name, a, b)
    apart = np.abs(on_gpu - here) / spacing(exact, element)
    record_property("units apart at most", float(apart.max()))
    print(f"{name}: at most {apart.max():.0f} units from the nearest, {100 * (apart == 0).mean():.1f} % equal")
    allowed = np.maximum(tolerance(name, b.astype(np.float64), exact, element), spacing(exact, element) / 2)
    assert (np.abs(on_gpu - exact) <= allowed).all()
