"""Every error of the builder and the verifier stands on the user's line with the expected words."""

import re
from pathlib import Path

import pytest

import isa.types
from ptxgen.build import pointer
from ptxgen.verify.codes import CODES
from tests.errors.guilty import Case, cases, findings_of, fits

FOLDER = Path(__file__).parent
FILES = sorted(FOLDER.glob("*_cases.txt"))
ALL = [(path, case) for path in FILES for case in cases(path)]
TYPES = {each.name: each for each in isa.types.TYPES}


@pytest.mark.parametrize("path, case", ALL, ids=[case.name.replace(" ", "-") for _, case in ALL])
def test_the_guilty_line_carries_the_words(path: Path, case: Case) -> None:
    said = findings_of(case, path, pointer=pointer, **TYPES)
    expected = case.expected()
    assert said.keys() == expected.keys(), said
    for line, words in expected.items():
        assert len(said[line]) == len(words), said[line]
        for wanted, message in zip(words, said[line], strict=True):
            assert fits(wanted, message), f"{message!r} lacks {wanted!r}"


def test_the_cases_name_known_codes() -> None:
    used = {code for _, case in ALL for code in re.findall(r"\[([a-z]+\.[a-z]+)\](?:$| ;;)", case.text, re.MULTILINE)}
    assert len(used) > 20
    assert used <= CODES.keys()


def test_every_code_in_the_sources_is_explained() -> None:
    root = FOLDER.parents[1] / "ptxgen"
    pattern = re.compile(r"(?:fail|failure|Refusal|Finding|_finding)\(\s*(?:instruction,\s*)?\"([a-z]+(?:\.[a-z]+)?)\"")
    texts = [path.read_text() for room in ("build", "verify", "parse") for path in (root / room).glob("*.py")]
    assert {code for text in texts for code in pattern.findall(text)} <= CODES.keys()
    outside = "".join(text for text in texts if "CODES: dict" not in text)
    assert [code for code in CODES if f'"{code}"' not in outside] == []
