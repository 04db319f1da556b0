"""The special registers: type, where they exist, and whether two reads may differ."""

from __future__ import annotations

from attrs import frozen

from isa.availability import ALWAYS, Availability, since
from isa.types import Type, b32, pred, u32, u64


@frozen(eq=False)
class SpecialRegister:
    """`%name`. `volatile`: two reads by one thread may differ. `shared_by`: who reads the same value
    (thread: nobody else, warp, cta, cluster, grid). The component w of a vector is always 0. `older_bits`: the sizes
    that it had in older PTX, which ptxas still takes.
    """

    name: str
    type: Type
    availability: Availability
    volatile: bool
    shared_by: str
    older_bits: tuple[int, ...] = ()

    def __str__(self) -> str:
        return f"%{self.name}"

    def __reduce__(self) -> tuple[object, ...]:
        return special, (self.name,)


class UnknownSpecialRegister(LookupError):
    """No special register has this name."""


_CLUSTER = since("7.8", 90)
_ROWS: tuple[tuple[str, Type, Availability, bool, str], ...] = (
    ("tid", u32, ALWAYS, False, "thread"),
    ("ntid", u32, ALWAYS, False, "grid"),
    ("laneid", u32, ALWAYS, False, "thread"),
    ("warpid", u32, ALWAYS, True, "warp"),
    ("nwarpid", u32, ALWAYS, False, "grid"),
    ("ctaid", u32, ALWAYS, False, "cta"),
    ("nctaid", u32, ALWAYS, False, "grid"),
    ("smid", u32, ALWAYS, True, "cta"),
    ("nsmid", u32, ALWAYS, True, "grid"),
    ("gridid", u64, since("3.0"), False, "grid"),
    ("is_explicit_cluster", pred, _CLUSTER, False, "grid"),
    ("clusterid", u32, _CLUSTER, False, "cluster"),
    ("nclusterid", u32, _CLUSTER, False, "grid"),
    ("cluster_ctaid", u32, _CLUSTER, False, "cta"),
    ("cluster_nctaid", u32, _CLUSTER, False, "grid"),
    ("cluster_ctarank", u32, _CLUSTER, False, "cta"),
    ("cluster_nctarank", u32, _CLUSTER, False, "grid"),
    ("lanemask_eq", u32, ALWAYS, False, "thread"),
    ("lanemask_le", u32, ALWAYS, False, "thread"),
    ("lanemask_lt", u32, ALWAYS, False, "thread"),
    ("lanemask_ge", u32, ALWAYS, False, "thread"),
    ("lanemask_gt", u32, ALWAYS, False, "thread"),
    ("clock", u32, ALWAYS, True, "warp"),
    ("clock_hi", u32, since("5.0", 20), True, "warp"),
    ("clock64", u64, since("2.0", 20), True, "warp"),
    ("globaltimer", u64, since("3.1", 30), True, "grid"),
    ("globaltimer_lo", u32, since("3.1", 30), True, "grid"),
    ("globaltimer_hi", u32, since("3.1", 30), True, "grid"),
    ("total_smem_size", u32, since("4.1", 20), False, "grid"),
    ("aggr_smem_size", u32, since("8.1", 90), False, "grid"),
    ("dynamic_smem_size", u32, since("4.1", 20), False, "grid"),
    ("current_graph_exec", u64, since("8.0", 50), False, "grid"),
    ("perctamemoryoffset", u64, since("9.4", 80), False, "cta"),
    ("perctamemorysize", u32, since("9.4", 80), False, "grid"),
)
_VECTORS = ("tid", "ntid", "ctaid", "nctaid", "clusterid", "nclusterid", "cluster_ctaid", "cluster_nctaid")
_OLDER_BITS = {"tid": (16,), "ntid": (16,), "ctaid": (16,), "nctaid": (16,), "gridid": (16, 32)}


def _numbered(prefix: str, count: int, of: Type, where: Availability, volatile: bool) -> list[SpecialRegister]:
    return [SpecialRegister(f"{prefix}{index}", of, where, volatile, "cta") for index in range(count)]


def _all() -> tuple[SpecialRegister, ...]:
    made: list[SpecialRegister] = []
    for name, of_type, where, volatile, shared_by in _ROWS:
        suffixes = (".x", ".y", ".z", ".w") if name in _VECTORS else ("",)
        older = _OLDER_BITS.get(name, ())
        made += [SpecialRegister(name + each, of_type, where, volatile, shared_by, older) for each in suffixes]
    made += _numbered("pm", 8, u32, ALWAYS, True)
    for register in _numbered("pm", 8, u64, since("4.0", 50), True):
        made.append(SpecialRegister(f"{register.name}_64", register.type, register.availability, True, "cta"))
    made += _numbered("envreg", 32, b32, since("2.1"), False)
    made += _numbered("reserved_smem_offset_", 2, b32, since("7.6", 80), False)
    for name in ("begin", "end", "cap"):
        made.append(SpecialRegister(f"reserved_smem_offset_{name}", b32, since("7.6", 80), False, "cta"))
    return tuple(made)


SPECIAL_REGISTERS: tuple[SpecialRegister, ...] = _all()
_BY_NAME = {each.name: each for each in SPECIAL_REGISTERS}


def special(name: str) -> SpecialRegister:
    """The special register of that name, without `%` (`"tid.x"`); UnknownSpecialRegister lists the known ones."""
    found = _BY_NAME.get(name.removeprefix("%"))
    if found is None:
        raise UnknownSpecialRegister(f"unknown special register {name!r}; known: {' '.join(_BY_NAME)}")
    return found
