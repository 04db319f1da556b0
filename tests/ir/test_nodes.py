"""Nodes are values: equal, hashable, and the same after pickling and copying."""

import copy
import pickle

import pytest

from isa.forms import resolve
from isa.types import b32, f32, f64, pred, u32, u64
from ptxgen.build import Module, pointer
from ptxgen.ir import (
    Address,
    Component,
    Float,
    Guard,
    Instruction,
    Int,
    Negated,
    Operand,
    Origin,
    Register,
    Sink,
    Special,
    SymbolAddress,
    TensorCoordinate,
    VectorRegister,
    accesses,
    operand_text,
    signature_of,
)

R, P = Register("%r1", b32), Register("%p1", pred)


@pytest.mark.parametrize(
    "operand, text",
    [
        (R, "%r1"),
        (Special("tid.x"), "%tid.x"),
        (Int(-3), "-3"),
        (Float(0x3F800000, f32), "0f3F800000"),
        (Float(0x3FF0000000000000, f64), "0d3FF0000000000000"),
        (SymbolAddress("a"), "a"),
        (SymbolAddress("a", -4), "a+-4"),
        (Address(R), "[%r1]"),
        (Address(R, 16), "[%r1+16]"),
        (Address(SymbolAddress("a"), -4), "[a+-4]"),
        (Address(Int(16)), "[16]"),
        (TensorCoordinate(R, (R, Int(0))), "[%r1, {%r1, 0}]"),
        (Component(R, "x"), "%r1.x"),
        (Negated(P), "!%p1"),
        (Sink(), "_"),
        ((R, Sink()), "{%r1, _}"),
    ],
)
def test_operands_spell_themselves(operand: Operand, text: str) -> None:
    assert operand_text(operand) == text


def test_a_module_survives_pickling_and_copying() -> None:
    module = Module("sm_70")
    with module.kernel("k", x=pointer(f32), n=u32) as k, k.when(k.setp.lt.u32(k.tid.x, k.args.n)):
        k.st.global_.v2.f32(k.args.x + 8, (1.0, k.ld.global_.f32(k.args.x)))
    built = module.build()
    assert pickle.loads(pickle.dumps(built)) == built
    assert copy.deepcopy(built) == built


def test_equality_leaves_out_the_origin_and_nothing_else() -> None:
    add = resolve("add.u32")[0]
    one = Instruction(add, (R, R, Int(1)), origin=Origin("a.py", 1, "f"))
    assert one == Instruction(add, (R, R, Int(1)))
    assert one != Instruction(add, (R, R, Int(2)))
    assert one != Instruction(add, (R, R, Int(1)), Guard(P))
    assert one != Instruction(resolve("add.s32")[0], (R, R, Int(1)))
    assert Register("%r1", b32) != Register("%r1", u32)
    assert Register("%r1", b32) != Register("%r1", b32, 1)


def test_the_signature_is_found_by_count_and_by_sort() -> None:
    unpack = next(form for form in resolve("mov.b64") if "{" in str(form.signatures[0]).split(", [")[0][:1])
    wide = Register("%rd1", u64)
    found = signature_of(unpack, ((R, R), wide))
    assert found is not None
    assert found.slots[0].count == 2
    assert signature_of(resolve("add.u32")[0], (R, R)) is None


def test_reads_and_writes() -> None:
    shuffle = resolve("shfl.sync.bfly.b32")[0]
    a, q = Register("%r2", b32), Register("%p2", pred)
    assert accesses(Instruction(shuffle, (R, P, a, Int(1), Int(31), Int(-1)), Guard(q))) == ([a, q], [R, P])
    load = resolve("ld.global.v2.b32")[0]
    address = Register("%rd1", u64)
    assert accesses(Instruction(load, ((R, Sink()), Address(address, 4)))) == ([address], [R])
    pair = VectorRegister("%pair", b32, 0, 2)
    assert accesses(Instruction(load, (pair, Address(address)))) == ([address], [pair])
    part = Component(pair, "x")
    assert accesses(Instruction(resolve("add.u32")[0], (R, part, Int(1)))) == ([pair], [R])
    store = resolve("st.global.v2.b32")[0]
    assert accesses(Instruction(store, (Address(address), (R, a)))) == ([address, R, a], [])
