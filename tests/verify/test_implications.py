"""What follows from a comparison, judged by computing both with the numbers of the machine."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from ptxgen.ir import Guard, Module, Variable
from ptxgen.parse import parse
from ptxgen.verify.body import body_of
from ptxgen.verify.implications import Implications
from ptxgen.verify.values import Values

WORD = 1 << 32
HEAD = """.version 6.4
.target sm_70
.visible .entry k(.param .u32 n)
{
.reg .u32 %x, %y, %a<9>; .reg .pred %p<9>;
ld.param.u32 %x, [n]; ld.param.u32 %y, [n];
"""
CMP = {
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
}
OPS = {
    "add.u32": lambda a, b: a + b,
    "sub.u32": lambda a, b: a - b,
    "and.b32": lambda a, b: a & b,
    "shr.u32": lambda a, b: a >> b if b < 32 else 0,
    "shl.b32": lambda a, b: a << b if b < 32 else 0,
}
steps = st.lists(st.tuples(st.sampled_from(sorted(OPS)), st.integers(0, 9)), max_size=3)
tests = st.tuples(steps, st.sampled_from(sorted(CMP)), st.sampled_from(["u32", "s32"]), st.integers(0, 9))


def text(number: int, test: tuple[list[tuple[str, int]], str, str, int]) -> str:
    chain, cmp, type_, bound = test
    lines, last = [], "%x"
    for place, (name, constant) in enumerate(chain):
        lines.append(f"{name} %a{4 * number + place}, {last}, {constant};")
        last = f"%a{4 * number + place}"
    return "\n".join([*lines, f"setp.{cmp}.{type_} %p{number}, {last}, {bound};"])


def truth(x: int, test: tuple[list[tuple[str, int]], str, str, int]) -> bool:
    chain, cmp, type_, bound = test
    for name, constant in chain:
        x = OPS[name](x, constant) % WORD
    return bool(CMP[cmp](x - WORD if type_ == "s32" and x >= WORD // 2 else x, bound))


def implications(given_text: str) -> Implications:
    module: Module = parse(f"{HEAD}{given_text}\nret;\n}}\n")
    assert not any(isinstance(item, Variable) for item in module.items)
    return Implications(Values(body_of(module, module.function(), {}, frozenset())))


def known(of: Implications, negated: bool) -> dict[str, bool]:
    """The truth of the other predicates where %p0 is true, or false where negated."""
    register = next(each for each in of._values.body.numbers.registers if each.name == "%p0")
    return {each.register.name: not each.negated for each in of.of(Guard(register, negated))}


@settings(max_examples=300, deadline=None)
@given(tests, tests, st.booleans(), st.lists(st.integers(0, WORD - 1), max_size=20))
def test_what_is_implied_holds(first: object, second: object, negated: bool, more: list[int]) -> None:
    said = known(implications(f"{text(0, first)}\n{text(1, second)}"), negated)  # type: ignore[arg-type]
    near = [(each + edge) % WORD for each in range(-40, 41) for edge in (0, WORD // 2, 1 << 30, 1 << 29)]
    for x in [*near, *more]:
        if "%p1" in said and truth(x, first) is not negated:  # type: ignore[arg-type]
            assert truth(x, second) is said["%p1"], x  # type: ignore[arg-type]


def test_what_compilers_rely_on_is_implied() -> None:
    rest = "sub.u32 %a0, 1, %y;\nadd.u32 %a1, %a0, %x;\nsetp.lt.u32 %p0, %a1, 3;\n"
    whole = "sub.u32 %a4, 2, %y;\nadd.u32 %a5, %x, %a4;\nand.b32 %a6, %a5, 3;\nsetp.eq.s32 %p1, %a6, 0;"
    assert known(implications(rest + whole), False) == {"%p1": False}
    assert known(implications(rest + whole.replace("2, %y", "3, %y")), False) == {}
    assert known(implications(rest + whole), True) == {}
