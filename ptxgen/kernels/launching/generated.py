"""A plan made into a kernel, which runs on the CPU or a GPU with arrays by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from attrs import define, field, frozen

from ptxgen.derive.derivation import Derivation, derive
from ptxgen.emit import Listing, emit
from ptxgen.errors import AssemblerError, DriverError, Finding, KernelError, LaunchError, UnsupportedError, describe
from ptxgen.ir import Module
from ptxgen.kernels.launching.entry import Entry, entry_of
from ptxgen.kernels.launching.launch import BLOCKS_ON_THE_CPU, Launch, prepare
from ptxgen.kernels.launching.prepared import PreparedLaunch, masks_of, places_of
from ptxgen.kernels.launching.store import Kept, find, keep
from ptxgen.kernels.launching.views import is_on_device, view_of
from ptxgen.kernels.launching.workspaces import on_a_device, on_the_cpu
from ptxgen.lower import lower
from ptxgen.plan import Plan
from ptxgen.prove.declarations import contradictions
from ptxgen.prove.trees import check_program
from ptxgen.runtime import Assembler, Cubin, LoadedKernel, assemble, load, resident_ctas
from ptxgen.runtime.notes import slowing_notes
from ptxgen.simulate import ALL_CHECKS, Check, Report, Simulator, simulator
from ptxgen.tile import Program


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
        wait for each other, and do not come by ticket, than the device runs at once."""
        shared, waits = self.entry.grid.work_list, self.entry.waits
        asks = waits or (shared is not None and shared.workers is None)
        resident = self.resident(device) if asks else BLOCKS_ON_THE_CPU
        launch = prepare(self.entry, arrays, scalars or {}, sizes, resident=resident, provide=on_a_device)
        if waits and launch.blocks > resident:
            raise LaunchError(
                f"{self.entry.name}: {launch.blocks} blocks wait for each other's sums, and the device runs {resident} "
                f"at once: split k in fewer parts, or in 2, 4 or 8 where clusters join them, or stream it, or have "
                f"them come by ticket (tickets=True)"
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
        self.prepare(arrays, scalars, sizes=sizes).once(self.loaded, stream)

    def prepared(
        self,
        arrays: Mapping[str, Any],
        scalars: Mapping[str, float] | None = None,
        *,
        sizes: Mapping[str, int] | None = None,
        stream: object = None,
        device: int = 0,
    ) -> PreparedLaunch:
        """The launch on a stream of a device, packed: it may be made again and again, with these arrays of the device
        or with others like them. LaunchError as `prepare`, and for arrays in the host's memory."""
        for name, array in arrays.items():
            if not is_on_device(view_of(name, array)):
                raise LaunchError(f"{name} is in the host's memory: a launch that is prepared copies nothing")
        launch = self.prepare(arrays, scalars, sizes=sizes, device=device)
        names = tuple(arrays)
        if not launch.blocks:
            return PreparedLaunch(names, None)
        packed = launch.packed(self.on_device(device), stream)
        return PreparedLaunch(names, packed, masks_of(self.entry, names), places_of(self.entry, packed, names))


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
