"""A tile program read from its text: equal to what was printed, and refused on the line that is wrong."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from polyhedral import const, var
from ptxgen.compute import Binary, BinaryOp, Constant, SourceLine, Unary, UnaryOp
from ptxgen.errors import PtxSyntaxError
from ptxgen.tile import (
    BLOCK_NUMBER,
    TILE_NUMBER,
    Acquire,
    Meet,
    Multiply,
    Ordering,
    Program,
    Quotient,
    Release,
    Sequence,
    WorkList,
    show,
)
from ptxgen.tile.reading import read
from ptxgen.tile.reading.cursor import lines_of
from ptxgen.tile.reading.expressions import Elements, expression
from ptxgen.tile.rewriting import spots
from ptxgen.tile.trees import children_of, ends_of, flattened
from tests.tile.programs import Matmul, copying, softmax, transposing

HAND_MADE: dict[str, Callable[[], Program]] = {
    "copying": copying,
    "transposing": transposing,
    "softmax": softmax,
    "matmul": Matmul((32, 32, 8), (2, 2)).program,
}


@pytest.mark.parametrize("name", HAND_MADE)
def test_what_is_printed_is_read_again(name: str) -> None:
    program = HAND_MADE[name]()
    found = read(show(program))
    assert show(found) == show(program)
    for own, role in zip(found.roles, program.roles, strict=True):
        assert own.body == flattened(role.body)
    assert (found.buffers, found.parameters, found.grid) == (program.buffers, program.parameters, program.grid)


def test_every_node_keeps_its_line() -> None:
    text = show(Matmul((32, 32, 8), (2, 2)).program())
    program = read("# a note\n\n" + text, "mine.tile")
    lines = text.splitlines()
    for node in ends_of(program.roles[0].body):
        assert node.line is not None
        assert isinstance(node.line, SourceLine)
        assert node.line.file == "mine.tile"
        word = {Meet: "meet", Multiply: "multiply"}.get(type(node), "")
        assert word in lines[node.line.line - 3]
    assert any(isinstance(node, Ordering) for _, node in spots(program))


def test_what_is_told_for_the_reader_is_no_part_of_the_program() -> None:
    text = show(transposing())
    changed = text.replace("2 warps, 512 shared bytes", "0 warps, 1 shared bytes")
    assert read(changed) == read(text)


MISTAKES = {
    "for t = 0 .. floor((K - 9)/8):": ("for t = 0 .. flor((K - 9)/8):", "flor", "':'"),
    "meet 0": ("met 0", "met 0", "a copy, fill, multiply"),
    "+= A.fragments{2*t}": ("+= A.fragment{2*t}", "A.fragment{", "one of "),
    "32x8 x 2": ("32x8 y 2", "y 2", "'x'"),
    "f16 to f32": ("f16 to f33", "f33", "an element type: f16, bf16"),
    "role all": ("rolle all", "rolle", "a heading: parameters"),
    "K     size": ("K     sise", "sise", "a kind of parameter"),
    "offsets d0: 8 16": ("offsets d0: 16", "; d1", "5 offsets"),
}


@pytest.mark.parametrize("right", MISTAKES)
def test_a_mistake_is_told_on_its_line_with_what_was_wanted(right: str) -> None:
    wrong, at, wanted = MISTAKES[right]
    text = show(Matmul((32, 32, 8), (2, 2)).program())
    assert right in text
    changed = text.replace(right, wrong, 1)
    line = text[: text.index(right)].count("\n") + 1
    with pytest.raises(PtxSyntaxError) as caught:
        read(changed, "mine.tile")
    assert (caught.value.line, caught.value.file) == (line, "mine.tile")
    assert wanted in caught.value.wanted
    if at != "flor":
        assert changed.splitlines()[line - 1][caught.value.column - 1 :].lstrip().startswith(at)


GRID = "program x for sm_80: 1 warps\ngrid\n  cta.i = 0 .. M - 1\n  last dim fastest\n"
WALKED = f"{GRID}  walked by 2 blocks: of W number w takes tiles w, w + W, ...\n"


def test_blocks_that_share_slabs_and_flags_of_other_tiles() -> None:
    shared = "  streamed: tiles of floor((K + 7)/8) slabs, those of T mod W and one whole round shared evenly\n"
    flags = "role r, 1 warps\n  acquire turns{block - 1} at 1\n  release turns{block - 1} as 0\n  release turns as 1"
    program = read(WALKED + shared + flags, "mine.tile")
    assert program.grid.work_list == WorkList(2, Quotient(var("K") + 7, 8))
    assert program.grid.work_list is not None
    assert program.grid.work_list.line == SourceLine("mine.tile", 6, "")
    own, before = var(TILE_NUMBER), var(BLOCK_NUMBER) - 1
    first, second, third = children_of(program.roles[0].body)
    assert (first, second) == (Acquire("turns", const(1), (), before), Release("turns", const(0), (), before))
    assert third == Release("turns", const(1), (), own)
    assert show(program).endswith(flags)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", "'program NAME for TARGET: ...'"),
        ("program x for sm_80: 1 warps", "a section 'grid'"),
        ("program x for sm_80: 1 warps\ngrid\n  cta.i = 0 .. M - 1", "'last dim fastest'"),
        ("program x for sm_80: 1 warps\ngrid\n    last dim fastest", "2 spaces before it"),
        ("program x for sm_80: 1 warps\ngrid\n  last dim fastest\ngrid\n  last dim fastest", "a heading"),
        ("program x for sm_80: 1 warps\ngrid\n  last dim fastest\nrole r, 1 warps\n  otherwise:", "a 'when'"),
        ("program x for sm_80: 1 warps\ngrid\n  last dim fastest\n    more", "a line that begins where this one does"),
        (f"{GRID}  streamed: tiles of K slabs, those of T mod W", "'walked by N blocks"),
        (f"{WALKED}  streamed: tiles of K slabs", "'slabs, those of"),
        (f"{GRID}  walked by 0 blocks: of W number w takes tiles w, w + W, ...", "one at least"),
        (f"{WALKED}role r, 1 warps\n  acquire turns{{block - 1 at 1", "'}'"),
    ],
)
def test_what_is_no_program_is_refused(text: str, wanted: str) -> None:
    with pytest.raises(PtxSyntaxError) as caught:
        read(text)
    assert wanted in caught.value.wanted


def test_numbers_and_signs() -> None:
    def parsed(text: str) -> object:
        (line,) = lines_of(text, "f")
        return expression(line.cursor(), Elements({}, ()))

    assert parsed("-2") == Constant(-2.0)
    assert parsed("-(2)") == Unary(UnaryOp.NEGATE, Constant(2.0))
    assert parsed("(1e-05 + -inf)") == Binary(BinaryOp.ADD, Constant(1e-05), Constant(float("-inf")))
    assert parsed("0.7978845608028654") == Constant(0.7978845608028654)


def test_an_empty_body_and_a_branch() -> None:
    head = "program x for sm_80: 1 warps\ngrid\n  cta.i = 0 .. M - 1\n  last dim fastest\nrole r, 1 warps\n"
    program = read(head + "  when M >= 4 and M == 8:\n    nothing\n  otherwise:\n    meet 1, covers nothing")
    assert show(program).endswith("  when M >= 4 and M == 8:\n    nothing\n  otherwise:\n    meet 1, covers nothing")
    assert program.grid.dims[0].count.numerator.terms == (("M", 1),)
    assert program.grid.dims[0].count.numerator.constant == 0
    assert read(head + "  nothing").roles[0].body == Sequence(())
    assert const(0) == read(head + "  nothing").grid.dims[0].count.numerator * 0
