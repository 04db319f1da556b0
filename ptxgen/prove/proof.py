"""The proof that ops and what synchronises them keep their requirements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ptxgen.errors import Finding
from ptxgen.order.requirement import Requirement
from ptxgen.order.synchronisation import Synchronised
from ptxgen.order.threads import Threads
from ptxgen.prove.checker import Verdict, check
from ptxgen.prove.closings import unclosed
from ptxgen.prove.clusters import reaches_others
from ptxgen.prove.constants import finding
from ptxgen.prove.counters import miscounted, misnumbered
from ptxgen.prove.ends import uneven, unserved
from ptxgen.prove.gatherings import stranded
from ptxgen.prove.parts import parts
from ptxgen.prove.passing import mispassed
from ptxgen.prove.programs import program_of
from ptxgen.prove.releases import released_early
from ptxgen.prove.turns import turn_faults
from ptxgen.prove.windows import escaping


def check_meetings(
    synchronised: Synchronised,
    requirements: Iterable[Requirement],
    *,
    needless: bool = True,
    threads: Mapping[str, Threads] | None = None,
) -> Verdict:
    """Whether meetings, waits for groups and barriers of rings keep every requirement of the ops.

    The event graph proves the steady state of each body, or of the bodies of several roles together. First and last
    steps are decided on the domains: no pair of instances may lie between meetings that do not exist, nor count on
    groups that are not closed or fences that do not stand there, nor may the uses of a ring differ from the arrivals at
    it (code `synchronisation.ends`).
    The numbers of tiles, counted on across work items, are judged apart (`counters.py`), and what ptxas makes of
    products in flight over a loop's end (`windows.py`), the turns of units that alternate (`turns.py`), and whether all
    blocks come to their cluster's barrier.
    With `needless`, each atom must also be wanted. `requirements` are those of the same ops in the same order;
    `threads` tells who runs each role. Findings name the requirement and both ops, on the sink's line.
    """
    findings: list[Finding] = []
    remote = False
    requirements = tuple(requirements)
    for part in parts(synchronised, requirements, threads or {}):
        program = program_of(synchronised, part)
        remote |= reaches_others(program)
        verdict = check(program, needless=needless)
        findings += verdict.findings
        if "synchronisation.covered" not in verdict.codes:
            findings += unserved(synchronised, part)
        findings += (*uneven(synchronised, part), *released_early(synchronised, part))
    findings += turn_faults(synchronised, threads or {}, needless=needless)
    findings += unclosed(synchronised, requirements)
    findings += (*misnumbered(synchronised), *miscounted(synchronised))
    findings += (*escaping(synchronised), *stranded(synchronised), *mispassed(synchronised))
    if synchronised.enter and not remote and needless:
        findings.append(finding("needless", f"{synchronised.enter[0]} serves no requirement"))
    return Verdict(tuple(findings))
