"""Matrix products of a warp on the tensor cores, from the fragment maps and the numerics record of `isa`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from attrs import frozen

from isa.fragments import Fragment, fragment
from isa.numerics import Numerics, UnsettledNumerics, numerics
from isa.targets import Target
from ptxgen.simulate.batch import Batch
from ptxgen.simulate.elements import elements_of, values_of
from ptxgen.simulate.exact_products import (
    chain_f64,
    chained,
    emulated_bytes,
    emulated_quads,
    operand,
    product_of_bits,
    product_of_integers,
)  # fmt: skip
from ptxgen.simulate.formats import FORMATS
from ptxgen.simulate.fragments import Shuffle, shuffle_of, stacked
from ptxgen.simulate.group import Group
from ptxgen.simulate.semantics.floats import mode_of
from ptxgen.simulate.semantics.sparse_matrices import Kept, kept_of, packed_shape
from ptxgen.simulate.semantics.warps import meeting
from ptxgen.simulate.signals import Step
from ptxgen.simulate.site import Array, Site
from ptxgen.simulate.sparse import met
from ptxgen.simulate.steps import assign
from ptxgen.simulate.tensor import Halves, dot

Registers = tuple[Array, ...]
Product = Callable[[Group, Batch, Registers, Registers, Array], Array]
Multiply = Callable[[Array, Array, Array], Array]

_REFUSED = {"block_scale": "scaled blocks have no record"}
_BYTES = ("e4m3", "e5m2")
_WITHOUT_QUADS = 80
_C_DTYPES = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "s32": np.int32}


def mma(site: Site, target: Target) -> Step:
    """D = A * B + C over a warp.

    Floats in blocks of the record's length, chained in ascending k and rounded in between; f64 a chain of fused
    multiply-adds; integers and bits exact. Of a sparse A the elements that it keeps are multiplied, those of a block
    are as many as of a dense one.
    """
    words = site.instruction.form.words
    for slot, why in _REFUSED.items():
        if slot in words:
            raise site.unsupported(why)
    shape, atype, btype = str(words["shape"]), str(words["atype"]), str(words["btype"])
    metadata = kept_of(site)
    a_map = fragment(shape if metadata is None else packed_shape(shape), "a", atype, _layout(words, "a"))
    b_map = fragment(shape, "b", btype, _layout(words, "b"))
    c_map, d_map = fragment(shape, "c", str(words["ctype"])), fragment(shape, "d", str(words["dtype"]))
    if metadata is None:
        product = _product(site, target, a_map, b_map)
    else:
        product = _sparse_product(site, target, a_map, b_map, metadata)
    return warp_product(site, product, c_map, d_map)


def _layout(words: Mapping[str, str], operand_name: str) -> str:
    return str(words[f"{operand_name}layout"])


def warp_product(site: Site, product: Product, c_map: Fragment, d_map: Fragment) -> Step:
    """The step of a product whose operands stand in the order d, a, b, c."""
    words = site.instruction.form.words
    c_shuffle, d_shuffle = shuffle_of(c_map), shuffle_of(d_map)
    stored = np.dtype(np.uint64 if words["dtype"] == "f64" else np.uint32)
    readers = [site.vector(1, _register_of(words["atype"])), site.vector(2, _register_of(words["btype"])),
               site.vector(3, stored)]  # fmt: skip
    places = [place for place in site.destinations() if place is not None]
    writers = [assign(site, place) for place in places]
    guard = site.guard()
    c_type = _C_DTYPES[str(words["ctype"])]

    def then(group: Group, batch: Batch) -> None:
        r = group.registers
        a, b, c_registers = (tuple(reader(r) for reader in each) for each in readers)
        c = c_shuffle.matrix(stacked(c_registers, group).view(c_type), len(group.warps))
        d = product(group, batch, a, b, c)
        results = d_shuffle.registers(d, len(group.warps)).reshape(d_map.registers, *group.shape, -1)
        bits = results.view(stored)[..., 0]
        if guard is None:
            for place, value in zip(places, bits, strict=True):
                r[place] = value
            return
        keep = guard(r)
        for write, value in zip(writers, bits, strict=True):
            write(r, value, keep)

    return meeting(site, None, then)


def _register_of(element: str) -> np.dtype[Any]:
    return np.dtype(np.uint64 if element == "f64" else np.uint32)


def _product(site: Site, target: Target, a_map: Fragment, b_map: Fragment) -> Product:
    """From the registers of A and B and the matrix C to the matrix D."""
    words = site.instruction.form.words
    a_shuffle, b_shuffle = shuffle_of(a_map), shuffle_of(b_map)
    if words["atype"] == "f16" and words["shape"] == "m8n8k4" and target.number >= _WITHOUT_QUADS:
        return _by_routine(a_shuffle, b_shuffle, words["dtype"] == "f16")
    if words["atype"] == "f16":
        return _halves(
            a_shuffle, b_shuffle, record_of(site, target, "mma", str(words["shape"])), words["dtype"] == "f16"
        )
    multiply = multiply_of(site, target)
    a_elements, b_elements = elements_of(str(words["atype"])), elements_of(str(words["btype"]))

    def product(group: Group, batch: Batch, a: Registers, b: Registers, c: Array) -> Array:
        count = len(group.warps)
        left = a_shuffle.matrix(a_elements(stacked(a, group)), count).swapaxes(0, 1)
        return multiply(left, b_shuffle.matrix(b_elements(stacked(b, group)), count), c)

    return product


def _sparse_product(site: Site, target: Target, a_map: Fragment, b_map: Fragment, metadata: Kept) -> Product:
    words = site.instruction.form.words
    multiply = multiply_values(site, target, "mma", packed_shape(str(words["shape"])))
    a_shuffle, b_shuffle = shuffle_of(a_map), shuffle_of(b_map)
    a_elements, b_elements = elements_of(str(words["atype"])), elements_of(str(words["btype"]))
    a_values, b_values = values_of(str(words["atype"])), values_of(str(words["btype"]))
    told = site.read(metadata.place, np.uint32)

    def product(group: Group, batch: Batch, a: Registers, b: Registers, c: Array) -> Array:
        count = len(group.warps)
        left = a_values(a_shuffle.matrix(a_elements(stacked(a, group)), count).swapaxes(0, 1))
        right = b_values(b_shuffle.matrix(b_elements(stacked(b, group)), count))
        kept = metadata.columns(np.broadcast_to(told(group.registers), group.shape), group, batch, np.arange(count))
        return multiply(left, met(right, kept), c)

    return product


def _by_routine(a_shuffle: Shuffle, b_shuffle: Shuffle, to_f16: bool) -> Product:
    """`m8n8k4` of f16 on targets without Volta's cores, where ptxas calls a routine of ordinary instructions."""

    def product(group: Group, batch: Batch, a: Registers, b: Registers, c: Array) -> Array:
        left = batch.fragments.prepared(a_shuffle, a, group, False)
        right = batch.fragments.prepared(b_shuffle, b, group, True)
        return emulated_quads(left.values, right.values, c, to_f16)

    return product


