"""Fences of memory, of proxies, of initialisations and of registers."""

from __future__ import annotations

from collections.abc import Iterator

from ptxgen.ir import Instruction, Statement
from tests.simulate.faults.edits import Subject, Verb, made

Variant = tuple[Verb, Subject, str, tuple[Statement, ...]]
_ORDERS = (".acquire", ".release", ".acq_rel")
_ACCESSES = frozenset({"ld", "st", "atom", "red", "mbarrier.arrive"})


def is_fence(instruction: Instruction) -> bool:
    """Whether it orders and does nothing else."""
    return instruction.form.opcode in ("fence", "membar") or (
        instruction.form.opcode == "wgmma" and "fence" in instruction.form.words.values()
    )


def faults(instruction: Instruction, threads: int) -> Iterator[Variant]:
    if is_fence(instruction):
        yield Verb.DROP, Subject.FENCE, "dropped", ()
        for how, name in _weaker(instruction.form.name):
            yield Verb.WEAKEN, Subject.FENCE, how, (made(name, *instruction.operands, guard=instruction.guard),)
    if instruction.form.opcode in _ACCESSES:
        for order in _ORDERS:
            if f"{order}." in instruction.form.name:
                relaxed = instruction.form.name.replace(order, ".relaxed")
                weaker = made(relaxed, *instruction.operands, guard=instruction.guard)
                yield Verb.WEAKEN, Subject.FENCE, "relaxed access", (weaker,)


def _weaker(name: str) -> Iterator[tuple[str, str]]:
    """Of a narrower scope, of another proxy's space, of memory instead of a proxy."""
    wide = name.rsplit(".", 1)[-1] in ("gl", "gpu", "sys", "cluster") and "mbarrier_init" not in name
    if name.startswith(("membar", "fence")) and wide:
        yield "of the CTA only", f"{name.rsplit('.', 1)[0]}.cta"
    if name.startswith("fence.proxy.async"):
        other = "shared::cta" if name.endswith("global") else "global"
        yield "of the other space", f"fence.proxy.async.{other}"
        yield "of memory only", "fence.acq_rel.cta"
