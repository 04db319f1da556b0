"""Code that somebody writes by hand in place of a leaf."""

from __future__ import annotations

from isa.mechanisms import AT_ISSUE, Completion, Group, GroupKind, IssuedBy, Mechanism, Proxy
from ptxgen.tile.buffers import Region, Space
from ptxgen.tile.leaves import HandWritten
from ptxgen.tile.reading.cursor import Cursor
from ptxgen.tile.reading.regions import Buffers, Scope, distributed, region

ISSUERS = {f"by each {by.value}": by for by in (IssuedBy.LANE, IssuedBy.WARP)}
COMPLETIONS: dict[str, Completion] = {
    "complete at issue": AT_ISSUE,
    "complete in groups of cp.async": Group(GroupKind.CP_ASYNC, IssuedBy.LANE),
}


def written_by_hand(cursor: Cursor, scope: Scope) -> HandWritten:
    """`by hand NAME, 16x32, reads X{0}; writes Y{0}; by each lane, complete at issue`, below it who holds what."""
    name = cursor.name("the name of code")
    if name not in scope.codes:
        raise cursor.failure(f"no code is called {name!r}", f"one of {', '.join(scope.codes) or 'none'}")
    cursor.take(",")
    shape = cursor.box()
    cursor.take(",", "reads")
    reads = _regions(cursor, scope.buffers)
    cursor.take(";", "writes")
    writes = _regions(cursor, scope.buffers)
    cursor.take(";")
    issuer = cursor.chosen(ISSUERS, "who issues it")
    cursor.take(",")
    completes = cursor.chosen(COMPLETIONS, "when it is complete")
    cursor.end()
    held, _ = distributed(cursor.line, shape, ())
    proxies = [
        Proxy.GENERIC if any(r.buffer.space is not Space.REGISTERS for r in found) else None
        for found in (reads, writes)
    ]
    mechanism = Mechanism(proxies[0], proxies[1], issuer, completes)
    return HandWritten("", scope.codes[name], reads, writes, held, mechanism, cursor.line.place)


def _regions(cursor: Cursor, buffers: Buffers) -> tuple[Region, ...]:
    return () if cursor.took("nothing") else tuple(region(cursor, buffers) for _ in cursor.separated())
