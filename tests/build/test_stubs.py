"""The stub is what the rows say now, and a type checker sees by it what `dir` shows."""

import random
import subprocess
import sys
from pathlib import Path

import pytest

from isa.forms import continuations
from ptxgen.build.stubs import STUB, Names, names, stub

PROGRAM = """
from ptxgen.build import Kernel, sink
def write(k: Kernel) -> None:
    k.ld.shared.v4.f32(1)
    k.mad.lo.u32(1, 2, 3, into=None)
    k.cp.async_.bulk.commit_group()
    k.bar.sync(0)
    k.add.u32(k.tid.x, 1)
    k.ld.shared.v5.f32(1)  # "v5"
    k.nonsense.u32(1)  # "nonsense"
    k.ld.shared()  # not callable
    k.tid.w  # "w"
    x = k.add.u32(k.tid.x, 7)
    k.ld.shared.v4.f32(x + 16, into=(x, x, sink, x))
    k.st.global_.v2.f32(x, (x, 1.0))
    k.mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32((x, x), [x, x], (x,) * 8)
    k.add.u32("x", 1)  # incompatible type "str"
    k.add.u32(None, 1)  # incompatible type "None"
    k.ld.shared.f32(k)  # incompatible type "Kernel"
    k.mov.u32(1, into=3)  # incompatible type "int"
"""


@pytest.fixture(scope="module")
def known() -> Names:
    return names()


def test_the_stub_is_made_from_the_rows() -> None:
    assert STUB.read_text() == stub(), "the rows have changed: python -m ptxgen.build.stubs"


def test_it_says_what_the_rows_continue_with(known: Names) -> None:
    drawn = random.Random(0)
    assert tuple(word for word, _ in known.first) == continuations(())
    for _ in range(300):
        words: tuple[str, ...] = ()
        while (further := known.following(words)) and (word := drawn.choice(further)):
            words = (*words, word)
            assert tuple(known.following(words)) == continuations(words), words


def test_a_type_checker_reads_it(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    source = tmp_path / "written.py"
    source.write_text(PROGRAM)
    command = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--follow-imports=silent", str(source)]
    root = Path(__file__).parents[2]
    done = subprocess.run(command, capture_output=True, text=True, cwd=root, check=False)
    said = {
        int(line.split(":")[1]): line
        for line in done.stdout.splitlines()
        if line.startswith(str(source)) or ": error" in line
    }
    wanted = {number: line.split("# ")[1] for number, line in enumerate(PROGRAM.split("\n"), 1) if "# " in line}
    assert said.keys() == wanted.keys(), done.stdout
    assert all(words in said[number] for number, words in wanted.items()), done.stdout
