"""A launch of a kernel with arrays by name: its blocks and arguments, checked before anything runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, SupportsFloat

from attrs import field, frozen

from isa.descriptors import InvalidDescriptor, Swizzle
from isa.tensor_maps import MAP_BYTES, TensorMap
from ptxgen.compute import Element
from ptxgen.errors import LaunchError
from ptxgen.kernels.launching.binding import Bound, bind, check_size
from ptxgen.kernels.launching.entry import Entry
from ptxgen.kernels.launching.segments import bounded, most_tiles
from ptxgen.kernels.launching.views import View, is_on_device
from ptxgen.kernels.launching.workspaces import on_the_cpu
from ptxgen.runtime import Launch as PackedLaunch
from ptxgen.runtime import LoadedKernel, Scratch
from ptxgen.tile import ParameterKind, TensorBox, Workspace

MOST_BLOCKS = 2**31 - 1
MOST_IN_BAND = 2**32 - 1
BLOCKS_ON_THE_CPU = 132
# What a tensor map calls elements that it copies as they are (CUDA driver API, CUtensorMapDataType).
MAPPED = {Element.TF32: "f32", Element.E4M3: "u8", Element.E5M2: "u8", Element.S8: "u8"}
BEYOND_SINGLE = 2.0**128 - 2.0**103


@frozen
class Launch:
    """A launch of a program, checked: blocks, threads of a block, dynamic shared bytes, arguments in launch order, the
    blocks of a cluster, whether it may overlap with the launches ahead, and whether its blocks wait for each other, so
    that the driver must run all of them at once."""

    blocks: int
    threads: int
    shared_bytes: int
    arguments: tuple[Any, ...] = field(repr=False)
    cluster: int = 1
    overlapped: bool = False
    cooperative: bool = False

    @property
    def workspace_bytes(self) -> int:
        """The bytes of device memory that the launch takes for itself beside its arrays."""
        return sum(each.byte_count for each in self.arguments if isinstance(each, Scratch))

    def packed(self, kernel: LoadedKernel, stream: object = None) -> PackedLaunch:
        """The launch for a stream of the device that the kernel is loaded on, to be made as often as one calls it."""
        return kernel.prepare(
            *self.arguments,
            grid=self.blocks,
            block=self.threads,
            cluster=self.cluster,
            shared_bytes=self.shared_bytes,
            stream=stream,
            overlapped=self.overlapped,
            cooperative=self.cooperative,
        )

    def once(self, kernel: LoadedKernel, stream: object = None) -> None:
        """Launches it; arrays in the host's memory are copied there and, when it is done, back."""
        if self.blocks:
            packed = self.packed(kernel, stream)
            packed()
            packed.placed.read_back()


def prepare(
    entry: Entry,
    arrays: Mapping[str, Any],
    scalars: Mapping[str, float],
    sizes: Mapping[str, int] | None = None,
    *,
    resident: int = BLOCKS_ON_THE_CPU,
    provide: Callable[[Workspace, int], Any] = on_the_cpu,
) -> Launch:
    """The launch of a kernel with these arrays, scalars and sizes. `resident` is how many blocks run at once: as many
    share a work list that leaves that to the device. `provide` gives each workspace for so many tiles.

    LaunchError, before anything runs, where an array does not fit (see `bind`), a scalar is missing, unknown or
    beyond f32, a size is out of range, or a fact or alignment that the kernel relies on does not hold.
    """
    bound = bind(entry.arrays, arrays, sizes)
    wanted = {p.name for p in entry.parameters if p.kind is ParameterKind.SCALAR}
    if not isinstance(scalars, Mapping):
        raise LaunchError(f"{entry.name}: scalars are given by name, as {{'alpha': 2.0}}, got {scalars!r}")
    if set(scalars) != wanted:
        missing, unknown = sorted(wanted - set(scalars)), sorted(set(scalars) - wanted)
        raise LaunchError(f"{entry.name} takes the scalars {sorted(wanted)}; missing {missing}, unknown {unknown}")
    for name, value in scalars.items():
        if not isinstance(value, SupportsFloat):
            raise LaunchError(f"{entry.name}: {name} must be a number, got {value!r}")
        if BEYOND_SINGLE <= abs(value) < math.inf:
            raise LaunchError(f"{entry.name}: {name} = {value} is beyond the range of f32")
    check_facts(entry, bound)
    memory: dict[tuple[int, int], Any] = {}
    count = block_count(entry, bound.sizes)
    slabs = slabs_shared(entry, bound.sizes)
    blocks = workers_of(entry, count, resident, slabs)
    places = blocks if slabs else count // entry.grid.parts
    own = {each.name: provide(each, places) for each in entry.workspaces} if count else {}
    arguments = tuple(
        own.get(each.name, 0)
        if each.kind is ParameterKind.WORKSPACE
        else _argument(each.name, each.kind, bound, scalars, memory)
        for each in entry.parameters
    )
    arguments += tuple(_tensor_map(entry, box, bound, memory) for box in entry.boxes)
    overlapped = entry.overlapped and not entry.waits
    return Launch(
        blocks, entry.threads, entry.shared_bytes, arguments, entry.grid.cluster, overlapped, cooperative=entry.waits
    )


