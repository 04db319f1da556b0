"""The codes of findings: each has a meaning, which `explain` tells."""

import ast
import re
from pathlib import Path

import pytest

from ptxgen.cli import main
from ptxgen.simulate.codes import CODES

ROOM = Path(__file__).resolve().parents[2] / "ptxgen" / "simulate"
SPACES = ("shared", "global", "local", "const")


def codes_in_the_source() -> set[str]:
    """The first argument of each call that reports a finding; of f-strings with a space, what its spaces make."""
    found: set[str] = set()
    for path in ROOM.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "fault"):
                continue
            match node.args[0] if node.args else None:
                case ast.Constant(value=str(code)):
                    found.add(code)
                case ast.JoinedStr(values=[ast.Constant(value=str(start)), *_]):
                    found.update(f"{start}{space}" for space in SPACES[:2])
    return found


def test_every_code_has_a_meaning():
    found = codes_in_the_source()
    assert {"deadlock", "trap", "assert", "race.shared", "mbarrier.count", "heap.free"} <= found
    assert found - CODES.keys() == set()


def test_the_readme_lists_those_that_there_are():
    text = (ROOM / "README.md").read_text().partition("Finding codes:")[2].partition("A finding has")[0]
    listed: set[str] = set()
    for code in re.findall(r"`([a-z_.]+(?:\{[a-z_,]+\})?)`", text):
        start, _, rest = code.partition("{")
        listed.update(f"{start}{end}" for end in (rest.rstrip("}").split(",") if rest else [""]))
    assert listed - {"fence.proxy.async"} - CODES.keys() == set()
    assert CODES.keys() - listed <= {"uninitialised.const"}


@pytest.mark.parametrize("code", ["race.shared", "barrier.divergent", "heap.free", "mbarrier.transactions"])
def test_explain_tells_them(code: str, capsys: pytest.CaptureFixture[str]):
    assert main(["explain", code]) == 0
    assert capsys.readouterr().out.strip() == f"{code}: {CODES[code]}"
    assert main(["explain", code, "--json"]) == 0
    assert CODES[code] in capsys.readouterr().out
