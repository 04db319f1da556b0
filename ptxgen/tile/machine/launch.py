"""Running a tile program: its clusters of blocks one after the other, the warps of a cluster interleaved."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Sequence as Items
from itertools import chain
from random import Random
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from isa.mechanisms import GroupKind
from ptxgen.errors import LaunchError
from ptxgen.tile.buffers import Region, Space
from ptxgen.tile.leaves import Copy, HandWritten, Leaf
from ptxgen.tile.machine import products, stores
from ptxgen.tile.machine.clocks import OP_BITS, SEVERAL_BLOCKS, WARP_BITS, Clocks
from ptxgen.tile.machine.clusters import Cluster, clusters_of, tile_variables
from ptxgen.tile.machine.faults import MachineFault
from ptxgen.tile.machine.geometry import Index
from ptxgen.tile.machine.items import items_of
from ptxgen.tile.machine.leaves import commit, perform, retire, targets
from ptxgen.tile.machine.numbers import NUMPY_TYPES
from ptxgen.tile.machine.overlays import lay_over
from ptxgen.tile.machine.passing import Turns, in_order, tile_numbers, workspace_memory
from ptxgen.tile.machine.rasters import Place
from ptxgen.tile.machine.rings import RingState
from ptxgen.tile.machine.schedule import Blocked, Thread, interleave
from ptxgen.tile.machine.state import Block, Launch, Step, Storage, Warp, evaluate
from ptxgen.tile.machine.walking import leaves_of, meets_of, walk_tree
from ptxgen.tile.program import ParameterKind, Program
from ptxgen.tile.synchronisation import (
    Acquire,
    Advance,
    Arrive,
    Arriving,
    ClusterArrive,
    ClusterWait,
    Commit,
    Expect,
    GridRelease,
    GridWait,
    Meet,
    ProxyFence,
    RegisterFence,
    Release,
    Retire,
    Side,
    Wait,
)
from ptxgen.tile.variables import WARPGROUP


@frozen
class MachineReport:
    """What a run left: every given array by name (a copy, in the shape given), and how many blocks ran, leaves were
    performed (by all warps) and meetings completed."""

    arrays: dict[str, NDArray[Any]]
    blocks: int
    steps: int
    meetings: int


def run(
    program: Program,
    arrays: Mapping[str, NDArray[Any]],
    sizes: Mapping[str, int],
    scalars: Mapping[str, float] | None = None,
    *,
    seed: int | None = None,
    blocks: Iterable[tuple[int, ...]] | None = None,
    workers: int | None = None,
    together: bool = True,
) -> MachineReport:
    """Runs `program` on numpy, warp by warp on whole tiles, and raises MachineFault at the first thing that is wrong in
    it, whatever the interleaving: an access that no meeting orders, an element read before it is written or from the
    wrong tile of a ring, one outside its array, a meeting that is never complete.

    `arrays` are memories: their elements in C order are addressed with the program's strides, so a leading dimension
    larger than the row is a wider array; an array that is never accessed may be left out. `sizes` gives every size and
    stride, `scalars` every scalar. `seed` picks a random interleaving of warps and order of clusters (None: round
    robin, in order), `blocks` the tile indices to run, a block each, with all blocks of their clusters (None: all),
    `workers` how many blocks share a work list that leaves that to the device. With `together` blocks that wait for
    each other all run at once, as a cooperative launch sees to; without it a device runs one after the other, in an
    order that the seed picks. LaunchError: a size is missing, a fact does not hold, a dtype is wrong.
    """
    launch = prepare(program, arrays, sizes, scalars or {})
    chance = None if seed is None else Random(seed)
    clusters = shares_of(launch, workers, blocks)
    if chance is not None and not launch.shares:
        chance.shuffle(clusters)
    in_order(launch, clusters)
    check_capacity(launch, len(clusters))
    count = len(clusters) * program.grid.cluster
    launch.memory.update(workspace_memory(program, launch.sizes, warps_together(program), count))
    numbered = list(enumerate(clusters, start=1))
    if chance is not None and not together and not program.grid.tickets:
        chance.shuffle(numbered)
    ran = [block for number, shares in numbered for block in run_cluster(launch, number, shares, chance)]
    launch.turns.check_put_back()
    held = ((name, storage) for name, storage in launch.memory.items() if name in arrays)
    left = {name: storage.values.reshape(arrays[name].shape) for name, storage in held}
    return MachineReport(left, len(ran), sum(b.steps for b in ran), sum(b.meetings for b in ran))


def shares_of(
    launch: Launch, workers: int | None, blocks: Iterable[tuple[int, ...]] | None
) -> list[tuple[tuple[Place, ...], ...]]:
    """The clusters of a run: for each of its blocks the tiles that it takes."""
    if blocks is None:
        return items_of(launch, workers)
    if launch.program.grid.cluster == 1:
        return [((place,),) for place in blocks]
    chosen = set(blocks)
    members = clusters_of(launch)
    return [tuple((place,) for place in m) for m in members if not chosen.isdisjoint(m)]


def prepare(
    program: Program, arrays: Mapping[str, NDArray[Any]], sizes: Mapping[str, int], scalars: Mapping[str, float]
) -> Launch:
    """A launch with its memory, after the checks that a launcher makes."""
    for parameter in program.parameters:
        if parameter.kind in (ParameterKind.SIZE, ParameterKind.STRIDE) and parameter.name not in sizes:
            raise LaunchError(f"{program.name}: no value given for the {parameter.kind.value} {parameter.name}")
    for fact in program.facts:
        if evaluate(fact.value, sizes) % fact.modulus:
            raise LaunchError(f"{program.name}: needs {fact}, but {fact.value} is {evaluate(fact.value, sizes)}")
    check_barriers(program)
    leaves = tuple(leaf for role in program.roles for leaf in leaves_of(role.body))
    numbers = {id(leaf): number for number, leaf in enumerate(leaves)}
    memory = memories(program, arrays, leaves)
    return Launch(program, dict(sizes), dict(scalars), memory, leaves, numbers, Turns())


def check_capacity(launch: Launch, clusters: int) -> None:
    """LaunchError for more clusters, warps or ops than an access can name."""
    program = launch.program
    alone = program.grid.cluster == 1
    wanted = {
        "blocks" if alone else "clusters": (clusters, SEVERAL_BLOCKS),
        "warps" if alone else "warps of a cluster": (warps_together(program), 1 << WARP_BITS),
    }
    for what, (count, limit) in {**wanted, "ops": (len(launch.leaves), 1 << OP_BITS)}.items():
        if count >= limit:
            raise LaunchError(f"{program.name}: {count} {what}; the tile machine takes fewer than {limit}")


def memories(program: Program, arrays: Mapping[str, NDArray[Any]], leaves: Items[Leaf]) -> dict[str, Storage]:
    """The global arrays, flat, each with clocks where the program stores to it."""
    stored = {leaf.destination.buffer.array for leaf in leaves if isinstance(leaf, Copy)}
    result: dict[str, Storage] = {}
    for buffer in program.buffers:
        if buffer.space is not Space.GLOBAL or buffer.array not in arrays:
            continue
        given = arrays[buffer.array]
        if given.dtype != NUMPY_TYPES[buffer.element]:
            raise LaunchError(f"{program.name}: array {buffer.array} is {buffer.element}, got {given.dtype}")
        values = np.array(given, order="C").reshape(-1)
        result[buffer.array] = Storage(
            values, None, Clocks(values.size, warps_together(program)) if buffer.array in stored else None
        )
    return result


def check_barriers(program: Program) -> None:
    """A barrier belongs to one role; a fault where two use the same one."""
    owners: dict[int, str] = {}
    for role in program.roles:
        for barrier in sorted({meet.barrier for meet in meets_of(role.body)}):
            other = owners.setdefault(barrier, role.name)
            if other != role.name:
                raise MachineFault("tile.deadlock", f"barrier {barrier} is used by {other} and by {role.name}", None)


def warps_together(program: Program) -> int:
    """The warps of a cluster."""
    return program.warps * program.grid.cluster


def run_cluster(
    launch: Launch, number: int, shares: tuple[tuple[Place, ...], ...], chance: Random | None
) -> list[Block]:
    """Runs the blocks of one cluster through their tiles to their end."""
    cluster, grid = Cluster(number), launch.program.grid
    for rank, items in enumerate(shares):
        launch.block_names[number, rank] = ", ".join(f"({', '.join(map(str, place))})" for place in items)
        cluster.blocks.append(new_block(launch, cluster, rank))
    threads: list[Thread] = []
    teams: dict[str, list[Warp]] = {}
    for block, items in zip(cluster.blocks, shares, strict=True):
        tiles = [tile_variables(launch, place) | tile_numbers(grid, place, launch.sizes) for place in items]
        variables = launch.sizes if grid.work_list else {**launch.sizes, **tiles[0]}
        if launch.shares:
            share, count = launch.shares[number - 1], len(launch.shares) * grid.cluster
            variables = variables | share.of_block((number - 1) * grid.cluster + block.rank, count)
            tiles = [tile | item for tile, item in zip(tiles, share.of_items(), strict=True)]
        for warp in block.warps:
            team = f"{warp.role.name} of block {block.rank}"
            teams.setdefault(team, []).append(warp)
            threads.append(Thread(warp.name, team, warp_steps(warp, variables, tiles)))
    interleave(threads, lambda team: join_clocks(teams[team]), chance)
    for block in cluster.blocks:
        check_rings(block)
    cluster.check_left()
    return cluster.blocks


def new_block(launch: Launch, cluster: Cluster, rank: int) -> Block:
    """A block before its first step."""
    program, warps = launch.program, warps_together(launch.program)
    shared = {
        buffer.name: Storage.ring(buffer, buffer.layout.size, Clocks(buffer.layout.size * buffer.depth, warps))
        for buffer in program.buffers
        if buffer.space is Space.SHARED
    }
    lay_over(program, shared)
    block = Block(launch, cluster, rank, shared)
    block.rings = {ring.name: RingState.of(ring, warps, rank) for ring in program.rings}
    for role in program.roles:
        for warp in range(1 if role.elected else role.warps):
            seen = np.zeros(warps, np.int64)
            place = rank * program.warps + len(block.warps)
            seen[place] = 1
            block.warps.append(Warp(block, role, warp, place, seen, registers(program)))
    return block


def check_rings(block: Block) -> None:
    """A fault where a block ends while a copy that it has issued has not landed: nobody has waited for it."""
    for ring in block.rings.values():
        for flight in (flight for barrier in ring.full for flight in barrier.flights):
            raise flight.step.fault("tile.inflight", f"is never waited for: {flight.region.buffer.name} ends unfilled")


def registers(program: Program) -> dict[str, Storage]:
    """A warp's registers, none of them written."""
    return {
        buffer.name: Storage.ring(buffer, int(np.prod(buffer.shape, dtype=np.int64)), None)
        for buffer in program.buffers
        if buffer.space is Space.REGISTERS
    }


