"""Every scalar instruction that a target has, as statements of PTX over inputs that are exhaustive where they can be.

Inputs of at most 16 bits together are exhaustive. Else they are random, with special values, all tuples of edge values,
numbers near 1, and operands that differ by so many binary places that sums are ties or a speck beside them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Set

import numpy as np
from attrs import frozen

from isa.forms import Form, families, resolve
from isa.operands import OneOf, OperandKind, OperandSlot, Range, Signature
from isa.targets import Target, version
from isa.types import Kind, Type, type_named
from tests.isa.synthesis import PLAIN, names

THREADS, COUNT = 128, 1 << 16
ALL = 200_000
_NAMES = """
add sub mul mad mul24 mad24 sad div rem abs neg min max dp4a dp2a fma rcp sqrt copysign testp and or xor not cnot lop3
shf shl shr popc clz brev bfind bfe bfi prmt setp set selp slct cvt bmsk szext fns vadd vsub vabsdiff vmin vmax vshl
vshr vmad vset vadd2 vsub2 vavrg2 vabsdiff2 vmin2 vmax2 vset2 vadd4 vsub4 vavrg4 vabsdiff4 vmin4 vmax4 vset4
"""
OPCODES = frozenset({*_NAMES.split(), "cvt.pack"})
LEFT_OUT = frozenset({"approx", "full", "oob", "cc", "rs"})
LAYOUT = {
    "f16": (10, 5), "bf16": (7, 8), "f32": (23, 8), "f64": (52, 11), "e4m3": (3, 4), "e5m2": (2, 5), "tf32": (23, 8),
    "e2m3": (3, 2), "e3m2": (2, 3), "e2m1": (1, 2),
}  # fmt: skip
NEWEST = version("8.8")


@frozen
class Case:
    """A form with one of its signatures: the registers of its sources as (type, place), and of its destinations."""

    name: str
    statement: str
    sources: tuple[tuple[Type, Type, int], ...]
    results: tuple[Type, ...]


def cases(target: Target, at_most: int, opcodes: Set[str] = OPCODES) -> Iterator[Case]:
    """About `at_most` forms of each family, those that the target has and that read and write registers alone."""
    for family in families():
        if family.opcode in opcodes:
            for name in names(family, at_most):
                for form in resolve(name):
                    yield from _cases(form, target)


def _cases(form: Form, target: Target) -> Iterator[Case]:
    least = form.availability.least_version(target)
    if LEFT_OUT & set(form.words.values()) or least is None or not form.availability.holds(NEWEST, target):
        return
    for signature in form.signatures:
        made = _case(form, signature)
        if made is not None:
            yield made


def _case(form: Form, signature: Signature) -> Case | None:
    text: list[str] = []
    sources: list[tuple[Type, Type, int]] = []
    results: list[Type] = []
    for slot in signature.slots:
        said = _said(slot, sources, results)
        if said is None:
            return None
        joined = bool(text) and slot.joined
        text[-1:] = [f"{text[-1]}|{said}"] if joined else [*text[-1:], said]
    return Case(form.name, f"{form.name} {', '.join(text)};", tuple(sources), tuple(results))


def _said(slot: OperandSlot, sources: list[tuple[Type, Type, int]], results: list[Type]) -> str | None:
    if isinstance(slot.domain, (OneOf, Range)) and slot.kind is OperandKind.IMMEDIATE:
        return str(slot.domain.values[-1] if isinstance(slot.domain, OneOf) else 0xCA)
    if slot.type is None or slot.kind not in (OperandKind.REGISTER, OperandKind.VALUE, OperandKind.PREDICATE):
        return None
    if slot.partial:
        return None
    register = PLAIN.register(slot)
    if slot.written:
        results.append(register)
        return f"%d{len(results)}_{register.name}"
    place = len(sources)
    sources.append((slot.type, register, place))
    return f"%{slot.type.name}_{register.name}_{place}"


def text_of(group: list[Case], target: Target, version: str) -> str:
    """One kernel of all the cases: parameters `in_TYPE_PLACE` in order, `out`; each result 8 bytes, case after case."""
    kinds = kinds_of(group)
    parameters = ", ".join(f".param .u64 {_parameter(each)}" for each in kinds)
    lines = [
        f".version {version}", f".target {target.name}", ".address_size 64",
        f".visible .entry many({parameters}, .param .u64 out)", "{",
        ".reg .b32 %thread, %block, %word; .reg .b64 %base, %address, %offset; .reg .pred %unused;",
    ]  # fmt: skip
    registers = {f"%{of.name}_{register.name}_{place}": register for of, register, place in kinds}
    for case in group:
        registers |= {f"%d{number}_{each.name}": each for number, each in enumerate(case.results, 1)}
    lines += [f".reg .{of.name} {name};" for name, of in sorted(registers.items())]
    lines.append(f"mov.u32 %thread, %tid.x; mov.u32 %block, %ctaid.x; mad.lo.u32 %thread, %block, {THREADS}, %thread;")
    for each in kinds:
        lines.append(_loaded(each))
    lines.append("ld.param.u64 %base, [out]; mul.wide.u32 %offset, %thread, 8; add.s64 %base, %base, %offset;")
    number = 0
    for case in group:
        lines.append(case.statement)
        for place, of in enumerate(case.results, 1):
            lines.append(_stored(f"%d{place}_{of.name}", of, 8 * COUNT * number))
            number += 1
    return "\n".join([*lines, "ret;", "}", ""])


def _parameter(kind: tuple[Type, Type, int]) -> str:
    return f"in_{kind[0].name}_{kind[1].name}_{kind[2]}"


def _loaded(kind: tuple[Type, Type, int]) -> str:
    of, register, place = kind
    width = 32 if register.kind is Kind.PREDICATE else register.bits
    name = f"%{of.name}_{register.name}_{place}"
    start = f"ld.param.u64 %address, [{_parameter(kind)}]; mul.wide.u32 %offset, %thread, {width // 8}; "
    start += "add.s64 %address, %address, %offset; "
    if register.kind is Kind.PREDICATE:
        return start + f"ld.global.b32 %word, [%address]; setp.ne.u32 {name}, %word, 0;"
    return start + f"ld.global.b{width} {name}, [%address];"


def _stored(name: str, of: Type, offset: int) -> str:
    if of.kind is Kind.PREDICATE:
        return f"selp.u32 %word, 1, 0, {name}; st.global.b32 [%base+{offset}], %word;"
    return f"st.global.b{of.bits} [%base+{offset}], {name};"


def kinds_of(group: list[Case]) -> list[tuple[Type, Type, int]]:
    """The inputs that the cases of a group want."""
    return sorted(
        {each for case in group for each in case.sources}, key=lambda each: (each[0].name, each[1].name, each[2])
    )


def inputs_of(kind: tuple[Type, Type, int]) -> np.ndarray:
    """COUNT values of a type for a place among the operands, as unsigned of the register's width."""
    of, register, place = kind
    if register.kind is Kind.PREDICATE:
        return np.random.default_rng(place).integers(0, 2, COUNT).astype(np.uint32)
    stored = np.dtype(f"u{register.bits // 8}")
    if of.bits <= 16 and place == 0:
        return np.arange(COUNT).astype(stored)
    element = type_named(of.name.partition("x")[0]) if of.lanes > 1 else of
    lanes = [_elements(element, place + 8 * lane) for lane in range(of.lanes)]
    whole = np.zeros(COUNT, np.uint64)
    for lane, values in enumerate(lanes):
        whole |= values << np.uint64(lane * element.bits)
    return whole.astype(stored)


