"""The plan: an immutable list of schedule steps over a compute, each checked as it is added."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import NoneType
from typing import Any

from attrs import evolve, field, frozen

from ptxgen.compute import Array, Compute, SourceLine, caller
from ptxgen.plan.block_orders import BlockOrder, rows
from ptxgen.plan.by_hand import Completes, Issued
from ptxgen.plan.checked import instance_of
from ptxgen.plan.checks import Checks
from ptxgen.plan.drains import drainable
from ptxgen.plan.facts import Fact
from ptxgen.plan.hinting import hinted
from ptxgen.plan.instructions import MatrixInstruction
from ptxgen.plan.rewriting import Hybrid
from ptxgen.plan.roles import Role
from ptxgen.plan.splits import splittable
from ptxgen.plan.splitting import Join, ordered
from ptxgen.plan.steps import (
    Assume,
    ByHand,
    Cluster,
    Drain,
    Finish,
    Hint,
    Isolate,
    MultiplyBy,
    Order,
    OverlapLaunch,
    Persist,
    Place,
    Rewrite,
    Roles,
    Shift,
    Split,
    Stage,
    Step,
    Stream,
    Tile,
    Turns,
    Unroll,
)
from ptxgen.plan.streaming import streamable
from ptxgen.plan.telling import told
from ptxgen.plan.transports import By
from ptxgen.plan.turning import named_phases, turnable
from ptxgen.plan.uses import Uses
from ptxgen.plan.words import (
    Eviction,
    Into,
    IntoFragments,
    IntoRegisters,
    IntoShared,
    IntoWorkspace,
    Onto,
    Workers,
    shared,
)

Named = Array | str


@frozen
class Plan:
    """How `compute` is carried out on `target` (`"sm_70"`).

    Every method returns a new plan with one more step and refuses, with a PlanError on the caller's line, what the
    dependences do not allow. `str(plan)` prints every step with the loops before and after it.
    """

    compute: Compute = field(validator=instance_of(Compute, "a Compute, as the build() of a ComputeBuilder gives it"))
    target: str = field(validator=instance_of(str, "the name of a target such as 'sm_90a'"))
    steps: tuple[Step, ...] = field(default=(), kw_only=True)

    def assume(self, *facts: Fact | Iterable[Fact]) -> Plan:
        """Adds facts about sizes, strides and addresses, which the launcher tests; the same plan where there are none.

        Refuses when a fact names no size, stride or array in memory of the compute, or facts contradict each other:
        it names those that do.
        """
        checks = self._checks(caller())
        found = checks.facts([fact for given in facts for fact in _each(given)])
        return self._with(Assume(found, checks.line)) if found else self

    def rewrite(self, rule: Hybrid) -> Plan:
        """The statement that the rule names -> the statements that it becomes, proved to be the same sum in another
        order: `hybrid(statement, every=count)` keeps it in chains that are promoted into f32.

        Refuses what is no sum over one dim into a local f32 array, is rewritten already, or has tiles.
        """
        checks = self._checks(caller())
        Uses(checks).rewritten(rule)
        return self._with(Rewrite(rule, checks.line))

    def tile(self, level: str, **extents: int) -> Plan:
        """`for d` -> `for level.d, for d inside`: strip-mines the named dims; others keep their loops.

        Refuses when the level's name is no identifier or known, an extent is below 1 or does not divide the level
        outside it, or a statement's dependence on its own earlier instances would run backwards (the band is not
        permutable).
        """
        checks = self._checks(caller())
        checks.fresh_level(level)
        if not extents:
            raise checks.refused(f"tile({level!r}) names no dim")
        for dim, size in extents.items():
            checks.extent(level, dim, size)
        checks.permutable(tuple(extents))
        return self._with(Tile(level, tuple(extents.items()), checks.line))

    def place(self, level: str, onto: Onto, raster: BlockOrder = rows, dims: Iterable[str] | None = None) -> Plan:
        """`for level.d` -> `level.d = block or warp index`, for the level's parallel dims (or the dims named).

        Refuses when a dependence crosses between blocks, an output lacks a dim of which blocks take several tiles, no
        dim is dealt, or an earlier step names a loop that would be dealt. Between warps a dependence may cross through
        shared memory; a dim that a statement reduces is not dealt to warps for that statement.
        """
        checks = self._checks(caller())
        chosen = checks.dealt(checks.placing(level, onto, raster), onto, dims)
        checks.not_named(level, chosen)
        return self._with(Place(level, onto, raster, chosen, checks.line))

    def persist(
        self,
        level: str,
        raster: BlockOrder = rows,
        workers: int | Workers = Workers.SMS,
        dims: Iterable[str] | None = None,
    ) -> Plan:
        """`for level.d` -> `for item: level.d = tile of the item`, for the level's parallel dims (or the dims named):
        `place` onto blocks of which `workers` stay and walk the tiles in the raster's order, so that one tile's copies
        begin while the tile before is finished.

        Refuses what `place` refuses, fewer than one worker, and full tiles that are kept apart.
        """
        checks = self._checks(caller())
        checks.walked(workers)
        chosen = checks.dealt(checks.placing(level, Onto.BLOCKS, raster), Onto.BLOCKS, dims)
        checks.not_named(level, chosen)
        return self._with(Persist(level, Onto.BLOCKS, raster, chosen, checks.line, workers))

    def cluster(self, **extents: int) -> Plan:
        """`block of cta.d` -> `block rank of a cluster`: neighbours along the named dims form a cluster, and boxes that
        they have in common are brought once and multicast. Tiles beyond the last one fill up the last cluster.

        Refuses when a dim is not dealt to blocks, an extent is no whole number of at least 1, the cluster has one block
        or more than 8, or there is one already. Whether any box is in common is seen when the plan is derived.
        """
        checks = self._checks(caller())
        Uses(checks).clustered(extents)
        return self._with(Cluster(tuple(extents.items()), checks.line))

    def split(
        self, dim: str, parts: int, join: Join = ordered, through: IntoShared | IntoWorkspace | None = None
    ) -> Plan:
        """`for cta.d` -> `for every parts-th cta.d, in each of parts blocks`: neighbours in a cluster sum parts of a
        sum over `dim` apart, slab by slab in turn, then each joins its share of the tile in ascending order of the
        part, from the others' shared memory (`through`, which may lie over a ring). With `workspace()` blocks need not
        be neighbours: each adds its part to the sum of those before it, which it finds in memory, and passes it on; the
        launch is then refused where the device does not run all blocks at once, unless they come by ticket:
        `workspace(tickets=True)`.

        Refuses when no sum runs over the dim alone, other statements have it, no level tiles it, no blocks are placed,
        or they stay, the cluster would have more than 8 of them, or a sum is split already.
        """
        checks = self._checks(caller())
        step = Split(dim, parts, join, shared(1) if through is None else through, checks.line)
        splittable(checks, step)
        return self._with(step)

    def stream(self, dim: str, join: Join = ordered, *, tickets: bool = False) -> Plan:
        """`for item: for cta.d` -> `for item: for every cta.d of the item`: the blocks that stay share the slabs of all
        tiles evenly, so that all of them end at once. A tile may be cut between them; each block adds its part of the
        sum to those before it, which it finds in memory, and the block of the last part finishes the tile. As many
        tiles as fill whole rounds of the blocks are dealt as they are, but for the last whole round. The launch is
        refused where the device does not run all blocks at once, unless with `tickets` they take their shares in the
        order in which they begin.

        Refuses when no sum runs over the dim alone, other statements have it, no level tiles it, no blocks stay, units
        of them take items in turn, or a sum is split or streamed already.
        """
        checks = self._checks(caller())
        checks.word("tickets", tickets, bool, "True or False")
        step = Stream(dim, join, checks.line, tickets)
        streamable(checks, step)
        return self._with(step)

    def stage(self, array: Named, at: str, into: Into, by: By, slices: int | None = None) -> Plan:
        """Adds a buffer for the box of `array` that the loops inside `at` use, and the op that fills it there.

        `at` is a loop (`"cta.k"`) or a level whose loops all stay outside (`"cta"`). What a statement that is finished
        in pieces reads is staged in its loop, or in registers for the whole tile: before the loop, or at the level that
        blocks take as the tile begins. Of a box that blocks of a cluster
        have in common, `slices` of them bring equal parts (1: one brings all of it; None: all do where it divides).
        Refuses an unknown array or loop, an array that no statement reads, a second buffer of the same sort, or a
        transport that cannot fill it.
        """
        checks = self._checks(caller())
        name = checks.array(array)
        checks.loop(at)
        checks.word("into", into, (IntoRegisters, IntoShared, IntoFragments), "registers(), shared() or fragments()")
        checks.word("by", by, By, "ld(bytes) or st(bytes)")
        step = Stage(name, at, into, by, checks.line, slices)
        checks.stage(step)
        Uses(checks).sliced(step)
        return self._with(step)

    def multiply(
        self,
        statement: Named,
        instruction: MatrixInstruction,
        at: str,
        in_flight: int = 0,
        rows: str | None = None,
        a: str = "shared",
    ) -> Plan:
        """The point loops of `statement` inside `at` become one matrix instruction, repeated over the tile. Of a
        warpgroup's instruction the `in_flight` latest steps may be incomplete at any time. `rows` is the dim that the
        rows of the instruction run over, that of the first factor where none is named: with the other one the factors
        change places, for results of fewer rows than an instruction has. Operand A, the factor with the rows, is read
        from shared memory by warpgroups, or with `a="registers"` from those in which a statement left it.

        Refuses when the statement is no sum of products of two loads, or is multiplied or finished already, or has no
        dim `rows` that it keeps.
        """
        checks = self._checks(caller())
        found = checks.statement(statement)
        checks.loop(at)
        checks.word("instruction", instruction, MatrixInstruction, "a matrix instruction such as m8n8k4(f32)")
        Uses(checks).product(found, instruction)
        Uses(checks).in_flight(found, instruction, in_flight)
        Uses(checks).rows(found, rows)
        place = Uses(checks).operand_place(found, instruction, a)
        return self._with(MultiplyBy(found.name, instruction, at, checks.line, in_flight, rows, place))

    def roles(self, **roles: Role) -> Plan:
        """Ops are dealt to roles, which run side by side on warps of their own; one of them names no op and takes the
        rest.

        Refuses when not exactly one role takes the rest, two name an op, a name is no staged op, or roles are there
        already.
        """
        checks = self._checks(caller())
        Uses(checks).roles(roles)
        return self._with(Roles(tuple(roles.items()), checks.line))

    def turns(self, role: str, over: str, *phases: Named, split_items: bool = False) -> Plan:
        """The warpgroups of `role` go through each of the phases, statements of theirs, one after the other, so that
        what one does outside the phases runs beside the phases of the others. In each step of the loop `over` the
        first warpgroup issues a phase, then the second one does, and so on, and in the next step the first one again.
        With `split_items` each takes every n-th item of the work list of the level `over` by itself.

        Refuses a role that is not there, is one warpgroup or has ops of its own, phases of another role or outside of
        the loop `over`, a stream, and a second time; with `split_items` a level that is not persisted and phases
        without a product that is multiplied. Where a warpgroup would wait in a phase for what another one does only
        behind it, the derivation refuses, with both.
        """
        checks = self._checks(caller())
        step = Turns(role, over, named_phases(checks, role, phases), split_items, checks.line)
        turnable(checks, step)
        return self._with(step)

    def finish(self, statement: Named, at: str) -> Plan:
        """Places a pointwise or reducing statement on the registers of the level `at`, or in its loop `at`. A loop of a
        level inside those that are placed cuts the tile into pieces: each is calculated just before it leaves, and
        those of neighbouring statements in the same loop take turns.

        Refuses when what it reads is not complete there, when it runs elsewhere (the innermost placed level, loops
        inside it and the loops of parametric length around the statement are where it runs), in pieces what is a sum
        or stays in registers, and what is finished or multiplied already.
        """
        checks = self._checks(caller())
        found = checks.statement(statement)
        checks.loop(at)
        Uses(checks).finished(found, at)
        return self._with(Finish(found.name, at, checks.line))

    def drain(
        self,
        array: Named,
        through: IntoShared | None,
        by: By,
        pieces: Mapping[str, int] | None = None,
        put: By | None = None,
    ) -> Plan:
        """The way out: the fragments of the output `array` are stored from registers (`through=None`), `by` a store.
        Or piece by piece through a ring in shared memory: `put` (st, stmatrix) fills it, `by` empties it, st where all
        threads read rows back and store them, tensor where one thread has boxes copied. `pieces` gives the extents of a
        piece along dims of a warp's tile, whole where it names none.

        Refuses what is no output, is drained already, pieces that do not divide a tile, and what cannot fill or empty.
        """
        checks = self._checks(caller())
        name = checks.array(array)
        checks.word("pieces", pieces, (Mapping, NoneType), "extents by dim, as {'j': 32}, or None")
        sizes = tuple(pieces.items()) if pieces else ()
        step = Drain(name, by, checks.line, through, sizes, put)
        drainable(checks, step)
        return self._with(step)

    def hint(self, *ops: str, l2: Eviction | None = None, map_early: bool = False) -> Plan:
        """What caches are told of ops that tensor copies carry out (`A.shared`, `D.global`): with `l2` whether the L2
        cache gives up their lines first or last, with `map_early` that their maps are fetched as the kernel begins.

        Refuses an op that is not there or is not copied by tensor, a hint that says nothing, and one given twice.
        """
        checks = self._checks(caller())
        step = Hint(ops, l2, map_early, checks.line)
        hinted(checks, step)
        return self._with(step)

    def shift(self, *ops: str, ahead: int, at: str) -> Plan:
        """The named ops run `ahead` steps of the loop `at` early (software pipelining), more where shifted before.

        Refuses an op that is not staged or does not run in `at`. Whether an event interval stays is seen when the plan
        is derived: it names both ops and this line.
        """
        checks = self._checks(caller())
        Uses(checks).shifted(ops, ahead, at)
        return self._with(Shift(ops, ahead, at, checks.line))

    def sequence(self, at: str, *ops: str) -> Plan:
        """The order of the named ops inside the body of the loop `at`; outside all loops where `at` is a level.

        Refuses fewer than two ops, and an op that is not there or does not run directly in that body.
        """
        checks = self._checks(caller())
        Uses(checks).ordered(at, ops)
        return self._with(Order(at, ops, checks.line))

    def unroll(self, loop: str) -> Plan:
        """Writes out every step of a loop of constant length over a dim that a statement reduces.

        Refuses a loop whose length is not constant, that has no steps, or is unrolled already.
        """
        checks = self._checks(caller())
        Uses(checks).unrolled(loop)
        return self._with(Unroll(loop, checks.line))

    def isolate(self, level: str) -> Plan:
        """Full tiles of the outermost level are kept apart from partial ones, and carry no guard.

        Refuses any other level, and a second time.
        """
        checks = self._checks(caller())
        Uses(checks).isolated(level)
        return self._with(Isolate(level, checks.line))

    def overlap_launch(self) -> Plan:
        """The kernel may begin before those ahead of it on the stream have ended, and lets those behind it begin: all
        threads wait for the ones ahead before they touch global memory (PTX ISA, griddepcontrol; sm_90).

        Refuses a second time.
        """
        checks = self._checks(caller())
        Uses(checks).overlapped()
        return self._with(OverlapLaunch(checks.line))

    def by_hand(
        self,
        op: str,
        code: Callable[..., None],
        *,
        reads: Iterable[str] = (),
        writes: Iterable[str],
        issued: Issued = Issued.LANE,
        completes: Completes = Completes.AT_ISSUE,
        model: Callable[..., Any] | None = None,
    ) -> Plan:
        """The derived copy or map `op` -> PTX that `code` writes in its place, with the builder, where and as often as
        the op would run. `reads` and `writes` name the buffers that its instructions touch, each at the tile that the
        op uses: `A.registers`, `A.shared`, an array in memory, the registers of a sum. Requirements and synchronisation
        follow from what is declared here and from nothing else. `model(*read) -> written` is the same on numpy, for the
        tile machine: arrays of the elements that each lane and value moves.

        Refuses an op that is not there or is written by hand already, and code that touches nothing that it writes.
        """
        checks = self._checks(caller())
        for names in (reads, writes):
            if isinstance(names, str):
                raise checks.refused(f"reads and writes are lists of buffers, got {names!r}")
        step = ByHand(op, code, tuple(reads), tuple(writes), issued, completes, checks.line, model)
        Uses(checks).written_by_hand(step)
        return self._with(step)

    def __str__(self) -> str:
        return "\n".join([f"plan for {self.target}", str(self.compute), *told(self.compute, self.steps)])

    def _with(self, step: Step) -> Plan:
        return evolve(self, steps=(*self.steps, step))

    def _checks(self, line: SourceLine) -> Checks:
        return Checks(self.compute, self.steps, line)


def _each(given: object) -> list[object]:
    return list(given) if isinstance(given, Iterable) and not isinstance(given, str) else [given]
