"""Seeded faults: each is a finding of the right kind or changes the result, or is known to be none."""

import numpy as np
import pytest
from attrs import evolve

from isa.types import f32, u32
from ptxgen.build import Module, pointer
from ptxgen.kernels import Matmul, MatmulSpec
from ptxgen.simulate import simulate
from tests.simulate.mutants import mutants

KINDS = {
    "drop barrier": {"race.shared", "race.global"},
    "drop wait": {"async.shared"},
    "weaken wait": {"async.shared"},
    "drop commit": {"async.shared"},
    "drop guard": {"memory.bounds", "race.global", "race.shared", "uninitialised.shared"},
    "break alignment": {"memory.misaligned"},
    "move far away": {"memory.bounds"},
    "drop write": {"uninitialised.shared"},
    "move bound": {"memory.bounds", "race.shared", "uninitialised.shared", "race.global"},
}


def reduction():
    """A tree in shared memory; the last rounds keep their barrier."""
    module = Module("sm_70")
    with module.kernel("reduce", source=pointer(f32), out=pointer(f32)) as k:
        tile = k.shared(f32, (128,))
        offset = k.mul.lo.u32(k.tid.x, 4)
        mine = k.add.u32(k.mov.u32(tile), offset)
        wide = k.mul.wide.u32(k.tid.x, 4)
        k.st.shared.f32(mine, k.ld.global_.f32(k.add.s64(k.args.source, wide)))
        k.bar.sync(0)
        for step in (64, 32, 16, 8, 4, 2, 1):
            with k.when(k.setp.lt.u32(k.tid.x, step)):
                k.st.shared.f32(mine, k.add.f32(k.ld.shared.f32(mine), k.ld.shared.f32(mine + 4 * step)))
            k.bar.sync(0)
        with k.when(k.setp.eq.u32(k.tid.x, 0)):
            k.st.global_.f32(k.args.out, k.ld.shared.f32(mine))
    source, out = np.arange(128, dtype=np.float32), np.zeros(1, np.float32)
    return module.build(), (1, 128, (source, out)), out


def transpose():
    """Two tiles one after the other through the same shared memory."""
    module = Module("sm_70")
    with module.kernel("transpose", source=pointer(u32), out=pointer(u32)) as k:
        tile = k.shared(u32, (8, 8))
        start = k.mov.u32(tile)
        row, column = k.shr.u32(k.tid.x, 3), k.and_.b32(k.tid.x, 7)
        there = k.add.u32(start, k.mul.lo.u32(k.tid.x, 4))
        turned = k.add.u32(start, k.mul.lo.u32(k.mad.lo.u32(column, 8, row), 4))
        wide = k.mul.wide.u32(k.tid.x, 4)
        source, out = k.add.s64(k.args.source, wide), k.add.s64(k.args.out, wide)
        for part in range(2):
            k.st.shared.u32(there, k.ld.global_.u32(source + 256 * part))
            k.bar.sync(0)
            k.st.global_.u32(out + 256 * part, k.ld.shared.u32(turned))
            if part == 0:
                k.bar.sync(0)
    source, out = np.arange(128, dtype=np.uint32), np.zeros(128, np.uint32)
    return module.build(), (1, 64, (source, out)), out


def bounded():
    """A sum of two arrays whose length is no multiple of the block."""
    module = Module("sm_70")
    with module.kernel("bounded", a=pointer(f32), b=pointer(f32)) as k:
        thread = k.mad.lo.u32(k.ctaid.x, k.ntid.x, k.tid.x)
        wide = k.mul.wide.u32(thread, 4)
        a, b = k.add.s64(k.args.a, wide), k.add.s64(k.args.b, wide)
        with k.guard(k.setp.lt.u32(thread, 100)):
            left = k.ld.global_.f32(a, into=k.register(f32))
            right = k.ld.global_.f32(b, into=k.register(f32))
            k.st.global_.f32(a, k.add.f32(left, right, into=k.register(f32)))
    a, b = np.arange(100, dtype=np.float32), np.ones(100, np.float32)
    return module.build(), (2, 64, (a, b)), a


