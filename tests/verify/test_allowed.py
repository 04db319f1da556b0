"""Findings that a comment allows."""

import pytest

from isa.types import u32
from ptxgen.build import Module
from ptxgen.parse import parse
from ptxgen.verify import allowed_codes, verify

HEAD = ".version 6.4\n.target sm_70\n.visible .entry k()\n{\n.reg .u32 a, b; .reg .f32 f;\n"


@pytest.mark.parametrize(
    "body, left",
    [
        ("add.u32 a, b, 1;", ["uninitialised.register"]),
        ("add.u32 a, b, 1; // ptxgen: allow uninitialised.register", []),
        ("// ptxgen: allow uninitialised.register\nadd.u32 a, b, 1;", []),
        ("// why\n// ptxgen: allow uninitialised.register\n// more\nadd.u32 a, b, 1;", []),
        ("add.u32 a, b, 1; // ptxgen: allow type.mismatch", ["uninitialised.register"]),
        ("mov.u32 a, 1; // ptxgen: allow uninitialised.register\nadd.u32 a, b, 1;", ["uninitialised.register"]),
        ("add.u32 f, b, 1; // ptxgen: allow type.mismatch, uninitialised.register", []),
        ("{ add.u32 a, b, 1; // ptxgen: allow uninitialised.register\n}", []),
    ],
)
def test_a_comment_speaks_of_its_statement(body: str, left: list[str]) -> None:
    assert [finding.code for finding in verify(parse(f"{HEAD}{body}\nret;\n}}\n"))] == left


def test_before_the_version_it_speaks_of_the_module() -> None:
    text = f"// ptxgen: allow uninitialised.register\n{HEAD}add.u32 a, b, 1;\nret;\n}}\n"
    assert verify(parse(text)) == ()


def test_the_builder_has_it_too() -> None:
    module = Module("sm_70")
    with module.kernel("k") as k:
        k.comment("ptxgen: allow uninitialised.register")
        k.add.u32(k.register(u32), 1)
    module.build()


@pytest.mark.parametrize("text", ["allow x.y", "ptxgen allow x.y", "ptxgen: deny x.y", "ptxgen: allow"])
def test_other_comments_allow_nothing(text: str) -> None:
    assert allowed_codes(text) == frozenset()
