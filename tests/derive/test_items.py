"""Ops put into a loop over work items: what restarts, what goes on, and what is refused."""

from __future__ import annotations

import pytest

from isa.mechanisms import BULK_LOAD, LOAD, REGISTERS, STORE, WARPGROUP_MULTIPLY
from polyhedral import Set, System, const, var
from ptxgen.derive.counting import counted, counting
from ptxgen.derive.items import over_items, walking
from ptxgen.derive.scanning import scan_program
from ptxgen.errors import UnsupportedError
from ptxgen.order.ops import Op
from ptxgen.order.requirements import requirements
from ptxgen.order.threads import Threads
from ptxgen.prove.proof import check_meetings
from ptxgen.synchronise.discharge import discharge
from ptxgen.tile import Counter, ForEachItem, Space, show
from tests.synchronise.programs import ONCE, SLABS, buffer, hopper, op, reads, writes

THREADS = {"all": Threads(4, 128), "load": Threads(1, 1), "math": Threads(2, 256)}
CONTEXT = System.of(var("K") >= 0, var("items") >= 0)


def staged() -> tuple[Op, ...]:
    """A tile filled by stores and read, by one role, for a block that has one tile."""
    ring = buffer("A.shared", Space.SHARED)
    return op("A.shared", (0,), (writes(ring),), ONCE, (), STORE), op("D", (1,), (reads(ring),), ONCE, (), LOAD)


def multiplied() -> tuple[Op, ...]:
    """A tile copied by transactions and multiplied once, for a block that has one tile."""
    ring, sums = buffer("A.shared", Space.SHARED, 2), buffer("C", Space.REGISTERS)
    return (
        op("A.shared", (0,), (writes(ring),), ONCE, (), BULK_LOAD, role="load"),
        op("C.fill", (0,), (writes(sums),), ONCE, (), REGISTERS, role="math"),
        op("C", (1,), (reads(ring), reads(sums), writes(sums)), ONCE, (), WARPGROUP_MULTIPLY, role="math"),
        op("D", (2,), (reads(sums),), ONCE, (), REGISTERS, role="math"),
    )


def test_a_tile_copied_once_an_item_is_numbered_by_the_items() -> None:
    ops = counted(over_items(multiplied()))
    needed = requirements(ops)
    assert {(r.kind.value, r.loops, r.distance, r.counter) for r in needed if not r.own} == {
        ("flow", ("item",), 0, ""),
        ("reuse", ("item",), 2, ""),
        ("rewrite", ("item",), 2, ""),
    }
    synchronised = discharge(ops, needed, THREADS)
    verdict = check_meetings(synchronised, needed, threads=THREADS, needless=False)
    assert verdict.accepted, verdict
    body = counting(walking(scan_program(synchronised, "load", CONTEXT)), synchronised, "load")
    assert isinstance(body, ForEachItem)
    lines = show(body).splitlines()
    assert lines[:2] == ["for each item, number t0:", "  wait A.shared{t0} empty"]
    assert "  expect A.shared{t0} full, 8 bytes" in lines


def test_a_tile_filled_by_its_own_role_restarts_and_is_met_for() -> None:
    ops = over_items(staged())
    needed = requirements(ops)
    assert {(r.kind.value, r.loops, r.distance) for r in needed} == {
        ("flow", ("item",), 0),
        ("reuse", ("item",), 1),
        ("rewrite", ("item",), 1),
    }
    synchronised = discharge(ops, needed, THREADS)
    assert len(synchronised.meetings) == 2
    assert check_meetings(synchronised, needed, threads=THREADS).accepted


def test_every_role_of_a_ring_counts_for_itself() -> None:
    ops = counted(over_items(hopper()))
    synchronised = discharge(ops, requirements(ops), THREADS)
    assert check_meetings(synchronised, requirements(ops), threads=THREADS).accepted
    for role in ("load", "math"):
        body = counting(walking(scan_program(synchronised, role, CONTEXT)), synchronised, role)
        assert isinstance(body, Counter)
        text = show(body)
        assert text.count("advance k.past by floor((K + 31)/32)") == 1
        lines = [line.strip() for line in text.splitlines()]
        advance = next(place for place, line in enumerate(lines) if line.startswith("advance"))
        assert not any("A.shared" in line or "k.past" in line for line in lines[advance + 1 :])
        assert "{k.past + t1}" in text


def test_a_loop_without_one_bound_is_refused() -> None:
    """Roles move on by the steps of the loop, which must be one quotient."""
    ring = buffer("A.shared", Space.SHARED, 2)
    for domain in (
        SLABS.intersect(var("k") < var("N")),
        Set.of(("k",), var("k") >= 1, 32 * var("k") < var("K")),
        Set(("k",), (*SLABS.pieces, *SLABS.intersect(var("N") >= 1).pieces)),
    ):
        copy = op("A.shared", (0, 0), (writes(ring, var("k")),), domain, (0,), BULK_LOAD, role="load")
        read = op("D", (0, 0), (reads(ring, var("k")),), domain, (0,), LOAD)
        ops = counted(over_items((copy, read)))
        with pytest.raises(UnsupportedError, match="roles count on where a loop has one bound"):
            discharge(ops, requirements(ops))


def test_only_rings_that_transactions_fill_go_on() -> None:
    register = buffer("C", Space.REGISTERS)
    ring = buffer("A.shared", Space.SHARED, 2)
    copies = (
        op("A.shared", (0, 0), (writes(ring, var("k")), writes(register)), SLABS, (0,), BULK_LOAD, role="load"),
        op("B.shared", (1, 0), (writes(buffer("B.shared", Space.SHARED, 2), var("k")),), SLABS, (0,), STORE),
    )
    ops = counted(over_items(copies))
    ranks = {t.buffer.name: (t.rank, t.counter) for o in ops for t in o.touches}
    assert ranks["A.shared"] == (var("k") + var("k.past"), "k.past")
    assert ranks["B.shared"] == (var("k"), "")
    assert [o.time.loops for o in ops] == [("item", "k")] * 2
    assert [o.time.place for o in ops] == [(0, 0, 0), (0, 1, 0)]
    assert const(0) not in [rank for rank, _ in (ranks["A.shared"], ranks["B.shared"])]
