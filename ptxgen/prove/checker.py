"""The checker: whether the atoms of a kernel keep every requirement, without deadlock, confused phase or needless wait.

It judges what was derived (or written by hand) from the atoms alone and shares no code with what places them.
"""

from __future__ import annotations

from attrs import frozen

from ptxgen.errors import Finding
from ptxgen.order.atoms import AtomProgram
from ptxgen.prove.clusters import cluster_faults
from ptxgen.prove.constants import constant_faults
from ptxgen.prove.needless import needless_atoms
from ptxgen.prove.questions import failing, questions_of


@frozen
class Verdict:
    """What is wrong; nothing where every property is proved."""

    findings: tuple[Finding, ...]

    @property
    def accepted(self) -> bool:
        """Whether every property is proved."""
        return not self.findings

    @property
    def codes(self) -> tuple[str, ...]:
        """The distinct codes of the findings, in order."""
        return tuple(dict.fromkeys(finding.code for finding in self.findings))

    def __str__(self) -> str:
        return "\n".join(map(str, self.findings)) or "proved"


def check(program: AtomProgram, *, needless: bool = True) -> Verdict:
    """Tests every property that the steady state shows, and with `needless` also that no atom could be left out.

    Codes of the findings, behind `synchronisation.`: covered, deadlock, rotation (a deadlock of units that take turns),
    seen, kept, arrivals, count, bytes, pending, barrier, budget, enter, needless. Each finding names the requirement
    and both ops, or the barrier and its roles.
    """
    questions = tuple(questions_of(program))
    findings = (*constant_faults(program), *cluster_faults(program), *failing(questions))
    if not findings and needless:
        findings = tuple(needless_atoms(program, questions))
    return Verdict(findings)
