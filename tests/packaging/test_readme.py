"""The README's example, taken from its text: it runs, and ptxas takes what it prints."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ptxgen.cli import main
from ptxgen.runtime import assemble

README = (Path(__file__).resolve().parents[2] / "README.md").read_text()


@pytest.mark.usefixtures("ptxas")
def test_the_example_prints_ptx_that_assembles_and_runs(capsys: pytest.CaptureFixture[str]) -> None:
    written, simulated, _, called = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    names: dict[str, Any] = {}
    exec(compile(written, "README.md", "exec"), names)
    cubin = assemble(capsys.readouterr().out)
    assert [each.name for each in cubin.kernels["scale"]] == ["a", "s", "n"]
    assert cubin.spills == 0
    exec(compile(simulated, "README.md", "exec"), names)
    assert np.array_equal(names["a"], 2 * np.arange(1000, dtype=np.float32))
    assert "st.global.f32" in capsys.readouterr().out
    exec(compile(called, "README.md", "exec"), names)
    assert np.abs(names["product"] - np.maximum(names["left"].astype(float) @ names["right"], 0)).max() < 2e-2


def test_the_commands_stand_in_the_readme(capsys: pytest.CaptureFixture[str]) -> None:
    """Two commands set up everything; the third block is one to look into a derivation, and prints it."""
    shell = re.findall(r"```sh\n(.*?)```", README, re.DOTALL)
    assert "pip install -e '.[ptxas]' && .venv/bin/ptxgen matmul" in shell[0]
    assert ".venv/bin/pytest" in shell[1]
    assert all(len(block.splitlines()) == 1 for block in shell[:2])
    assert main(shell[2].split()[1:] + ["--run", "none"]) == 0
    assert "== tile program ==" in capsys.readouterr().out
