"""Bank conflicts, passes, requests and sectors against the counters of Nsight Compute, on kernels written by hand and
derived."""

import csv
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from ptxgen import Report
from tests.device.counted import Counted, cases

ROOT = Path(__file__).resolve().parents[2]


@frozen
class Counter:
    """What a counter counts: `of` the traffic of each statement with one of these opcodes."""

    space: str
    opcodes: tuple[str, ...]
    of: Callable[[Any], int]

    def told(self, report: Report) -> int:
        """What the simulator says that it is."""
        sites = report.shared_sites if self.space == "shared" else report.global_sites
        own = (each for each in sites if each.instruction.form.opcode in self.opcodes)
        return sum(self.of(getattr(each, self.space)) for each in own)


def passes(traffic: Any) -> int:
    return int(traffic.passes)


def conflicts(traffic: Any) -> int:
    return int(traffic.conflicts)


def requests(traffic: Any) -> int:
    return int(traffic.requests)


def sectors(traffic: Any) -> int:
    return int(traffic.sectors)


FROM_GLOBAL = ("ld", "cp.async")
COUNTERS = {
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum": Counter("shared", ("ld", "ldmatrix"), passes),
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum": Counter("shared", ("st",), passes),
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum": Counter("shared", ("ld",), conflicts),
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum": Counter("shared", ("st",), conflicts),
    "smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_ldsm.sum": Counter("shared", ("ldmatrix",), conflicts),
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": Counter("global_", FROM_GLOBAL, requests),
    "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum": Counter("global_", ("st",), requests),
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": Counter("global_", FROM_GLOBAL, sectors),
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum": Counter("global_", ("st",), sectors),
}


def profiled() -> list[dict[str, int]]:
    """The counters of each launch of `counted`, in order."""
    command = ["ncu", "--clock-control", "none", "--csv", "--page", "raw", "--metrics", ",".join(COUNTERS)]
    done = subprocess.run(
        [*command, sys.executable, "-m", "tests.device.counted"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr + done.stdout
    rows = list(csv.reader(line for line in done.stdout.splitlines() if line.startswith('"')))
    place = {name: rows[0].index(name) for name in COUNTERS}
    return [{name: int(row[at].replace(",", "")) for name, at in place.items()} for row in rows[2:]]


CASES = cases()


@pytest.fixture(scope="module")
def counters() -> list[dict[str, int]]:
    if shutil.which("ncu") is None:
        pytest.skip("there is no ncu")
    found = profiled()
    assert len(found) == len(CASES)
    return found


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_the_profiler_counts_the_same(case: Counted, counters: list[dict[str, int]]) -> None:
    report = case.simulated()
    assert {name: counter.told(report) for name, counter in COUNTERS.items()} == counters[CASES.index(case)]
