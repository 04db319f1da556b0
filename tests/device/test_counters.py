"""Bank conflicts, passes, requests and sectors against the counters of Nsight Compute, on kernels written by hand and
derived."""

import csv
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ptxgen import Report
from tests.device.counted import Counted, cases

ROOT = Path(__file__).resolve().parents[2]
SHARED, GLOBAL = "l1tex__data_{}_pipe_lsu_mem_shared_op_{}.sum", "l1tex__t_{}_pipe_lsu_mem_global_op_{}.sum"
WAVEFRONTS = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"
METRICS = {
    **{(WAVEFRONTS.format(op)): ("shared", op, "passes") for op in ("ld", "st")},
    **{SHARED.format("bank_conflicts", op): ("shared", op, "conflicts") for op in ("ld", "st")},
    **{GLOBAL.format(what, op): ("global_", op, what) for what in ("requests", "sectors") for op in ("ld", "st")},
}
# Which statements each counter sees: copies past the registers load from global memory, and are no stores to shared.
OPCODES = {
    ("shared", "ld"): ("ld", "ldmatrix"),
    ("shared", "st"): ("st",),
    ("global_", "ld"): ("ld", "cp.async"),
    ("global_", "st"): ("st",),
}


def profiled() -> list[dict[str, int]]:
    """The counters of each launch of `counted`, in order."""
    command = ["ncu", "--clock-control", "none", "--csv", "--page", "raw", "--metrics", ",".join(METRICS)]
    done = subprocess.run(
        [*command, sys.executable, "-m", "tests.device.counted"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr + done.stdout
    rows = list(csv.reader(line for line in done.stdout.splitlines() if line.startswith('"')))
    place = {name: rows[0].index(name) for name in METRICS}
    return [{name: int(row[at].replace(",", "")) for name, at in place.items()} for row in rows[2:]]


def told(report: Report, space: str, op: str, what: str) -> int:
    """What the simulator counted of it."""
    traffic = [
        getattr(statement, space)
        for statement in (report.shared_sites if space == "shared" else report.global_sites)
        if statement.instruction.form.opcode in OPCODES[space, op]
    ]
    return sum(getattr(each, what) for each in traffic)


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
    measured = counters[CASES.index(case)]
    assert {name: told(report, *what) for name, what in METRICS.items()} == measured
