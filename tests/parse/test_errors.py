"""Text that cannot be read: the message, the place, and the line shown under it."""

import pytest

from isa.targets import target
from ptxgen.errors import PtxSyntaxError
from ptxgen.parse import Misuse, parse, read
from ptxgen.verify import verify
from tests.oracles.ptxas import verdict
from tests.parse.programs import FIRST_LINE, around, kernel_of

# The guilty statement, the column of the place, and words of the message.
STATEMENTS = [
    ("add.u32 %r1, %r2, 3", 1, "unexpected 'ret'; wanted ',' or ';'", "ret;"),
    ("add.u33 %r1, %r2, 3;", 1, "add.u33: 'u33' cannot stand there", None),
    ("ad.u32 %r1, %r2, 3;", 1, "ad.u32: 'ad' cannot stand there; perhaps: ", None),
    ("add.u32 %r1 %r2, 3;", 13, "unexpected '%r2'; wanted ',' or ';'", None),
    ("add.u32 %r1, %q2, 3;", 14, "register %q2 is not declared here", None),
    ("add.u32 %r1, %r99, 3;", 14, "register %r99 is not declared here", None),
    ("mov.u32 %r1, missing;", 1, "missing is not declared here", None),
    ("ld.global.u32 %r1, [missing];", 21, "missing is not declared here", None),
    ("ld.global.u32 %r1, [%rd1-4];", 25, "unexpected '-'; wanted '+', ',' or ']'", None),
    ("ld.global.u32 %r1, [%rd1+%rd2];", 26, "unexpected '%rd2'; wanted a constant", None),
    ("ld.global.u32 %r1, [%rd1;", 25, "unexpected ';'", None),
    ("mov.b64 {%r1, %r2, %rd1;", 24, "unexpected ';'; wanted ',' or '}'", None),
    ("mov.u32 %r1, ;", 14, "wanted a register, a constant, an address", None),
    ("@%r1x ret;", 2, "predicate %r1x is not declared here", None),
    ("bra nowhere;", 1, "nowhere is not declared here", None),
    ("setp.lt.s32 p, q, %r1, %r2;", 1, "stands behind ',', where '|' belongs", None),
    ("add.u32 %r1|%r2, 3;", 1, "stands behind '|', where ',' belongs", None),
    ("call nothing;", 6, "function nothing is not declared here", None),
    ("call (x) plain;", 10, "unexpected 'plain'; wanted ','", None),
    (".reg .u33 a;", 6, "unexpected '.u33'; wanted a type of registers", None),
    (".reg .tf32 a;", 6, "no register has the type .tf32", None),
    (".maxntid 3;", 1, "the directive .maxntid cannot stand in a function", None),
    ("mov.u32 %r1, 'a';", 14, 'the character "\'" means nothing in PTX', None),
    ("#define x 1", 1, "run cpp over the text first", None),
    ("# 9", 1, "of the C preprocessor only line markers are read", None),
    ("bar.sync \\\n 0;", 10, "the character '\\\\' means nothing in PTX", "bar.sync \\"),
    ("/* endless", 1, "a comment that does not end", None),
    ("a: 5", 4, "unexpected '5'; wanted an instruction, a label, a directive", None),
    ("{ add.u32 %r1, %r2, 3;", 1, "the scope that begins here does not end", "}"),
    ("p2: .callprototype _ (.param .u32) _;", 34, "unexpected ')'; wanted a parameter's name", None),
]


@pytest.mark.parametrize("text, column, words, shown", STATEMENTS, ids=[text for text, *_ in STATEMENTS])
def test_the_message_its_place_and_its_line(text: str, column: int, words: str, shown: str | None) -> None:
    with pytest.raises(PtxSyntaxError) as caught:
        parse(around(text), file="user.ptx")
    error = caught.value
    assert words in str(error)
    if shown is None:
        assert (error.line, error.column) == (FIRST_LINE, column)
        assert str(error).startswith(f"user.ptx:{FIRST_LINE}:{column}: ")
        _, line, caret = str(error).split("\n")
        assert line.strip() == text
        assert caret.index("^") == line.index(text) + column - 1


