"""A plan made into a kernel, and any such kernel launched with arrays by name."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from attrs import define, field, frozen

from isa.descriptors import InvalidDescriptor, Swizzle
from isa.tensor_maps import MAP_BYTES, TensorMap
from ptxgen.compute import Array, ArrayKind, Element
from ptxgen.derive.derivation import Derivation, derive
from ptxgen.emit import Listing, emit
from ptxgen.errors import AssemblerError, DriverError, Finding, LaunchError, describe
from ptxgen.ir import Module
from ptxgen.kernels.binding import Bound, bind, check_size
from ptxgen.kernels.views import View, is_on_device
from ptxgen.lower import dynamic_shared_bytes, lower
from ptxgen.plan import Plan
from ptxgen.runtime import Assembler, Cubin, LoadedKernel, assemble, load, resident_ctas
from ptxgen.runtime.notes import slowing_notes
from ptxgen.simulate import ALL_CHECKS, Check, Report, Simulator, simulator
from ptxgen.tile import (
    LANE_BITS,
    ParameterKind,
    Program,
    Space,
    TensorBox,
)

MOST_BLOCKS = 2**31 - 1
MOST_IN_BAND = 2**32 - 1
BLOCKS_ON_THE_CPU = 132
# What a tensor map calls elements that it copies as they are (CUDA driver API, CUtensorMapDataType).
MAPPED = {Element.TF32: "f32", Element.E4M3: "u8", Element.E5M2: "u8", Element.S8: "u8"}
BEYOND_SINGLE = 2.0**128 - 2.0**103


@frozen
class Launch:
    """A launch of a program, checked: blocks, threads of a block, dynamic shared bytes, arguments in launch order, and
    the blocks of a cluster."""

    blocks: int
    threads: int
    shared_bytes: int
    arguments: tuple[Any, ...] = field(repr=False)
    cluster: int = 1


@define(slots=False, frozen=True, eq=False)
class GeneratedKernel:
    """A kernel with everything that it came from."""

    plan: Plan = field(repr=False)
    derivation: Derivation = field(repr=lambda derivation: str(derivation.program.name))
    module: Module = field(repr=False)

    @property
    def program(self) -> Program:
        """The tile program."""
        return self.derivation.program

    @cached_property
    def listing(self) -> Listing:
        """The PTX text with the origin of each line."""
        return emit(self.module)

    @cached_property
    def _on_devices(self) -> dict[int, LoadedKernel]:
        return {}

    def on_device(self, device: int) -> LoadedKernel:
        """The kernel on a device, loaded at the first use; DriverError where there is none, or where the driver's
        compiler takes asynchronous work back."""
        held = self._on_devices
        if device not in held:
            module = load(self.listing, device=device)
            notes = slowing_notes(self.listing, module.log)
            if notes:
                raise DriverError(_taken_back(self, notes), log=module.log, findings=notes)
            held[device] = module[self.program.name]
        return held[device]

    @property
    def loaded(self) -> LoadedKernel:
        """The kernel on device 0."""
        return self.on_device(0)

    def assembled(self, assembler: Assembler | None = None) -> Cubin:
        """The machine code of an assembler, of the first that fits where None is named. AssemblerError where none is,
        or where it takes asynchronous work back: what was derived to overlap must overlap."""
        cubin = assemble(self.listing, assembler=assembler)
        if cubin.notes:
            raise AssemblerError(_taken_back(self, cubin.notes), log=cubin.log, findings=cubin.notes)
        return cubin

    @cached_property
    def _resident(self) -> dict[int, int]:
        return {}

    def resident(self, device: int = 0) -> int:
        """The blocks that a device runs at once."""
        held = self._resident
        if device not in held:
            threads, shared = self.program.warps << LANE_BITS, dynamic_shared_bytes(self.program)
            held[device] = resident_ctas(self.on_device(device), threads=threads, shared_bytes=shared)
        return held[device]

    @cached_property
    def decoded(self) -> Simulator:
        """The kernel decoded for the simulator with all checks, once for all its runs."""
        return simulator(self.module)

    def simulate(
        self,
        arrays: Mapping[str, Any],
        scalars: Mapping[str, float] | None = None,
        *,
        sizes: Mapping[str, int] | None = None,
        checks: frozenset[Check] = ALL_CHECKS,
        seed: int | None = None,
    ) -> Report | None:
        """Runs the kernel on the CPU, on numpy arrays that it reads and writes in place.

        The report has the faults found; None where there is no block to run. LaunchError for arguments that do not fit.
        """
        launch = prepare(self.program, arrays, scalars or {}, sizes)
        if launch.blocks == 0:
            return None
        decoded = self.decoded if checks == ALL_CHECKS else simulator(self.module, checks=checks)
        return decoded.run(
            grid=launch.blocks,
            block=launch.threads,
            cluster=launch.cluster,
            args=launch.arguments,
            shared_bytes=launch.shared_bytes,
            seed=seed,
        )

    def prepare(
        self,
        arrays: Mapping[str, Any],
        scalars: Mapping[str, float] | None = None,
        *,
        sizes: Mapping[str, int] | None = None,
        device: int = 0,
    ) -> Launch:
        """The launch on a device, checked: where blocks share a work list that leaves their number to the device, as
        many as it runs at once. LaunchError for arguments that do not fit."""
        shared = self.program.grid.work_list
        asks = shared is not None and shared.workers is None
        resident = self.resident(device) if asks else BLOCKS_ON_THE_CPU
        return prepare(self.program, arrays, scalars or {}, sizes, resident=resident)

    def run(
        self,
        arrays: Mapping[str, Any],
        scalars: Mapping[str, float] | None = None,
        *,
        sizes: Mapping[str, int] | None = None,
        stream: object = None,
    ) -> None:
        """Runs the kernel on the GPU; numpy arrays are copied there and back, device arrays are used where they are.

        LaunchError for arguments that do not fit, DriverError where there is no driver.
        """
        launch = self.prepare(arrays, scalars, sizes=sizes)
        if launch.blocks:
            self.loaded(
                *launch.arguments,
                grid=launch.blocks,
                block=launch.threads,
                cluster=launch.cluster,
                shared_bytes=launch.shared_bytes,
                stream=stream,
            )


def _taken_back(kernel: GeneratedKernel, notes: tuple[Finding, ...]) -> str:
    heading = f"{kernel.program.name} for {kernel.program.target}: the assembler takes asynchronous work back"
    return "\n".join([heading, *map(describe, notes)])


def generate(plan: Plan) -> GeneratedKernel:
    """The kernel of a plan: derived, proved, lowered and verified. PlanError or UnsupportedError for what cannot be."""
    derivation = derive(plan)
    return GeneratedKernel(plan, derivation, lower(derivation.program))


def program_arrays(program: Program) -> tuple[Array, ...]:
    """The arrays that a program wants, in launch order."""
    placed = {buffer.array: buffer for buffer in program.buffers if buffer.space is Space.GLOBAL}
    found: list[Array] = []
    for parameter in program.parameters:
        if parameter.kind is ParameterKind.POINTER:
            buffer = placed[parameter.name]
            kind = ArrayKind.OUTPUT if parameter.written else ArrayKind.INPUT
            memory = buffer.in_memory
            found.append(Array(parameter.name, buffer.element, memory.extents, memory.strides, kind))
    return tuple(found)


def prepare(
    program: Program,
    arrays: Mapping[str, Any],
    scalars: Mapping[str, float],
    sizes: Mapping[str, int] | None = None,
    *,
    resident: int = BLOCKS_ON_THE_CPU,
) -> Launch:
    """The launch of `program` with these arrays, scalars and sizes. `resident` is how many blocks run at once: as many
    share a work list that leaves that to the device.

    LaunchError, before anything runs, where an array does not fit (see `bind`), a scalar is missing, unknown or
    beyond f32, a size is out of range, or a fact or alignment that the kernel relies on does not hold.
    """
    bound = bind(program_arrays(program), arrays, sizes)
    wanted = {p.name for p in program.parameters if p.kind is ParameterKind.SCALAR}
    if set(scalars) != wanted:
        missing, unknown = sorted(wanted - set(scalars)), sorted(set(scalars) - wanted)
        raise LaunchError(f"{program.name} takes the scalars {sorted(wanted)}; missing {missing}, unknown {unknown}")
    for name, value in scalars.items():
        if BEYOND_SINGLE <= abs(value) < math.inf:
            raise LaunchError(f"{program.name}: {name} = {value} is beyond the range of f32")
    check_facts(program, bound)
    memory: dict[tuple[int, int], Any] = {}
    arguments = tuple(_argument(each.name, each.kind, bound, scalars, memory) for each in program.parameters)
    arguments += tuple(_tensor_map(program, box, bound, memory) for box in program.boxes)
    blocks = workers_of(program, block_count(program, bound.sizes), resident)
    return Launch(blocks, program.warps << LANE_BITS, dynamic_shared_bytes(program), arguments, program.grid.cluster)


def workers_of(program: Program, tiles: int, resident: int) -> int:
    """The blocks that carry out so many tiles."""
    shared = program.grid.work_list
    return tiles if shared is None else min(tiles, shared.workers or max(1, resident))


def block_count(program: Program, sizes: Mapping[str, int]) -> int:
    """The tiles of a launch with these sizes, a block each without a work list, whole clusters of them: blocks whose
    tiles lie beyond the last one find nothing inside the arrays, as those at an edge do. LaunchError where no grid
    holds them, or the kernel's 32-bit arithmetic cannot count a band of its raster."""
    tiles = [max(0, dim.count.numerator.evaluate(sizes) // dim.count.divisor) for dim in program.grid.dims]
    counts = [-(-own // dim.cluster) * dim.cluster for own, dim in zip(tiles, program.grid.dims, strict=True)]
    count = math.prod(counts)
    if count > MOST_BLOCKS:
        raise LaunchError(f"{program.name}: {count} blocks, a grid has at most {MOST_BLOCKS}")
    band = program.grid.raster.group * counts[-1] if len(counts) > 1 else 0
    if band > MOST_IN_BAND:
        raise LaunchError(f"{program.name}: {band} blocks in a band, at most {MOST_IN_BAND} can be counted")
    return count


def check_facts(program: Program, bound: Bound) -> None:
    """Tests the facts and alignments that a program relies on, and the range of its sizes."""
    for fact in program.facts:
        value = fact.value.evaluate(bound.sizes)
        if value % fact.modulus:
            raise LaunchError(f"{program.name} was made for {fact}, got {fact.value} = {value}")
    for parameter in program.parameters:
        if parameter.kind is ParameterKind.POINTER:
            address = bound.views[parameter.name].address
            if address % parameter.alignment and not bound.views[parameter.name].is_empty:
                wanted = f"{parameter.name} aligned to {parameter.alignment} bytes"
                raise LaunchError(f"{program.name} was made for {wanted}, got {address:#x}")
        elif parameter.kind in (ParameterKind.SIZE, ParameterKind.STRIDE):
            if parameter.name not in bound.sizes:
                raise LaunchError(f"{program.name}: no array tells {parameter.name}; give it in sizes")
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


def _tensor_map(program: Program, box: TensorBox, bound: Bound, memory: dict[tuple[int, int], Any]) -> Any:
    """The array and its map; LaunchError for what no map can tell of. An array without elements is never copied."""
    view = bound.views[box.array]
    buffer = next(b for b in program.buffers if b.array == box.array and b.space is Space.GLOBAL)
    if view.is_empty:
        return bytes(MAP_BYTES)
    placed, width = buffer.in_memory, buffer.element.byte_count
    dims = tuple(placed.extents[place].evaluate(bound.sizes) for place in box.order)
    strides = tuple(placed.strides[place].evaluate(bound.sizes) * width for place in box.order[1:])
    try:
        made = TensorMap(
            MAPPED.get(buffer.element, buffer.element.label), dims, strides, box.extents, swizzle=Swizzle(box.span)
        )
    except InvalidDescriptor as error:
        raise LaunchError(f"{program.name}: the tensor map of {box.array}: {error}") from None
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
