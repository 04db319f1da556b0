"""The draft of a kernel: buffers and ops collected statement by statement into one tree of loops."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import define, evolve, field

from isa.mechanisms import Mechanism
from polyhedral import Affine, Constraint, Set, const, var
from ptxgen.compute import ArrayKind, SourceLine, Statement
from ptxgen.derive.access import Reach
from ptxgen.derive.facts import Facts
from ptxgen.derive.loops import Path, RolledLoop, names
from ptxgen.derive.segments import ends_in
from ptxgen.derive.space import IndexSpace
from ptxgen.errors import PlanError
from ptxgen.order.ops import Op, Time, Touch
from ptxgen.tile import ITEM_SLABS, Buffer, Distribution, GlobalPlacement, Node, Region, Space

ROLE = "all"


@define
class Body:
    """The items of one loop's body, in order. The outermost body has no loop."""

    loop: RolledLoop | None
    items: list[Op | Body] = field(factory=list)

    def inner(self, loop: RolledLoop) -> Body | None:
        """The body of that loop directly below, if there is one."""
        return next((item for item in self.items if isinstance(item, Body) and item.loop == loop), None)


@define
class Draft:
    """What derivation has so far. `full` drafts the program for blocks whose tiles lie inside the arrays; `line` is the
    user's line of the statement that is being drafted, `only` the conditions under which it is carried out. `dealt` has
    the dims of each pointwise or reducing statement, and who computes what of them."""

    space: IndexSpace
    facts: Facts
    full: bool
    roots: dict[str, Body] = field(factory=dict)
    role: str = ROLE
    buffers: dict[str, Buffer] = field(factory=dict)
    paths: dict[str, Path] = field(factory=dict)
    dealt: dict[str, tuple[tuple[str, ...], Distribution]] = field(factory=dict)
    line: SourceLine | None = None
    only: tuple[Constraint, ...] = ()

    def global_buffer(self, array: str) -> Buffer:
        """The buffer that stands for an array in memory."""
        found = self.space.compute.array(array)
        if found.kind is ArrayKind.LOCAL:
            raise PlanError(f"{array} is local and nothing has filled it where it is read", line=self.line)
        placed = GlobalPlacement(found.extents, found.strides, ends_in(self.space, found))
        return self.add_buffer(Buffer(array, array, found.element, Space.GLOBAL, (), 1, placed))

    def add_buffer(self, buffer: Buffer) -> Buffer:
        """Registers a buffer; the same name must mean the same buffer."""
        known = self.buffers.setdefault(buffer.name, buffer)
        if known != buffer:
            raise PlanError(
                f"{buffer.name} is wanted in two forms, as two operands of one array are: "
                f"{known.placement} and {buffer.placement}",
                line=self.line,
            )
        return known

    def held(self, array: str) -> Buffer | None:
        """The registers in which a statement left its result, if it did."""
        return self.buffers.get(array) if self.space.compute.array(array).kind is ArrayKind.LOCAL else None

    def origin(self, path: Path, dim: str) -> Affine:
        """Where the tile starts along `dim` for an op inside the loops of `path`."""
        tile = self.space.origin(dim, next((loop.name for loop in path if loop.dim == dim and not loop.size), None))
        pieces = [var(loop.name) * loop.size for loop in path if loop.dim == dim and loop.size]
        return sum(pieces, tile)

    def at_origin(self, path: Path, access: Reach) -> tuple[Affine, ...]:
        """Where the tile of an access starts in its array."""
        return tuple(
            divided(self.origin(path, dim) if dim else Affine(), divisor) + offset
            for dim, offset, divisor in zip(access.dims, access.offsets, access.divisors, strict=True)
        )

    def domain(self, path: Path, extra: Iterable[Constraint] = ()) -> Set:
        """All steps of the loops of `path`."""
        parts: list[Constraint] = []
        for loop in path:
            parts += [var(loop.name) >= 0, self._goes_on(loop)]
        return Set.of(names(path), *parts, *self.only, *extra)

    def _goes_on(self, loop: RolledLoop) -> Constraint:
        """Whether a loop has the step that its variable counts."""
        if loop.size:
            return var(loop.name) < loop.count
        if self.space.stream and self.space.stream.dim == loop.dim:
            return var(loop.name) < var(ITEM_SLABS)
        return self.space.origin(loop.dim, loop.name) < self.space.extent(loop.dim)

    def divides(self, dim: str) -> bool:
        """Whether every tile along `dim` is known to be full, also those that only fill up a cluster."""
        extent, tile = self.space.extent(dim), self.space.outer_tile(dim)
        beside = self.space.clustered.get(dim, 1)
        return tile is None or self.facts.divisor(extent) % (tile.sizes[dim] * beside) == 0

    def variants(self, path: Path, dims: Iterable[str]) -> list[tuple[Set, frozenset[str]]]:
        """The domains of an op that visits tiles of `dims`, each with the dims along which it must guard.

        Where full tiles are isolated, full steps of the loops come apart from partial ones.
        """
        dims = tuple(dims)
        blocks, ragged = self._ragged_blocks(dims), self.ragged(path, dims)
        rolled = [loop for loop in path if loop.dim in ragged and not loop.size]
        if not rolled:
            return [(self.domain(path), blocks)]
        if not self.space.isolated or not self.full:
            return [(self.domain(path), ragged)]
        whole = self.domain(path, [self._whole(loop) for loop in rolled])
        return [(whole, blocks), (self.domain(path) - whole, ragged)]

    def ragged(self, path: Path, dims: Iterable[str]) -> frozenset[str]:
        """The dims along which tiles of `dims` may leave the arrays at some step of the loops of `path`."""
        own = tuple(dims)
        rolled = {loop.dim for loop in path if loop.dim in own and not loop.size and not self.divides(loop.dim)}
        return self._ragged_blocks(own) | rolled

    def _ragged_blocks(self, dims: Iterable[str]) -> frozenset[str]:
        return frozenset(
            dim for dim in dims if dim in self.space.block_dims and not self.full and not self.divides(dim)
        )

    def _whole(self, loop: RolledLoop) -> Constraint:
        first = self.space.origin(loop.dim, loop.name)
        return first + self.space.block_extent(loop.dim) <= self.space.extent(loop.dim)

    def role_of(self, name: str) -> str:
        """The role that carries out an op."""
        step = self.space.roles
        return step.of(name) if step else ROLE

    @property
    def root(self) -> Body:
        """The outermost body of the role that is being drafted."""
        return self.roots.setdefault(self.role, Body(None))

    def body(self, path: Path) -> Body:
        """The body of the innermost loop of `path` in the current role, made where it does not exist."""
        found = self.root
        for loop in path:
            inner = found.inner(loop)
            if inner is None:
                inner = Body(loop)
                found.items.append(inner)
            found = inner
        return found

    def before_loop(self, path: Path, loop: RolledLoop | None, ops: Iterable[Op]) -> None:
        """Adds ops to the body of `path`, before `loop` where it is there already, else at the end."""
        body = self.body(path)
        inner = body.inner(loop) if loop else None
        place = body.items.index(inner) if inner else len(body.items)
        body.items[place:place] = list(ops)

    def first(self, ops: Iterable[Op]) -> None:
        """Adds ops before all else of the current role."""
        self.root.items[:0] = list(ops)

    def append(self, path: Path, ops: Iterable[Op]) -> None:
        """Adds ops at the end of the body of `path`."""
        self.body(path).items.extend(ops)


