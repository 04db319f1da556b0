"""The menu of a shape: enough plans, all of them derivable; and the predicate that says so agrees with derivation."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from attrs import evolve

from ptxgen.compute import Element, e4m3, f16, f32, s8, tf32
from ptxgen.derive import derive
from ptxgen.errors import PtxgenError
from ptxgen.kernels import (
    Layout,
    Matmul,
    MatmulSpec,
    MatmulTiling,
    default_tiling,
    generate,
    matmul_compute,
    matmul_plan,
)
from ptxgen.kernels import parse_epilogue as pieces
from ptxgen.kernels.choosing.choice import chosen_tiling
from ptxgen.kernels.choosing.legal import is_legal, shared_bytes
from ptxgen.kernels.choosing.menu import Sizes, menu_for
from ptxgen.kernels.choosing.processors import processor_for
from ptxgen.kernels.launching.binding import arrays_in_memory, bind, facts_of
from ptxgen.kernels.launching.views import DTYPES, View, outline
from ptxgen.plan import Drain, MultiplyBy, Plan, Transport, grouped, sms
from ptxgen.runtime.disassembly import sass
from ptxgen.runtime.machine_code import SassFunction, SassLoop

PRODUCTS, SPILLS, FEW_BYTES = ("HGMMA", "QGMMA", "IGMMA", "HMMA", "IMMA", "QMMA", "DMMA"), ("LDL", "STL"), 32
SPEC = MatmulSpec(Layout.NT, epilogue=pieces("bias,relu"))
SHAPES = (
    *product((1, 16, 128, 1000, 4096, 16384), (32, 768, 3000, 8192), (64, 4096)),
    (8192, 8192, 8192), (3, 5, 7),
)  # fmt: skip
SPECS = (
    MatmulSpec(epilogue=pieces("bias,gelu,residual")),
    MatmulSpec(Layout.NT, promote=64),
    MatmulSpec(Layout.TN, output=f32),
    MatmulSpec(Layout.NT, batched=True),
    MatmulSpec.of(e4m3, layout=Layout.NT),
    MatmulSpec.of(s8, layout=Layout.NT),
    MatmulSpec.of(tf32, layout=Layout.NT),
    MatmulSpec(Layout.TT, accumulate=Element.F16, epilogue=pieces("keep,relu")),
)


def plan_of(spec: MatmulSpec, target: str, tiling: MatmulTiling) -> Plan:
    """The plan for large aligned arrays."""
    sizes = {"M": 512, "N": 512, "K": 512, "batches": 2}
    compute = matmul_compute(spec)
    arrays = {
        array.name: outline(DTYPES[array.element], tuple(extent.evaluate(sizes) for extent in array.extents))
        for array in arrays_in_memory(compute)
    }
    return matmul_plan(compute, spec, facts_of(compute, bind(arrays_in_memory(compute), arrays)), tiling, target)


def derivable(spec: MatmulSpec, target: str, tiling: MatmulTiling) -> bool:
    """Whether a tiling is derived, and carried out as it says: by warpgroups where it fits them, drained as asked."""
    try:
        plan = plan_of(spec, target, tiling)
        derive(plan)
    except (PtxgenError, ValueError):
        return False
    (multiplied,) = (step for step in plan.steps if isinstance(step, MultiplyBy))
    drains = [step for step in plan.steps if isinstance(step, Drain)]
    carried = multiplied.instruction.warpgroup == (target == "sm_90a" and tiling.fits_warpgroups)
    carried &= all((step.through is not None) == bool(tiling.drain) for step in drains)
    if multiplied.instruction.warpgroup:
        through = [(step.by.transport, dict(step.pieces)["j"]) for step in drains if step.through]
        carried &= all(each == (Transport.TENSOR, tiling.drain) for each in through)
        carried &= tiling.workers is None or not any(step.through.alias for step in drains if step.through)
    return carried


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_sixty_plans_for_every_shape(shape: tuple[int, int, int]) -> None:
    found = menu_for(SPEC, "sm_90a", Sizes(*shape))
    assert len(found) >= 60
    assert len(set(found)) == len(found)
    assert found[0] == default_tiling(SPEC, "sm_90a")


@pytest.mark.parametrize("target", ("sm_70", "sm_80", "sm_90"))
def test_menus_of_warps(target: str) -> None:
    assert len(menu_for(SPEC, target, Sizes(2048, 2048, 2048))) >= 60
    assert len(menu_for(SPEC, target, Sizes(16, 8192, 8192))) >= 20
    assert not any(tiling.workers or tiling.cluster != (1, 1) for tiling in menu_for(SPEC, target, Sizes(512, 512, 64)))


@pytest.mark.parametrize("target", ("sm_90a", "sm_90", "sm_80", "sm_70"))
def test_what_the_menu_offers_is_derived(target: str) -> None:
    offered = menu_for(SPEC, target, Sizes(4096, 4096, 4096))
    chance = np.random.default_rng(7)
    for place in chance.choice(len(offered), 5, replace=False):
        assert derivable(SPEC, target, offered[place]), offered[place]


DEEP, UNEVEN = Sizes(128, 128, 32768), Sizes(2560, 2560, 2560)
FURTHER: dict[str, tuple[Sizes, Callable[[MatmulTiling], bool]]] = {
    "joined in clusters": (DEEP, lambda tiling: tiling.split in (2, 4, 8) and tiling.cluster == (1, 1)),
    "joined in clusters of tiles": (DEEP, lambda tiling: tiling.split > 1 and tiling.cluster != (1, 1)),
    "passed on": (Sizes(64, 32, 65536), lambda tiling: tiling.split > 8),
    "streamed": (UNEVEN, lambda tiling: tiling.stream),
    "two products' rows": (UNEVEN, lambda tiling: tiling.group_rows == 128 and not tiling.swap),
    "factors swapped": (UNEVEN, lambda tiling: tiling.swap),
    "in pieces": (UNEVEN, lambda tiling: tiling.piecewise),
}


@pytest.mark.parametrize("kind", FURTHER)
def test_further_kinds_that_the_menu_offers_are_derived(kind: str) -> None:
    sizes, belongs = FURTHER[kind]
    spec = MatmulSpec(Layout.NT, epilogue=pieces("bias,gelu,residual" if kind == "in pieces" else "bias,relu"))
    offered = [tiling for tiling in menu_for(spec, "sm_90a", sizes) if belongs(tiling)]
    assert len(offered) >= 6
    chance = np.random.default_rng(9)
    for place in chance.choice(len(offered), 3, replace=False):
        assert is_legal(spec, "sm_90a", offered[place])
        assert derivable(spec, "sm_90a", offered[place]), offered[place]


def test_parts_are_for_few_tiles_and_streams_for_rounds_that_are_not_full() -> None:
    def offers(*shape: int) -> tuple[bool, bool]:
        offered = menu_for(SPEC, "sm_90a", Sizes(*shape))
        return any(tiling.split > 1 for tiling in offered), any(tiling.stream for tiling in offered)

    assert offers(128, 128, 32768) == (True, False)
    assert offers(8192, 8192, 8192) == (False, True)
    assert offers(128, 128, 64) == (False, False), "no slab for each of the parts"
    full = menu_for(SPEC, "sm_90a", Sizes(128 * 11, 128 * 12, 2560))
    assert {(t.i, t.j) for t in full if t.stream} & {(128, 128), (128, 192)} == {(128, 192)}
    for spec in (MatmulSpec.of(s8, layout=Layout.NT), MatmulSpec(Layout.NT, promote=64)):
        assert not any(tiling.split > 1 or tiling.stream for tiling in menu_for(spec, "sm_90a", DEEP))


def test_swapped_tiles_take_the_shared_memory_that_the_menu_counts() -> None:
    for tiling in menu_for(SPEC, "sm_90a", Sizes(128, 4096, 4096)):
        if tiling.swap and tiling.drain and tiling.cluster == (1, 1) and tiling.workers is sms:
            held = shared_bytes(SPEC, tiling, tiling.depth, by_groups=True)
            assert derive(plan_of(SPEC, "sm_90a", tiling)).program.shared_bytes <= held, tiling
            break
    else:
        pytest.fail("no swapped tiles")


@pytest.mark.slow
@pytest.mark.parametrize("kind", FURTHER)
@pytest.mark.parametrize("spec", (SPEC, *SPECS), ids=str)
def test_all_further_kinds_are_derived_in_other_products(spec: MatmulSpec, kind: str) -> None:
    sizes, belongs = FURTHER[kind]
    offered = [tiling for tiling in menu_for(spec, "sm_90a", sizes) if belongs(tiling)]
    chance = np.random.default_rng(13)
    for tiling in chance.permutation(np.array(offered, dtype=object))[:8]:
        assert derivable(spec, "sm_90a", tiling), tiling


@pytest.mark.slow
@pytest.mark.parametrize("target", ("sm_90a", "sm_90", "sm_80", "sm_70"))
def test_everything_that_the_menu_offers_is_derived(target: str) -> None:
    for tiling in menu_for(SPEC, target, Sizes(4096, 4096, 4096)):
        assert derivable(SPEC, target, tiling), tiling


@pytest.mark.parametrize("target", ("sm_90a", "sm_90", "sm_80"))
@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_menus_of_other_products(spec: MatmulSpec, target: str) -> None:
    if spec.input is e4m3 and target == "sm_80":
        pytest.skip("no products of e4m3 there")
    offered = menu_for(spec, target, Sizes(4096, 4096, 4096))
    assert len(offered) >= 10
    chance = np.random.default_rng(3)
    for place in chance.choice(len(offered), 2, replace=False):
        assert derivable(spec, target, offered[place]), offered[place]


@pytest.mark.parametrize("spec", (SPEC, *SPECS), ids=str)
def test_menus_of_few_rows(spec: MatmulSpec) -> None:
    offered = [tiling for tiling in menu_for(spec, "sm_90a", Sizes(16, 8192, 8192)) if tiling.swap]
    assert len(offered) >= 10
    chance = np.random.default_rng(5)
    for place in chance.choice(len(offered), 3, replace=False):
        assert derivable(spec, "sm_90a", offered[place]), offered[place]


@pytest.mark.slow
@pytest.mark.parametrize("target", ("sm_90a", "sm_90"))
@pytest.mark.parametrize("spec", (SPEC, *SPECS), ids=str)
def test_what_is_chosen_does_not_spill(spec: MatmulSpec, target: str, ptxas: object) -> None:
    """No loop that multiplies touches the thread's own memory; what is kept there from item to item is few words."""
    row = processor_for(90)
    shapes = (Sizes(16, 4096, 4096), Sizes(512, 512, 512), Sizes(1024, 4096, 1024), Sizes(8192, 8192, 8192))
    for tiling in {chosen_tiling(spec, target, sizes, row) for sizes in shapes}:
        kernel = generate(plan_of(spec, target, tiling))
        cubin = kernel.assembled()
        assert cubin.spills <= FEW_BYTES, f"{tiling}: {cubin.spills} bytes"
        if cubin.spills:
            inner = multiplying(sass(cubin)[kernel.entry.name])
            assert inner
            assert not any(loop.count(opcode) for loop in inner for opcode in SPILLS), f"{tiling}: in its main loop"