def pipeline():
    """Three tiles through two stages of shared memory, copied while the one before is read."""
    module = Module("sm_80")
    with module.kernel("pipeline", source=pointer(u32), out=pointer(u32)) as k:
        tile = k.shared(u32, (2, 64), align=16)
        mine = k.add.u32(k.mov.u32(tile), k.mul.lo.u32(k.tid.x, 4))
        other = k.add.u32(k.mov.u32(tile), k.xor.b32(k.mul.lo.u32(k.tid.x, 4), 128))
        wide = k.mul.wide.u32(k.tid.x, 4)
        source, out = k.add.s64(k.args.source, wide), k.add.s64(k.args.out, wide)

        def fetch(part: int) -> None:
            k.emit("cp.async.ca.shared.global", mine + 256 * (part % 2), source + 256 * part, 4)
            k.emit("cp.async.commit_group")

        fetch(0)
        fetch(1)
        for part in range(3):
            k.emit("cp.async.wait_group", 1 if part < 2 else 0)
            k.bar.sync(0)
            k.st.global_.u32(out + 256 * part, k.ld.shared.u32(other + 256 * (part % 2)))
            if part == 0:
                k.bar.sync(0)
                fetch(2)
    source, out = np.arange(192, dtype=np.uint32), np.zeros(192, np.uint32)
    return module.build(), (1, 64, (source, out)), out


# faults that change nothing, by kernel: how many of each kind, and why
EQUIVALENT: dict[str, dict[str, int]] = {
    "reduction": {"drop barrier": 1},  # behind the last one thread 0 reads what it wrote itself
}


@pytest.mark.parametrize("kernel", [reduction, transpose, bounded, pipeline])
def test_every_fault_is_found(kernel):
    module, (grid, block, args), out = kernel()
    clean = [each.copy() for each in args]
    place = [each is out for each in args].index(True)
    given = clean
    for seed in (None, *range(20)):
        given = [each.copy() for each in clean]
        simulate(module, grid=grid, block=block, args=given, seed=seed).raise_findings()
    wanted = given[place]
    survivors: dict[str, list[tuple[int, str]]] = {}
    for mutant in mutants(module):
        given = [each.copy() for each in clean]
        report = simulate(mutant.module, grid=grid, block=block, args=given)
        right = {finding.code for finding in report.findings} & KINDS[mutant.operation]
        if not right and (report.findings or (given[place] == wanted).all()):
            survivors.setdefault(mutant.operation, []).append((mutant.statement, mutant.text))
    assert {kind: len(each) for kind, each in survivors.items()} == EQUIVALENT.get(kernel.__name__, {}), survivors


def derived_product():
    """The derived matrix product of 128 x 128 x 96, three rounds of its loop, and its arrays."""
    arrays = {name: np.random.default_rng(each).integers(-4, 5, (96 if name == "B" else 128, 128)).astype(np.float16)
              for each, name in enumerate("AB")}  # fmt: skip
    arrays["A"] = np.ascontiguousarray(arrays["A"][:, :96])
    made = Matmul(MatmulSpec())
    whole = made.with_outputs(arrays)
    return made.kernel_for(whole), whole


def judged(kernel, arrays, module):
    """The report of a run of another module in the kernel's place, and what it computed."""
    given = {name: each.copy() for name, each in arrays.items()}
    return evolve(kernel, module=module).simulate(given), given["D"]


@pytest.mark.parametrize("operations", [
    ("drop barrier",), pytest.param(tuple(KINDS), marks=pytest.mark.slow),
], ids=["barriers", "all"])  # fmt: skip
def test_faults_in_the_derived_product(operations):
    kernel, arrays = derived_product()
    clean, wanted = judged(kernel, arrays, kernel.module)
    clean.raise_findings()
    exact = arrays["A"].astype(np.float64) @ arrays["B"].astype(np.float64)
    assert np.array_equal(wanted.astype(np.float64), exact)
    ran = {each.index for each in clean.statements if each.count.warps}
    chosen = [each for each in mutants(kernel.module) if each.operation in operations and each.statement in ran]
    assert chosen
    for mutant in chosen:
        report, made = judged(kernel, arrays, mutant.module)
        found = {finding.code for finding in report.findings}
        told = found & KINDS[mutant.operation] or (not found and not np.array_equal(made, wanted))
        unreached = mutant.operation == "move bound" and not found  # these sizes do not come near every bound
        assert told or unreached, (mutant.operation, mutant.statement, mutant.text, found)
