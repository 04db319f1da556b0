"""`ptxgen check`: what is wrong with a PTX file."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from isa.targets import Target
from ptxgen.cli.release import release
from ptxgen.cli.terminal import show
from ptxgen.cli.texts import CheckOptions, read_text
from ptxgen.cli.unusable import Unusable
from ptxgen.errors import Finding, Place, PtxSyntaxError, Severity
from ptxgen.ir import Module, Origin
from ptxgen.parse import Reading, read
from ptxgen.verify import CODES, allowed_codes, verify

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning"}


def check_text(text: str, *, file: str = "<string>", target: str | Target | None = None) -> tuple[Finding, ...]:
    """Everything that is wrong with PTX text, by line, for its own target or another.

    PtxSyntaxError where it cannot be read at all. Findings that a comment allows are left out. Where statements mean
    nothing, registers that they might have written are not called unwritten.
    """
    reading = read(text, file=file)
    return tuple(sorted(_findings(text, reading, target), key=_line))


def _findings(text: str, reading: Reading, target: str | Target | None) -> Iterator[Finding]:
    lines = text.split("\n")
    heading = {code for comment in reading.module.heading for code in allowed_codes(comment.text)}
    for finding in reading.findings:
        line = _line(finding)
        said = [lines[line - 1], *([lines[line - 2]] if line > 1 and lines[line - 2].lstrip().startswith("//") else [])]
        if finding.code not in heading.union(*(allowed_codes(each.partition("//")[2]) for each in said)):
            yield finding
    for finding in _judged(reading.module, target):
        if not (reading.findings and finding.code == "uninitialised.register"):
            yield finding


def _judged(module: Module, target: str | Target | None) -> tuple[Finding, ...]:
    return verify(module, target=target)


def _line(finding: Finding) -> int:
    return finding.origin.line if finding.origin is not None else 0


def run_check(options: CheckOptions) -> int:
    """Prints the findings of a file, as text or JSON, writes SARIF where asked; 0 for none, 1 for some.

    PtxSyntaxError of a file that cannot be read, after JSON and SARIF have told of it.
    """
    text, name = read_text(options.file)
    try:
        found = check_text(text, file=name, target=options.target)
    except PtxSyntaxError as error:
        _report(options, name, (_unreadable(error),), readable=False)
        raise
    _report(options, name, found, readable=True)
    if not options.json:
        for finding in found:
            show(f"{finding.severity.value}: {finding}")
        print(f"{name}: {len(found) or 'no'} finding{'s' * (len(found) != 1)}", file=sys.stderr)
    return 1 if found else 0


def _report(options: CheckOptions, name: str, found: Sequence[Finding], *, readable: bool) -> None:
    if options.sarif is not None:
        try:
            options.sarif.write_text(json.dumps(sarif(found, name), indent=2) + "\n", encoding="utf-8")
        except OSError as error:
            raise Unusable(f"{options.sarif} cannot be written: {error.strerror}") from None
    if options.json:
        told = {"file": name, "readable": readable, "findings": [plain(finding, name) for finding in found]}
        print(json.dumps(told, indent=2))


def _unreadable(error: PtxSyntaxError) -> Finding:
    return Finding("ptx.syntax", Severity.ERROR, error.reason, Origin(error.file, error.line, ""), error.line)


def plain(finding: Finding, name: str) -> dict[str, Any]:
    """A finding as JSON; `name` is the file of those without a line."""
    return {
        "code": finding.code,
        "severity": finding.severity.value,
        "message": finding.message,
        "file": finding.origin.file if finding.origin is not None else name,
        "line": finding.origin.line if finding.origin is not None else None,
        "related": [
            {"message": message, "line": place.line if place is not None else None}
            for message, place in finding.related
        ],
    }


def sarif(findings: Sequence[Finding], name: str) -> dict[str, Any]:
    """The findings of one file as a SARIF 2.1.0 log."""
    codes = sorted({finding.code for finding in findings})
    rules = [{"id": code, "shortDescription": {"text": CODES.get(code, code)}} for code in codes]
    version = {"version": known} if (known := release()) is not None else {}
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": "ptxgen", **version, "rules": rules}},
                "results": [_result(finding, name, codes) for finding in findings],
            }
        ],
    }


def _result(finding: Finding, name: str, codes: list[str]) -> dict[str, Any]:
    told: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": codes.index(finding.code),
        "level": _LEVELS[finding.severity],
        "message": {"text": finding.message},
        "locations": [_location(name, finding.origin)],
    }
    if finding.related:
        told["relatedLocations"] = [
            {**_location(name, place), "message": {"text": message}} for message, place in finding.related
        ]
    return told


def _location(name: str, place: Place | None) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": {"uri": "stdin" if name == "-" else quote(Path(name).as_posix())}}
    if place is not None:
        physical["region"] = {"startLine": place.line}
    return {"physicalLocation": physical}
