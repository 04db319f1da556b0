"""Which launches show all that blocks do which share tiles slab by slab.

What a block does is decided by the items that it has one behind the other, and by which of them others have a part of.
Small launches have all of those: every count of slabs up to the thresholds of control (`sizes.py`), and every few slabs
of an item before every few of the next one, as many as meet in the slots of a ring. Blocks further on in a launch,
or in one of more blocks, repeat what these do: their number tells them which tiles they pass on, and nothing else.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from itertools import count, pairwise, product
from math import lcm

from attrs import frozen

from ptxgen.errors import Finding, Severity
from ptxgen.prove.trees.shares import Part, Share, most_workers, shares
from ptxgen.prove.trees.sizes import FEW, Case, Control, deepest, edge_values, loop_values, modulus_of, sizes_of
from ptxgen.tile import BLOCK_COUNT, BLOCK_NUMBER, ITEM_FIRST, ITEM_SLABS, Program, Quotient

MOST_WORKERS, MOST_TILES, PARTS = 4, 7, 3


def slabs_of(program: Program) -> Quotient | None:
    """The slabs of a tile where blocks share them."""
    return None if program.grid.work_list is None else program.grid.work_list.slabs


def sharing_faults(program: Program) -> Iterator[Finding]:
    """Tiles that are shared, where it is not their items alone that tell a block what to do, or where no size tells
    how many slabs they have (code `synchronisation.control`)."""
    shared, slabs = program.grid.work_list, slabs_of(program)
    if shared is None or slabs is None:
        return
    asked = Control.of(program).names & {BLOCK_NUMBER, BLOCK_COUNT}
    if asked:
        text = f"control asks for {', '.join(sorted(asked))}, but what a block does is told by its items alone"
        yield Finding("synchronisation.control", Severity.ERROR, text, shared.line)
    terms = slabs.numerator.terms
    if len(terms) > 1 or any(factor < 1 or name not in sizes_of(program) for name, factor in terms):
        text = f"tiles of {slabs} slabs: wanted a number that grows with one of {', '.join(sizes_of(program))}"
        yield Finding("synchronisation.control", Severity.ERROR, text, shared.line)


def streamed_cases(program: Program, slabs: Quotient) -> Iterator[Case]:
    """The launches to look at, those of few slabs first; where they have no more slabs than a few, with all values of
    the sizes that decide where the edge is."""
    control, own = Control.of(program), slabs.numerator.names
    edges = {name: control.turning(name) for name in sizes_of(program) if name not in own}
    held = {name: edge_values(name, found, program) if found else [0] for name, found in edges.items()}
    counts = _Counts.of(program, slabs, control)
    shown = _Shown(deepest(program), control.told_apart, set())
    for number in counts:
        few = held if number < FEW else {name: values[-1:] for name, values in held.items()}
        for slabs_of_tile, tiles, found in _launches(number, counts, shown):
            for told, values in product(counts.sizes(slabs_of_tile), product(*few.values())):
                yield Case(dict(zip(few, values, strict=True)) | told, tiles, shares=found)


@frozen
class _Counts:
    """How many slabs a tile may have. All thresholds of control are below `most`; `asked` is whether control asks for
    the size that tells the number, which is a multiple of `modulus` then. Where it does not, blocks may have as few
    slabs of tiles that have more."""

    slabs: Quotient
    most: int
    asked: bool
    modulus: int

    @classmethod
    def of(cls, program: Program, slabs: Quotient, control: Control) -> _Counts:
        """Those of a program."""

        def greatest(name: str) -> int:
            return max(loop_values(name, control.about(name), program))

        most = max(map(greatest, (ITEM_FIRST, ITEM_SLABS)))
        asked = control.names & set(slabs.numerator.names)
        most = max(most, *(slabs.numerator.evaluate({name: greatest(name)}) // slabs.divisor for name in asked), 0)
        return cls(slabs, most, bool(asked), lcm(*(modulus_of(name, program) for name in asked)))

    def __iter__(self) -> Iterator[int]:
        if not self.slabs.numerator.terms:
            whole = self.slabs.numerator.constant // self.slabs.divisor
            yield from range(min(1, whole), min(self.most, whole) + 1)
            return
        for number in count():
            yield number
            if number >= self.most and self.sizes(number):
                return

    def sizes(self, number: int) -> list[dict[str, int]]:
        """Sizes that give a tile so many slabs: of all, the least and the greatest where control asks for them."""
        if not self.slabs.numerator.terms:
            return [{}]
        ((name, factor),) = self.slabs.numerator.terms
        divisor, constant = self.slabs.divisor, self.slabs.numerator.constant
        least = max(0, -((constant - number * divisor) // factor))
        beyond = -((constant - (number + 1) * divisor) // factor)
        found = range(-(-least // self.modulus) * self.modulus, beyond, self.modulus)
        return [{name: size} for size in sorted({found[0 if self.asked else -1], found[-1]})] if found else []


@frozen
class _Shown:
    """What blocks do in the launches so far. Up to `few` slabs are told from each other in what comes behind what, and
    numbers of items up to `told_apart`."""

    few: int
    told_apart: int
    seen: set[Hashable]

    def anew(self, found: tuple[Share, ...]) -> bool:
        """Whether a block does what none has done before; then it has been done."""
        shown = {each for share in found for each in self._of(share)}
        before = len(self.seen)
        self.seen.update(shown)
        return len(self.seen) > before

    def _of(self, share: Share) -> Iterator[Hashable]:
        """Each item, each pair of neighbours, and what comes first and last."""
        most = self.told_apart + 1 if self.told_apart else 0
        kinds = [(min(n, most), min(p.slabs, self.few), p.begun, p.goes_on) for n, p in enumerate(share.parts)]
        yield from ((part.slabs, part.begun, part.goes_on) for part in share.parts)
        yield from pairwise(kinds)
        yield from (("first", kinds[0]), ("last", kinds[-1]))

    @property
    def most_tiles(self) -> int:
        """The tiles of launches in which blocks have items of all numbers that are told apart."""
        return MOST_TILES + MOST_WORKERS * self.told_apart


def _launches(slabs: int, counts: _Counts, shown: _Shown) -> Iterator[tuple[int, int, tuple[Share, ...]]]:
    """The slabs of a tile, the tiles and the shares: of blocks that have so many slabs each of a tile, one of them
    between two others, and of launches with so many slabs a tile in which a block does what none has done before."""
    if slabs and counts.sizes(PARTS * slabs):
        parts = (Part(place * slabs, slabs, place > 0, place < PARTS - 1) for place in range(PARTS))
        chain = tuple(Share((part,)) for part in parts)
        shown.anew(chain)
        yield PARTS * slabs, 1, chain
    for tiles in range(1, shown.most_tiles + 1) if counts.sizes(slabs) else ():
        for workers in range(1, min(MOST_WORKERS, most_workers(tiles, slabs)) + 1):
            found = shares(tiles, slabs, workers)
            if shown.anew(found):
                yield slabs, tiles, found
