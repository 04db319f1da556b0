"""Modifiers in other orders: what is said to be taken is asked of ptxas, what compilers write is resolved."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from isa.forms import Form, UnknownInstruction, families, resolve
from isa.order import FIXED, FREE, rearranged
from isa.rows import Family
from isa.targets import Target, target
from tests.isa.synthesis import names, statement
from tests.oracles.ptxas import newest_version, refused

FAMILIES = families()
FIRST_WORDS = frozenset(each.opcode.partition(".")[0] for each in FAMILIES) | {"call"}
NEWEST = tuple(target(name) for name in ("sm_107a", "sm_100a", "sm_120a", "sm_90a", "sm_103a"))


def orders(name: str, family: Family, drawn: random.Random) -> Iterator[str]:
    """Two neighbouring words exchanged, each pair of them, and two other orders of all."""
    words, start = name.split("."), len(family.opcode.split("."))
    for place in range(start, len(words) - 1):
        yield ".".join([*words[:place], words[place + 1], words[place], *words[place + 2 :]])
    for _ in range(2):
        yield ".".join([*words[:start], *drawn.sample(words[start:], len(words) - start)])


def disordered(group: tuple[Family, ...], each: int) -> dict[Target, dict[str, str]]:
    """Statements in orders said to be taken, on a target that has the form, with the name in the manual's order."""
    drawn, made = random.Random(7), defaultdict[Target, dict[str, str]](dict)
    for family in group:
        legal = names(family, 4 * each)
        for name in drawn.sample(legal, min(each, len(legal))):
            form: Form = next(form for form in resolve(name) if form.opcode == family.opcode)
            spelled = statement(form, form.signatures[0])
            able = [on for on in NEWEST if form.availability.holds(newest_version(on), on)]
            for other in orders(name, family, drawn) if able else ():
                if other != name and rearranged(other) == name:
                    made[able[0]][spelled.replace(f"{name} ", f"{other} ").replace(f"{name};", f"{other};")] = name
    return made


def refusals(asked: dict[Target, dict[str, str]]) -> list[str]:
    return [
        f"{on} {list(texts)[index]} // {words}"
        for on, texts in asked.items()
        for index, words in refused(list(texts), newest_version(on), on).items()
    ]


def test_a_sample_of_other_orders_is_taken():
    asked = disordered(FAMILIES, each=2)
    assert sum(map(len, asked.values())) > 400
    assert refusals(asked) == []


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.opcode)
def test_other_orders_are_taken(family: Family):
    assert refusals(disordered((family,), each=40)) == []


@pytest.mark.parametrize(
    "written, meant",
    [
        ("atom.add.acquire.gpu.f32", "atom.acquire.gpu.add.f32"),
        ("atom.global.add.release.sys.u32", "atom.release.sys.global.add.u32"),
        ("red.add.release.gpu.global.s32", "red.release.gpu.global.add.s32"),
        ("ld.global.acquire.gpu.b32", "ld.acquire.gpu.global.b32"),
        ("ld.global.nc.L1::no_allocate.L2::128B.v4.f32", "ld.global.nc.L1::no_allocate.L2::128B.v4.f32"),
        ("st.global.release.sys.u64", "st.release.sys.global.u64"),
        ("ld.global.L1::no_allocate.nc.v4.u32", "ld.global.nc.L1::no_allocate.v4.u32"),
        (
            "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.tile",
            "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes",
        ),
        ("mma.sync.aligned.row.col.m16n8k16.f32.f16.f16.f32", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"),
        ("add.f32.rn", ""),
        ("mad.u32.lo", ""),
        ("mma.sync.aligned.m16n8k16.col.row.f32.f16.f16.f32", ""),
        ("cvt.rn.f32.f16x2", ""),
    ],
)
def test_what_compilers_and_inline_assembly_write(written: str, meant: str):
    assert rearranged(written) == meant


def test_the_lists_name_families():
    opcodes = {each.opcode for each in FAMILIES}
    assert opcodes >= FREE
    assert opcodes >= FIXED
    assert not FREE & FIXED


FOREIGN = sorted((Path(__file__).parents[1]).rglob("*.ptx"))
_STATEMENT = re.compile(
    r"^\s*(?:[\w$]+:\s*)?(?:\{\s*)?(?:@!?[%\w$]+\s+)?([a-z]\w*(?:(?:\.|::)\w+|(?<=::\d):\d+)*)(?=\s|;)"
)


def spelled(path: Path) -> set[str]:
    """The names of the instructions in a text, comments left out."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)
    found = (_STATEMENT.match(line) for part in text.split("\n") for line in re.split(r"(?<=;)", part))
    return {each[1] for each in found if each is not None and each[1].partition(".")[0] in FIRST_WORDS}


@pytest.mark.parametrize("folder", sorted({path.parent for path in FOREIGN}), ids=lambda folder: folder.name)
def test_every_spelling_of_foreign_texts_resolves(folder: Path):
    names_met = set().union(*map(spelled, folder.glob("*.ptx")))
    assert names_met
    assert [name for name in sorted(names_met) if not _resolves(name)] == []


def _resolves(name: str) -> bool:
    try:
        resolve(name)
    except UnknownInstruction:
        return name in ("call", "call.uni") or bool(rearranged(name))
    return True
