"""Faults where they are written: a guilty line carries the expected words behind `// !`; the other lines stay silent.

A file of cases begins with `target: sm_90a`, `version: 8.0` and `head: NAME`, the text before each case, `none` for
whole modules. A case begins with `## name [code]`; `loud` behind that tells that ptxas refuses it too (`newly`: only
the newest, `formerly`: only an older one), `: .reqntid 32` gives directives of the kernel. The code `none` is that of a
case that is right. `;;` parts the words of several findings.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from attrs import frozen

from isa.targets import Target, target

FOLDER = Path(__file__).parent / "faults"
MARK = "// !"
_HEADING = re.compile(
    r"## (?P<name>[^\[]+) \[(?P<code>[\w.]+)\](?P<refused> loud| newly| formerly)?(?:: (?P<directives>.*))?$"
)


@frozen
class FaultCase:
    """A module with one fault, or none, and what is to be said of it by line; `refused` says which ptxas refuse it."""

    name: str
    code: str
    text: str
    target: Target
    version: str
    refused: str

    @property
    def expected(self) -> dict[int, list[str]]:
        """The words wanted of each guilty line."""
        return {
            number: [words.strip() for words in line.split(MARK)[1].split(";;")]
            for number, line in enumerate(self.text.split("\n"), 1)
            if MARK in line
        }


@cache
def fault_cases() -> tuple[FaultCase, ...]:
    """All cases of the folder, in the order of files and lines."""
    return tuple(case for path in sorted(FOLDER.glob("*.txt")) for case in _read(path.read_text()))


def _read(text: str) -> list[FaultCase]:
    first, *rest = re.split(r"^(?=## )", text, flags=re.MULTILINE)
    given = dict(line.split(": ") for line in first.splitlines())
    return [_case(each, given) for each in rest]


def _case(text: str, given: dict[str, str]) -> FaultCase:
    heading, _, body = text.partition("\n")
    found = _HEADING.match(heading)
    assert found is not None, heading
    whole = body
    if given["head"] != "none":
        head = (FOLDER / f"{given['head']}.ptx").read_text()
        whole = f"{head}{body}ret;\n}}\n".replace("DIRECTIVES", found["directives"] or "")
    for name in ("target", "version"):
        whole = whole.replace(name.upper(), given[name])
    on = target(given["target"])
    return FaultCase(found["name"], found["code"], whole, on, given["version"], (found["refused"] or "").strip())
