"""Ops that warps of their own carry out."""

from __future__ import annotations

from typing import Any

from attrs import Attribute, field, frozen

from ptxgen.plan.checked import whole, whole_or_none


def _registers(instance: Any, attribute: Attribute[Any], value: object) -> None:
    if value is None:
        return
    whole(instance, attribute, value)
    if not isinstance(value, int) or value % 8 or not 24 <= value <= 256:
        raise ValueError(f"setmaxnreg takes a multiple of 8 from 24 to 256 registers, got {value}")


@frozen
class Role:
    """Ops that warps of their own carry out: `warps` of them, or `warpgroups` of four. `registers` are those of each
    thread while it runs (PTX ISA, setmaxnreg), None to leave them as they are."""

    ops: tuple[str, ...]
    warps: int = field(default=0, validator=whole_or_none)
    warpgroups: int = field(default=0, validator=whole_or_none)
    registers: int | None = field(default=None, validator=_registers)

    @property
    def warp_count(self) -> int:
        """Its warps; 0 where the plan's tiles decide."""
        return self.warps or 4 * self.warpgroups

    def __str__(self) -> str:
        words = [*map(repr, self.ops)]
        words += [f"warps={self.warps}"] if self.warps else []
        words += [f"warpgroups={self.warpgroups}"] if self.warpgroups else []
        words += [f"registers={self.registers}"] if self.registers is not None else []
        return f"role({', '.join(words)})"


def role(*ops: str, warps: int = 0, warpgroups: int = 0, registers: int | None = None) -> Role:
    """A role for these ops. The role without any takes the rest."""
    return Role(ops, warps, warpgroups, registers)
