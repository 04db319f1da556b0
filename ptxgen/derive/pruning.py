"""What was proposed, and the judge finds that nothing needs: it is dropped."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import evolve

from ptxgen.order.requirement import Requirement
from ptxgen.order.synchronisation import Synchronised
from ptxgen.order.threads import Threads
from ptxgen.prove.checker import Verdict
from ptxgen.prove.proof import check_meetings

NEEDLESS = ("synchronisation.needless",)


def pruned(
    proposed: Synchronised, needed: tuple[Requirement, ...], threads: Mapping[str, Threads]
) -> tuple[Synchronised, Verdict]:
    """The synchronisation without atoms that serve no requirement, and the judge's verdict on what is left. Rules see
    one requirement at a time; two rings that the same roles pass in turn may serve each other's. What the steady state
    does not need and some item does, as where neighbours meet in other items, is kept."""
    verdict = check_meetings(proposed, needed, threads=threads)
    while verdict.codes == NEEDLESS:
        fewer = _without_one(proposed, needed, threads)
        if fewer is None:
            return proposed, check_meetings(proposed, needed, needless=False, threads=threads)
        proposed, verdict = fewer, check_meetings(fewer, needed, threads=threads)
    return proposed, verdict


def _without_one(
    proposed: Synchronised, needed: tuple[Requirement, ...], threads: Mapping[str, Threads]
) -> Synchronised | None:
    fewer = [
        evolve(proposed, atoms=tuple(other for other in proposed.atoms if other is not atom)) for atom in proposed.atoms
    ]
    if proposed.enter:
        fewer.append(evolve(proposed, enter=()))
    judged = (one for one in fewer if check_meetings(one, needed, needless=False, threads=threads).accepted)
    return next(judged, None)
