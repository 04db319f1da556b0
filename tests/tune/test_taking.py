"""Each process has a GPU of those that its parent was given, judged by what a process finds in its environment."""

from __future__ import annotations

import os
from typing import Any

import pytest

from ptxgen.cli.pools import gpus
from ptxgen.tune.taking import visible

CASES = (
    ("4,5", ["4", "5"]),
    (" 6 , 2", ["6", "2"]),
    ("GPU-8932f937-d72c-4106-c12f-20bd9faed9f6,GPU-1", ["GPU-8932f937-d72c-4106-c12f-20bd9faed9f6", "GPU-1"]),
    ("MIG-GPU-8932f937/1/0,MIG-b6c33bd4", ["MIG-GPU-8932f937/1/0", "MIG-b6c33bd4"]),
    ("3,4,-1,5", ["3", "4"]),
    (None, ["0", "1"]),
)


@pytest.mark.parametrize("inherited, wanted", CASES, ids=lambda case: str(case))
def test_names_are_those_of_the_list_that_was_inherited(inherited: str | None, wanted: list[str]) -> None:
    """The driver shows two devices: it stops at the first entry that is none."""
    assert list(visible(2, inherited)) == wanted


@pytest.mark.parametrize("inherited, wanted", CASES[:1] + CASES[-1:], ids=str)
def test_processes_share_out_what_was_inherited(monkeypatch: Any, inherited: str | None, wanted: list[str]) -> None:
    monkeypatch.setattr("ptxgen.cli.pools.device_count", lambda: 2)
    if inherited is None:
        monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    else:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", inherited)
    with gpus() as pool:
        asked = [pool.submit(os.getenv, "CUDA_VISIBLE_DEVICES") for _ in range(40)]
        found = {each.result() for each in asked}
    assert found
    assert found <= set(wanted)
    assert os.environ.get("CUDA_VISIBLE_DEVICES") == inherited
