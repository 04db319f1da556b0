"""Which groups a wait for groups has seen complete."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen

from isa.mechanisms import Group, GroupKind, Mechanism
from ptxgen.order.atoms import Commit, Issue, Retire, RoleBody


@frozen(eq=False)
class Seen:
    """What one Retire has seen complete: its own `ahead`, whether it waits for reads only, the ops of the groups (see
    `retired`), and the place of the role's closing of such groups, where there is one alone."""

    ahead: int
    reads_only: bool
    ops: tuple[tuple[Issue, int, int], ...]
    closing: int | None


def groups_seen(role: RoleBody) -> dict[int, Seen]:
    """What each Retire of a role has seen complete, by its place in the body or behind it."""
    found: dict[int, Seen] = {}
    for place, entry in enumerate((*role.body, *role.tail)):
        match entry.atom:
            case Retire(kind=kind, pending=pending, reads_only=reads_only) if pending >= 0:
                closings = [n for n, p in enumerate(role.body) if isinstance(p.atom, Commit) and p.atom.kind is kind]
                closing = closings[0] if len(closings) == 1 else None
                found[place] = Seen(entry.ahead, reads_only, tuple(retired(role, place)), closing)
            case _:
                pass
    return found


def retired(role: RoleBody, place: int) -> Iterator[tuple[Issue, int, int]]:
    """The ops whose groups the Retire at `place` (body, then tail) has seen complete: the op, its `ahead`, and how many
    steps after the op's step the retiring step is. Groups are counted back from the latest commit before the Retire."""
    tail = place - len(role.body)
    atom = role.tail[tail].atom if tail >= 0 else role.body[place].atom
    assert isinstance(atom, Retire)
    commits = [p for p, e in enumerate(role.body) if isinstance(e.atom, Commit) and e.atom.kind is atom.kind]
    if not commits:
        return
    here = len(role.body) if tail >= 0 else place
    before = [p for p in commits if p < here] if tail < 0 else []
    latest = list(reversed(before)) + [p for _ in range(atom.pending + 1) for p in reversed(commits)]
    seen: set[int] = set()
    for back, commit in enumerate(latest):
        if back >= atom.pending and commit not in seen:
            seen.add(commit)
            whole = 0 if back < len(before) else 1 + (back - len(before)) // len(commits)
            yield from _committed(role, commit, commits, atom.kind, whole)


def _committed(
    role: RoleBody, commit: int, commits: list[int], kind: GroupKind, steps: int
) -> Iterator[tuple[Issue, int, int]]:
    earlier = [c for c in commits if c < commit]
    start = earlier[-1] if earlier else -1
    for place, entry in enumerate(role.body):
        wrapped = not earlier and place > commits[-1]
        if start < place < commit or wrapped:
            match entry.atom:
                case Issue(mechanism=Mechanism(completes=Group(kind=own))) as op if own is kind:
                    yield op, entry.ahead, steps + int(wrapped)
                case _:
                    pass