def _elements(of: Type, place: int) -> np.ndarray:
    rng = np.random.default_rng(1000 * of.bits + place)
    mask = (1 << of.bits) - 1
    values = np.frombuffer(rng.bytes(8 * COUNT), np.uint64) & np.uint64(mask)
    edges = np.array(_edges(of), np.uint64)
    count = len(edges)
    number = np.arange(COUNT)
    cube = (number // count ** (place % 8 % 3)) % count
    part = min(count**3, COUNT // 4)
    values[:part] = edges[cube[:part]]
    if of.name in LAYOUT:
        _shaped(of, values, place, rng, slice(part, part + COUNT // 2))
    else:
        small = slice(part, part + COUNT // 4)
        values[small] = rng.integers(0, 70, COUNT // 4).astype(np.uint64) & np.uint64(mask)
    return values


def _shaped(of: Type, values: np.ndarray, place: int, rng: np.random.Generator, where: slice) -> None:
    """Numbers near 1, the k-th operand so many binary places below the first, its fraction empty or a speck."""
    fraction, exponent = LAYOUT[of.name]
    bias = (1 << exponent - 1) - 1
    chosen = values[where]
    shared = np.random.default_rng(of.bits).integers(-bias // 8 - 1, bias // 8 + 2, len(chosen))
    below = (place % 8) * (fraction + 1) + rng.integers(-1, 2, len(chosen)) * (place % 8 > 0)
    field = np.clip(bias + shared - below * (rng.random(len(chosen)) < 0.7), 0, (1 << exponent) - 2).astype(np.uint64)
    ones = (1 << fraction) - 1
    specks = rng.choice(np.array([0, 0, 1, ones, ones >> 1, (ones >> 1) + 1], np.uint64), len(chosen))
    body = np.where(rng.random(len(chosen)) < 0.5, chosen & np.uint64(ones), specks)
    sign = chosen & np.uint64(1 << (fraction + exponent))
    values[where] = sign | (field << np.uint64(fraction)) | body


def _edges(of: Type) -> list[int]:
    width, mask = of.bits, (1 << of.bits) - 1
    if of.name not in LAYOUT:
        some = [0, 1, 2, 3, 7, 8, 31, 32, 33, mask, mask - 1, mask >> 1, (mask >> 1) + 1, (mask >> 1) - 1, 0x55 & mask]
        return sorted({each & mask for each in some})
    fraction, exponent = LAYOUT[of.name]
    one, top = ((1 << exponent - 1) - 1) << fraction, ((1 << exponent) - 1) << fraction
    some = [0, 1, (1 << fraction) - 1, 1 << fraction, one, one + 1, one - 1, one + (1 << fraction), top - 1, top,
            top + 1, top | (1 << fraction - 1), top | (1 << fraction) - 1, one >> 1, one + (one >> 1)]  # fmt: skip
    signed = {each | sign for each in some for sign in (0, 1 << width - 1)}
    return sorted(each & mask for each in signed)


def groups(found: list[Case], size: int) -> Iterator[list[Case]]:
    """The cases in kernels of at most so many."""
    rest = iter(found)
    while group := list(itertools.islice(rest, size)):
        yield group


def sequences() -> list[Case]:
    """Statements that hand a carry on, in all pairs of sums, differences and products."""
    made: list[Case] = []
    for bits, of in itertools.product((32, 64), "us"):
        kind = type_named(f"{of}{bits}")
        a, b, c, d = (f"%{kind.name}_{kind.name}_{place}" for place in range(4))
        first, second = f"%d1_{kind.name}", f"%d2_{kind.name}"
        leading = {
            "add": f"add.cc.{kind.name} {first}, {a}, {b};", "sub": f"sub.cc.{kind.name} {first}, {a}, {b};",
            "mad.lo": f"mad.lo.cc.{kind.name} {first}, {a}, {b}, {c};",
            "mad.hi": f"mad.hi.cc.{kind.name} {first}, {a}, {b}, {c};",
            "addc": f"add.cc.{kind.name} {first}, {a}, {b}; addc.cc.{kind.name} {first}, {c}, {d};",
            "subc": f"sub.cc.{kind.name} {first}, {a}, {b}; subc.cc.{kind.name} {first}, {c}, {d};",
        }  # fmt: skip
        following = {
            "addc": f"addc.{kind.name} {second}, {c}, {d};", "subc": f"subc.{kind.name} {second}, {c}, {d};",
            "carry": f"addc.{kind.name} {second}, 0, 0;", "madc.lo": f"madc.lo.{kind.name} {second}, {a}, {c}, {d};",
            "madc.hi": f"madc.hi.{kind.name} {second}, {a}, {c}, {d};",
        }  # fmt: skip
        sources = tuple((kind, kind, place) for place in range(4))
        for (one, before), (other, after) in itertools.product(leading.items(), following.items()):
            made.append(Case(f"{one}.cc {other} {kind.name}", f"{before} {after}", sources, (kind, kind)))
    return made
