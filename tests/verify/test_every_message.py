"""Every code has a case on its line, and every sentence in the sources of the verifier is said by some case."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from ptxgen.verify import CODES
from tests.errors.guilty import cases
from tests.verify.fault_cases import fault_cases
from tests.verify.test_silent import said_of
from tests.verify.test_verify import said_of_nodes

SOURCES = Path(__file__).parents[2] / "ptxgen" / "verify"
BUILDER = sorted((Path(__file__).parents[1] / "errors").glob("*_cases.txt"))
FEW_WORDS = 3


def sentences(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The literals of several words that are no docstrings: line and pattern, with `.*` for what is filled in."""
    skipped = {id(each.value) for each in ast.walk(tree) if isinstance(each, ast.Expr)}
    inside = {id(part) for each in ast.walk(tree) if isinstance(each, ast.JoinedStr) for part in each.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts = [each.value if isinstance(each, ast.Constant) else None for each in node.values]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped | inside:
            parts = [node.value]
        else:
            continue
        if sum(len(str(part).split()) for part in parts if part is not None) >= FEW_WORDS:
            yield node.lineno, ".*".join("" if part is None else re.escape(str(part)) for part in parts)


def all_sentences() -> list[tuple[str, int, str]]:
    found = []
    for path in sorted(SOURCES.glob("*.py")):
        if path.name not in ("allowed.py", "codes.py", "versions.py"):
            found += [(path.name, line, pattern) for line, pattern in sentences(ast.parse(path.read_text()))]
    return found


@pytest.fixture(scope="module")
def said() -> str:
    findings = [finding for case in fault_cases() for finding in said_of(case)]
    return "\n".join([*(each.message for each in findings), *said_of_nodes()])


@pytest.mark.parametrize("name, line, pattern", all_sentences(), ids=lambda each: str(each)[:40])
def test_the_sentence_is_said(name: str, line: int, pattern: str, said: str) -> None:
    assert re.search(pattern, said), f"{name}:{line}: no case says {pattern!r}"


def words_by_code() -> dict[str, list[str]]:
    """The words that cases want of a code on a line, of PTX and of the builder's."""
    found: dict[str, list[str]] = {}
    for case in fault_cases():
        for words in case.expected.values():
            found.setdefault(case.code, []).extend(words)
    for path in BUILDER:
        for given in cases(path):
            for wanted in given.expected().values():
                for each in wanted:
                    begin, _, code = each.rpartition("[")
                    found.setdefault(code.rstrip("]"), []).append(begin.strip())
    return found


@pytest.mark.parametrize("code", CODES)
def test_the_code_has_a_case_with_words(code: str) -> None:
    assert any(words_by_code().get(code, [])), f"{code}: no case in tests/verify/faults or tests/errors"
