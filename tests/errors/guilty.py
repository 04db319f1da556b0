"""Errors where they are written: a guilty line carries the expected words behind `# !`; the other lines stay silent."""

import re
from pathlib import Path
from typing import Any

from attrs import frozen

from ptxgen.build import Module
from ptxgen.errors import KernelError


@frozen
class Case:
    """A piece of a kernel: its name, its first line in the file, and its lines."""

    name: str
    first_line: int
    text: str

    def expected(self) -> dict[int, list[str]]:
        """The words wanted of each guilty line, by line of the file; several findings are parted by `;;`."""
        found = {}
        for offset, line in enumerate(self.text.splitlines()):
            _, mark, words = line.partition("# !")
            if mark:
                found[self.first_line + offset] = [part.strip() for part in words.split(";;")]
        return found


def cases(path: Path) -> list[Case]:
    """The cases of a file: each begins with a line `## name`."""
    found = []
    lines = path.read_text().splitlines()
    starts = [index for index, line in enumerate(lines) if line.startswith("## ")]
    for start, stop in zip(starts, [*starts[1:], len(lines)], strict=True):
        found.append(Case(lines[start][3:], start + 2, "\n".join(lines[start + 1 : stop])))
    return found


def findings_of(case: Case, path: Path, **names: Any) -> dict[int, list[str]]:
    """What running a case says, by line of the file."""
    code = compile("\n" * (case.first_line - 1) + case.text, str(path), "exec")
    module = Module("sm_70")
    said: dict[int, list[str]] = {}
    try:
        with module.kernel("kernel", x=names["pointer"](names["f32"]), n=names["u32"]) as k:
            exec(code, {**names, "k": k, "module": module})
        module.build()
    except KernelError as error:
        for finding in error.findings:
            assert finding.origin is not None, finding
            assert finding.origin.file == str(path), finding
            said.setdefault(finding.origin.line, []).append(str(finding))
    return said


def fits(words: str, said: str) -> bool:
    """True if every word, in order, stands in what was said."""
    return re.search(".*".join(map(re.escape, words.split())), said) is not None
