"""Launches that overlap wait for those ahead: the proof and the tile machine each find where one does not."""

import numpy as np
import pytest
from attrs import evolve

from ptxgen.errors import PlanError
from ptxgen.kernels import Layout, Matmul, MatmulSpec, MatmulTiling
from ptxgen.prove.launches import launch_faults
from ptxgen.tile import GridRelease, GridWait
from ptxgen.tile.machine import MachineFault, run

WARPS = MatmulTiling(i=32, j=32, k=16, warps=1, depth=2, isolate=False, overlap=True)
WARPGROUPS = MatmulTiling(i=64, j=32, k=64, warps=4, depth=2, isolate=False, overlap=True)
CASES = [("sm_90", WARPS), ("sm_90a", WARPGROUPS), ("sm_90a", evolve(WARPGROUPS, workers=1)),
         ("sm_90a", evolve(WARPGROUPS, cluster=(2, 1)))]  # fmt: skip


def program_of(target, tiling):
    rng = np.random.default_rng(1)
    arrays = {"A": rng.standard_normal((40, 72)), "B": rng.standard_normal((48, 72))}
    product = Matmul(MatmulSpec(Layout.NT), target, tiling)
    whole = product.with_outputs({name: value.astype(np.float16) for name, value in arrays.items()})
    return product.kernel_for(whole), whole


@pytest.mark.parametrize(("target", "tiling"), CASES, ids=str)
def test_all_threads_wait_before_they_touch_memory(target, tiling):
    kernel, _ = program_of(target, tiling)
    assert kernel.program.overlapped
    assert kernel.entry.overlapped
    assert kernel.program.enter[-2:] == (GridRelease(), GridWait())
    lines = kernel.listing.text.splitlines()
    waits = [place for place, line in enumerate(lines) if "griddepcontrol.wait" in line]
    touching = ("ld.global", "st.global", "cp.async")
    assert len(waits) == 1
    assert not any(word in line for line in lines[: waits[0]] for word in touching)
    assert any(word in line for line in lines[waits[0] :] for word in touching)


@pytest.mark.parametrize(("target", "tiling"), CASES[:3], ids=str)
def test_a_program_without_the_wait_is_refused_by_the_proof_and_by_the_machine(target, tiling):
    kernel, arrays = program_of(target, tiling)
    program = kernel.program
    sizes = {"M": 40, "N": 48, "K": 72, "lda": 72, "ldb": 72, "ldd": 48}
    memory = {name: np.array(value) for name, value in arrays.items()}
    run(program, memory, sizes, workers=1)
    hasty = evolve(program, enter=program.enter[:-1])
    assert [found.code for found in launch_faults(hasty)] == ["synchronisation.launch"]
    with pytest.raises(MachineFault, match="before the grids ahead have ended"):
        run(hasty, memory, sizes, workers=1)


def test_what_serves_nothing_is_refused():
    program = program_of("sm_90", WARPS)[0].program
    assert not list(launch_faults(program))
    twice = evolve(program, enter=(*program.enter, GridWait()))
    assert [found.code for found in launch_faults(twice)] == ["synchronisation.needless"]
    alone = evolve(program, overlapped=False)
    assert [found.code for found in launch_faults(alone)] == ["synchronisation.needless", "synchronisation.launch"]


def test_a_target_without_overlapping_launches():
    with pytest.raises(PlanError, match="overlap=True: sm_80 has no launches that overlap"):
        Matmul(MatmulSpec(Layout.NT), "sm_80", WARPS).kernel()
