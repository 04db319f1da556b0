"""What must be constant in an atom program: counts, bytes, pending numbers, barrier numbers, and a block's budgets."""

from __future__ import annotations

from collections.abc import Iterator

from isa.mechanisms import Group, GroupKind, IssuedBy, Mechanism
from ptxgen.errors import Finding, Place, Severity
from ptxgen.order.atoms import (
    Arrive,
    AtomProgram,
    Commit,
    Expect,
    Issue,
    Join,
    Placed,
    Retire,
    Ring,
    RoleBody,
    Side,
)
from ptxgen.order.clusters import Masks

NAMED_BARRIERS = 16
TRANSACTION_BYTES = 1 << 20


def finding(code: str, message: str, line: Place | None = None) -> Finding:
    """An error of the synchronisation, with its code behind `synchronisation.`."""
    return Finding(f"synchronisation.{code}", Severity.ERROR, message, line)


def constant_faults(program: AtomProgram) -> Iterator[Finding]:
    """Arrivals against counts and uses, bytes against expectations, pending numbers, named barriers and budgets."""
    yield from _pending(program)
    for ring in program.rings:
        for cta in range(program.cluster):
            yield from _bytes(program, ring, cta)
        for side, count in ((Side.FULL, ring.full_count), (Side.EMPTY, ring.empty_count)):
            for cta in range(program.cluster):
                own = ring.counts_by_rank[cta] if side is Side.EMPTY and ring.counts_by_rank else count
                yield from _count(program, ring, side, cta, own)
            yield from _ends_of(program, ring, side)
    yield from _named_barriers(program)
    yield from _budget(program)


def _arriving(role: RoleBody, by: IssuedBy) -> int:
    """Arrivals of a role at one phase: one for each unit, warp or thread, of one unit where units alternate."""
    units = 1 if role.alternates else role.units
    threads = role.threads * units // role.units
    match by:
        case IssuedBy.ELECTED | IssuedBy.WARPGROUP:
            return units
        case IssuedBy.WARP:
            return threads // 32
        case IssuedBy.LANE:
            return threads


def _reaching(to: Masks, cta: int) -> int:
    """How many blocks of the cluster reach a block."""
    return sum(mask >> cta & 1 for mask in to) if to else 1


def _in_block(program: AtomProgram, cta: int) -> str:
    return f" of block {cta}" if program.cluster > 1 else ""


def _count(program: AtomProgram, ring: Ring, side: Side, cta: int, count: int) -> Iterator[Finding]:
    total = 0
    names: list[str] = []
    for role in program.roles:
        for placed in role.body:
            match placed.atom:
                case Arrive(ring=ring.name, side=at, by=by, to=to) if at is side:
                    total += _arriving(role, by) * _reaching(to, cta)
                    names.append(role.name)
                case Expect(ring=ring.name) if side is Side.FULL:
                    total += _arriving(role, IssuedBy.ELECTED)
                    names.append(role.name)
                case _:
                    pass
    if total != count:
        who = ", ".join(dict.fromkeys(names)) or "nobody"
        text = f"the count of {side.value}{_in_block(program, cta)} is {count}, but {total} arrive each phase ({who})"
        yield finding("count", f"ring {ring.name}: {text}")


def _ends_of(program: AtomProgram, ring: Ring, side: Side) -> Iterator[Finding]:
    """Arrivals as many as uses: what lags behind the loop follows it."""
    for role in program.roles:
        lag = max((-p.ahead for p in role.body if _is_arrival(p, ring, side)), default=0)
        behind = sorted(p.ahead for p in role.tail if _is_arrival(p, ring, side))
        wanted = list(range(-lag, 0))
        if behind != wanted:
            text = (
                f"{side.value} arrivals of {role.name} lag {lag} steps, {len(behind)} follow the loop (wanted {wanted})"
            )
            yield finding("arrivals", f"ring {ring.name}: arrivals differ from uses: {text}, got {behind}")


def _is_arrival(placed: Placed, ring: Ring, side: Side) -> bool:
    match placed.atom:
        case Arrive(ring=ring.name, side=at):
            return at is side
        case Expect(ring=ring.name):
            return side is Side.FULL
        case _:
            return False


def _bytes(program: AtomProgram, ring: Ring, cta: int) -> Iterator[Finding]:
    expected = landing = 0
    for role in program.roles:
        for placed in role.body:
            match placed.atom:
                case Expect(ring=ring.name, byte_count=count):
                    expected += count
                case Issue(ring=ring.name, byte_count=count, to=to):
                    landing += count * _reaching(to, cta)
                case _:
                    pass
    if expected != landing:
        where = _in_block(program, cta)
        yield finding("bytes", f"ring {ring.name}{where}: {expected} bytes are expected, {landing} land")
    if expected >= TRANSACTION_BYTES:
        yield finding("bytes", f"ring {ring.name}: {expected} bytes in one phase, fewer than {TRANSACTION_BYTES} fit")


def _pending(program: AtomProgram) -> Iterator[Finding]:
    for role in program.roles:
        commits = {p.atom.kind: p for p in role.body if isinstance(p.atom, Commit)}
        for placed in (*role.body, *role.tail):
            match placed.atom:
                case Retire(kind=kind, pending=pending):
                    yield from _retire_is_constant(role, placed, kind, pending, commits)
                case Issue(op=op, mechanism=mechanism) if placed in role.tail and _opens_group(mechanism):
                    yield finding("pending", f"{op} in the tail of {role.name} opens a group that no step retires")
                case _:
                    pass


def _opens_group(mechanism: Mechanism) -> bool:
    return isinstance(mechanism.completes, Group)


def _retire_is_constant(
    role: RoleBody, placed: Placed, kind: GroupKind, pending: int, commits: dict[GroupKind, Placed]
) -> Iterator[Finding]:
    commit = commits.get(kind)
    if pending < 0:
        yield finding("pending", f"{placed.atom} of {role.name}: a pending number is 0 or more", placed.line)
    if commit is not None and isinstance(commit.atom, Commit) and not commit.atom.every_step and pending:
        text = "the commits stop when the copies run out, so the number of open groups is not constant"
        yield finding("pending", f"{placed.atom} of {role.name}: {text}", placed.line)


def _named_barriers(program: AtomProgram) -> Iterator[Finding]:
    owners: dict[int, str] = {}
    for role in program.roles:
        for placed in role.atoms:
            match placed.atom:
                case Join(barrier=barrier):
                    owner = owners.setdefault(barrier, role.name)
                    if owner != role.name:
                        yield finding("barrier", f"named barrier {barrier} is used by {owner} and by {role.name}")
                    if not 0 <= barrier < NAMED_BARRIERS:
                        yield finding("barrier", f"named barrier {barrier} of {role.name}: there are {NAMED_BARRIERS}")
                case _:
                    pass


def _budget(program: AtomProgram) -> Iterator[Finding]:
    budget = program.budget
    if budget.shared_bytes > budget.shared_limit:
        yield finding("budget", f"{budget.shared_bytes} bytes of shared memory, {budget.shared_limit} are there")
    for role in program.roles:
        if role.registers > budget.registers_per_thread:
            text = f"{role.registers} registers a thread in {role.name}, {budget.registers_per_thread} are there"
            yield finding("budget", text)
    total = sum(role.registers * role.threads for role in program.roles)
    if total > budget.registers_per_block:
        yield finding("budget", f"{total} registers in a block, {budget.registers_per_block} are there")
