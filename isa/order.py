"""Modifiers in another order than the manual's, which assemblers take and compilers and inline assembly write.

The manual prints one order and says of no other that it is legal; both assemblers, asked family by family, read most
modifiers as a set. So `resolve` knows the manual's order alone, and readers of foreign text ask `rearranged` first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from isa.forms import UnknownInstruction, resolve
from isa.instructions import FAMILIES
from isa.rows import Family, Slot
from isa.types import UnknownType, type_named

_FREE = """
min max abs neg bfind bmsk szext rcp sqrt rsqrt sin cos lg2 ex2 tanh testp setp slct lop3 prmt shfl addc subc
ld ldu st st.async st.bulk prefetch applypriority discard mapa getctarank red red.async atom multimem.ld_reduce
multimem.st multimem.red multimem.st.async multimem.red.async cp.async.bulk.prefetch
cp.async.bulk.prefetch.tensor tensormap.replace applypriority.async.bulk applypriority.async.bulk.tensor
mbarrier.init mbarrier.inval mbarrier.expect_tx mbarrier.complete_tx mbarrier.check_layout
vote match redux.sync stmatrix movmatrix tcgen05.mma tcgen05.mma.sp tcgen05.mma.ws tcgen05.mma.ws.sp tld4 suq
vadd vsub vabsdiff vmin vmax vshl vshr vmad vset vadd2 vsub2 vabsdiff2 vmin2 vmax2 vavrg2 vset2
vadd4 vsub4 vabsdiff4 vmin4 vmax4 vavrg4 vset4
"""
_FIXED = """
bar barrier barrier.cluster bar.warp.sync membar fence createpolicy txq mad madc mul24 mad24 clmad dp2a dp4a
cvta ldmatrix spcompress spdecompress isspacep
"""
_STATE_SPACES = "const global local param shared shared::cta shared::cluster param::entry param::func"
# Families whose words the assemblers take in any order.
FREE: frozenset[str] = frozenset(_FREE.split())
# Families that they take in the manual's order only, or with another meaning.
FIXED: frozenset[str] = frozenset(_FIXED.split())
_SPACES = frozenset(_STATE_SPACES.split())
_LAYOUTS = frozenset(("row", "col"))
_OPERATIONS = frozenset(("and", "or", "xor", "popc"))
# Modifiers that belong to the opcode, where they are more than one.
_HEADS = {"wmma": 2, "cp.async": 2, "tcgen05": 3}
_NARROW = re.compile(r"[bsu]\d+")


def rearranged(name: str) -> str:
    """The name with its modifiers in the manual's order, if the assemblers take them in the order given; else "".

    Where a family is neither free nor fixed, its first modifier belongs to the opcode, and types, state spaces,
    layouts and boolean operations keep their order among themselves.
    """
    words = tuple(name.split("."))
    for family in FAMILIES.get(words[0], ()):
        opcode = tuple(family.opcode.split("."))
        if words[: len(opcode)] != opcode or family.opcode in FIXED:
            continue
        for ordered in _fitting(family, words[len(opcode) :]):
            if family.opcode in FREE or _kept(family.opcode, words[len(opcode) :], ordered):
                said = ".".join((family.opcode, *ordered))
                if _legal(said):
                    return said
    return ""


def _fitting(family: Family, words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The words in the order of each line that has a place for all of them."""
    for line in family.lines:
        ordered = _placed(line.slots, words)
        if ordered is not None:
            yield ordered


def _placed(slots: tuple[Slot, ...], words: tuple[str, ...]) -> tuple[str, ...] | None:
    left, ordered = list(words), []
    for slot in slots:
        fitting = next((each for each in left if each in slot.choices), None)
        if fitting is not None:
            ordered.append(fitting)
            left.remove(fitting)
    return None if left else tuple(ordered)


def _kept(opcode: str, words: tuple[str, ...], ordered: tuple[str, ...]) -> bool:
    head = _HEADS.get(opcode, 1)
    return words[:head] == ordered[:head] and all(
        [each for each in words if sort(each)] == [each for each in ordered if sort(each)]
        for sort in (_is_type, _SPACES.__contains__, _LAYOUTS.__contains__, _OPERATIONS.__contains__)
    )


def _is_type(word: str) -> bool:
    try:
        type_named(word)
    except UnknownType:
        return _NARROW.fullmatch(word) is not None
    return True


def _legal(name: str) -> bool:
    try:
        resolve(name)
    except UnknownInstruction:
        return False
    return True
