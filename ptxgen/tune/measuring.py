"""How long kernels take on a GPU: graphs of launches over buffers that the cache does not hold, taking turns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from math import ceil, prod
from statistics import median
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from ptxgen.compute import ArrayKind, Element
from ptxgen.kernels.choosing.menu import Sizes
from ptxgen.kernels.launching.binding import arrays_in_memory
from ptxgen.kernels.launching.generated import GeneratedKernel
from ptxgen.kernels.launching.views import DTYPES
from ptxgen.kernels.matmul import Matmul
from ptxgen.kernels.products.compute import MatmulSpec
from ptxgen.runtime import DeviceArray, Graph, laps_ms, record
from ptxgen.testing.formats import stored_as

CACHE_BYTES, MOST_SETS = 128 << 20, 24
DRAWN = (1 << 20) + 7
POISON_BYTE, LARGE_BYTE = 0xFF, 0x7F
SCALARS = {"alpha": 0.75, "beta": -1.5, "low": -1.0, "high": 2.0}


@frozen(eq=False)
class Bench:
    """Operands of a product in device memory, as many sets as the cache does not hold together, results poisoned."""

    spec: MatmulSpec
    sizes: Sizes
    sets: tuple[Mapping[str, DeviceArray], ...] = field(repr=False)
    device: int = 0

    def graph(self, kernel: GeneratedKernel) -> Graph:
        """A launch of the kernel for each set, as a graph."""
        return self.recorded(kernel)[0]

    def recorded(self, kernel: GeneratedKernel) -> tuple[Graph, int]:
        """A launch of the kernel for each set, as a graph, and the blocks of one of them."""
        scalars = {scalar.name: SCALARS[scalar.name] for scalar in Matmul(self.spec).stated.scalars}
        loaded, launches, blocks = kernel.on_device(self.device), [], 0
        for arrays in self.sets:
            made = kernel.prepare(arrays, scalars, device=self.device)
            blocks = made.blocks
            launches.append(
                loaded.prepare(
                    *made.arguments,
                    grid=made.blocks,
                    block=made.threads,
                    cluster=made.cluster,
                    shared_bytes=made.shared_bytes,
                    overlapped=made.overlapped,
                    cooperative=made.cooperative,
                )
            )
        return record(launches, device=self.device), blocks

    @property
    def byte_count(self) -> int:
        """The bytes of all sets."""
        return sum(array.nbytes for arrays in self.sets for array in arrays.values())

    def poison(self) -> None:
        """Fills every result with what no product gives, where there is such a thing."""
        stated = Matmul(self.spec).stated
        for arrays in self.sets:
            for name in outputs(self.spec):
                byte = poison_byte(stated.array(name).element)
                arrays[name].fill(POISON_BYTE if byte is None else byte)


def bench(spec: MatmulSpec, sizes: Sizes, *, device: int = 0, seed: int = 0) -> Bench:
    """Sets of operands drawn from N(0, 1), whole numbers from -8 to 8, each with its own results."""
    shapes = shapes_of(spec, sizes)
    each = sum(prod(shape) * dtype.itemsize for shape, dtype in shapes.values())
    count = min(MOST_SETS, max(2, ceil(CACHE_BYTES / max(1, each))))
    chance, stated, made = np.random.default_rng(seed), Matmul(spec).stated, []
    for _ in range(count):
        arrays = {name: DeviceArray.empty(shape, dtype, device=device) for name, (shape, dtype) in shapes.items()}
        for name in arrays:
            if name not in outputs(spec):
                arrays[name].write(drawn(chance, arrays[name].shape, stated.array(name).element))
        made.append(arrays)
    found = Bench(spec, sizes, tuple(made), device)
    found.poison()
    return found


def poison_byte(element: Element) -> int | None:
    """A byte of which no result of a product consists: NaN, or a sum of more than there are terms; None for integers of
    one byte, which may be all that there are."""
    if not element.is_integer:
        return POISON_BYTE
    return None if element.byte_count == 1 else LARGE_BYTE


def drawn(chance: np.random.Generator, shape: tuple[int, ...], element: Element) -> NDArray[Any]:
    """Random numbers, large arrays by repeating a drawn piece of a length that divides no row; bits where nothing here
    knows the type."""
    count, dtype = min(DRAWN, prod(shape)), DTYPES[element]
    if element.is_integer:
        piece = chance.integers(-8 if dtype.kind == "i" else 0, 8, count).astype(dtype)
    else:
        values = chance.standard_normal(count)
        piece = stored_as(values, element).astype(dtype) if dtype.kind == "u" else values.astype(dtype)
    return np.resize(piece, prod(shape)).reshape(shape)


def shapes_of(spec: MatmulSpec, sizes: Sizes) -> dict[str, tuple[tuple[int, ...], np.dtype[Any]]]:
    """Shape and type of each array of a product."""
    known = {"M": sizes.m, "N": sizes.n, "K": sizes.k, "batches": sizes.batches}
    return {
        array.name: (tuple(extent.evaluate(known) for extent in array.extents), DTYPES[array.element])
        for array in arrays_in_memory(Matmul(spec).stated)
    }


def outputs(spec: MatmulSpec) -> tuple[str, ...]:
    """The names of a product's results."""
    return tuple(array.name for array in Matmul(spec).stated.arrays if array.kind is ArrayKind.OUTPUT)


def turns(graphs: Sequence[Graph], count: int, sets: int) -> tuple[float, ...]:
    """Microseconds of one launch of each graph of `sets` launches: the median of `count` turns, in each of which every
    graph is replayed once, one behind the other on one stream; a turn ahead is not counted."""
    if not graphs:
        return ()
    first = graphs[0]
    works = [partial(graph, first.stream) for graph in graphs]
    found = [laps_ms(works, stream=first.stream, device=first.device) for _ in range(count + 1)]
    return tuple(1e3 * median(times) / sets for times in zip(*found[1:], strict=True))
