"""PTX that others have compiled or that was written by hand, and small modules around single statements."""

from pathlib import Path

from ptxgen.ir import Function, Module, Statement
from ptxgen.parse import parse

DATA = Path(__file__).parent / "data"
COMPILED = sorted(DATA.glob("*.ptx"))
WRITTEN = sorted((Path(__file__).parent / "written").glob("*.ptx"))
RUN = sorted((Path(__file__).parents[1] / "simulate" / "foreign").glob("*/*.ptx"))
MODULES = [*COMPILED, *WRITTEN, *RUN]
HEAD = """.version 8.8
.target sm_100a, texmode_independent
.address_size 64
.global .align 16 .b8 table[256];
.global .texref picture;
.global .samplerref taken;
.extern .func (.param .b32 result) helper (.param .b32 a, .param .b64 b);
.func plain () { ret; }
.visible .entry k(.param .u64 n, .param .align 64 .b8 map[128])
"""
REGISTERS = (
    ".reg .b16 %h<9>; .reg .b32 %r<99>; .reg .b64 %rd<99>; .reg .f32 %f<99>; .reg .f64 %fd<9>; .reg .pred %p<9>;"
    " .reg .b128 %rq<3>; .reg .pred p, q; .reg .v4 .f32 quad; .reg .v2 .f32 pair, pairs<3>; .reg .u32 x; .reg .b8 byte;"
)


def around(statements: str) -> str:
    """A kernel with registers of every sort that holds the statements, the first of them on line 13."""
    return f"{HEAD}{{\n{REGISTERS}\n.shared .align 128 .b8 tile[1024];\n{statements}\nret;\n}}\n"


FIRST_LINE = around("HERE").split("\n").index("HERE") + 1


def kernel_of(module: Module) -> Function:
    """The kernel of a module made by `around`."""
    return module.function("k")


def statements(text: str) -> tuple[Statement, ...]:
    """The nodes of the statements of a text, read inside a kernel."""
    body = kernel_of(parse(around(text))).body
    assert body is not None
    skipped = len(kernel_of(parse(around(""))).body.statements) - 1  # type: ignore[union-attr]
    return body.statements[skipped:-1]
