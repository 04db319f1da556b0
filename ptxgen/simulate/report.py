"""What a run found and counted."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from attrs import evolve, frozen

from ptxgen.errors import KernelError
from ptxgen.ir import Instruction
from ptxgen.simulate.journal import Fault
from ptxgen.simulate.traffic import GlobalTraffic, SharedTraffic


@frozen
class Count:
    """How often instructions ran: `warps` counts warp-instructions, `lanes` the live lanes of them."""

    warps: int = 0
    lanes: int = 0

    def __add__(self, other: Count) -> Count:
        return Count(self.warps + other.warps, self.lanes + other.lanes)


@frozen(eq=False)
class Statement:
    """One instruction of the kernel, how often it ran, and what its requests to shared and global memory cost."""

    index: int
    instruction: Instruction
    count: Count
    shared: SharedTraffic
    global_: GlobalTraffic


@frozen(eq=False)
class Region:
    """Statements that belong together: a basic block or a loop. `labels` are those of its first block."""

    labels: tuple[str, ...]
    statements: tuple[Statement, ...]

    @property
    def counts(self) -> dict[str, Count]:
        """Counts by the instruction's full name."""
        return by_name(self.statements)

    @property
    def total(self) -> Count:
        """All instructions run in the region."""
        return sum((each.count for each in self.statements), Count())

    @property
    def conflicts(self) -> int:
        """Passes over shared memory's banks beyond the least, summed."""
        return sum(each.shared.conflicts for each in self.statements)

    def share(self, opcode: str) -> float:
        """The part of the warp-instructions that have this opcode (`"mma"`), from 0 to 1."""
        own = sum(each.count.warps for each in self.statements if each.instruction.form.opcode == opcode)
        return own / self.total.warps if self.total.warps else 0.0


def by_name(statements: Iterable[Statement]) -> dict[str, Count]:
    """Counts of the statements that ran, by the instruction's full name, the most frequent first."""
    counts: dict[str, Count] = {}
    for each in statements:
        if each.count.warps:
            name = each.instruction.form.name
            counts[name] = counts.get(name, Count()) + each.count
    return dict(sorted(counts.items(), key=lambda item: (-item[1].warps, item[0])))


@frozen(eq=False)
class Report:
    """What a run found and counted. `str` of it is a page for people.

    `statements` are the kernel's instructions in the order of the text, `blocks` and `loops` regions of them (a loop
    with all blocks inside it, inner loops included; outer loops of one nest before inner ones by header). `printed` is
    what the threads printed, in the order in which they ran.
    """

    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    statements: tuple[Statement, ...]
    blocks: tuple[Region, ...]
    loops: tuple[Region, ...]
    findings: tuple[Fault, ...]
    notes: tuple[str, ...] = ()
    printed: str = ""

    @property
    def counts(self) -> dict[str, Count]:
        """Counts of the whole run by the instruction's full name."""
        return by_name(self.statements)

    @property
    def total(self) -> Count:
        """All instructions run."""
        return sum((each.count for each in self.statements), Count())

    @property
    def shared_sites(self) -> tuple[Statement, ...]:
        """The statements that used shared memory."""
        return tuple(each for each in self.statements if each.shared.requests)

    @property
    def global_sites(self) -> tuple[Statement, ...]:
        """The statements that used global memory."""
        return tuple(each for each in self.statements if each.global_.requests)

    @property
    def conflicts(self) -> int:
        """Passes over shared memory's banks beyond the least, over the whole run."""
        return sum(each.shared.conflicts for each in self.statements)

    @property
    def sectors(self) -> int:
        """Sectors of 32 bytes of global memory touched by all requests."""
        return sum(each.global_.sectors for each in self.statements)

    @property
    def main_loop(self) -> Region | None:
        """The loop that ran the most warp-instructions, inner before outer at equality; None without loops."""
        best: Region | None = None
        for loop in self.loops:
            if best is None or (loop.total.warps, -len(loop.statements)) > (best.total.warps, -len(best.statements)):
                best = loop
        return best

    def raise_findings(self) -> Report:
        """The report itself when nothing was found; else KernelError with all findings."""
        if self.findings:
            raise KernelError(self.findings, f"{self.kernel}: {_how_many(self.findings)} in the simulated run")
        return self

    def with_text(self, text: str) -> Report:
        """The report with the PTX lines of `text`, the emitted module, in its findings."""
        lines = instruction_lines(text, self.kernel)
        placed = [
            evolve(each, ptx_line=lines[each.statement]) if 0 <= each.statement < len(lines) else each
            for each in self.findings
        ]
        return evolve(self, findings=tuple(placed))

    def __str__(self) -> str:
        return "\n".join(_page(self))

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))


_INSTRUCTION = re.compile(r"^\s*(?:\{\s*)?(?:@!?[%\w$.]+\s+)?[a-z][\w.:]*\b.*;\s*(?://.*)?$")


def instruction_lines(text: str, kernel: str) -> list[int]:
    """The line numbers, from 1, of the instructions of a kernel in PTX text with one statement a line."""
    found: list[int] = []
    inside = depth = 0
    for number, line in enumerate(text.splitlines(), 1):
        code = line.split("//")[0]
        if not inside and re.search(rf"\.(?:entry|func)\b.*\b{re.escape(kernel)}\b", code):
            inside, depth = 1, 0
        if inside:
            if depth > 0 and _INSTRUCTION.match(code):
                found.append(number)
            depth += _braces(code)
            if depth == 0 and "}" in code:
                break
    return found


def _braces(code: str) -> int:
    alone = code.strip()
    return alone.count("{") - alone.count("}")


def _how_many(findings: tuple[Fault, ...]) -> str:
    return f"{len(findings) or 'no'} finding{'' if len(findings) == 1 else 's'}"


def _page(report: Report) -> list[str]:
    total = report.total
    lines = [
        f"{report.kernel}  grid {report.grid}  block {report.block}",
        f"{total.warps} warp-instructions, {total.lanes} live lanes",
    ]
    for name, count in report.counts.items():
        lines.append(f"  {count.warps:>10}  {100 * count.warps / total.warps:5.1f} %  {name}")
    if report.shared_sites:
        lines.append(f"shared memory: {report.conflicts} bank conflicts")
        lines += [_shared_line(each) for each in report.shared_sites]
    if report.global_sites:
        lines.append(f"global memory: {report.sectors} sectors of 32 bytes")
        lines += [_global_line(each) for each in report.global_sites]
    lines.append(_how_many(report.findings))
    lines += [str(finding) for finding in report.findings]
    lines += [f"note: {note}" for note in report.notes]
    return lines


def _shared_line(site: Statement) -> str:
    traffic = site.shared
    return (
        f"  {traffic.requests:>8} requests  {traffic.passes:>8} passes  {traffic.conflicts:>8} conflicts  "
        f"at worst {traffic.worst}-way  {site.instruction}"
    )


def _global_line(site: Statement) -> str:
    traffic = site.global_
    return (
        f"  {traffic.requests:>8} requests  {traffic.sectors_per_request:6.2f} sectors each  "
        f"{100 * traffic.efficiency:5.1f} % of their bytes used  {site.instruction}"
    )