ITEMS = [
    ("", 1, 1, "unexpected end of the text; wanted '.version'"),
    (".target sm_80", 1, 1, "wanted '.version', with which a module begins"),
    (".version 8\n.target sm_80", 1, 10, "a PTX version looks like '8.6'"),
    (".version 8.0\n.target sm_81", 2, 9, "unknown target 'sm_81'"),
    (".version 8.0\n.target sm_80, fast", 2, 16, "unexpected 'fast'; wanted debug or"),
    (".version 8.0\n.target sm_80\n.address_size 16", 3, 15, "wanted 32 or 64"),
    (".version 8.0\n.target sm_80\nadd.u32 a, b, c;", 3, 1, "wanted a function, a variable or a directive"),
    (".version 8.0\n.target sm_80\n.entry k(.u32 a) {}", 3, 10, "wanted '.param', '.reg' or ')'"),
    (".version 8.0\n.target sm_80\n.entry k() .maxntid 1,2,3,4 {}", 3, 12, "wanted 1 to 3 numbers"),
    (".version 8.0\n.target sm_80\n.entry k()\n{ ret;", 4, 1, "the scope that begins here does not end"),
    (".version 8.0\n.target sm_80\n.const[2] .u32 a;", 3, 7, "banks of constant memory"),
    (".version 8.0\n.target sm_80\n.file 1 \"a", 3, 9, "a string that does not end on its line"),
    (".version 8.0\n.target sm_80\n.global .u32 a = -;", 3, 19, "unexpected ';'; wanted a constant"),
    (".version 8.0\n.target sm_80\n.extern .u32 a;", 3, 9, "wanted a function, a variable or a directive"),
]  # fmt: skip


@pytest.mark.parametrize("text, line, column, words", ITEMS, ids=[text or "nothing" for text, *_ in ITEMS])
def test_errors_outside_of_functions(text: str, line: int, column: int, words: str) -> None:
    with pytest.raises(PtxSyntaxError) as caught:
        parse(text)
    assert words in str(caught.value)
    assert (caught.value.line, caught.value.column) == (line, column)


@pytest.mark.parametrize("text", [text for text, *_ in STATEMENTS])
def test_ptxas_refuses_them_too(text: str) -> None:
    assert not verdict(around(text), target("sm_100a")).ok


def test_what_means_nothing_is_left_out_and_told() -> None:
    lines = ["add.u33 %r1, %r2, 3;", "add.u32 %r1, %nope, 3;", "mov.u32 %r3, 4;", "bra nowhere;", "mov.u32 %r1, lost;"]
    reading = read(around("\n".join(lines)), file="user.ptx")
    assert [(each.code, each.origin.line - FIRST_LINE if each.origin else 0) for each in reading.findings] == [
        ("instruction.unknown", 0), ("register.undeclared", 1), ("label.unknown", 3), ("name.unknown", 4),
    ]  # fmt: skip
    assert [str(each) for each in kernel_of(reading.module).instructions()] == ["mov.u32 %r3, 4;", "ret;"]
    assert verify(reading.module) == ()


def test_an_error_is_told_where_line_markers_say_it_comes_from() -> None:
    text = around('# 40 "macros.h"\n\n  add.u33 %r1, %r2, 3;')
    with pytest.raises(Misuse) as caught:
        parse(text, file="user.ptx")
    assert str(caught.value).startswith("macros.h:41:3: ")
    (found,) = read(text, file="user.ptx").findings
    assert str(found.origin).startswith("macros.h:41")


def test_a_misuse_is_a_syntax_error_with_a_code() -> None:
    with pytest.raises(Misuse) as caught:
        parse(around("add.u33 %r1, %r2, 3;"))
    assert isinstance(caught.value, PtxSyntaxError)
    assert caught.value.code == "instruction.unknown"


@pytest.mark.parametrize("deep", ["{" * 3000, "mov.u32 %r1, " + "(" * 3000])
def test_nesting_has_an_end(deep: str) -> None:
    with pytest.raises(PtxSyntaxError, match="nest too deeply"):
        parse(around(deep))
