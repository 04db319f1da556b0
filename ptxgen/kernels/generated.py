"""A plan made into a kernel, and any such kernel launched with arrays by name."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, SupportsFloat

from attrs import define, field, frozen

from isa.descriptors import InvalidDescriptor, Swizzle
from isa.tensor_maps import MAP_BYTES, TensorMap
from ptxgen.compute import Element
from ptxgen.derive.derivation import Derivation, derive
from ptxgen.emit import Listing, emit
from ptxgen.errors import (
    AssemblerError,
    DriverError,
    Finding,
    KernelError,
    LaunchError,
    UnsupportedError,
    describe,
)
from ptxgen.ir import Module
from ptxgen.kernels.binding import Bound, bind, check_size
from ptxgen.kernels.entry import Entry, entry_of
from ptxgen.kernels.segments import bounded, most_tiles
from ptxgen.kernels.store import Kept, find, keep
from ptxgen.kernels.views import View, is_on_device
from ptxgen.kernels.workspaces import on_a_device, on_the_cpu
from ptxgen.lower import lower
from ptxgen.plan import Plan
from ptxgen.prove.declarations import contradictions
from ptxgen.prove.trees import check_program
from ptxgen.runtime import Assembler, Cubin, LoadedKernel, Scratch, assemble, load, resident_ctas
from ptxgen.runtime.notes import slowing_notes
from ptxgen.simulate import ALL_CHECKS, Check, Report, Simulator, simulator
from ptxgen.tile import (
    ParameterKind,
    Program,
    TensorBox,
    Workspace,
)

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


@frozen(eq=False)
class Made:
    """Everything that a kernel came from: the plan, what was derived and proved, and the module."""

    plan: Plan
    derivation: Derivation
    module: Module

    @property
    def program(self) -> Program:
        """The tile program."""
        return self.derivation.program


@frozen(eq=False)
class Built:
    """A tile program that somebody wrote or changed by hand, and its module."""

    program: Program
    module: Module


@define(slots=False, frozen=True, eq=False, repr=False)
class GeneratedKernel:
    """A kernel: what a launch must know of it, its PTX, and everything that it came from, which is made when somebody
    first asks for it where the kernel is `kept` in a store."""

    make: Callable[[], Made | Built] = field(repr=False)
    kept: Kept | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        return f"GeneratedKernel({self.entry.name} for {self.entry.target})"

    @cached_property
    def made(self) -> Made | Built:
        """What it came from."""
        return self.make()

    @property
    def planned(self) -> Made:
        """What it came from, if that was a plan."""
        if isinstance(self.made, Made):
            return self.made
        raise UnsupportedError(f"{self.entry.name} was built from a tile program, so that it has no plan")

    @property
    def plan(self) -> Plan:
        """The schedule."""
        return self.planned.plan

    @property
    def derivation(self) -> Derivation:
        """What was derived and proved."""
        return self.planned.derivation

    @property
    def module(self) -> Module:
        """The module, with the user's line behind each statement."""
        return self.made.module

    @property
    def program(self) -> Program:
        """The tile program."""
        return self.made.program

    @cached_property
    def entry(self) -> Entry:
        """What a launch must know."""
        return self.kept.entry if self.kept else entry_of(self.program)

    @cached_property
    def listing(self) -> Listing:
        """The PTX text with the origin of each line, which a store does not keep."""
        if self.kept:
            return Listing(self.kept.text, (None,) * (self.kept.text.count("\n") + 1))
        return emit(self.module)

    @cached_property
    def _on_devices(self) -> dict[int, LoadedKernel]:
        return {}

    def on_device(self, device: int) -> LoadedKernel:
        """The kernel on a device, loaded at the first use, where it stays, for graphs may hold it; DriverError where
        there is none, or where the driver's compiler takes asynchronous work back."""
        held = self._on_devices
        if device not in held:
            module = load(self.listing, device=device, stays=True)
            notes = slowing_notes(self.listing, module.log)
            if notes:
                raise DriverError(_taken_back(self, notes), log=module.log, findings=notes)
            held[device] = module[self.entry.name]
        return held[device]

    def take(self, cubin: Cubin, device: int = 0) -> LoadedKernel:
        """The kernel on a device from machine code that an assembler made of its text, here or in another process; it
        is unloaded with this object."""
        held = self._on_devices[device] = load(cubin, device=device)[self.entry.name]
        return held

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
            entry = self.entry
            held[device] = resident_ctas(
                self.on_device(device),
                threads=entry.threads,
                shared_bytes=entry.shared_bytes,
                cluster=entry.grid.cluster,
            )
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
        launch = prepare(self.entry, arrays, scalars or {}, sizes, provide=on_the_cpu)
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
        many as it runs at once. Memory that the kernel wants for itself is stated (`Launch.workspace_bytes`), and taken
        by whoever prepares the launch for a stream. LaunchError for arguments that do not fit, and for more blocks that
        wait for each other than the device runs at once."""
        shared, waits = self.entry.grid.work_list, self.entry.waits
        asks = waits or (shared is not None and shared.workers is None)
        resident = self.resident(device) if asks else BLOCKS_ON_THE_CPU
        launch = prepare(self.entry, arrays, scalars or {}, sizes, resident=resident, provide=on_a_device)
        if waits and launch.blocks > resident:
            raise LaunchError(
                f"{self.entry.name}: {launch.blocks} blocks wait for each other's sums, and the device runs {resident} "
                f"at once: split k in fewer parts, or in 2, 4 or 8 where clusters join them, or stream it"
            )
        return launch

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
                overlapped=launch.overlapped,
                cooperative=launch.cooperative,
            )


def _taken_back(kernel: GeneratedKernel, notes: tuple[Finding, ...]) -> str:
    heading = f"{kernel.entry.name} for {kernel.entry.target}: the assembler takes asynchronous work back"
    return "\n".join([heading, *map(describe, notes)])


def generate(plan: Plan) -> GeneratedKernel:
    """The kernel of a plan: derived, proved, lowered and verified. PlanError or UnsupportedError for what cannot be."""
    derivation = derive(plan)
    made = Made(plan, derivation, lower(derivation.program))
    return GeneratedKernel(lambda: made)


def build(program: Program) -> GeneratedKernel:
    """The kernel of a tile program, whoever wrote it: judged, lowered and verified.

    KernelError with where it contradicts itself, else with what the judge of its synchronisation finds, on the lines of
    the text or of the source; UnsupportedError for what cannot be lowered.
    """
    findings = contradictions(program) or check_program(program).findings
    if findings:
        raise KernelError(findings, f"{program.name} for {program.target} is refused:")
    made = Built(program, lower(program))
    return GeneratedKernel(lambda: made)


def stored(question: str, make: Callable[[], GeneratedKernel]) -> GeneratedKernel:
    """The kernel that the store on disk keeps for a question, else the one that `make` makes, which it then keeps. The
    question must tell all that the kernel depends on but the sources of ptxgen."""
    found = find(question)
    if found is not None:
        return GeneratedKernel(lambda: make().made, found)
    kernel = make()
    keep(question, Kept(kernel.entry, kernel.listing.text))
    return kernel


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