def _halves(a_shuffle: Shuffle, b_shuffle: Shuffle, record: Numerics, to_f16: bool) -> Product:
    def product(group: Group, batch: Batch, a: Registers, b: Registers, c: Array) -> Array:
        left = batch.fragments.prepared(a_shuffle, a, group, False)
        right = batch.fragments.prepared(b_shuffle, b, group, True)
        return chained_halves(left, right, c, record, to_f16)

    return product


@frozen(eq=False)
class _Floats:
    """Float products by a record; operands are float64 values of formats with these least exponents."""

    record: Numerics
    least_a: int
    least_b: int
    to_f16: bool

    def __call__(self, a: Array, b: Array, c: Array) -> Array:
        return chained(operand(a, self.least_a), operand(b, self.least_b), c, self.record, self.to_f16)


def multiply_of(site: Site, target: Target, opcode: str = "mma", shape: str = "") -> Multiply:
    """D from A [k, rows, n], B [k, columns, n] (element bits) and C; `shape` is the one whose record counts."""
    words = site.instruction.form.words
    a_values, b_values = values_of(str(words.get("atype", "f16"))), values_of(str(words.get("btype", "f16")))
    multiply = multiply_values(site, target, opcode, shape)
    return lambda a, b, c: multiply(a_values(a), b_values(b), c)


def multiply_values(site: Site, target: Target, opcode: str, shape: str = "") -> Multiply:
    """As `multiply_of`, from the values of the elements as float64; B may be [k, rows, columns, n]."""
    words = site.instruction.form.words
    atype, btype = str(words.get("atype", "f16")), str(words.get("btype", "f16"))
    if atype == "f64":
        mode = mode_of(site)
        return lambda a, b, c: chain_f64(a, b, c, mode)
    if atype == "b1":
        exclusive = site.has("xor")
        return lambda a, b, c: product_of_bits(a, b, c, exclusive)
    if words["dtype"] == "s32":
        saturated = site.has("satfinite")
        return lambda a, b, c: product_of_integers(a, b, c, saturated)
    to_f16 = words["dtype"] == "f16"
    if target.number == 90 and opcode == "mma" and atype in _BYTES:
        halves_record = numerics(target, "mma", "m16n8k16", "f16")
        return lambda a, b, c: emulated_bytes(a, b, c, halves_record, to_f16)
    record = record_of(site, target, opcode, shape or str(words["shape"]))
    return _Floats(record, FORMATS[atype].least_exponent, FORMATS[btype].least_exponent, to_f16)


def record_of(site: Site, target: Target, opcode: str, shape: str) -> Numerics:
    """The record of the instruction's inputs on a target; UnsupportedError names what is not recorded."""
    try:
        return numerics(target, opcode, shape, str(site.instruction.form.words.get("atype", "f16")))
    except UnsettledNumerics as error:
        raise site.unsupported(str(error)) from error


def chained_halves(a: Halves, b: Halves, c: Array, record: Numerics, to_f16: bool) -> Array:
    """c + a * b of f16 operands [k, ..., n], blocks of the record in ascending k."""
    depth = a.values.shape[0]
    for start in range(0, depth, record.block):
        block = slice(start, start + record.block)
        left = Halves(a.values[block, :, None], a.exponents[block, :, None], a.finite)
        right = Halves(b.values[block, None], b.exponents[block, None], b.finite)
        c = dot(left, right, c, record.fraction_bits, to_f16)
    return c
