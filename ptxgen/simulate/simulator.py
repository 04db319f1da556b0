"""Kernels on the CPU: decoded once, run as often as wanted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from copy import copy
from functools import partial
from typing import TypeAlias

import numpy as np
from attrs import frozen

from isa.limits import shared_base
from isa.targets import Target
from isa.targets import target as target_named
from ptxgen.errors import LaunchError
from ptxgen.ir import Directive, DirectiveKind, Function, Module
from ptxgen.simulate.arguments import Argument, bind
from ptxgen.simulate.functions import Body, body_of, reachable
from ptxgen.simulate.journal import ALL_CHECKS, Check, Journal
from ptxgen.simulate.launch import Launch, Progress, journal_of, run
from ptxgen.simulate.layout import Layout, layout_of
from ptxgen.simulate.memory import FUNCTIONS_BASE
from ptxgen.simulate.parallel import run_apart
from ptxgen.simulate.program import Program, decode
from ptxgen.simulate.report import Count, Region, Report, Statement
from ptxgen.simulate.scheduler import LimitReached
from ptxgen.simulate.semantics.calls import Callee
from ptxgen.simulate.site import Bank
from ptxgen.simulate.traffic import GlobalTraffic, SharedTraffic

CTAS_PER_CLUSTER = 16
FIRST_WITH_CLUSTERS = 90
Extents: TypeAlias = "int | Sequence[int]"


def simulate(
    module: Module,
    kernel: str | None = None,
    *,
    grid: Extents,
    block: Extents,
    args: Sequence[Argument] | Mapping[str, Argument] = (),
    cluster: Extents | None = None,
    shared_bytes: int = 0,
    target: Target | str | None = None,
    checks: frozenset[Check] = ALL_CHECKS,
    seed: int | None = None,
    limit: int | None = None,
    progress: Progress | None = None,
    approximate: int | None = None,
    executor: Executor | None = None,
) -> Report:
    """Run a kernel of `module` (the only one, or the one named) and report what was found and counted.

    `grid` and `block` are CTAs and threads as a number or up to three, x first. `args` stand in the order of the
    parameters or by name: a numpy array for a pointer, written in place like device memory; `(array, byte_offset)` for
    an address inside it; `unwritten(array)` where reading before writing is a fault; a number for a scalar; bytes for
    an array parameter; `(array, TensorMap)` for the map of a tensor. `cluster` are the CTAs of a cluster, as of `grid`;
    by default what the kernel demands, else one. `shared_bytes` are dynamic shared memory. Tensor cores follow the
    numerics of `target`, by default the module's. `seed` replaces the order of the warps by a random one. LimitReached
    after more than `limit` warp-instructions, with the report until then. `progress` is called now and then with the
    threads that have ended and those of the whole launch. Approximate instructions give the correctly rounded value;
    with `approximate` values drawn by that seed from all that the manual allows. An `executor` runs batches of CTAs
    side by side where these do not communicate, with the same result.

    Raises KernelError naming every instruction that the simulator does not run, before anything ran, and
    LaunchError for arguments that do not fit. What goes wrong while it runs is in the report's findings.
    """
    decoded = simulator(module, kernel, target=target, checks=checks, approximate=approximate)
    return decoded.run(
        grid=grid, block=block, args=args, cluster=cluster, shared_bytes=shared_bytes, seed=seed, limit=limit,
        progress=progress, executor=executor,
    )  # fmt: skip


@frozen(eq=False)
class Source:
    """What a kernel was decoded from, for processes that decode it again."""

    module: Module
    kernel: str
    target: str
    checks: frozenset[Check]
    approximate: int | None


def _decoded(source: Source, shared_bytes: int) -> tuple[Program, Layout]:
    made = simulator(
        source.module, source.kernel, target=source.target, checks=source.checks, approximate=source.approximate
    )
    return made.program, made.layout.with_dynamic(shared_bytes)


@frozen(eq=False)
class Simulator:
    """A kernel decoded for one target, to run with any arguments."""

    function: Function
    checks: frozenset[Check]
    layout: Layout
    program: Program
    source: Source

    def run(
        self,
        *,
        grid: Extents,
        block: Extents,
        args: Sequence[Argument] | Mapping[str, Argument] = (),
        cluster: Extents | None = None,
        shared_bytes: int = 0,
        seed: int | None = None,
        limit: int | None = None,
        progress: Progress | None = None,
        executor: Executor | None = None,
    ) -> Report:
        """As `simulate`."""
        shape = extents(grid, "grid"), extents(block, "block")
        layout = self.layout.with_dynamic(shared_bytes)
        memory, parameters = bind(self.function, args, layout.global_bytes, layout.heap_bytes)
        launch = Launch(*shape, self.checks, seed, limit, cluster_of(self.function, shape[0], cluster))
        journal = None
        if executor is not None:
            decode = partial(_decoded, self.source, shared_bytes)
            journal = run_apart(decode, layout, self.program, memory, parameters, launch, executor)
        if journal is None:
            journal = journal_of(self.program, launch)
            try:
                with np.errstate(all="ignore"):
                    run(self.program, layout, memory, parameters, launch, journal, progress)
            except LimitReached as reached:
                reached.report = report_of(self.function, self.program, journal, launch)
                raise
        memory.copy_back()
        return report_of(self.function, self.program, journal, launch)


def simulator(
    module: Module,
    kernel: str | None = None,
    *,
    target: Target | str | None = None,
    checks: frozenset[Check] = ALL_CHECKS,
    approximate: int | None = None,
) -> Simulator:
    """A kernel of `module` decoded to run many times; arguments and errors as of `simulate`."""
    function = _kernel(module, kernel)
    functions = {each.name: body_of(each, kernel=False) for each in reachable(module, function)}
    body = body_of(function, kernel=True)
    addresses = {name: FUNCTIONS_BASE + 16 * place for place, name in enumerate(functions)}
    on = module.target if target is None else target_named(target) if isinstance(target, str) else target
    layout = layout_of(module, body, functions, addresses, shared_base=shared_base(on))
    ranked = frozenset(layout.shared_names) if on.number >= FIRST_WITH_CLUSTERS else frozenset()
    bank = Bank(dict(layout.symbols), layout.parameter_bytes, stacked=frozenset(body.frame.offsets), ranked=ranked)
    if ranked:
        bank.rank()
    if functions:
        bank.frame()
    if layout.grows:
        bank.stack(layout.local_bytes)
    if approximate is not None:
        bank.chance = np.random.default_rng(approximate)
    callees = {name: Callee(each, _bank_of(each, bank), addresses[name]) for name, each in functions.items()}
    source = Source(module, function.name, on.name, checks, approximate)
    return Simulator(function, checks, layout, decode(body, callees, on, bank, checks), source)


def _bank_of(body: Body, bank: Bank) -> Bank:
    """The kernel's bank with the names of a function."""
    own = copy(bank)
    own.symbols = {**bank.symbols, **body.frame.offsets}
    own.stacked = frozenset(body.frame.offsets)
    return own


