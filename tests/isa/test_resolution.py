"""Names to forms: what resolves, what is said of what does not, and what may follow."""

from __future__ import annotations

import copy
import pickle
import random
import subprocess
import sys

import pytest

from isa.availability import ALWAYS
from isa.forms import UnknownInstruction, continuations, families, resolve
from isa.operands import OperandKind, Role
from isa.rows import family, line, rule, slot, table, word
from isa.targets import target, version
from isa.types import f16x2, f32, type_named, u32, u64
from tests.isa.synthesis import names


def refusal(name: str) -> str:
    with pytest.raises(UnknownInstruction) as caught:
        resolve(name)
    return str(caught.value)


def test_words_and_operands_of_a_form():
    (form,) = resolve("mad.wide.u32")
    assert dict(form.words) == {"mode": "wide", "type": "u32"}
    (signature,) = form.signatures
    assert [slot.type for slot in signature.slots] == [u64, u32, u32, u64]
    assert [slot.role for slot in signature.slots] == [Role.WRITE, Role.READ, Role.READ, Role.READ]


def test_vectors_and_fragments_are_counted():
    (load,) = resolve("ld.global.v4.f32")
    assert (load.signatures[0].slots[0].kind, load.signatures[0].slots[0].count) == (OperandKind.VECTOR, 4)
    (multiply,) = resolve("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f16")
    assert [(slot.type, slot.count) for slot in multiply.signatures[0].slots] == [
        (f32, 8),
        (f16x2, 2),
        (f16x2, 2),
        (f16x2, 4),
    ]


def test_several_meanings_of_one_name_are_all_there():
    assert {str(signature) for form in resolve("mov.b32") for signature in form.signatures} == {
        "d, a",
        "d, {a0, a1}",
        "{d0, d1}, a",
        "d, {a0, a1, a2, a3}",
        "{d0, d1, d2, d3}, a",
    }
    (form,) = resolve("setp.lt.s32")
    assert [str(each) for each in form.signatures] == ["p, a, b", "p|q, a, b"]


def test_forms_are_interned_and_survive_copies_and_pickles():
    for form in (*resolve("mov.b64"), *resolve("add.f32")):
        assert pickle.loads(pickle.dumps(form)) is form
        assert copy.deepcopy(form) is form
    assert resolve("add.f32") is resolve("add.f32")
    assert pickle.loads(pickle.dumps(u32)) is u32


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("mad.u32.lo", ["wrong order", "mad.lo.u32"]),
        ("mad.lo", ["incomplete", "u16, u32, u64, s16, s32, s64"]),
        ("mad.lo.f32", ["'f32'", "u16, u32"]),
        ("ld.global.v8.u8", ["with .v8", "type must be"]),
        ("cvt.f32.f64", ["no such combination", "dtype=f32 atype=f64"]),
        ("setp.lo.s32", ["with .s32", "cmp must be"]),
        ("add.u32.u32", ["'u32'", "(end)"]),
        ("frobnicate.u32", ["'frobnicate'"]),
        ("ad.u32", ["'ad'", "perhaps", "add"]),
        ("bar.warp", ["bar.warp"]),
        ("", ["incomplete"]),
    ],
)
def test_what_does_not_resolve_is_told(name: str, words: list[str]):
    said = refusal(name)
    assert all(each in said for each in words), said


@pytest.mark.parametrize("opcode", [each.opcode for each in families()])
def test_every_drawn_name_is_reached_by_its_continuations(opcode: str):
    for each in (each for each in families() if each.opcode == opcode):
        for name in names(each, 40, seed=3):
            words = tuple(name.split("."))
            assert all(words[at] in continuations(words[:at]) for at in range(len(words))), name
            assert "" in continuations(words), name


def test_continuations_lead_to_names_that_resolve():
    drawn, ended = random.Random(5), 0
    for _ in range(3000):
        words: tuple[str, ...] = ()
        while following := continuations(words):
            word = drawn.choice(following)
            if not word:
                resolve(".".join(words))
                ended += 1
                break
            words = (*words, word)
        else:
            pytest.fail(f"nothing follows {words}")
    assert ended == 3000


def test_completion_respects_the_tables():
    shape = ("mma", "sync", "aligned", "m16n8k16", "row", "col")
    assert set(continuations((*shape, "f16"))) == {"f16", "e4m3", "e5m2"}
    assert set(continuations((*shape, "f16", "e4m3"))) == {"e4m3", "e5m2"}
    assert "v8" not in continuations(("ld", "shared"))


def test_rules_and_tables_judge_open_slots():
    pairs = table("a b", (ALWAYS, "x", "1 2"), (ALWAYS, "y", "-"))
    assert pairs.judge({"a": "x", "b": "2"}) is ALWAYS
    assert pairs.judge({"a": "y", "b": "2"}) is None
    assert pairs.judge({"a": "y"}, frozenset({"a"})) is ALWAYS
    only = rule(when={"a": "x"}, only={"b": "1 -"}, never={"c": "*"})
    assert only.judge({"a": "x", "b": "2"}) is None
    assert only.judge({"a": "x", "c": "3"}) is None
    assert only.judge({"a": "z", "b": "2"}) is ALWAYS


def test_ill_formed_rows_are_refused():
    with pytest.raises(ValueError, match="two slots of one name"):
        line(word("sync"), word("sync"))
    with pytest.raises(ValueError, match="does not have"):
        slot("type", "u32", f32=ALWAYS)
    with pytest.raises(ValueError, match="2 cells"):
        table("a b", (ALWAYS, "x"))
    assert family("x", line(word("y"))).opcode == "x"


def test_candidates_on_a_target():
    assert not resolve("tanh.approx.f32").on(version("8.0"), target("sm_70"))
    assert resolve("tanh.approx.f32").on(version("8.0"), target("sm_75"))


def test_a_wide_operand_takes_wider_registers_and_no_other_does():
    loaded = resolve("ld.u8")[0].signatures[0].slots[0].accepts
    assert {type_named("u32"), type_named("b64")} <= loaded
    assert f32 not in loaded
    assert type_named("u64") not in resolve("add.u32")[0].signatures[0].slots[0].accepts


def test_the_rows_are_imported_without_numpy():
    code = "import sys, isa.forms, isa.special, isa.fragments; assert 'numpy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