def slabs_shared(entry: Entry, sizes: Mapping[str, int]) -> int:
    """The slabs of a tile where blocks share them, one at least; else 0."""
    slabs = entry.grid.work_list.slabs if entry.grid.work_list else None
    return 0 if slabs is None else max(1, slabs.numerator.evaluate(sizes) // slabs.divisor)


def workers_of(entry: Entry, tiles: int, resident: int, slabs: int = 0) -> int:
    """The blocks that carry out so many tiles, whole clusters of them; where they share the `slabs` of those, up to two
    for each tile. LaunchError where the kernel's 32-bit arithmetic cannot count the slabs that they share."""
    shared, together = entry.grid.work_list, entry.grid.cluster
    if shared is None:
        return tiles
    clusters = max(1, (shared.workers or resident) // together)
    if slabs * 2 * clusters > MOST_BLOCKS:
        raise LaunchError(f"{entry.name}: {slabs} slabs of a tile are too many for {clusters} blocks to share")
    return min(tiles * min(2, max(1, slabs)), clusters * together)


def block_count(entry: Entry, sizes: Mapping[str, int]) -> int:
    """The tiles of a launch with these sizes, a block each without a work list, whole clusters of them: blocks whose
    tiles lie beyond the last one find nothing inside the arrays, as those at an edge do. Where memory tells how many
    there are, the most that it can. LaunchError where no grid
    holds them, or the kernel's 32-bit arithmetic cannot count a band of its raster."""
    tiles = most_tiles(entry.grid, sizes)
    counts = [-(-own // dim.cluster) * dim.cluster for own, dim in zip(tiles, entry.grid.dims, strict=True)]
    count = math.prod(counts)
    if count > MOST_BLOCKS:
        raise LaunchError(f"{entry.name}: {count} blocks, a grid has at most {MOST_BLOCKS}")
    band = entry.grid.raster.group * counts[-1] if len(counts) > 1 else 0
    if band > MOST_IN_BAND:
        raise LaunchError(f"{entry.name}: {band} blocks in a band, at most {MOST_IN_BAND} can be counted")
    return count


def check_facts(entry: Entry, bound: Bound) -> None:
    """Tests the facts and alignments that a entry relies on, and the range of its sizes."""
    for fact in entry.facts:
        value = fact.value.evaluate(bound.sizes)
        if value % fact.modulus:
            raise LaunchError(f"{entry.name} was made for {fact}, got {fact.value} = {value}")
    for parameter in entry.parameters:
        if parameter.kind is ParameterKind.POINTER:
            address = bound.views[parameter.name].address
            if address % parameter.alignment and not bound.views[parameter.name].is_empty:
                wanted = f"{parameter.name} aligned to {parameter.alignment} bytes"
                raise LaunchError(f"{entry.name} was made for {wanted}, got {address:#x}")
        elif parameter.kind in (ParameterKind.SIZE, ParameterKind.STRIDE):
            if parameter.name not in bound.sizes:
                raise LaunchError(f"{entry.name}: no array tells {parameter.name}; give it in sizes")
            if parameter.kind is ParameterKind.SIZE:
                check_size(parameter.name, bound.sizes[parameter.name])


def _argument(
    name: str, kind: ParameterKind, bound: Bound, scalars: Mapping[str, float], memory: dict[tuple[int, int], Any]
) -> Any:
    match kind:
        case ParameterKind.POINTER:
            return _address(bound.views[name], memory)
        case ParameterKind.SIZE | ParameterKind.STRIDE:
            return bound.sizes[name]
        case ParameterKind.SCALAR:
            return float(scalars[name])
        case ParameterKind.WORKSPACE:
            raise LaunchError(f"{name} is memory of the kernel's own, which no argument gives")


def _tensor_map(entry: Entry, box: TensorBox, bound: Bound, memory: dict[tuple[int, int], Any]) -> Any:
    """The array and its map; LaunchError for what no map can tell of. An array without elements is never copied."""
    view = bound.views[box.array]
    array = next(each for each in entry.arrays if each.name == box.array)
    if view.is_empty:
        return bytes(MAP_BYTES)
    width = array.element.byte_count
    dims = tuple(array.extents[place].evaluate(bound.sizes) for place in box.order)
    strides = tuple(array.strides[place].evaluate(bound.sizes) * width for place in box.order[1:])
    try:
        element = MAPPED.get(array.element, array.element.label)
        made = TensorMap(element, dims, strides, box.extents, swizzle=Swizzle(box.span), promotion=box.promotion)
        if box.bounded is not None:
            made = bounded(made, box.order.index(box.bounded))
    except InvalidDescriptor as error:
        raise LaunchError(f"{entry.name}: the tensor map of {box.array}: {error}") from None
    return made.encode(view.address) if is_on_device(view) else (_address(view, memory), made)


def _address(view: View, memory: dict[tuple[int, int], Any]) -> Any:
    if view.is_outline:
        raise LaunchError("an outline has no memory to run on")
    if is_on_device(view):
        return view.address
    key = (view.address, view.span)
    if key not in memory:
        memory[key] = view.memory()
    return memory[key]
