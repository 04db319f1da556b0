"""Linear algebra over F2 on vectors stored as integers: what the layout solver needs of subspaces."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


class Echelon:
    """A subspace of F2^n that grows by independent vectors, and expresses vectors in them.

    `combination(v)` is the mask of the added vectors whose sum is v, or None where v is outside.
    """

    def __init__(self, vectors: Iterable[int] = ()) -> None:
        self.basis: list[int] = []
        self._reduced: list[tuple[int, int]] = []
        for vector in vectors:
            self.add(vector)

    def _reduce(self, vector: int) -> tuple[int, int]:
        mask = 0
        for reduced, made_of in self._reduced:
            if vector ^ reduced < vector:
                vector ^= reduced
                mask ^= made_of
        return vector, mask

    def add(self, vector: int) -> bool:
        """Adds `vector` where it is independent of what is there; tells whether it was."""
        rest, mask = self._reduce(vector)
        if not rest:
            return False
        self._reduced.append((rest, mask ^ 1 << len(self.basis)))
        self._reduced.sort(reverse=True)
        self.basis.append(vector)
        return True

    def combination(self, vector: int) -> int | None:
        """The mask of basis vectors that sum to `vector`."""
        rest, mask = self._reduce(vector)
        return None if rest else mask

    def __contains__(self, vector: int) -> bool:
        return self._reduce(vector)[0] == 0

    def __len__(self) -> int:
        return len(self.basis)


def intersection(first: Sequence[int], second: Sequence[int]) -> list[int]:
    """A basis of the common part of the spans of two independent families."""
    space = Echelon(first)
    common: list[int] = []
    for vector in second:
        before = len(space)
        mask = space.combination(vector)
        if mask is None:
            space.add(vector)
            continue
        part = 0
        for index in range(before):
            if mask >> index & 1 and index < len(first):
                part ^= space.basis[index]
        common.append(part)
    return [vector for vector in _independent(common) if vector]


def _independent(vectors: Iterable[int]) -> list[int]:
    return Echelon(vectors).basis


def extended(vectors: Sequence[int], candidates: Iterable[int], dimension: int) -> list[int]:
    """`vectors` and as many of `candidates` as are independent, up to `dimension` vectors."""
    space = Echelon(vectors)
    for candidate in candidates:
        if len(space) >= dimension:
            break
        space.add(candidate)
    return space.basis
