"""What a step may ask of statements and ops: that they are there, run where the step says, and are not asked twice."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from attrs import frozen

from ptxgen.compute import ArrayKind, Binary, BinaryOp, Element, Load, ReductionOp, Statement
from ptxgen.plan.by_hand import Completes, Issued
from ptxgen.plan.checks import Checks
from ptxgen.plan.instructions import MatrixInstruction
from ptxgen.plan.nest import PieceLoop, pieces_at, placement, tile_levels
from ptxgen.plan.rewriting import Hybrid, chains_of, flaw
from ptxgen.plan.roles import Role
from ptxgen.plan.running import bodies, rolled, shiftable
from ptxgen.plan.steps import (
    ByHand,
    Cluster,
    Finish,
    Isolate,
    MultiplyBy,
    OverlapLaunch,
    Persist,
    Place,
    Rewrite,
    Roles,
    Split,
    Stage,
    Unroll,
)
from ptxgen.plan.transports import Transport
from ptxgen.plan.words import Onto, OperandPlace

MOST_BLOCKS_OF_A_CLUSTER = 8


@frozen
class Uses:
    """The checks of one step, as in `Checks`. Every method raises PlanError on the step's line."""

    checks: Checks

    def product(self, statement: Statement, instruction: MatrixInstruction) -> None:
        """A sum of products of two loads that nothing carries out yet."""
        checks = self.checks
        self._once(statement)
        match statement.value:
            case Binary(BinaryOp.MULTIPLY, Load(), Load()) if statement.reduction:
                if statement.reduction.op is not ReductionOp.ADD:
                    what = f"{instruction.name} adds products, {statement.name} does not: {statement}"
                    raise checks.refused(what)
            case _:
                what = f"{statement.name} is no sum of products of two arrays: {statement}"
                raise checks.refused(f"{what}; {instruction.name} cannot compute it")

    def rewritten(self, rule: object) -> None:
        """A sum over one dim into a local f32 array, not scheduled and not rewritten yet; the rule is proved."""
        checks = self.checks
        checks.word("a rule", rule, Hybrid, "hybrid(statement, every=count)")
        assert isinstance(rule, Hybrid)
        statement = checks.statement(rule.statement)
        if statement.reduction is None or statement.reduction.op is not ReductionOp.ADD or len(statement.reduced) != 1:
            raise checks.refused(f"{rule}: {statement.name} is no sum over one dim: {statement}")
        held = checks.compute.array(statement.target.array)
        if held.kind is not ArrayKind.LOCAL or held.element is not Element.F32:
            raise checks.refused(
                f"{rule} promotes into f32 registers, but {held.name} is a {held.kind.value} array of {held.element}"
            )
        for step in checks.steps:
            if isinstance(step, Rewrite) and step.rule.statement == rule.statement:
                raise checks.refused(f"{statement.name} is rewritten already, by {step}")
        levels = tile_levels(checks.steps)
        if levels:
            raise checks.refused(f"{rule} changes statements: rewrite before tile({levels[0].level})")
        wrong = flaw(chains_of(rule, statement))
        if wrong:
            raise checks.refused(f"{rule} is no rearrangement of the sum: {wrong}")

    def rows(self, statement: Statement, rows: str | None) -> None:
        """A dim of the statement that it does not sum over, or none named."""
        kept = [dim.name for dim in statement.dims if dim.name not in statement.reduced]
        if rows is not None and rows not in kept:
            raise self.checks.refused(f"rows of {statement.name} are one of {', '.join(kept)}, got {rows!r}")

    def in_flight(self, statement: Statement, instruction: MatrixInstruction, count: int) -> None:
        """A window of steps, of an instruction that runs in the background."""
        checks = self.checks
        checks.word("in_flight", count, int, "a whole number of steps")
        if count < 0:
            raise checks.refused(f"in_flight is 0 steps or more, got {count}")
        if count and not instruction.warpgroup:
            raise checks.refused(f"{instruction.name} is complete when it is issued: in_flight is for wgmma")
        rules = [step.rule for step in checks.steps if isinstance(step, Rewrite)]
        if count and any(rule.statement == statement.name for rule in rules):
            raise checks.refused(f"{statement.name} is kept in chains that are read at every step: none in flight")

    def operand_place(self, statement: Statement, instruction: MatrixInstruction, place: object) -> OperandPlace:
        """Where operand A is: in registers only that of a warpgroup's instruction which a statement leaves there."""
        checks = self.checks
        found = next((known for known in OperandPlace if known.value == place), None)
        if found is None:
            raise checks.refused(f"a is 'shared' or 'registers', got {place!r}")
        if found is OperandPlace.SHARED:
            return found
        if not instruction.warpgroup:
            raise checks.refused(f"{instruction.name} reads fragments anyhow: a='registers' is for wgmma")
        factors = [checks.compute.array(access.array) for access in statement.reads]
        if all(array.kind is not ArrayKind.LOCAL for array in factors):
            told = " and ".join(array.name for array in factors)
            raise checks.refused(f"{told} are in memory: only what a statement leaves in registers is read there")
        return found

    def roles(self, roles: Mapping[str, Role]) -> None:
        """Roles that share all ops among them, one of them by taking the rest."""
        checks = self.checks
        if any(isinstance(step, Roles) for step in checks.steps):
            raise checks.refused("roles are given already")
        staged = [step.op for step in checks.steps if isinstance(step, Stage)]
        for name, found in roles.items():
            checks.word(f"role {name}", found, Role, "role(ops, warps=, warpgroups=, registers=)")
            for op in found.ops:
                if op not in staged:
                    raise checks.refused(f"role {name} names {op!r}; staged are {', '.join(staged) or 'none'}")
        named = [op for found in roles.values() for op in found.ops]
        twice = next((op for op in named if named.count(op) > 1), None)
        if twice:
            raise checks.refused(f"{twice} belongs to two roles")
        rest = [name for name, found in roles.items() if not found.ops]
        if len(rest) != 1:
            raise checks.refused(f"one role names no op and takes the rest, got {', '.join(rest) or 'none'}")

    def clustered(self, extents: Mapping[str, int]) -> None:
        """A cluster of several blocks, along dims that blocks are dealt."""
        checks = self.checks
        if any(isinstance(step, Cluster) for step in checks.steps):
            raise checks.refused("a cluster is given already")
        dealt = [d for s in checks.steps if isinstance(s, Place) and s.onto is Onto.BLOCKS for d in s.dims]
        for dim, size in extents.items():
            if dim not in dealt:
                known = ", ".join(dealt) or "none: place a level onto blocks first"
                raise checks.refused(f"cluster({dim}={size}): dims dealt to blocks are {known}")
            checks.word(f"cluster: the extent of {dim}", size, int, "a whole number of blocks")
            if size < 1:
                raise checks.refused(f"cluster({dim}={size}): an extent is 1 or more")
        count = prod(extents.values())
        beside = prod(step.parts for step in checks.steps if isinstance(step, Split) and step.together)
        if not count > 1 or count * beside > MOST_BLOCKS_OF_A_CLUSTER:
            parts = f" for each of {beside} parts of a sum" if beside > 1 else ""
            raise checks.refused(f"a cluster has 2 to {MOST_BLOCKS_OF_A_CLUSTER} blocks, got {count}{parts}")

    def sliced(self, step: Stage) -> None:
        """A box brought in slices: by tensor copies, which alone can be multicast."""
        checks = self.checks
        if step.slices is None:
            return
        checks.word("slices", step.slices, int, "a whole number of blocks")
        if step.slices < 1 or step.slices & (step.slices - 1):
            raise checks.refused(f"{step.op}: slices is a power of two, got {step.slices}")
        if step.by.transport is not Transport.TENSOR:
            raise checks.refused(f"{step.op}: boxes are cut into slices that are copied by tensor, not by {step.by}")

    def finished(self, statement: Statement, at: str) -> None:
        """A statement on the registers of the innermost placed level, in a loop that it runs in, or in pieces."""
        checks = self.checks
        self._once(statement)
        checks.complete(statement, at)
        levels = [tile.level for tile in tile_levels(checks.steps) if placement(checks.steps, tile.level)]
        loops = rolled(checks.steps, statement)
        if at in loops or (levels and at == levels[-1]):
            return
        pieces = pieces_at(checks.steps, at)
        if pieces is not None:
            self._in_pieces(statement, pieces)
            return
        held = f"on the registers of level {levels[-1]!r}" if levels else "on no level: none is placed"
        inside = f", in the loops {', '.join(loops)}" if loops else ""
        raise checks.refused(f"{statement.name} cannot be finished at {at}: it runs {held}{inside}")

    def _in_pieces(self, statement: Statement, pieces: PieceLoop) -> None:
        """A result that leaves, element by element, in pieces of one of its dims."""
        checks = self.checks
        what = f"{statement.name} cannot be finished in the pieces of {pieces.name}"
        if statement.reduction:
            raise checks.refused(f"{what}: it is a sum, which is joined over whole tiles")
        if checks.compute.array(statement.target.array).kind is not ArrayKind.OUTPUT:
            raise checks.refused(f"{what}: what reads {statement.target.array} finds whole tiles in registers")
        if pieces.dim not in {dim.name for dim in statement.dims}:
            raise checks.refused(f"{what}: it has no dim {pieces.dim!r}")
        if len(checks.level(pieces.level).sizes) > 1:
            raise checks.refused(f"{what}: level {pieces.level!r} tiles several dims, pieces are cut along one")
        if pieces.size & (pieces.size - 1):
            raise checks.refused(f"{what}: the extent of a piece must be a power of two, got {pieces.size}")

    def _once(self, statement: Statement) -> None:
        for step in self.checks.steps:
            match step:
                case MultiplyBy(statement.name):
                    raise self.checks.refused(f"{statement.name} is multiplied already, by {step}")
                case Finish(statement.name):
                    raise self.checks.refused(f"{statement.name} is finished already, by {step}")
                case _:
                    pass

    def shifted(self, ops: tuple[str, ...], ahead: int, at: str) -> None:
        """Staged ops, each once, ahead in a loop that they run in."""
        checks = self.checks
        checks.word("ahead", ahead, int, "a whole number of steps")
        checks.loop(at)
        staged = {step.op: step for step in checks.steps if isinstance(step, Stage)}
        if not ops:
            raise checks.refused("shift names no op")
        for op in ops:
            if op not in staged:
                raise checks.refused(f"no op {op!r} to shift; staged are {', '.join(staged) or 'none'}")
            if ops.count(op) > 1:
                raise checks.refused(f"shift names {op} twice")
            loops = shiftable(checks.compute, checks.steps, staged[op])
            if at not in loops:
                around = ", ".join(loops) or "no loop"
                raise checks.refused(f"{op} does not run ahead in {at}: staged at {staged[op].at}, it runs in {around}")
        if ahead < 1:
            raise checks.refused(f"an op runs ahead by 1 step or more, got {ahead}")

    def ordered(self, at: str, ops: tuple[str, ...]) -> None:
        """Two ops or more, each once, that run directly in a loop, or outside all loops where `at` is a level."""
        checks = self.checks
        checks.loop(at)
        where = bodies(checks.compute, checks.steps)
        if len(ops) < 2:
            raise checks.refused(f"sequence({at}) orders two ops or more, got {', '.join(map(str, ops)) or 'none'}")
        for op in ops:
            if op not in where:
                raise checks.refused(f"no op {op!r} to order; there are {', '.join(where)}")
            if ops.count(op) > 1:
                raise checks.refused(f"sequence({at}) names {op} twice")
            if (at if "." in at else "") not in where[op]:
                directly = ", ".join(loop or "no loop" for loop in where[op])
                raise checks.refused(f"{op} does not run directly in {at}, but in {directly}")

    def written_by_hand(self, step: ByHand) -> None:
        """An op of the plan, not written by hand yet, and code that writes something."""
        checks = self.checks
        where = bodies(checks.compute, checks.steps)
        if step.op not in where:
            raise checks.refused(f"no op {step.op!r} to write by hand; there are {', '.join(where)}")
        if any(isinstance(other, ByHand) and other.op == step.op for other in checks.steps):
            raise checks.refused(f"{step.op} is written by hand already")
        if not callable(step.code):
            raise checks.refused(f"code is a function that writes instructions, got {step.code!r}")
        if step.model is not None and not callable(step.model):
            raise checks.refused(f"model is a function on numpy arrays, got {step.model!r}")
        for name in (*step.reads, *step.writes):
            checks.word("a buffer", name, str, "a buffer's name")
        checks.word("issued", step.issued, Issued, "an Issued")
        checks.word("completes", step.completes, Completes, "a Completes")
        if not step.writes:
            raise checks.refused(f"{step.op} by hand writes nothing: what nobody sees need not run")

    def unrolled(self, loop: str) -> None:
        """A loop of constant length over a summed dim, still rolled."""
        checks = self.checks
        checks.loop(loop)
        level, _, dim = loop.partition(".")
        if not dim:
            raise checks.refused(f"unroll takes a loop such as '{loop}.k', got the level {loop!r}")
        if not any(dim in tile.sizes for tile in checks.outside(level)):
            raise checks.refused(f"{loop} cannot be unrolled: its length depends on the sizes at the launch")
        if any(isinstance(step, Unroll) and step.loop == loop for step in checks.steps):
            raise checks.refused(f"{loop} is unrolled already")
        if not any(dim in statement.reduced for statement in checks.compute.statements):
            raise checks.refused(f"{loop} has no steps to unroll: no statement reduces {dim}, one op covers its tile")

    def overlapped(self) -> None:
        """Said once."""
        if any(isinstance(step, OverlapLaunch) for step in self.checks.steps):
            raise self.checks.refused("launches overlap already")

    def isolated(self, level: str) -> None:
        """The outermost level, not kept apart yet."""
        checks = self.checks
        checks.level(level)
        outermost = tile_levels(checks.steps)[0].level
        if level != outermost:
            raise checks.refused(f"isolate({level!r}): full tiles are those of the outermost level, {outermost!r}")
        if any(isinstance(step, Isolate) for step in checks.steps):
            raise checks.refused(f"level {level!r} is isolated already")
        stays = next((step for step in checks.steps if isinstance(step, Persist)), None)
        if stays is not None:
            raise checks.refused(f"full tiles have no program of their own where blocks stay: {stays}")
