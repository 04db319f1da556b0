"""Ops of derived kernels that are written by hand: synchronisation follows from what they declare, and what they do not
declare the simulator finds."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

from isa.types import b16
from ptxgen.derive import derive
from ptxgen.errors import KernelError, PlanError, UnsupportedError
from ptxgen.kernels.launching.generated import GeneratedKernel, build, generate
from ptxgen.lower.by_hand import Hand
from ptxgen.lower.pool import pooled
from ptxgen.plan import Completes, Plan
from ptxgen.prove.trees import check_program
from ptxgen.tile import Code, Commit, HandWritten, Meet, Retire, show
from ptxgen.tile.machine import MachineFault, run
from ptxgen.tile.mutants import without_each_synchronisation
from ptxgen.tile.reading import read
from ptxgen.tile.rewriting import spots
from tests.derive.computes import ampere, hopper, matmul, volta
from tests.derive.test_derived_programs import matmul_case

Write = Callable[[Hand], None]


def square(hand: Hand) -> None:
    """D = C**2, rounded to f16."""
    k, c, d = hand.k, hand.registers("C"), hand.registers("D.registers")
    for value in range(0, hand.count, 2):
        low, high = (c.registers[c.values[each]] for each in (value, value + 1))
        halves = tuple(k.cvt.rn.f16.f32(k.mul.rn.f32(each, each)) for each in (low, high))
        k.mov.b32(halves, into=d.registers[d.values[value] // 2])


def put(hand: Hand) -> None:
    """A slab from registers to shared memory, one element at a time."""
    k, held, tile = hand.k, hand.registers("A.registers"), hand.shared("A.shared")
    for value in range(hand.count):
        place = held.values[value]
        parts = k.register(b16), k.register(b16)
        k.mov.b32(held.registers[place // 2], into=parts)
        k.st.shared.b16(tile.at(value), parts[place % 2])


def fetch(hand: Hand) -> None:
    """A slab past the registers, 4 bytes at a time, zeros where it leaves the array."""
    array = hand.op.removesuffix(".shared")
    k, source, tile = hand.k, hand.memory(array), hand.shared(hand.op)
    for value in range(0, hand.count, 2):
        size = k.selp.b32(4, 0, source.inside(value))
        k.cp.async_.ca.shared.global_(tile.at(value), source.at(value), 4, size)


def squared() -> Plan:
    return volta(matmul(bias=False)).by_hand(
        "D", square, reads=["C"], writes=["D.registers"], model=lambda c: (c * c).astype(np.float16)
    )


def small_ampere() -> Plan:
    return ampere(depth=3, tile=(64, 64, 32))


def putting(write: Write = put) -> Plan:
    return volta().by_hand("A.shared", write, reads=["A.registers"], writes=["A.shared"], model=lambda a: a)


def fetching(completes: Completes = Completes.LANE_GROUP) -> Plan:
    return small_ampere().by_hand("A.shared", fetch, reads=["A"], writes=["A.shared"], completes=completes)


@cache
def kernel(make: Callable[[], Plan]) -> GeneratedKernel:
    return generate(make())


def simulated(found: GeneratedKernel, m: int, n: int, k: int, *, bias: bool = True) -> np.ndarray:
    arrays, _, _ = matmul_case("nn", m, n, k)
    if not bias:
        arrays.pop("bias")
    report = found.simulate(arrays)
    assert report is not None
    report.raise_findings()
    return arrays["D"]


def test_an_activation_by_hand() -> None:
    arrays, sizes, _ = matmul_case("nn", 72, 40, 40)
    wanted = (arrays["A"].astype(float) @ arrays["B"].astype(float)) ** 2
    ran = run(kernel(squared).program, arrays, sizes).arrays["D"]
    for found in (simulated(kernel(squared), 72, 40, 40, bias=False), ran):
        assert np.abs(found.astype(float) - wanted).max() <= 2e-3 * wanted.max()


@pytest.mark.parametrize(("by_hand", "derived"), [(putting, volta), (fetching, small_ampere)])
@pytest.mark.parametrize("k", [72, pytest.param(8, marks=pytest.mark.slow)])
def test_a_copy_by_hand_gives_the_bits_of_the_derived_one(
    by_hand: Callable[[], Plan], derived: Callable[[], Plan], k: int
) -> None:
    found, wanted = (simulated(kernel(make), 72, 64, k) for make in (by_hand, derived))
    assert found.tobytes() == wanted.tobytes()


def test_synchronisation_follows_from_the_declaration() -> None:
    """As much of it as around the derived copies, each of them needed."""
    for make, derived in ((putting, volta), (fetching, small_ampere)):
        kinds = [
            [type(node) for _, node in spots(kernel(each).program) if isinstance(node, Meet | Commit | Retire)]
            for each in (make, derived)
        ]
        assert kinds[0] == kinds[1]
        assert check_program(kernel(make).program).accepted
    for mutant in list(without_each_synchronisation(kernel(fetching).program))[::4]:
        assert not check_program(mutant.program).accepted


def test_products_in_flight_are_awaited_before_code_that_reads_them() -> None:
    plan = hopper(matmul("nt", bias=False), tile=(64, 16, 64)).by_hand(
        "D", square, reads=["C"], writes=["D.registers"], model=lambda c: (c * c).astype(np.float16)
    )
    program = derive(plan).program
    assert check_program(program).accepted
    arrays, sizes, _ = matmul_case("nt", 64, 16, 128)
    wanted = (arrays["A"].astype(float) @ arrays["B"].T.astype(float)) ** 2
    assert np.abs(run(program, arrays, sizes).arrays["D"] - wanted).max() <= 2e-3 * wanted.max()
    text = show(program).replace("retire wgmma, pending 0", "retire wgmma, pending 1")
    verdict = check_program(read(text, codes=codes_of(program)))
    assert "flow C -> D (C, distance 0)" in str(verdict)


def codes_of(program: object) -> list[Code]:
    return list({n.code.name: n.code for _, n in spots(program) if isinstance(n, HandWritten)}.values())  # type: ignore[arg-type]


def test_programs_with_such_ops_are_printed_and_read() -> None:
    for make in (squared, putting, fetching):
        program = kernel(make).program
        assert read(show(program), codes=codes_of(program)) == program
    again = build(read(show(kernel(putting).program), codes=codes_of(kernel(putting).program)))
    assert simulated(again, 72, 64, 72).tobytes() == simulated(kernel(putting), 72, 64, 72).tobytes()


def found_by_the_simulator(plan: Plan, m: int = 72, n: int = 64, k: int = 72) -> set[str]:
    arrays, _, _ = matmul_case("nn", m, n, k)
    report = generate(plan).simulate(arrays)
    assert report is not None
    return {finding.code for finding in report.findings}


def test_a_write_that_is_not_declared_is_a_race() -> None:
    """The code writes the last element of each thread into B's slab too, which others read at that time."""
    offsets = pooled(derive(volta()).program).offsets
    away = offsets["B.shared"] - offsets["A.shared"]

    def stray(hand: Hand) -> None:
        put(hand)
        hand.k.st.shared.b32(hand.shared("A.shared").start + away, 0)

    assert "race.shared" in found_by_the_simulator(putting(stray))