def _kernel(module: Module, name: str | None) -> Function:
    function = module.function(name)
    if function.body is None:
        raise LookupError(f"{function.name} is declared but has no body")
    return function


def cluster_of(function: Function, grid: tuple[int, int, int], given: Extents | None) -> tuple[int, int, int]:
    """The cluster of a launch: what is given, or what the kernel demands, or one CTA.

    LaunchError where the two disagree or the grid is no whole number of clusters.
    """
    asked = (each for each in function.directives if isinstance(each, Directive))
    demanded = next((each.values for each in asked if each.kind is DirectiveKind.REQNCTAPERCLUSTER), None)
    chosen = extents(given if given is not None else demanded or 1, "cluster")
    if demanded and chosen != extents(demanded, "cluster"):
        raise LaunchError(f"{function.name} demands clusters of {demanded}, got {given!r}")
    if any(whole % part for whole, part in zip(grid, chosen, strict=True)):
        raise LaunchError(f"a grid of {grid} is no whole number of clusters of {chosen}")
    if chosen[0] * chosen[1] * chosen[2] > CTAS_PER_CLUSTER:
        raise LaunchError(f"a cluster has at most {CTAS_PER_CLUSTER} CTAs, got {chosen}")
    return chosen


def extents(given: Extents, what: str) -> tuple[int, int, int]:
    """A number or up to three as (x, y, z); LaunchError for what is no grid or block."""
    values = [int(given)] if isinstance(given, (int, np.integer)) else [int(each) for each in given]
    if not 1 <= len(values) <= 3 or any(each < 1 for each in values):
        raise LaunchError(f"{what} must be one to three positive numbers, got {given!r}")
    x, y, z = (*values, 1, 1)[:3]
    if what == "block" and x * y * z > 1024:
        raise LaunchError(f"a block has at most 1024 threads, got {x * y * z} ({given!r})")
    return x, y, z


def report_of(function: Function, program: Program, journal: Journal, launch: Launch) -> Report:
    """The report of what a journal holds."""
    statements = tuple(
        Statement(
            index, instruction, Count(int(journal.warps[index]), int(journal.lanes[index])),
            journal.shared.get(index, SharedTraffic()), journal.global_.get(index, GlobalTraffic()),
        )
        for index, instruction in enumerate(journal.instructions)
    )  # fmt: skip
    blocks = tuple(
        Region(tuple(label.text for label in each.labels), statements[each.start : each.stop])
        for each in program.flow.blocks
    )
    loops = tuple(
        Region(
            blocks[loop.header].labels, tuple(s for number in sorted(loop.blocks) for s in blocks[number].statements)
        )
        for loop in program.loops
    )
    findings = tuple(sorted(journal.faults.values(), key=lambda fault: (fault.statement, fault.code)))
    printed = "".join(journal.printed)
    return Report(function.name, launch.grid, launch.block, statements, blocks, loops, findings, (), printed)
