"""What ptxas takes without a word and `verify` finds, each fault on its line; and the like of it that is right."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from isa.targets import version
from ptxgen.errors import Finding
from ptxgen.parse import parse, read
from ptxgen.verify import CODES, verify
from tests.oracles.ptxas import NEW, OLD, judges, verdict
from tests.verify.fault_cases import MARK, FaultCase, fault_cases

REFUSING = {"": (), "loud": (OLD, NEW), "newly": (NEW,), "formerly": (OLD,)}
TESTS = Path(__file__).parents[1]
CASES = {case.name: case for case in fault_cases()}
FAULTY = [case for case in CASES.values() if case.code != "none"]
TRUE_OF_COMPILED = {"fifth_generation": {"tcgen05.wait"}}  # written to be read: it loads a product before its barrier
FOLDERS = ("parse/data", "simulate/foreign/cuda", "simulate/foreign/triton", "verify/compiled")
COMPILED = sorted(path for folder in FOLDERS for path in (TESTS / folder).glob("*.ptx"))


def said_of(case: FaultCase) -> tuple[Finding, ...]:
    """What the reader and the verifier say of a case."""
    reading = read(case.text, file="k.ptx")
    return (*reading.findings, *verify(reading.module))


def fits(words: str, message: str) -> bool:
    """True if every word, in order, stands in what was said."""
    return re.search(".*".join(map(re.escape, words.split())), message, re.DOTALL) is not None


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_the_guilty_line_carries_the_words(case: FaultCase) -> None:
    by_line: dict[int, list[Finding]] = {}
    for finding in said_of(case):
        assert finding.origin is not None, finding
        by_line.setdefault(finding.origin.line, []).append(finding)
    assert by_line.keys() == case.expected.keys(), [str(each) for found in by_line.values() for each in found]
    for line, words in case.expected.items():
        assert len(words) == len(by_line[line]), by_line[line]
        for wanted, finding in zip(words, by_line[line], strict=True):
            assert fits(wanted, finding.message), f"{finding.message!r} lacks {wanted!r}"
    assert (case.code == "none") is not any(each.code == case.code for found in by_line.values() for each in found)


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_ptxas_says_nothing_or_refuses_it_too(case: FaultCase) -> None:
    able = judges(version(case.version), case.target)
    if not able:
        pytest.skip("no ptxas that knows the target is installed")
    for wheel in able:
        judged = verdict(case.text, case.target, wheel)
        assert judged.ok is (wheel not in REFUSING[case.refused]), judged.messages


def test_names_of_cases_are_different() -> None:
    assert len(CASES) == len(fault_cases())
    assert all(MARK in case.text for case in FAULTY)


def test_many_kinds_are_found() -> None:
    kinds = {case.code for case in FAULTY if not case.refused}
    assert len(FAULTY) > 100
    assert len(kinds) >= 40
    assert {case.code for case in FAULTY} <= CODES.keys()


@pytest.mark.parametrize("path", COMPILED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_nothing_is_wrong_with_what_compilers_write(path: Path) -> None:
    found = verify(parse(path.read_text()))
    assert {finding.code for finding in found} == TRUE_OF_COMPILED.get(path.stem, set()), found