def multiplying(function: SassFunction) -> list[SassLoop]:
    """The innermost loops with products: of those around a product the shortest, as code that waits stands behind all
    else and branches back into loops."""
    loops = function.loops()
    found: dict[int, SassLoop] = {}
    for each in function.instructions:
        around = [loop for loop in loops if loop.first <= each.address <= loop.last]
        if around and any(each.has_opcode(opcode) for opcode in PRODUCTS):
            shortest = min(around, key=lambda loop: loop.last - loop.first)
            found[shortest.first] = shortest
    return [loop for loop in found.values() if not any(loop.holds(other) for other in found.values())]


def drawn(chance: np.random.Generator) -> MatmulTiling:
    """Any tiling of warpgroups, most of them illegal."""
    i, j = (int(chance.choice(each)) for each in ((64, 128), (16, 32, 64, 128, 256)))
    return MatmulTiling(
        i, j, int(chance.choice((8, 16, 32, 64, 128))), warps=i // 16, depth=int(chance.integers(1, 9)), isolate=False,
        raster=grouped(8), workers=sms if chance.integers(2) else None,
        cluster=((1, 1), (1, 1), (2, 1), (4, 2), (1, 4))[chance.integers(5)], drain=int(chance.choice((0, 16, 32, 64))),
    )  # fmt: skip


