"""The verdict on a tile program."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping

from attrs import evolve

from ptxgen.errors import Finding, Severity
from ptxgen.prove.checker import Verdict
from ptxgen.prove.launches import launch_faults
from ptxgen.prove.passing import order_faults
from ptxgen.prove.trees.barriers import count_faults, declared, phase_faults
from ptxgen.prove.trees.blocks import laid_out, where
from ptxgen.prove.trees.ends import end_faults
from ptxgen.prove.trees.execution import Execution
from ptxgen.prove.trees.flags import flag_faults
from ptxgen.prove.trees.memory import memory_faults
from ptxgen.prove.trees.reach import gathering_faults, reach_faults
from ptxgen.prove.trees.results import neighbour_faults, result_faults
from ptxgen.prove.trees.running import executed
from ptxgen.prove.trees.sizes import Case, cases, item_faults
from ptxgen.prove.trees.streams import sharing_faults, slabs_of, streamed_cases
from ptxgen.prove.trees.tiles import tile_faults
from ptxgen.prove.trees.tracing import Step, Tracer, Untraceable
from ptxgen.prove.trees.windows import window_faults
from ptxgen.prove.trees.workspaces import passing_faults, workspace_faults
from ptxgen.tile import Program

Traces = Mapping[tuple[str, int], tuple[Step, ...]]


def check_program(program: Program) -> Verdict:
    """Whether the synchronisation of a tile program keeps everything that its copies, products and maps require of the
    buffers that they touch, whoever wrote it.

    What is required is read off the leaves alone: for each slot of each buffer who fills it, who reads it and who fills
    it next. For every case of sizes and work items that control tells apart (`sizes.py`) the run is laid out as events
    of representative threads; each requirement must hold on every path, past the fences that proxies and registers
    want, no thread waits for ever, and no wait can take one phase of a barrier for another. Only the first case of a
    fault is told, with its sizes, on the line of the op that would come too early. Blocks that sum parts of a tile are
    laid out together, with the barriers of their clusters and the flags by which they pass tiles on; of blocks that
    share tiles slab by slab, those of whole launches.
    """
    found = [*declared(program), *window_faults(program), *memory_faults(program), *launch_faults(program)]
    found += [*reach_faults(program), *order_faults(program), *workspace_faults(program)]
    found += [*item_faults(program), *sharing_faults(program)]
    if not found:
        found = list(_first_faults(program))
    return Verdict(tuple(found))


def _first_faults(program: Program) -> Iterator[Finding]:
    seen: set[Hashable] = set()
    tracer, slabs = Tracer(), slabs_of(program)
    for case in cases(program) if slabs is None else streamed_cases(program, slabs):
        try:
            traces = _traces(program, case, tracer)
        except Untraceable as error:
            yield error.finding
            return
        signature = _signature(traces)
        if signature in seen:
            continue
        seen.add(signature)
        run = executed(program, traces)
        faults = list(dict.fromkeys(run_faults(run)))
        try:
            faults = faults or list(dict.fromkeys([*result_faults(run, case), *neighbour_faults(run, case, tracer)]))
        except Untraceable as error:
            faults = [error.finding]
        if faults:
            at = where(program.grid, case)
            yield from (evolve(fault, message=f"{fault.message} (at {at})") for fault in faults)
            return


def _traces(program: Program, case: Case, tracer: Tracer) -> Traces:
    """What each role of each block does."""
    return {
        (role.name, block): tracer.steps_of(role.body, values, items)
        for block, (values, items) in enumerate(laid_out(program.grid, case))
        for role in program.roles
    }


def _signature(traces: Traces) -> Hashable:
    """Equal for runs that differ in nothing but where in the arrays they are."""
    return tuple(tuple((id(step.node), step.tiles) for step in steps) for steps in traces.values())


def run_faults(run: Execution) -> Iterator[Finding]:
    """What is wrong in one run."""
    ring = run.happens.close()
    if ring:
        events = [run.happens.events[event] for event in (*ring, ring[0])]
        text = "a ring of waits, of which none ever ends: " + " -> ".join(event.label for event in events)
        line = next((event.line for event in events if event.line is not None), None)
        related = tuple((event.label, event.line) for event in events[:-1] if event.line is not None)
        yield Finding("synchronisation.deadlock", Severity.ERROR, text, line, related=related)
        return
    yield from gathering_faults(run)
    yield from flag_faults(run)
    yield from count_faults(run)
    yield from tile_faults(run)
    yield from passing_faults(run)
    yield from phase_faults(run)
    yield from end_faults(run)
