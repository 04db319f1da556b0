"""What the headers of PTX text say, held against text as compilers write it."""

import pytest

from isa.targets import target, version
from isa.types import b8, f32, u32, u64
from ptxgen.emit import emit
from ptxgen.errors import UnsupportedError
from ptxgen.ir import Function, FunctionKind, Linkage, Module, Parameter, PointerFacts, Scope, Space
from ptxgen.runtime.entries import read_headers

TEXT = """\
//
// .version 1.0, .entry not_this(.param .u32 x)
/* .target sm_20 */
.version 8.4
.target sm_90a, texmode_independent
.address_size 64
.file 1 "a//b.cu"
.visible .entry first(
\t.param .u64 .ptr .global .align 16 first_param_0, // the input
\t.param .align 8 .b8 first_param_1[24],
\t.param .u64 .ptr plain,
\t.param .f32 scale
)
.maxntid 128, 1, 1
{ ret; }
.weak .entry $second$() { ret; }
.entry third { ret; }
.func (.param .b32 out) callee(.param .b32 in) { ret; }
"""


def test_headers_of_foreign_text() -> None:
    headers = read_headers(TEXT)
    assert headers.version == (8, 4)
    assert headers.target == "sm_90a"
    assert list(headers.kernels) == ["first", "$second$", "third"]
    assert headers.kernels["first"] == (
        Parameter("first_param_0", u64, pointer=PointerFacts(Space.GLOBAL, 16)),
        Parameter("first_param_1", b8, (24,), align=8),
        Parameter("plain", u64),
        Parameter("scale", f32),
    )
    assert headers.kernels["third"] == headers.kernels["$second$"] == ()


def test_headers_of_our_text_are_the_parameters_of_the_module() -> None:
    parameters = (
        Parameter("a", u64, pointer=PointerFacts(Space.GLOBAL, 4)),
        Parameter("b", u64, pointer=PointerFacts(Space.SHARED)),
        Parameter("n", u32),
        Parameter("map", b8, (128,), align=64),
        Parameter("m", f32, (2, 3)),
    )
    body = Scope(())
    kernel = Function(FunctionKind.ENTRY, "k", Linkage.VISIBLE, (), parameters, (), body)
    module = Module(version("7.8"), target("sm_90"), 64, (kernel,))
    assert read_headers(emit(module).text).kernels == {"k": parameters}


@pytest.mark.parametrize(
    "text, wanted",
    [
        (".target sm_70\n", "no .version line"),
        (".version 6.4\n// .target sm_70\n", "no .target line"),
        (".version 6.4\n.target sm_70\n.entry k(.param .texref t) {}", "kernel k: no value .* '.param .texref t'"),
        (".version 6.4\n.target sm_70\n.entry k(.reg .u32 t) {}", "kernel k: the parameter '.reg .u32 t' is not"),
    ],
)
def test_what_is_refused(text: str, wanted: str) -> None:
    with pytest.raises(UnsupportedError, match=wanted):
        read_headers(text)