def join_clocks(members: list[Warp]) -> None:
    """A meeting: every warp of the role has seen what any of them has, and starts a new span of its own clock."""
    joined = np.maximum.reduce([warp.seen for warp in members])
    before: dict[int, Index] = {}
    for cluster, seen in (known for warp in members for known in warp.before.items()):
        before[cluster] = np.maximum(before.get(cluster, np.zeros_like(seen)), seen)
    for warp in members:
        warp.seen = joined.copy()
        warp.before = dict(before)
        warp.seen[warp.place] += 1
    members[0].block.meetings += 1


def warp_steps(warp: Warp, variables: dict[str, int], tiles: list[dict[str, int]]) -> Iterator[Meet | Blocked | None]:
    """The steps of a warp: each performs a leaf, or yields the meeting that it has reached or what it waits for."""
    variables = variables | {WARPGROUP: warp.number // products.GROUP_WARPS}
    entering = ((node, variables) for node in warp.block.launch.program.enter)
    ahead = warp.block.launch.program.overlapped
    for node, bound in chain(entering, walk_tree(warp.role.body, variables, tiles)):
        match node:
            case GridRelease():
                pass
            case GridWait():
                ahead = False
            case Meet():
                yield node
            case Commit(kind=GroupKind.WGMMA):
                products.commit(warp)
            case Commit(kind=GroupKind.BULK):
                stores.commit(warp)
            case Retire(kind=GroupKind.BULK, pending=pending, reads_only=reads_only):
                if not warp.number:
                    stores.retire(warp, pending, reads_only=reads_only)
                yield None
            case Commit(kind):
                commit(warp, kind)
            case Retire(kind=GroupKind.WGMMA, pending=pending):
                yield products.retire(warp, pending)
            case Retire(kind, pending):
                retire(warp, kind, pending)
                yield None
            case Wait(ring, side, rank):
                yield wait(warp, ring, side, evaluate(rank, bound))
            case Arrive(ring, rank, by, _, to):
                if by is Arriving.WARP or warp.number % products.GROUP_WARPS == 0:
                    for target in targets(to, warp.block.rank):
                        block = warp.block.cluster.reach(warp, target)
                        block.rings[ring].barrier(Side.EMPTY, evaluate(rank, bound)).arrive(warp)
                yield None
            case Acquire(flags, value, _, tile):
                if not warp.number:
                    turns = warp.block.launch.turns
                    yield turns.acquire(warp, flags, evaluate(tile, bound), evaluate(value, bound))
            case Release(flags, value, _, tile):
                if not warp.number:
                    turns = warp.block.launch.turns
                    turns.release(warp, flags, evaluate(tile, bound), evaluate(value, bound))
                yield None
            case ClusterArrive():
                warp.block.cluster.arrive(warp)
                yield None
            case ClusterWait():
                yield warp.block.cluster.wait(warp)
            case Expect(ring, rank, byte_count):
                warp.block.rings[ring].barrier(Side.FULL, evaluate(rank, bound)).announce(warp, byte_count)
                yield None
            case RegisterFence():
                warp.unfenced.clear()
            case Advance():
                pass
            case ProxyFence():
                stores.fence(warp)
            case _:
                step = Step(warp, node, bound)
                if ahead and is_global(node):
                    raise step.fault("tile.ahead", "touches global memory before the grids ahead have ended")
                perform(step)
                warp.block.steps += 1
                yield None
    check_nothing_left(warp)
    warp.block.cluster.ended.add(warp.place)


def is_global(leaf: Leaf) -> bool:
    """Whether a leaf reads or writes global memory."""
    match leaf:
        case Copy(source=source, destination=destination):
            regions: tuple[Region, ...] = (source, destination)
        case HandWritten(reads=reads, writes=writes):
            regions = (*reads, *writes)
        case _:
            return False
    return any(region.buffer.space is Space.GLOBAL for region in regions)


def wait(warp: Warp, name: str, side: Side, rank: int) -> Blocked:
    """The wait for a barrier of a ring; behind it the warp has seen what arrived there."""
    ring = warp.block.rings[name]
    barrier, parity = ring.barrier(side, rank), ring.parity(side, rank)

    def ready() -> bool:
        barrier.complete()
        return barrier.passes(parity)

    def resume() -> None:
        np.maximum(warp.seen, barrier.clock, out=warp.seen)

    return Blocked(f"{barrier.name} (tile {rank})", ready, resume)


def check_nothing_left(warp: Warp) -> None:
    """A fault where a warp ends while a copy that it has issued is on its way."""
    left = [*warp.open_group.values(), *(group for groups in warp.groups.values() for group in groups)]
    for flight in (flight for group in left for flight in group):
        raise flight.step.fault("tile.inflight", f"ends before its copy to {flight.region.buffer.name} is complete")
    for store in (store for group in (warp.open_stores, *warp.store_groups) for store in group):
        raise store.step.fault("tile.inflight", f"ends before its store of {store.region.buffer.name} is complete")
