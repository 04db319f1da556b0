"""ptxas as an outside judge of PTX text: which lines of a module does it refuse?"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from importlib import metadata
from pathlib import Path

import pytest
from attrs import frozen

import isa.types
from isa.targets import PtxVersion, Target, version

OLD, NEW = "nvidia-cuda-nvcc-cu12", "nvidia-cuda-nvcc"
_NEWEST = {OLD: version("8.8"), NEW: version("9.5")}
_FOR_OLD_ONLY = {"sm_101", "sm_101a", "sm_101f"}
_SINCE_NEW = {"sm_88", "sm_107", "sm_107a", "sm_107f", "sm_110", "sm_110a", "sm_110f"}
_LINE = re.compile(r"line (\d+); (error|fatal)\s*:\s*(.*)")
_SAMPLED = re.compile(r"(tex|tld4)\..*\[%\w+, %\w+, ")
PER_MODULE = 60
REGISTERS = 320
REGISTER_TYPES = [each.name for each in isa.types.REGISTER_TYPES]


@frozen
class Verdict:
    """`ok`, or what ptxas said, by line of the module (0: no line)."""

    ok: bool
    messages: tuple[tuple[int, str], ...]


@cache
def binary(distribution: str) -> Path | None:
    """Where the wheel put its ptxas; None if it is not installed."""
    try:
        files = metadata.files(distribution) or []
    except metadata.PackageNotFoundError:
        return None
    found = [Path(str(each.locate())) for each in files if each.name == "ptxas" and each.parent.name == "bin"]
    return found[0] if found else None


def distribution_for(target: Target) -> str:
    """The wheel whose ptxas knows the target: the old one for sm_7x below 75 and earlier, else the new one."""
    return OLD if target.number < 75 or target.name in _FOR_OLD_ONLY else NEW


def newest_version(target: Target) -> PtxVersion:
    """The newest PTX that the judge of this target reads."""
    return _NEWEST[distribution_for(target)]


def judges(at: PtxVersion, target: Target) -> tuple[str, ...]:
    """The wheels whose ptxas reads this version for this target, the one that usually judges the target first."""
    usual = distribution_for(target)
    if usual == OLD or at > _NEWEST[OLD] or target.name in _SINCE_NEW:
        return (usual,)
    return NEW, OLD


def find_ptxas(target: Target, by: str = "") -> Path:
    """The ptxas of a wheel, or the one that judges this target; the test is skipped where it is not installed."""
    wheel = by or distribution_for(target)
    path = binary(wheel)
    if path is None:
        pytest.skip(f"{wheel} is not installed")
    return path


def verdict(text: str, target: Target, by: str = "") -> Verdict:
    """What ptxas says of a whole module: that of the wheel `by`, else the one that judges the target."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "module.ptx"
        source.write_text(text)
        command = [
            str(find_ptxas(target, by)),
            f"-arch={target.name}",
            "-O1",
            str(source),
            "-o",
            str(Path(folder) / "out"),
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    said = done.stdout + done.stderr
    messages = [(int(number), words) for number, _, words in _LINE.findall(said)]
    if done.returncode and not messages:
        messages = [(0, said.strip())]
    return Verdict(done.returncode == 0, tuple(messages))


def module(lines: Sequence[str], at: PtxVersion, target: Target) -> tuple[str, int]:
    """A module whose kernel holds these statements, one a line, and the number of the first of them.

    Samplers apart from textures need another mode of the module, where without it ptxas ends by a segmentation fault.
    """
    missing = set() if target.number >= 53 and at >= version("4.2") else {"f16", "f16x2"}
    if at < version("8.3") or target.number < 70:
        missing.add("b128")
    kinds = [each for each in REGISTER_TYPES if each not in missing]
    head = [
        f".version {at}",
        f".target {target.name}{', texmode_independent' if any(map(_samples, lines)) else ''}",
        ".address_size 64",
        ".const .align 64 .b8 constant_variable[256];",
        ".global .align 64 .b8 global_variable[256];",
        ".func procedure() { ret; }",
        ".visible .entry judged(.param .align 64 .b8 parameter[256])",
        "{",
        ".shared .align 64 .b8 shared_variable[256];",
        ".local .align 64 .b8 local_variable[256];",
        *(f".reg .{kind} %{kind}_<{REGISTERS}>;" for kind in kinds),
    ]
    return "\n".join([*head, *lines, "END:", "ret;", "}", ""]), len(head) + 1


def refused(lines: Sequence[str], at: PtxVersion, target: Target, by: str = "") -> dict[int, str]:
    """Which of the statements ptxas (of the wheel `by`) refuses, by index, with its words; the rest assemble."""
    said: dict[int, str] = {}
    for mode in (False, True):
        group = [index for index, text in enumerate(lines) if _samples(text) is mode]
        for first in range(0, len(group), PER_MODULE):
            _judge(lines, group[first : first + PER_MODULE], at, target, by, said)
    return said


def _samples(text: str) -> bool:
    return _SAMPLED.match(text) is not None


def _judge(
    lines: Sequence[str], batch: list[int], at: PtxVersion, target: Target, by: str, said: dict[int, str]
) -> None:
    while batch:
        text, offset = module([lines[index] for index in batch], at, target)
        judged = verdict(text, target, by)
        if judged.ok:
            return
        guilty = {batch[line - offset]: words for line, words in judged.messages if 0 <= line - offset < len(batch)}
        doubtful = len(batch) > 1 and any("syntax error" in words for _, words in judged.messages)
        if doubtful and guilty:
            guilty = {index: words for index, words in guilty.items() if _alone(lines[index], at, target, by)}
        if not guilty:
            if len(batch) == 1:
                said[batch[0]] = "; ".join(words for _, words in judged.messages)
                return
            middle = len(batch) // 2
            _judge(lines, batch[:middle], at, target, by, said)
            _judge(lines, batch[middle:], at, target, by, said)
            return
        said.update(guilty)
        batch = [index for index in batch if index not in guilty]


def _alone(line: str, at: PtxVersion, target: Target, by: str) -> bool:
    """True if the statement is refused on its own: a syntax error may be told of the line behind the guilty one."""
    return not verdict(module([line], at, target)[0], target, by).ok
