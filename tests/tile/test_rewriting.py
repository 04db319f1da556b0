"""Programs changed by hand in Python: where nodes stand, and what becomes of them."""

from __future__ import annotations

import numpy as np
import pytest

from polyhedral import var
from ptxgen.tile import Copy, Loop, Meet, Multiply, Node, Ordering, Program, Quotient, Sequence, show
from ptxgen.tile.machine import MachineFault, run
from ptxgen.tile.rewriting import (
    Spot,
    deleted,
    inserted,
    moved,
    node_at,
    replaced,
    spots,
    with_buffer,
    with_ring,
)
from tests.tile.programs import Matmul, transposing

MATMUL = Matmul((32, 32, 8), (2, 2)).program()


def of_kind(program: Program, kind: type[Node], number: int = 0) -> Spot:
    return [spot for spot, node in spots(program) if isinstance(node, kind)][number]


def texts(program: Program) -> list[str]:
    return [show(node).splitlines()[0] for _, node in spots(program) if not isinstance(node, Loop)]


def test_every_node_is_at_its_spot_once() -> None:
    found = dict(spots(MATMUL))
    assert len(found) == len(list(spots(MATMUL)))
    assert all(node_at(MATMUL, spot) is node for spot, node in found.items())
    loop = of_kind(MATMUL, Loop)
    inside = [spot for spot in found if spot.steps[: len(loop.steps)] == loop.steps and spot != loop]
    assert len(inside) > 4
    assert str(loop).startswith("all:")


def test_deleting_and_inserting_again_changes_nothing() -> None:
    for spot, node in spots(transposing()):
        if isinstance(node, Ordering | Copy):
            without = deleted(transposing(), spot)
            assert len(texts(without)) == len(texts(transposing())) - 1
    meet = of_kind(transposing(), Meet)
    node = node_at(transposing(), meet)
    before = Spot(meet.role, (*meet.steps[:-1], meet.steps[-1] - 1))
    again = inserted(deleted(transposing(), meet), before, node, behind=True)
    assert again == transposing()


def test_moving_there_and_back() -> None:
    program = transposing()
    first, last = Spot("all", (0,)), Spot("all", (3,))
    there = moved(program, first, last, behind=True)
    names = texts(program)
    assert texts(there) == [*names[1:4], names[0], *names[4:]]
    assert moved(there, Spot("all", (3,)), Spot("all", (0,))) == program
    with pytest.raises(ValueError, match="lie in each other"):
        moved(MATMUL, of_kind(MATMUL, Loop), Spot("all", (*of_kind(MATMUL, Loop).steps, 0)))


def test_a_moved_meeting_is_a_fault_on_the_machine() -> None:
    x = np.arange(64 * 64, dtype=np.float32).reshape(64, 64)
    sizes = {"M": 64, "N": 64, "ldx": 64, "ldy": 64}
    arrays = {"X": x.astype(np.float16), "Y": np.zeros((64, 64), np.float16)}
    program = transposing()
    element = next(b.element for b in program.buffers if b.name == "X")
    arrays = {name: a.astype(np.float32) for name, a in arrays.items()} if str(element) == "f32" else arrays
    assert np.array_equal(run(program, arrays, sizes).arrays["Y"], arrays["X"].T)
    early = moved(program, of_kind(program, Meet), Spot("all", (0,)))
    with pytest.raises(MachineFault, match="race"):
        run(early, arrays, sizes)


def test_replacing_by_none_and_by_several() -> None:
    spot = of_kind(MATMUL, Multiply)
    node = node_at(MATMUL, spot)
    assert replaced(MATMUL, spot) == deleted(MATMUL, spot)
    assert len(texts(deleted(MATMUL, spot))) == len(texts(MATMUL)) - 1
    doubled = replaced(MATMUL, spot, node, node)
    assert len(texts(doubled)) == len(texts(MATMUL)) + 1
    loop = Loop("n", (Quotient(var("M"), 1),), (Quotient(var("M"), 1),), 1, node)
    wrapped = replaced(MATMUL, spot, loop)
    assert node_at(wrapped, Spot(spot.role, (*spot.steps, 0))) == node


def test_a_buffer_is_changed_wherever_it_is_used() -> None:
    deeper = with_buffer(MATMUL, "A.shared", depth=5)
    regions = [side.buffer for _, n in spots(deeper) if isinstance(n, Copy) for side in (n.source, n.destination)]
    assert {buffer.depth for buffer in regions if buffer.name == "A.shared"} == {5}
    assert with_buffer(deeper, "A.shared", depth=2) == with_buffer(MATMUL, "A.shared", depth=2)


def test_what_is_not_there_is_named() -> None:
    with pytest.raises(LookupError, match=r"matmul has no buffer A; there are C, A.registers|no buffer Q; there are"):
        with_buffer(MATMUL, "Q", depth=1)
    with pytest.raises(LookupError, match="has no ring Q"):
        with_ring(MATMUL, "Q", depth=1)
    with pytest.raises(LookupError, match="has no node at all:99"):
        deleted(MATMUL, Spot("all", (99,)))
    with pytest.raises(LookupError, match="has no node at some:0"):
        deleted(MATMUL, Spot("some", (0,)))
    assert Sequence(()) == Sequence(())
