"""Which bodies a proof looks at together: those whose ops are bound by requirements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from attrs import field, frozen

from ptxgen.errors import InternalError
from ptxgen.order.atoms import Advance, Arrive, Commit, Expect, Fence, FenceKind, PassTurn, Retire, TakeTurn, Wait
from ptxgen.order.ops import Op, time_domain
from ptxgen.order.requirement import Event, Requirement
from ptxgen.order.synchronisation import Synchronisation, Synchronised
from ptxgen.order.threads import Threads
from ptxgen.prove.closings import closed_for_outside
from ptxgen.prove.nested import together

Loops = tuple[tuple[int, str], ...]
Key = tuple[str, Loops]


@frozen(eq=False)
class Part:
    """Bodies whose ops are bound by requirements: one, or one of each role that a ring connects. `atoms` are what
    synchronises each of them, `tails` what follows its loop for the loop's last steps, `leaves` what
    follows all items of a work list. `lifted` are fences of nested
    bodies that stand before every instance of a sink there, which is as good as before the loop."""

    keys: tuple[Key, ...]
    requirements: tuple[Requirement, ...]
    atoms: Mapping[Key, tuple[Synchronisation, ...]]
    tails: Mapping[Key, tuple[Synchronisation, ...]]
    threads: Mapping[str, Threads] = field(factory=dict)
    lifted: Mapping[Key, Mapping[int, Synchronisation]] = field(factory=dict)
    closings: tuple[Synchronisation, ...] = ()
    leaves: Mapping[Key, tuple[Synchronisation, ...]] = field(factory=dict)

    @property
    def synchronising(self) -> tuple[Synchronisation, ...]:
        """All that synchronises the bodies, in their loops and behind them."""
        return tuple(a for own in (self.atoms, self.tails, self.leaves) for atoms in own.values() for a in atoms)

    def closes_for_outside(self, atom: Synchronisation) -> bool:
        """Whether a wait behind the loop counts on an atom of its body."""
        return any(atom is closing for closing in self.closings)

    def only_passes(self, atom: Synchronisation) -> bool:
        """Whether an atom serves only requirements between blocks that pass tiles on."""
        passed = {requirement.covered for requirement in self.requirements if requirement.parts}
        return bool(passed) and set(atom.covers) <= passed

    def is_fenced(self, op: Op, depth: int) -> bool:
        """Whether a fence stands in front of every instance of an op of a nested loop."""
        return op.time.place[depth] in self.lifted.get((op.role, path_of(op, depth)), {})

    def own(self, op: Op, depth: int) -> tuple[Synchronisation, ...]:
        """What synchronises the body in which an op stands at that depth."""
        return self.atoms.get((op.role, path_of(op, depth)), ())


def parts(
    synchronised: Synchronised, requirements: tuple[Requirement, ...], threads: Mapping[str, Threads]
) -> Iterator[Part]:
    joined: dict[Key, Key] = {}

    def root(key: Key) -> Key:
        while joined.setdefault(key, key) != key:
            key = joined[key]
        return key

    bodies: dict[Key, list[Requirement]] = {}
    for requirement in requirements:
        source, sink = op_of(synchronised, requirement.source), op_of(synchronised, requirement.sink)
        depth = len(requirement.loops)
        first, second = (source.role, path_of(source, depth)), (sink.role, path_of(sink, depth))
        if source.role == sink.role and first != second:
            raise InternalError(f"{requirement}: its ops are not in one body of one role")
        joined[root(second)] = root(first)
        bodies.setdefault(first, []).append(requirement)
    for first, second in together(synchronised):
        joined[root(second)] = root(first)
    atoms, tails, leaves = _atoms(synchronised)
    lifted = _lifted(synchronised, requirements, atoms)
    closings = closed_for_outside(synchronised, requirements)
    found: dict[Key, list[Key]] = {}
    for key in dict.fromkeys((*joined, *atoms)):
        found.setdefault(root(key), []).append(key)
    for keys in found.values():
        own = tuple(requirement for key in keys for requirement in bodies.get(key, ()))
        yield Part(
            tuple(keys),
            own,
            {k: atoms.get(k, ()) for k in keys},
            {k: tails.get(k, ()) for k in keys},
            threads,
            {k: lifted[k] for k in keys if k in lifted},
            closings,
            {k: leaves[k] for k in keys if k in leaves},
        )


def _lifted(
    synchronised: Synchronised, requirements: tuple[Requirement, ...], atoms: _Atoms
) -> dict[Key, dict[int, Synchronisation]]:
    """Register fences that serve requirements of outer bodies, by body and the place of the loop there; they are taken
    out of the atoms of their own body."""
    lifted: dict[Key, dict[int, Synchronisation]] = {}
    for requirement in (r for r in requirements if r.own):
        sink, depth = op_of(synchronised, requirement.sink), len(requirement.loops)
        inner, outer = (sink.role, path_of(sink, len(sink.time.loops))), (sink.role, path_of(sink, depth))
        if inner == outer:
            continue
        for atom in atoms.get(inner, ()):
            before = atom.time.place[-1] < sink.time.place[-1]
            if atom.atom == Fence(FenceKind.REGISTER) and before and _runs_with(atom, sink):
                lifted.setdefault(outer, {})[sink.time.place[depth]] = atom
    taken = [
        atom for own in lifted.values() for atom in own.values() if not _serves_inside(synchronised, requirements, atom)
    ]
    for key, own in atoms.items():
        atoms[key] = tuple(atom for atom in own if not any(atom is other for other in taken))
    return lifted


def _runs_with(atom: Synchronisation, op: Op) -> bool:
    """Whether an atom runs at every step at which an op of its body does."""
    steps = time_domain(op.domain, op.time.ahead)
    return steps.is_subset(time_domain(atom.domain, atom.time.ahead))


def _serves_inside(synchronised: Synchronised, requirements: tuple[Requirement, ...], fence: Synchronisation) -> bool:
    """Whether a fence also serves a requirement of the body that it stands in."""
    for requirement in requirements:
        sink, depth = op_of(synchronised, requirement.sink), len(requirement.loops)
        inside = depth == len(sink.time.loops) and (sink.role, sink.time.place[:-1]) == (
            fence.role,
            fence.time.place[:-1],
        )
        if requirement.own and inside and requirement.covered in fence.covers:
            return True
    return False


_Atoms = dict[Key, tuple[Synchronisation, ...]]


def _atoms(synchronised: Synchronised) -> tuple[_Atoms, _Atoms, _Atoms]:
    """The atoms of each body; by the body of a loop what follows it for its last steps, and what follows all items."""
    leaving = tuple(atom for atom in synchronised.atoms if atom.tail and not atom.time.loops)
    atoms: dict[Key, list[Synchronisation]] = {}
    tails: dict[Key, list[Synchronisation]] = {}
    loops = {(op.role, path_of(op, depth)) for op in synchronised.ops for depth in range(len(op.time.loops) + 1)}
    synchronising = (a for a in synchronised.atoms if not _is_apart(a, synchronised) and a not in leaving)
    for atom in sorted(synchronising, key=lambda atom: atom.time.place):
        key = (atom.role, tuple(zip(atom.time.place, atom.time.loops, strict=False)))
        if not atom.tail:
            atoms.setdefault(key, []).append(atom)
            continue
        names = [name for _, name in key[1]]
        before = [k for k in loops if k[0] == atom.role and [n for _, n in k[1]] == names and k[1] < key[1]]
        if not before:
            raise InternalError(f"{atom} of {atom.role} follows no loop over {', '.join(names)}")
        loop = max(before, key=lambda k: k[1])
        outer = (atom.role, key[1][:-1])
        closed = {a.atom.kind for a in atoms.get(loop, ()) if isinstance(a.atom, Commit)}
        behind = (a for a in atoms.get(outer, ()) if a.time.place[-1] > loop[1][-1][0])
        waits = [a for a in behind if isinstance(a.atom, Retire) and a.atom.kind in closed]
        tails.setdefault(loop, []).extend((*waits, atom))
    leaves: dict[Key, list[Synchronisation]] = {}
    for atom in leaving:
        leaves.setdefault(_left_by(atom, atoms), []).append(atom)
    return (
        {k: tuple(v) for k, v in atoms.items()},
        {k: tuple(dict.fromkeys(v)) for k, v in tails.items()},
        {k: tuple(v) for k, v in leaves.items()},
    )


def _is_apart(atom: Synchronisation, synchronised: Synchronised) -> bool:
    """Whether an atom is of no body: what counts on, and turns that are taken from item to item."""
    match atom.atom:
        case TakeTurn(turns=name) | PassTurn(turns=name):
            return all(use.name != name or not use.loops for use in synchronised.turns)
        case what:
            return isinstance(what, Advance)


def _left_by(leaving: Synchronisation, atoms: Mapping[Key, list[Synchronisation]]) -> Key:
    """The body whose barriers are waited for behind all items."""
    for key, own in atoms.items():
        before = leaving.role == key[0] and key[1][:1] and key[1][0][0] < leaving.time.place[0]
        if before and _ring_of(leaving) in map(_ring_of, own):
            return key
    raise InternalError(f"{leaving} of {leaving.role} follows no loop that uses the same ring")


def _ring_of(atom: Synchronisation) -> str | None:
    return atom.atom.ring if isinstance(atom.atom, Wait | Arrive | Expect) else None


def op_of(synchronised: Synchronised, event: Event) -> Op:
    op = synchronised.ops[event.number]
    if (op.name, op.instance) != (event.op.name, event.op.instance):
        raise InternalError(f"the requirement of {event.op} names op number {event.number}, which is {op}")
    return op


def path_of(op: Op, depth: int) -> Loops:
    return tuple(zip(op.time.place, op.time.loops, strict=False))[:depth]