def divided(origin: Affine, divisor: int) -> Affine:
    """The number of the part at a tile's origin; PlanError where parts do not divide the tile."""
    if any(coefficient % divisor for _, coefficient in origin.terms) or origin.constant % divisor:
        raise PlanError(f"parts of {divisor} do not divide the tiles that start at {origin}")
    return Affine.of({name: coefficient // divisor for name, coefficient in origin.terms}, origin.constant // divisor)


def op(
    name: str,
    path: Path,
    domain: Set,
    mechanism: Mechanism,
    touches: Iterable[Touch],
    node: Node,
    line: SourceLine,
    ahead: tuple[int, ...] = (),
    instance: tuple[int, ...] = (),
) -> Op:
    """An op without its place and role, which `placed` gives it."""
    time = Time(names(path), ahead or (0,) * len(path), ())
    return Op(name, ROLE, instance, domain, time, mechanism, tuple(touches), node, line)


def placed_all(draft: Draft) -> list[Op]:
    """The ops of all roles, each with its role and place."""
    return [op for role, root in draft.roots.items() for op in placed(root, role)]


def placed(body: Body, role: str, prefix: tuple[int, ...] = ()) -> list[Op]:
    """The ops of a body of a role in order, each with its role and place."""
    found: list[Op] = []
    for index, item in enumerate(body.items):
        place = (*prefix, index)
        if isinstance(item, Body):
            found += placed(item, role, place)
        else:
            found.append(evolve(item, role=role, time=evolve(item.time, place=place)))
    return found


def whole(buffer: Buffer, rank: Affine | int = 0, origin: tuple[int, ...] | None = None) -> Region:
    """A tile of a register or shared buffer, from its corner or from a constant origin inside it."""
    start = origin if origin is not None else (0,) * len(buffer.shape)
    return Region(buffer, rank if isinstance(rank, Affine) else const(rank), tuple(map(const, start)))


def register_buffer(draft: Draft, name: str, array: str, distribution: Distribution, depth: int = 1) -> Buffer:
    """A register buffer for tiles of `array`."""
    element = draft.space.compute.array(array).element
    return draft.add_buffer(Buffer(name, array, element, Space.REGISTERS, distribution.shape, depth, distribution))


def before_reduction(statement: Statement, path: Path) -> Path:
    """The loops around the whole of a reduction; PlanError where a loop inside it is not reduced."""
    reduced = [loop.dim in statement.reduced for loop in path]
    first = reduced.index(True) if True in reduced else len(path)
    if not all(reduced[first:]):
        inner = next(loop for loop, is_reduced in zip(path[first:], reduced[first:], strict=True) if not is_reduced)
        raise PlanError(
            f"{inner.at} runs inside the sum over {path[first].at}: its partial sums have no place; "
            f"tile {inner.at} first",
            line=statement.line,
        )
    return path[:first]
