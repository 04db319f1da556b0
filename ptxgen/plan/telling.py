"""Each step of a plan as text, with the loops before and after it."""

from __future__ import annotations

from collections.abc import Iterator

from ptxgen.compute import Compute
from ptxgen.plan.nest import show_nest
from ptxgen.plan.rewriting import rewritten
from ptxgen.plan.splits import deal_of
from ptxgen.plan.splitting import split_into
from ptxgen.plan.steps import Rewrite, Split, Step, Stream
from ptxgen.plan.streaming import cut_of, streamed_into


def told(compute: Compute, steps: tuple[Step, ...]) -> Iterator[str]:
    """A line for each step with where it was written, below it what it changes: loops, or statements."""
    for place, step in enumerate(steps):
        before, after = steps[:place], steps[: place + 1]
        yield f"{step}    # {step.line}"
        yield from _loops(compute, before, after)
        if isinstance(step, Rewrite):
            yield from _rewriting(compute, step)
        if isinstance(step, Split | Stream):
            yield from _splitting(compute, before, step)


def _loops(compute: Compute, before: tuple[Step, ...], after: tuple[Step, ...]) -> Iterator[str]:
    for statement in compute.statements:
        old, new = show_nest(before, statement), show_nest(after, statement)
        if old != new:
            yield f"    {statement.name}: {old}  ->  {new}"


def _rewriting(compute: Compute, step: Rewrite) -> Iterator[str]:
    statement = compute.statement(step.rule.statement)
    first, *others = rewritten(step.rule, statement)
    yield f"    {statement}"
    yield f"    ->  {first}"
    yield from (f"        {other}" for other in others)


def _splitting(compute: Compute, before: tuple[Step, ...], step: Split | Stream) -> Iterator[str]:
    if isinstance(step, Stream):
        statement, cutting = cut_of(before, compute.statements, step)
        first, second = streamed_into(cutting, statement)
    else:
        statement, deal = deal_of(compute, before, step)
        first, second = split_into(deal, statement)
    yield f"    {statement}"
    yield f"    ->  {first}"
    yield f"        {second}"