def test_a_read_that_is_not_declared_is_found() -> None:
    """The code looks at a slab of B that nobody has filled when it runs first."""
    offsets = pooled(derive(volta()).program).offsets
    away = offsets["B.shared"] - offsets["A.shared"]

    def curious(hand: Hand) -> None:
        put(hand)
        hand.k.ld.shared.b32(hand.shared("A.shared").start + away)

    assert found_by_the_simulator(putting(curious)) & {"race.shared", "uninitialised.shared"}


def test_a_mechanism_that_is_not_the_one_declared_is_found() -> None:
    """Declared complete at issue, no group is closed nor awaited: already the verifier of the PTX misses the wait."""
    plan = small_ampere()
    for array in ("A", "B"):
        plan = plan.by_hand(f"{array}.shared", fetch, reads=[array], writes=[f"{array}.shared"])
    assert check_program(derive(plan).program).accepted
    with pytest.raises(KernelError) as caught:
        generate(plan)
    assert {finding.code for finding in caught.value.findings} == {"group.wait"}
    assert f"{__file__}:" in str(caught.value)


def test_code_without_a_model_does_not_run_on_the_tile_machine() -> None:
    arrays, sizes, _ = matmul_case("nn", 64, 64, 32)
    with pytest.raises(MachineFault, match="fetch is written by hand"):
        run(kernel(fetching).program, arrays, sizes)


