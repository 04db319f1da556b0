"""Every wrong call of a product is refused on its line, by an error of ours that names what is wrong, in its words."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ptxgen
from ptxgen import PtxgenError
from ptxgen.compute import f16
from ptxgen.kernels import Matmul, MatmulSpec, MatmulTiling, parse_epilogue
from tests.errors.guilty import Case, cases, fits

PATH = Path(__file__).with_name("calls.txt")
FOREIGN = {"TypeError": TypeError, "ValueError": ValueError}


@pytest.fixture(autouse=True)
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ptxgen.kernels.calling.call.device_count", lambda: 0)


def half(*shape: int) -> Any:
    return np.ones(shape, np.float16)


def names() -> dict[str, Any]:
    known = {"Matmul": Matmul, "MatmulSpec": MatmulSpec, "MatmulTiling": MatmulTiling, "parse_epilogue": parse_epilogue}
    return {**known, "ptxgen": ptxgen, "np": np, "f16": f16, "half": half, "a": half(32, 16), "b": half(16, 24)}


def said_of(case: Case) -> dict[int, str]:
    """The kind and the text of what each line raises, by line of the file."""
    around, said = names(), {}
    for offset, line in enumerate(case.text.splitlines()):
        try:
            exec(compile("\n" * (case.first_line + offset - 1) + line, str(PATH), "exec"), around)
        except Exception as error:
            ours = isinstance(error, (PtxgenError, *FOREIGN.values()))
            said[case.first_line + offset] = (
                " ".join(f"{type(error).__name__} {error}".split()) if ours else repr(error)
            )
    return said


@pytest.mark.parametrize("case", cases(PATH), ids=lambda case: case.name.replace(" ", "-"))
def test_the_guilty_call_carries_the_words(case: Case) -> None:
    said, expected = said_of(case), case.expected()
    assert said.keys() == expected.keys()
    for line, (words,) in expected.items():
        assert said[line].split()[0] == words.split()[0], f"line {line}: {said[line]}"
        assert fits(words, said[line]), f"line {line}: {said[line]!r} lacks {words!r}"


def test_there_are_many_and_none_speaks_of_the_statement() -> None:
    lines = [words for case in cases(PATH) for (words,) in case.expected().values()]
    assert len(lines) > 60
    calls = [said for case in cases(PATH)[:6] for said in said_of(case).values()]
    assert not [said for said in calls if {"A", "B", "D", "E", "R", "M", "N", "K"} & set(re.findall(r"\w+", said))]
