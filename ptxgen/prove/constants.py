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
    Wait,
)

NAMED_BARRIERS = 16
TRANSACTION_BYTES = 1 << 20


def finding(code: str, message: str, line: Place | None = None) -> Finding:
    """An error of the synchronisation, with its code behind `synchronisation.`."""
    return Finding(f"synchronisation.{code}", Severity.ERROR, message, line)


def constant_faults(program: AtomProgram) -> Iterator[Finding]:
    """Arrivals against counts and uses, bytes against expectations, pending numbers, named barriers and budgets."""
    yield from _pending(program)
    for ring in program.rings:
        yield from _bytes(program, ring)
        for side, count in ((Side.FULL, ring.full_count), (Side.EMPTY, ring.empty_count)):
            yield from _count(program, ring, side, count)
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


def _count(program: AtomProgram, ring: Ring, side: Side, count: int) -> Iterator[Finding]:
    total = 0
    names: list[str] = []
    for role in program.roles:
        for placed in role.body:
            match placed.atom:
                case Arrive(ring=ring.name, side=at, by=by, ctas=ctas) if at is side:
                    total += _arriving(role, by) * ctas
                    names.append(role.name)
                case Expect(ring=ring.name) if side is Side.FULL:
                    total += _arriving(role, IssuedBy.ELECTED)
                    names.append(role.name)
                case _:
                    pass
    if total != count:
        who = ", ".join(dict.fromkeys(names)) or "nobody"
        yield finding(
            "count", f"ring {ring.name}: the count of {side.value} is {count}, but {total} arrive each phase ({who})"
        )


def _ends_of(program: AtomProgram, ring: Ring, side: Side) -> Iterator[Finding]:
    """Arrivals as many as uses: what lags behind the loop follows it; remote arrivals are awaited before leaving."""
    for role in program.roles:
        lag = max((-p.ahead for p in role.body if _is_arrival(p, ring, side)), default=0)
        behind = sorted(p.ahead for p in role.tail if _is_arrival(p, ring, side))
        wanted = list(range(-lag, 0))
        if behind != wanted:
            text = (
                f"{side.value} arrivals of {role.name} lag {lag} steps, {len(behind)} follow the loop (wanted {wanted})"
            )
            yield finding("arrivals", f"ring {ring.name}: arrivals differ from uses: {text}, got {behind}")
    if any(
        isinstance(p.atom, Arrive) and _is_arrival(p, ring, side) and p.atom.ctas > 1
        for r in program.roles
        for p in r.body
    ):
        awaited = {p.ahead for r in program.roles for p in r.tail if p.atom == Wait(ring.name, side)}
        if not awaited >= set(range(ring.depth)):
            text = f"the last {ring.depth} arrivals at {side.value} from other blocks are not awaited before leave"
            yield finding("arrivals", f"ring {ring.name}: remote arrive not before leave: {text}")


def _is_arrival(placed: Placed, ring: Ring, side: Side) -> bool:
    match placed.atom:
        case Arrive(ring=ring.name, side=at):
            return at is side
        case Expect(ring=ring.name):
            return side is Side.FULL
        case _:
            return False


def _bytes(program: AtomProgram, ring: Ring) -> Iterator[Finding]:
    expected = landing = 0
    for role in program.roles:
        for placed in role.body:
            match placed.atom:
                case Expect(ring=ring.name, byte_count=count):
                    expected += count
                case Issue(ring=ring.name, byte_count=count):
                    landing += count
                case _:
                    pass
    if expected != landing:
        yield finding("bytes", f"ring {ring.name}: {expected} bytes are expected, {landing} land")
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
        for placed in (*role.body, *role.tail):
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