def test_mistakes_of_the_code_are_on_its_lines() -> None:
    def wrong(hand: Hand) -> None:
        hand.k.add.f32(hand.thread, 1.0)

    with pytest.raises(KernelError) as caught:
        generate(putting(wrong))
    assert f"{__file__}:{wrong.__code__.co_firstlineno + 1}:" in str(caught.value)

    def asking(hand: Hand) -> None:
        hand.shared("B.shared")

    with pytest.raises(UnsupportedError, match=r"A.shared: the code declares A.registers, A.shared, and asks for B"):
        generate(putting(asking))


def test_a_tile_that_is_somewhere_else_is_named() -> None:
    def misplaced(hand: Hand) -> None:
        hand.shared("A.registers")

    with pytest.raises(UnsupportedError, match=r"A.shared: A.registers is a RegisterTile, and the code asks for it in"):
        generate(putting(misplaced))


@pytest.mark.parametrize("model", [lambda c: c[:1], lambda c: (c, c), lambda c: 0.0])
def test_a_model_that_gives_other_arrays_is_a_fault(model: Callable[..., Any]) -> None:
    plan = volta(matmul(bias=False)).by_hand("D", square, reads=["C"], writes=["D.registers"], model=model)
    arrays, sizes, _ = matmul_case("nn", 64, 64, 32)
    with pytest.raises(MachineFault, match=r"the model of square gives arrays of \[.*; wanted one of .* D.registers"):
        run(derive(plan).program, arrays, sizes)


def test_groups_are_of_copies_from_global_to_shared_memory_where_the_target_has_them() -> None:
    in_groups: dict[str, Any] = {"writes": ["A.shared"], "completes": Completes.LANE_GROUP}
    with pytest.raises(
        PlanError, match=r"A.shared: sm_70 has no cp.async.ca.shared.global, which needs PTX 7.0"
    ) as old:
        derive(volta().by_hand("A.shared", put, reads=["A.registers"], **in_groups))
    assert old.value.line is not None
    assert old.value.line.file == __file__
    held = ampere(depth=3, tile=(64, 64, 32)).by_hand(
        "D", square, reads=["C"], **in_groups | {"writes": ["D.registers"]}
    )
    with pytest.raises(PlanError, match=r"groups of cp.async copy global to shared memory, C is in registers"):
        derive(held)


def test_steps_that_make_no_sense_are_refused() -> None:
    with pytest.raises(PlanError, match=r"no op 'Q.shared' to write by hand; there are A.registers"):
        volta().by_hand("Q.shared", put, writes=["A.shared"])
    with pytest.raises(PlanError, match="is written by hand already"):
        putting().by_hand("A.shared", put, writes=["A.shared"])
    with pytest.raises(PlanError, match="writes nothing"):
        volta().by_hand("A.shared", put, writes=[])
    with pytest.raises(PlanError, match="code is a function"):
        volta().by_hand("A.shared", 3, writes=["A.shared"])  # type: ignore[arg-type]
    with pytest.raises(PlanError, match="stands in for copies and maps, not for a multiply"):
        derive(volta().by_hand("C", square, writes=["C"]))
    with pytest.raises(PlanError, match=r"no tile of 'Q' is at hand there; there are A.registers, A"):
        derive(volta().by_hand("A.shared", put, reads=["Q"], writes=["A.shared"]))
    line = str(putting()).splitlines()[-2:]
    assert any(
        "by_hand(A.shared, put, reads=A.registers, writes=A.shared, each lane, at issue)" in each for each in line
    )


@pytest.mark.parametrize(
    ("word", "given", "wanted"),
    [
        ("reads", "A.registers", "reads and writes are lists of buffers, got 'A.registers'"),
        ("completes", "at issue", "completes is a Completes, got 'at issue'"),
        ("issued", "each lane", "issued is an Issued, got 'each lane'"),
        ("model", 3, "model is a function on numpy arrays, got 3"),
    ],
)
def test_words_of_another_kind_are_refused_where_they_are_written(word: str, given: object, wanted: str) -> None:
    words: dict[str, Any] = {"reads": ["A.registers"], "writes": ["A.shared"], word: given}
    with pytest.raises(PlanError, match=re.escape(wanted)) as refused:
        volta().by_hand("A.shared", put, **words)
    assert refused.value.line is not None
    assert refused.value.line.file == __file__
