"""Matrix products of a warp on the tensor cores, from the fragment maps and the numerics record of `isa`."""

from __future__ import annotations

import numpy as np

from isa.fragments import fragment
from isa.numerics import Numerics, UnsettledNumerics, numerics
from isa.targets import Target
from ptxgen.simulate.batch import Batch
from ptxgen.simulate.fragments import shuffle_of, stacked
from ptxgen.simulate.group import Group
from ptxgen.simulate.semantics.warps import meeting
from ptxgen.simulate.signals import Step
from ptxgen.simulate.site import Array, Reader, Site
from ptxgen.simulate.steps import assign
from ptxgen.simulate.tensor import Halves, dot


def mma(site: Site, target: Target) -> Step:
    """D = A * B + C of f16 inputs; blocks of the record's length are chained in ascending k, rounded in between."""
    words = site.instruction.form.words
    shape = str(words["shape"])
    if words["atype"] != "f16" or words["btype"] != "f16":
        raise site.unsupported(f"inputs of type .{words['atype']}")
    record = _record(site, target, shape)
    a_map = fragment(shape, "a", "f16", str(words["alayout"]))
    b_map = fragment(shape, "b", "f16", str(words["blayout"]))
    c_map, d_map = fragment(shape, "c", str(words["ctype"])), fragment(shape, "d", str(words["dtype"]))
    a_shuffle, b_shuffle, c_shuffle, d_shuffle = map(shuffle_of, (a_map, b_map, c_map, d_map))
    readers = [_vector(site, index) for index in (1, 2, 3)]
    places = [place for place in site.destinations() if place is not None]
    writers = [assign(site, place) for place in places]
    guard = site.guard()
    c_type = np.float32 if words["ctype"] == "f32" else np.float16
    to_f16 = words["dtype"] == "f16"

    def then(group: Group, batch: Batch) -> None:
        r = group.registers
        a_registers, b_registers, c_registers = (tuple(reader(r) for reader in each) for each in readers)
        a = batch.fragments.prepared(a_shuffle, a_registers, group, False)
        b = batch.fragments.prepared(b_shuffle, b_registers, group, True)
        c = c_shuffle.matrix(stacked(c_registers, group).view(c_type), len(group.warps))
        d = _chained(a, b, c, record, to_f16)
        results = d_shuffle.registers(d, len(group.warps)).reshape(d_map.registers, *group.shape, -1)
        bits = results.view(np.uint32)[..., 0]
        if guard is None:
            for place, value in zip(places, bits, strict=True):
                r[place] = value
            return
        keep = guard(r)
        for write, value in zip(writers, bits, strict=True):
            write(r, value, keep)

    return meeting(site, None, then)


def _record(site: Site, target: Target, shape: str) -> Numerics:
    try:
        return numerics(target, "mma", shape, "f16")
    except UnsettledNumerics as error:
        raise site.unsupported(str(error)) from error


def _vector(site: Site, index: int) -> list[Reader]:
    return site.vector(index, np.uint32)


def _chained(a: Halves, b: Halves, c: Array, record: Numerics, to_f16: bool) -> Array:
    depth = a.values.shape[0]
    for start in range(0, depth, record.block):
        block = slice(start, start + record.block)
        left = Halves(a.values[block, :, None], a.exponents[block, :, None], a.finite)
        right = Halves(b.values[block, None], b.exponents[block, None], b.finite)
        c = dot(left, right, c, record.fraction_bits, to_f16)
    return c
