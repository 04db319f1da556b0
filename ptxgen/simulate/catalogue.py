"""Which function decodes which instruction."""

from __future__ import annotations

from collections.abc import Callable

from isa.types import Kind
from ptxgen.ir import Special
from ptxgen.simulate.approximations import drawn
from ptxgen.simulate.semantics import (
    atomics,
    bits,
    bulk_copies,
    carries,
    clusters,
    comparisons,
    control,
    conversions,
    floats,
    hints,
    integers,
    lane_copies,
    matrix_moves,
    mbarriers,
    memory,
    moves,
    registers,
    remote_stores,
    stacks,
    tensor_copies,
    video,
    warps,
)
from ptxgen.simulate.signals import Step
from ptxgen.simulate.site import Compute, Site
from ptxgen.simulate.specials import CLOCKS
from ptxgen.simulate.steps import assigned

Maker = Callable[[Site], Step]

_CARRIED = frozenset({"addc", "subc", "madc"})
_INTEGERS: dict[str, Callable[[Site], Compute]] = {
    "add": integers.add, "sub": integers.sub, "mul": integers.mul, "mad": integers.mad, "mul24": integers.mul24,
    "mad24": integers.mad24, "sad": integers.sad, "div": integers.div, "rem": integers.rem, "abs": integers.absolute,
    "neg": integers.neg, "min": integers.minimum, "max": integers.maximum, "dp4a": integers.dp4a, "dp2a": integers.dp2a,
    "clmad": integers.clmad,
}  # fmt: skip
_FLOATS: dict[str, Callable[[Site], Compute]] = {
    "add": floats.add, "sub": floats.sub, "mul": floats.mul, "mad": floats.fma, "fma": floats.fma, "div": floats.div,
    "abs": floats.absolute, "neg": floats.neg, "min": floats.minimum, "max": floats.maximum, "rcp": floats.rcp,
    "sqrt": floats.sqrt, "rsqrt": floats.rsqrt, "sin": floats.sin, "cos": floats.cos, "lg2": floats.lg2,
    "ex2": floats.ex2, "tanh": floats.tanh, "copysign": floats.copysign, "testp": floats.testp,
}  # fmt: skip
_VALUES: dict[str, Callable[[Site], Compute]] = {
    "and": bits.and_, "or": bits.or_, "xor": bits.xor, "not": bits.not_, "cnot": bits.cnot,
    "lop3": bits.lop3, "shf": bits.shf, "shl": bits.shl, "shr": bits.shr, "popc": bits.popc,
    "clz": bits.clz, "brev": bits.brev, "bfind": bits.bfind, "bfe": bits.bfe, "bfi": bits.bfi,
    "prmt": bits.prmt, "setp": comparisons.setp, "set": comparisons.set_, "selp": comparisons.selp,
    "slct": comparisons.slct, "mov": moves.mov, "cvta": moves.cvta, "cvt": conversions.cvt,
    "isspacep": moves.isspacep, "bmsk": bits.bmsk, "szext": bits.szext, "fns": bits.fns, "cvt.pack": conversions.pack,
    "mapa": clusters.mapa, "getctarank": clusters.getctarank, "mbarrier.pending_count": mbarriers.pending_count,
}  # fmt: skip
_STEPS: dict[str, Maker] = {
    "ld": memory.load, "st": memory.store, "atom": atomics.atom, "red": atomics.red, "shfl": warps.shfl,
    "vote": warps.vote, "match": warps.match, "redux.sync": warps.redux, "elect.sync": warps.elect,
    "cp.async": lane_copies.cp_async, "createpolicy": hints.policy, "discard": hints.discard,
    "alloca": stacks.alloca, "stacksave": stacks.stacksave, "stackrestore": stacks.stackrestore,
    "ldmatrix": matrix_moves.ldmatrix, "stmatrix": matrix_moves.stmatrix, "movmatrix": matrix_moves.movmatrix,
    "ldu": memory.load, "activemask": warps.activemask,
    "bar.warp.sync": warps.bar_warp_sync, "bar": control.bar, "barrier": control.bar, "ret": control.end,
    "exit": control.end, "trap": control.end, "membar": clusters.fence, "fence": clusters.fence,
    "nanosleep": control.nothing, "prefetch": control.nothing, "pmevent": control.nothing, "brkpt": control.nothing,
    "prefetchu": control.nothing, "applypriority": control.nothing, "griddepcontrol": control.nothing,
    "setmaxnreg": registers.setmaxnreg, "barrier.cluster": clusters.barrier_cluster, **mbarriers.MAKERS,
    **bulk_copies.MAKERS, **tensor_copies.MAKERS, **remote_stores.MAKERS,
}  # fmt: skip
_UNMIXED = frozenset({"add", "sub", "mul", "fma"})
_UNRUN = {
    "pzo": "zeros that are all positive", "scaled::n1::ue8m0": "a scale", "scaled::n2::ue8m0": "two scales",
    "ue5m3x2": "the format ue5m3", "override::global_address": "another address than the map's",
    "multicast::cluster::32b": "a mask of 32 CTAs",
}  # fmt: skip


def maker_of(site: Site) -> Maker:
    """The function that decodes the instruction; UnsupportedError for one that the simulator does not run."""
    _refuse_unrun(site)
    if site.has("cc") or site.opcode in _CARRIED:
        return carries.carried
    if site.opcode == "mov" and any(isinstance(each, Special) and each.name in CLOCKS for each in site.operands):
        return control.clock
    if site.opcode in video.VIDEO:
        return video.video
    if site.opcode in _STEPS:
        return _STEPS[site.opcode]
    compute = _compute_of(site)
    if site.bank.chance is not None:
        chance = site.bank.chance
        return lambda each: assigned(each, drawn(each, compute(each), chance))
    return lambda each: assigned(each, compute(each))


def _refuse_unrun(site: Site) -> None:
    """Refuse what makers of older forms would run as if it were one of those."""
    for word, what in _UNRUN.items():
        if site.has(word):
            raise site.unsupported(what)
    packed = {slot.type for slot in site.slots if slot.type is not None and slot.type.lanes > 1}
    if site.opcode in _UNMIXED and len(packed) > 1:
        raise site.unsupported("pairs of several types")
    if site.opcode == "set" and any(each.kind is not Kind.FLOAT for each in packed):
        raise site.unsupported("packed integers")


def _compute_of(site: Site) -> Callable[[Site], Compute]:
    if site.opcode in _VALUES:
        return _VALUES[site.opcode]
    of = site.slots[-1].type if site.slots else None
    table = _FLOATS if of is not None and of.kind is Kind.FLOAT else _INTEGERS
    if site.opcode not in table:
        why = hints.REFUSED_PREFIXES.get(site.opcode.partition(".")[0])
        raise site.unsupported(f"the simulator has no {why}" if why else "the simulator has no such instruction")
    return table[site.opcode]
