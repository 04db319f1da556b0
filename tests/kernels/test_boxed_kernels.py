"""A transposition, a softmax and chained products by tensor copies, derived as products for Hopper are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest
from attrs import evolve

from isa.mechanisms import IssuedBy
from ptxgen.compute import Compute, Element, f16, f32
from ptxgen.derive.part import threads_of
from ptxgen.derive.space import IndexSpace
from ptxgen.errors import PlanError
from ptxgen.kernels import (
    GeneratedKernel,
    chained_compute,
    chained_plan,
    generate,
    softmax_compute,
    softmax_plan,
    transpose_compute,
    transpose_plan,
)
from ptxgen.kernels.chained import by_warpgroups
from ptxgen.kernels.launching.binding import arrays_in_memory, bind, facts_of
from ptxgen.order.atoms import Advance, Arrive, Expect, Retire, Wait
from ptxgen.order.synchronisation import Synchronisation
from ptxgen.plan import Fact, Plan, Stage, Transport, aligned, multiple
from ptxgen.prove.checker import Verdict
from ptxgen.prove.proof import check_meetings
from ptxgen.simulate import Report
from ptxgen.verify import verify
from tests.kernels.cases import judge, random_inputs

TARGET = "sm_90a"
Planner = Callable[[Compute, Iterable[Fact], str], Plan]


def small_chained(compute: Compute, facts: Iterable[Fact], target: str, **choices: Any) -> Plan:
    """Chained products on one warpgroup."""
    return by_warpgroups(Plan(compute, target).assume(*facts), **{"i": 64, "n": 64, "depth": 3, **choices})


def given(compute: Compute, sizes: dict[str, int]) -> dict[str, Any]:
    """Random inputs, and outputs in which a missing element shows."""
    arrays: dict[str, Any] = random_inputs(compute, sizes)
    for array in arrays_in_memory(compute):
        if array.name not in arrays:
            shape = [extent.evaluate(sizes) for extent in array.extents]
            arrays[array.name] = np.full(shape, np.nan, np.float16 if array.element is f16 else np.float32)
    return arrays


def made(compute: Compute, planner: Planner, arrays: dict[str, Any]) -> GeneratedKernel:
    kernel = generate(planner(compute, facts_of(compute, bind(arrays_in_memory(compute), arrays)), TARGET))
    assert any(isinstance(s, Stage) and s.by.transport is Transport.TENSOR for s in kernel.plan.steps)
    return kernel


def run(
    compute: Compute, planner: Planner, sizes: dict[str, int], *, exact: bool
) -> tuple[dict[str, Any], Report, GeneratedKernel]:
    """A run without findings, judged by float64 and where `exact` bit for bit by the plain loop."""
    arrays = given(compute, sizes)
    kernel = made(compute, planner, arrays)
    report = kernel.simulate(arrays, {})
    assert report is not None
    report.raise_findings()
    judge(compute, arrays, {}, exact=exact, target=TARGET, orders=kernel.derivation.signature())
    return arrays, report, kernel


@pytest.mark.parametrize("size", ((64, 64), (8, 8), (72, 200), (128, 64), (40, 264)), ids=str)
@pytest.mark.parametrize("element", (f16, f32), ids=str)
def test_transposition(size: tuple[int, int], element: Element) -> None:
    arrays, report, kernel = run(
        transpose_compute(element), transpose_plan, dict(zip("MN", size, strict=True)), exact=True
    )
    assert np.array_equal(arrays["Y"], arrays["X"].T)
    assert verify(kernel.module) == ()
    if element is f16:
        assert report.conflicts == 0


@pytest.mark.parametrize(("element", "tile", "row", "instead"), [(f16, 8, 16, 64), (f16, 48, 96, 64), (f32, 4, 16, 32)])
def test_transposition_of_a_tile_that_no_swizzle_spans(element: Element, tile: int, row: int, instead: int) -> None:
    width = 16 // element.byte_count
    facts: list[Fact] = [multiple(name, width) for name in ("ldx", "ldy", "M", "N")]
    with pytest.raises(PlanError) as refused:
        transpose_plan(transpose_compute(element), [*facts, *aligned("X", "Y", bytes=16)], TARGET, tile)
    wanted = f"has rows of {row} bytes, tensor copies swizzle rows of 32, 64, 128: take tile={instead}"
    assert str(refused.value) == f"transpose_plan: a tile of {tile}x{tile} {element} {wanted}"


@pytest.mark.parametrize("size", ((1, 8), (5, 304), (4, 256), (9, 1536), (17, 520)), ids=str)
@pytest.mark.parametrize("element", (f16, f32), ids=str)
def test_softmax_of_rows(size: tuple[int, int], element: Element) -> None:
    arrays, report, kernel = run(
        softmax_compute(element), softmax_plan, dict(zip("MN", size, strict=True)), exact=False
    )
    x = arrays["X"].astype(np.float64)
    expected = np.exp(x - x.max(axis=1, keepdims=True))
    expected /= expected.sum(axis=1, keepdims=True)
    assert np.allclose(arrays["Y"], expected, rtol=2.0**-10, atol=2.0**-24)
    assert verify(kernel.module) == ()
    assert report.conflicts == 0


SIZES = ((72, 136, 72, 136), (1, 8, 8, 8), (40, 200, 200, 64))
CHOICES: tuple[dict[str, Any], ...] = ({}, {"workers": None, "window": 0}, {"i": 128, "n": 128, "workers": 2})


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("accumulate", (f16, f32), ids=str)
@pytest.mark.parametrize("choices", CHOICES, ids=str)
def test_two_chained_products(size: tuple[int, ...], accumulate: Element, choices: dict[str, Any]) -> None:
    def planner(compute: Compute, facts: Iterable[Fact], target: str) -> Plan:
        return small_chained(compute, facts, target, **choices)

    _, _, kernel = run(chained_compute(accumulate), planner, dict(zip("MJKN", size, strict=True)), exact=True)
    assert verify(kernel.module) == ()


@pytest.mark.slow
@pytest.mark.parametrize("choices", CHOICES, ids=str)
def test_chained_products_of_many_slabs(choices: dict[str, Any]) -> None:
    def planner(compute: Compute, facts: Iterable[Fact], target: str) -> Plan:
        return small_chained(compute, facts, target, **choices)

    for size in ((200, 456, 520, 264), (136, 72, 1032, 72), (64, 1032, 72, 200)):
        run(chained_compute(), planner, dict(zip("MJKN", size, strict=True)), exact=True)


@pytest.mark.parametrize("ahead", (1, 2))
def test_the_tiles_of_the_outer_product_may_come_early(ahead: int) -> None:
    def planner(compute: Compute, facts: Iterable[Fact], target: str) -> Plan:
        return small_chained(compute, facts, target).shift("D.shared", ahead=ahead, at="cta.j")

    for size in ((64, 264, 72, 64), (64, 64, 64, 64)):
        run(chained_compute(), planner, dict(zip("MJKN", size, strict=True)), exact=True)


KERNELS: dict[str, tuple[Callable[[], Compute], Planner, dict[str, int]]] = {
    "transposition": (transpose_compute, transpose_plan, {"M": 64, "N": 64}),
    "wide transposition": (lambda: transpose_compute(f32), transpose_plan, {"M": 64, "N": 64}),
    "softmax": (softmax_compute, softmax_plan, {"M": 8, "N": 256}),
    "chained": (chained_compute, chained_plan, {"M": 64, "J": 64, "K": 64, "N": 64}),
    "chained in f16": (lambda: chained_compute(f16), chained_plan, {"M": 64, "J": 64, "K": 64, "N": 64}),
}


@cache
def kernel_of(name: str) -> GeneratedKernel:
    compute, planner, sizes = KERNELS[name]
    return made(compute(), planner, given(compute(), sizes))


@pytest.mark.parametrize("name", KERNELS)
def test_the_text_assembles_without_a_note_or_a_spill(name: str) -> None:
    assembled = kernel_of(name).assembled()
    assert (assembled.spills, assembled.notes) == (0, ())


def test_the_second_product_reads_what_the_first_left_in_registers() -> None:
    text = str(kernel_of("chained").listing)
    products = [line for line in text.splitlines() if "wgmma.mma_async" in line]
    held = [line for line in products if line.count("{") == 2]
    assert len(held) == 4
    assert ["m64n128k16" in line for line in products] == [line in held for line in products]
    assert "st.shared" not in text
    assert "ld.shared" not in text


@pytest.mark.parametrize("name", ("transposition", "softmax"))
def test_a_slot_is_freed_behind_what_every_lane_has_read(name: str) -> None:
    """One lane of a warp arrives, when all of them have fenced what they read."""
    lines = [line.strip() for line in str(kernel_of(name).listing).splitlines()]
    arrivals = [place for place, line in enumerate(lines) if "mbarrier.arrive.shared" in line]
    assert len(arrivals) == (3 if name == "softmax" else 1)
    for place in arrivals:
        before = [line for line in lines[place - 12 : place] if line.startswith(("bar.warp", "fence.proxy", "ld"))]
        assert [line.split(".")[0] for line in before[-2:]] == ["fence", "bar"], before


def proved(kernel: GeneratedKernel, atoms: tuple[Synchronisation, ...] | None = None) -> Verdict:
    part = kernel.derivation.parts[0]
    synchronised = part.synchronised if atoms is None else evolve(part.synchronised, atoms=atoms)
    return check_meetings(synchronised, part.requirements, threads=threads_of(IndexSpace(kernel.plan)))


def changes(atom: Synchronisation) -> Iterator[tuple[str, Synchronisation | None]]:
    """What may stand instead of an atom, and must not."""
    yield "nothing", None
    match atom.atom:
        case Retire(pending=pending):
            yield "a more patient wait", evolve(atom, atom=evolve(atom.atom, pending=pending + 1))
        case Wait() | Expect() | Arrive():
            yield "the next tile", evolve(atom, rank=atom.rank + 1)
            yield "the tile before", evolve(atom, rank=atom.rank - 1)
            if isinstance(atom.atom, Expect):
                yield "fewer bytes", evolve(atom, atom=evolve(atom.atom, byte_count=atom.atom.byte_count - 16))
            if isinstance(atom.atom, Arrive) and not atom.tail:
                other = IssuedBy.LANE if atom.atom.by is IssuedBy.WARP else IssuedBy.WARP
                yield "another who arrives", evolve(atom, atom=evolve(atom.atom, by=other))
        case Advance(by=by):
            for step in (-by.divisor, by.divisor, 1):
                yield f"{step} more", evolve(atom, atom=evolve(atom.atom, by=evolve(by, affine=by.affine + step)))
            yield "another counter", evolve(atom, atom=evolve(atom.atom, counter="other"))
            early = (*atom.time.place[:-1], -1)
            yield "an earlier place", evolve(atom, time=evolve(atom.time, place=early))
        case _:
            pass


@pytest.mark.parametrize("name", ("transposition", "softmax", "chained"))
def test_the_proof_refuses_every_atom_gone_or_changed(name: str) -> None:
    kernel = kernel_of(name)
    atoms = kernel.derivation.parts[0].synchronised.atoms
    assert proved(kernel).accepted
    for number, atom in enumerate(atoms):
        for what, changed in changes(atom):
            other = (*atoms[:number], *((changed,) if changed else ()), *atoms[number + 1 :])
            assert not proved(kernel, other).accepted, f"{what} instead of {atom} ({atom.covers})"