def test_the_predicate_agrees_with_derivation() -> None:
    chance = np.random.default_rng(11)
    seen = {True: 0, False: 0}
    while min(seen.values()) < 12:
        tiling = drawn(chance)
        legal = is_legal(SPEC, "sm_90a", tiling)
        seen[legal] += 1
        if seen[legal] <= 12:
            assert derivable(SPEC, "sm_90a", tiling) == legal, tiling


def test_a_product_takes_the_plan_chosen_for_its_shape_and_its_own_where_it_has_one() -> None:
    def arrays(m: int, n: int, k: int) -> dict[str, View]:
        shapes = {"A": (m, k), "B": (n, k)}
        half = {name: outline(DTYPES[f16], shape) for name, shape in shapes.items()}
        return {**half, "bias": outline(DTYPES[f32], (n,))}

    product_ = Matmul(SPEC, "sm_90a")
    small, large = arrays(64, 64, 64), arrays(8192, 8192, 8192)
    wide, narrow = product_.fitted(large).tiled, product_.fitted(small).tiled
    assert narrow.i * narrow.j < 128 * 192 <= wide.i * wide.j * wide.units
    assert product_.fitted(small) is product_.fitted(arrays(64, 64, 64))
    own = evolve(default_tiling(SPEC, "sm_90a"), depth=3)
    assert Matmul(SPEC, "sm_90a", own).fitted(small).tiled == own
    assert Matmul(SPEC, "sm_70").fitted(small).tiled == default_tiling(SPEC, "sm_70")
    odd = product_.fitted(arrays(8192, 8191, 8191)).tiled
    assert odd.workers is None, "operands that no tensor map tells of are multiplied by warps"
