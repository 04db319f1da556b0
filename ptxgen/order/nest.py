"""Where ops stand in their role's loops: bodies, and the items of a body in program order."""

from __future__ import annotations

from attrs import frozen

from ptxgen.errors import InternalError
from ptxgen.order.ops import Op

Path = tuple[tuple[int, str], ...]
Item = tuple[int, int, str]


@frozen
class Body:
    """The inside of nested loops of a role: `path` holds (place, loop) from the outermost in; the empty path is the
    role's top level."""

    role: str
    path: Path

    @property
    def loops(self) -> tuple[str, ...]:
        """The loops around the body, outermost first."""
        return tuple(loop for _, loop in self.path)


@frozen(eq=False)
class Nest:
    """The bodies of all roles. `paths[i]` are the loops around op i; `items[body]` are the ops and nested loops of a
    body in program order, and `positions[i][d]` says which item of its body at depth d op i is, or lies in."""

    roles: tuple[str, ...]
    paths: tuple[Path, ...]
    items: dict[Body, tuple[Item, ...]]
    positions: tuple[tuple[int, ...], ...]

    def common_depth(self, first: int, second: int) -> int:
        """How many loops the two ops share: the same loops in one role, loops of equal names in two."""
        alike = self.roles[first] == self.roles[second]
        if alike and self.paths[first] == self.paths[second]:
            return len(self.paths[first])
        count = 0
        for a, b in zip(self.paths[first], self.paths[second], strict=False):
            if a != b and (alike or a[1] != b[1]):
                break
            count += 1
        return count

    def size_around(self, number: int, depth: int) -> int:
        """The items of the body at `depth` that op `number` is, or lies, in."""
        return len(self.items[Body(self.roles[number], self.paths[number][:depth])])


def nest(ops: tuple[Op, ...]) -> Nest:
    """The nest that the ops' times describe. Ops at one place stand in the order given; a nested loop stands where its
    first op does. Raises InternalError where a time has not one place more than loops."""
    found: dict[Body, dict[Item, int]] = {}
    paths: list[Path] = []
    keys: list[list[tuple[Body, Item]]] = []
    for number, op in enumerate(ops):
        time = op.time
        if len(time.place) != len(time.loops) + 1 or len(time.ahead) != len(time.loops):
            raise InternalError(f"{op}: {len(time.loops)} loops need as many shifts and one place more, got {time}")
        path = tuple(zip(time.place, time.loops, strict=False))
        paths.append(path)
        keys.append([])
        for depth, place in enumerate(time.place):
            body = Body(op.role, path[:depth])
            item = (place, -1, time.loops[depth]) if depth < len(time.loops) else (place, number, "")
            found.setdefault(body, {}).setdefault(item, number)
            keys[-1].append((body, item))
    items = {body: tuple(sorted(first, key=lambda i, f=first: (i[0], f[i]))) for body, first in found.items()}  # type: ignore[misc]
    ranks = {body: {item: position for position, item in enumerate(order)} for body, order in items.items()}
    positions = tuple(tuple(ranks[body][item] for body, item in steps) for steps in keys)
    return Nest(tuple(op.role for op in ops), tuple(paths), items, positions)
