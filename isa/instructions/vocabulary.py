"""Slots and operands that several chapters share."""

from __future__ import annotations

from isa.availability import since
from isa.derive import Derivation, by
from isa.operands import Domain, OperandKind, Role
from isa.rows import Operand, flag, slot
from isa.types import Type, pred, u32, u64

FTZ = flag("ftz")
SAT = flag("sat")
RELU_80 = flag("relu", since("7.0", 80))
NAN_80 = flag("NaN", since("7.0", 80))
ROUNDING = slot("rnd", "rn rz rm rp")
NEAREST = slot("rnd", "rn")
ROUNDING_MAYBE = ROUNDING.maybe
NEAREST_MAYBE = NEAREST.maybe
F32 = slot("type", "f32")
F64 = slot("type", "f64")

SPECIFIC = "sm_100a sm_101a sm_103a sm_107a sm_110a sm_120a sm_121a"
FAMILY = "sm_100f sm_101f sm_103f sm_107f sm_110f sm_120f sm_121f"
DATACENTRE = "sm_100a sm_100f sm_101a sm_101f sm_103a sm_103f sm_107a sm_107f sm_110a sm_110f"
RUBIN = since("9.4", "sm_107a sm_107f")
BYTES_SINCE = since("9.2", "sm_120a sm_120f sm_121a sm_121f sm_107a sm_107f")

SHARED_WINDOWS = {"shared__cta": since("7.8", 30), "shared__cluster": since("7.8", 90)}
SEMANTICS_SINCE = since("6.0", 70)
SCOPE = slot("scope", "cta cluster gpu sys", cluster=since("7.8", 90))
L2_HINT = flag("L2::cache_hint", since("7.4", 80))
VECTOR = slot("vec", "v2 v4")
VECTOR_MAYBE = VECTOR.maybe

TYPE = by("type")


def value(name: str, of_type: Type | Derivation = TYPE, domain: Domain | Derivation | None = None) -> Operand:
    """A source: a register or an immediate."""
    return Operand(name, Role.READ, OperandKind.VALUE, of_type, domain=domain)


def register(name: str, of_type: Type | Derivation = TYPE) -> Operand:
    """A source that must be a register."""
    return Operand(name, Role.READ, OperandKind.REGISTER, of_type)


def written(name: str = "d", of_type: Type | Derivation = TYPE, *, sink: bool = False) -> Operand:
    """A destination register."""
    return Operand(name, Role.WRITE, OperandKind.REGISTER, of_type, sink=sink)


def immediate(name: str, domain: Domain | None = None, of_type: Type | Derivation | None = None) -> Operand:
    """A constant, within a domain."""
    return Operand(name, Role.READ, OperandKind.IMMEDIATE, of_type, domain=domain)


def predicate(name: str = "c", *, negatable: bool = False) -> Operand:
    """A predicate that is read."""
    return Operand(name, Role.READ, OperandKind.PREDICATE, pred, negatable=negatable)


def written_predicate(name: str = "p", *, joined: bool = False, optional: bool = False, sink: bool = False) -> Operand:
    """A predicate that is written; `joined` behind `|` of the operand before it."""
    return Operand(name, Role.WRITE, OperandKind.PREDICATE, pred, optional=optional, joined=joined, sink=sink)


def bracket(name: str, *parts: Operand) -> Operand:
    """Operands that stand together in brackets: `[a, b]`."""
    return Operand(name, Role.READ, OperandKind.BRACKET, parts=parts)


def vector(name: str, of_type: Type | Derivation, count: int | Derivation) -> Operand:
    """A source that is a vector of registers."""
    return Operand(name, Role.READ, OperandKind.REGISTER, of_type, count)


def written_vector(name: str, of_type: Type | Derivation, count: int | Derivation) -> Operand:
    """A destination that is a vector of registers."""
    return Operand(name, Role.WRITE, OperandKind.REGISTER, of_type, count)


D, A, B, C = written(), value("a"), value("b"), value("c")
COUNT_B, COUNT_C = value("b", u32), value("c", u32)
ADDRESS = Operand("a", Role.READ, OperandKind.ADDRESS)
_ENDPOINT, _OFFSET = register("endpoint", u32), register("offset", u64)
HANDLE = bracket("handle", _ENDPOINT, _OFFSET)
COUNTED_HANDLE = bracket("handle", _ENDPOINT, _OFFSET, register("counter_offset", u64))
POLICY = Operand("policy", Role.READ, OperandKind.REGISTER, u64, when=("L2::cache_hint",))
MEMBERS = value("membermask", u32)
