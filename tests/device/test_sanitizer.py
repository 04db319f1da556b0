"""What compute-sanitizer says of products: nothing, after it has found the faults put into the same kernels."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ptxgen.runtime import compute_capability
from tests.device.sanitized import PLANS

ROOT = Path(__file__).parents[2]
SANITIZER = shutil.which("compute-sanitizer") or shutil.which("compute-sanitizer", path="/usr/local/cuda/bin")
TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
SEEDED = (
    ("warps", "beyond", "memcheck"),
    ("warps", "askew", "memcheck"),
    ("registers", "unmet", "racecheck"),
    ("drained warps", "unmet", "racecheck"),
    ("warpgroups", "beyond", "memcheck"),
    ("clusters", "askew", "memcheck"),
)
FOUND, CLEAN = 9, 0


@pytest.fixture(autouse=True)
def hopper() -> None:
    if SANITIZER is None:
        pytest.skip("compute-sanitizer is not installed")
    if compute_capability()[0] != 9:
        pytest.skip("the plans are for devices of capability 9")


def looked_at(tool: str, *case: str) -> tuple[int, str]:
    """The exit status under a tool, and what it printed."""
    options = ["--tool", tool, "--error-exitcode", str(FOUND), "--target-processes", "all"]
    command = [str(SANITIZER), *options, sys.executable, "-m", "tests.device.sanitized", *case]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(("plan", "fault", "tool"), SEEDED)
def test_a_fault_is_found(plan: str, fault: str, tool: str) -> None:
    status, printed = looked_at(tool, plan, fault)
    assert status != CLEAN, printed
    assert "ERROR SUMMARY: 0 errors" not in printed, printed
    assert "ERROR SUMMARY" in printed or "RACECHECK SUMMARY" in printed, printed


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("plan", list(PLANS))
def test_nothing_is_found(plan: str, tool: str) -> None:
    status, printed = looked_at(tool, plan)
    assert status == CLEAN, printed
