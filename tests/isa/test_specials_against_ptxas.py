"""Which operands may be special registers, asked of ptxas: everywhere that the rows say, and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest

from isa.forms import Form, families, resolve
from isa.operands import OperandKind, Role, Signature
from isa.special import SPECIAL_REGISTERS
from isa.targets import target, version
from isa.types import type_named
from ptxgen.errors import PtxSyntaxError, Severity
from ptxgen.parse import parse
from ptxgen.verify import verify
from tests.isa.synthesis import names
from tests.isa.test_operands_against_ptxas import with_number
from tests.oracles.ptxas import NEW, OLD, module, refused

AT, ON = version("8.8"), target("sm_90a")
OF_BITS = {16: "%tid.x", 32: "%tid.x", 64: "%clock64"}
INTEGERS = ("u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64")
READ_DIRECTLY = {"mov", "cvt"}


def read_places() -> Iterator[tuple[Form, Signature, int]]:
    """One statement for each different place of each opcode where a register or constant is read."""
    seen = set()
    forms = (form for family in families() for name in names(family, 40) for form in resolve(name))
    for form in (form for form in forms if form.availability.holds(AT, ON)):
        for signature in form.signatures:
            for place, slot in enumerate(signature.slots):
                key = (form.opcode, place, slot)
                single = slot.kind in (OperandKind.VALUE, OperandKind.REGISTER) and slot.role is Role.READ
                if single and slot.type is not None and slot.type.bits in OF_BITS and key not in seen:
                    seen.add(key)
                    yield form, signature, place


def spelled(form: Form, signature: Signature, place: int, special: str) -> str:
    text = with_number(form, signature, place, 77777)
    assert text.count(" 77777") == 1
    return text.replace(" 77777", f" {special}")


@pytest.mark.parametrize("by", [OLD, NEW])
def test_no_other_operand_may_be_a_special_register(by: str):
    asked: dict[str, bool] = {}
    for form, signature, place in read_places():
        slot = signature.slots[place]
        assert slot.type is not None
        asked[spelled(form, signature, place, OF_BITS[slot.type.bits])] = slot.special
    said = refused(list(asked), AT, ON, by)
    wrong = [text for index, (text, legal) in enumerate(asked.items()) if (index in said) == legal]
    assert len(asked) > 500
    assert not wrong, "\n".join(wrong)
    assert {text.split(".")[0] for text, legal in asked.items() if legal} == READ_DIRECTLY - {"cvt"}


def conversions() -> Iterator[str]:
    for to, of, special in product((*INTEGERS, "f32"), (*INTEGERS, "f16", "f32"), ("%tid.z", "%clock64", "%envreg3")):
        register = type_named(to)
        held = f"%{register.name if register.bits > 8 else 'b32'}_0"
        yield f"cvt.{'rn.' if to == 'f32' and of[0] != 'f' else ''}{to}.{of} {held}, {special};"


UNPACKED = tuple(
    f"mov.{whole} {{{', '.join(parts)}}}, {special};"
    for whole, parts in (("b16", ("%b8_0", "%b8_1")), ("b32", ("%b16_0", "%b16_1")), ("b64", ("%b32_0", "%b32_1")),
                         ("b64", ("%b16_0", "%b16_1", "%b16_2", "%b16_3")), ("b128", ("%b64_0", "%b64_1")))
    for special in ("%tid.w", "%clock64", "%laneid")
)  # fmt: skip
PACKED = tuple(
    f"mov.{whole} %{whole}_0, {{{special}, {other}}};"
    for whole, other in (("b32", "%b16_1"), ("b64", "%b32_1"), ("b128", "%b64_1"), ("b64", "%ntid.w"))
    for special in ("%tid.x", "%clock64", "%envreg0")
)
WORDS = tuple(
    text.format(each)
    for text in ("mov.u16 %u16_0, {};", "mov.u32 %u32_0, {};", "mov.u64 %u64_0, {};", "cvt.u32.u8 %u32_0, {};")
    for each in (*SPECIAL_REGISTERS, "%tid", "%nclusterid")
)


@pytest.mark.parametrize("by", [OLD, NEW])
@pytest.mark.parametrize(
    "texts", [tuple(conversions()), UNPACKED, PACKED, WORDS], ids=["cvt", "unpacked", "packed", "mov"]
)
def test_the_verifier_takes_special_registers_where_ptxas_does(by: str, texts: tuple[str, ...]):
    texts = tuple(text for text in texts if "perctamemory" not in text)
    said = refused(texts, AT, ON, by)
    ours = [index for index, text in enumerate(texts) if not taken(text)]
    assert sorted(said) == ours
    assert len(said) < len(texts)


def taken(text: str) -> bool:
    """Whether reader and verifier take a statement; those about registers never written are no matter here."""
    try:
        found = verify(parse(module([text], AT, ON)[0]))
    except PtxSyntaxError:
        return False
    return not any(each.severity is Severity.ERROR and each.code != "uninitialised.register" for each in found)
