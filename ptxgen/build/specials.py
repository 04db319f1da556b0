"""Special registers as the user meets them: `k.tid.x`, `k.laneid`, `k.special("clock64")`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isa.special import SPECIAL_REGISTERS, UnknownSpecialRegister, special
from isa.types import Kind
from ptxgen.build.blame import fail
from ptxgen.build.handles import SpecialRegister, Value
from ptxgen.ir import Special

if TYPE_CHECKING:
    from ptxgen.build.draft import Draft

STEADY = tuple(each.name for each in SPECIAL_REGISTERS if not each.volatile)
VECTORS = frozenset(name.partition(".")[0] for name in STEADY if "." in name)


class SpecialVector:
    """`k.tid`: its attributes x, y, z are registers filled once, in the entry block."""

    def __init__(self, kernel: Draft, name: str) -> None:
        self._kernel = kernel
        self._name = name

    def __getattr__(self, part: str) -> Value:
        if part not in ("x", "y", "z"):
            raise AttributeError(f"%{self._name} has x, y and z, not {part!r}")
        found: Value = read(self._kernel, f"{self._name}.{part}")
        self.__dict__[part] = found
        return found

    def __dir__(self) -> list[str]:
        return ["x", "y", "z"]

    def __repr__(self) -> str:
        return f"<special registers %{self._name}>"


def read(kernel: Draft, name: str) -> Any:
    """The special register of that name (`"tid.x"`): a Value filled in the entry block, or for one that changes
    while the kernel runs an operand for `k.mov`.

    KernelError where there is none of that name, or where the target or version lacks it.
    """
    try:
        fact = special(name)
    except UnknownSpecialRegister as unknown:
        fail("special.unknown", str(unknown))
    if not kernel.module.has(fact.availability):
        fail(
            "target.unsupported",
            f"%{fact.name} exists since {fact.availability}; this module is for {kernel.module.described}",
        )
    node = Special(fact.name)
    if fact.volatile:
        return SpecialRegister(node, fact.type)
    known = kernel.filled.get(fact.name)
    if known is None:
        mov = "pred" if fact.type.kind is Kind.PREDICATE else fact.type.name
        known = kernel.filled[fact.name] = kernel.pool(fact.type).take()
        kernel.enter(f"mov.{mov}", (known.node, node))
    return known


def from_attribute(kernel: Draft, name: str) -> Any:
    """What `k.NAME` is for a special register's name; None where there is none."""
    if name in VECTORS:
        return SpecialVector(kernel, name)
    return read(kernel, name) if name in STEADY else None
