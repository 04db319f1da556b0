"""Which launches show all that blocks do which share tiles slab by slab.

What a block does is decided by the items that it has one behind the other, and by which of them others have a part of.
Small launches have all of those: every count of slabs up to the thresholds of control (`sizes.py`), and every few slabs
of an item before every few of the next one, as long as they meet in the slots of a ring. Blocks further on in a launch,
or in one of more blocks, repeat what these do: their number tells them which tiles they pass on, and nothing else.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from itertools import count, pairwise, product

from ptxgen.errors import Finding, Severity
from ptxgen.prove.trees.shares import Share, most_workers, shares
from ptxgen.prove.trees.sizes import FEW, Case, Control, deepest, edge_values, loop_values, modulus_of, sizes_of
from ptxgen.tile import BLOCK_COUNT, BLOCK_NUMBER, ITEM_FIRST, ITEM_SLABS, Program, Quotient

MOST_WORKERS, MOST_TILES = 4, 7


def slabs_of(program: Program) -> Quotient | None:
    """The slabs of a tile where blocks share them."""
    return program.grid.work_list and program.grid.work_list.slabs


def sharing_faults(program: Program) -> Iterator[Finding]:
    """Tiles that are shared, where it is not their items alone that tell a block what to do, or where no size tells
    how many slabs they have (code `synchronisation.control`)."""
    slabs = slabs_of(program)
    if slabs is None:
        return
    asked = Control.of(program).names & {BLOCK_NUMBER, BLOCK_COUNT}
    if asked:
        text = f"control asks for {', '.join(sorted(asked))}, but what a block does is told by its items alone"
        yield Finding("synchronisation.control", Severity.ERROR, text)
    terms = slabs.numerator.terms
    if len(terms) > 1 or any(factor < 1 or name not in sizes_of(program) for name, factor in terms):
        text = f"tiles of {slabs} slabs: wanted a number that grows with one of the sizes {sizes_of(program)}"
        yield Finding("synchronisation.control", Severity.ERROR, text)


def streamed_cases(program: Program, slabs: Quotient) -> Iterator[Case]:
    """The launches to look at, those of few slabs first; where they have no more slabs than a few, with all values of
    the sizes that decide where the edge is."""
    control = Control.of(program)
    edges = {name: control.turning(name) for name in sizes_of(program) if name not in slabs.numerator.names}
    held = {name: edge_values(name, found, program) if found else [0] for name, found in edges.items()}
    seen: set[Hashable] = set()
    for number, told in _counts(control, slabs, program):
        launches = list(_launches(number, deepest(program), seen))
        few = held if number < FEW else {name: values[-1:] for name, values in held.items()}
        for own, (tiles, found) in product(told, launches):
            for values in product(*few.values()):
                yield Case(dict(zip(few, values, strict=True)) | own, tiles, shares=found)


def _counts(control: Control, slabs: Quotient, program: Program) -> Iterator[tuple[int, list[dict[str, int]]]]:
    """Counts of slabs up to the first that has all thresholds below it, with sizes that give a tile so many. Where
    control does not ask for those, blocks may have as few slabs of tiles that have more."""
    names = slabs.numerator.names
    asked = control.names & set(names)
    most = max(max(loop_values(name, control.about(name), program)) for name in (ITEM_FIRST, ITEM_SLABS))
    if not names:
        whole = slabs.numerator.constant // slabs.divisor
        yield from ((number, [{}]) for number in range(min(1, whole), min(most, whole) + 1))
        return
    for name in asked:
        greatest = max(loop_values(name, control.about(name), program))
        most = max(most, slabs.numerator.evaluate({name: greatest}) // slabs.divisor)
    for number in count():
        found = _giving(number, slabs, modulus_of(names[0], program) if asked else 1)
        if found:
            yield number, [{names[0]: size} for size in sorted({found[0] if asked else found[-1], found[-1]})]
        if found and number >= most:
            return


def _giving(number: int, slabs: Quotient, modulus: int) -> range:
    """The values of the size that give a tile so many slabs."""
    ((_, factor),) = slabs.numerator.terms
    least = -((slabs.numerator.constant - number * slabs.divisor) // factor)
    beyond = -((slabs.numerator.constant - (number + 1) * slabs.divisor) // factor)
    return range(-(-max(0, least) // modulus) * modulus, beyond, modulus)


def _launches(slabs: int, few: int, seen: set[Hashable]) -> Iterator[tuple[int, tuple[Share, ...]]]:
    """Tiles and shares of the launches with so many slabs a tile in which a block does what none has done before."""
    for tiles in range(1, MOST_TILES + 1):
        for workers in range(1, min(MOST_WORKERS, most_workers(tiles, slabs)) + 1):
            found = shares(tiles, slabs, workers)
            shown = {each for share in found for each in _shown(share, few)}
            if not shown <= seen:
                seen |= shown
                yield tiles, found


def _shown(share: Share, few: int) -> Iterator[Hashable]:
    """Each item of a block, each pair of neighbours, and what comes first and last; of those only few slabs are told
    from each other."""
    kinds = [(min(part.slabs, few), part.begun, part.goes_on) for part in share.parts]
    yield from ((part.slabs, part.begun, part.goes_on) for part in share.parts)
    yield from pairwise(kinds)
    yield from (("first", kinds[0]), ("last", kinds[-1]))
