"""The row model: families of lines, each line what the manual prints on one line.

What the slots of a line leave open is data: tables of legal combinations and rules about a few choices.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from attrs import evolve, frozen

from isa.availability import ALWAYS, Availability
from isa.derive import Derivation, Words
from isa.operands import Domain, OperandKind, OperandSlot, Role, Signature
from isa.types import Kind, Type, type_named, wider

ABSENT = "-"
ANY_WORD = "*"
_ADDRESS_TYPES = frozenset(type_named(name) for name in ("b32", "u32", "s32", "b64", "u64", "s64"))


@frozen(eq=False)
class Slot:
    """A place for one modifier. `choices` maps each word to where it exists."""

    name: str
    choices: Mapping[str, Availability]
    optional: bool = False

    @property
    def maybe(self) -> Slot:
        """The same slot, which may stay empty."""
        return Slot(self.name, self.choices, True)

    def of(self, *words: str) -> Slot:
        """The slot restricted to these words; KeyError for a word it never had."""
        return Slot(self.name, {word: self.choices[word] for word in words}, self.optional)


def _half(of_type: Type | None) -> bool:
    return of_type is not None and (of_type.lanes > 1 or (of_type.kind is Kind.FLOAT and of_type.bits < 32))


def slot(name: str, words: str, **since: Availability) -> Slot:
    """A required slot for one of the words. `since` gives the availability of a word (`::` written `__`)."""
    dated = {word.replace("__", "::"): given for word, given in since.items()}
    if unknown := dated.keys() - set(words.split()):
        raise ValueError(f"slot {name!r} dates words it does not have: {sorted(unknown)}")
    return Slot(name, {word: dated.get(word, ALWAYS) for word in words.split()})


def word(text: str, since: Availability = ALWAYS) -> Slot:
    """A required word that is a slot of its own, called like the word."""
    return Slot(text, {text: since})


def flag(text: str, since: Availability = ALWAYS) -> Slot:
    """An optional word that is a slot of its own, called like the word."""
    return Slot(text, {text: since}, True)


@frozen
class Operand:
    """An operand slot as a function of the words. `count` 0 means a single register where vectors are possible.

    `untyped` takes registers of bits only, though others have the size; `wide` takes registers wider than the type
    (`ld`, `st`, `cvt`) if registers can have it. `when` names the modifier slots that must be filled for the operand to
    be there; `optional` ones may be left out. Where `count` depends on the words, `sink` holds for vectors only. A
    VALUE of a half-precision or packed type must be a register (ptxas takes no such immediate). The type of an ADDRESS
    is that of its base register (none: any integer of 32 or 64 bits), that of a COORDINATE is that of its elements.
    `minus`, `selectors`, `partial`, `sampler`, `unified` and `parts` are those of the `OperandSlot`.
    """

    name: str
    role: Role
    kind: OperandKind
    type: Type | Derivation | None = None
    count: int | Derivation = 0
    wide: bool = False
    untyped: bool = False
    domain: Domain | Derivation | None = None
    when: tuple[str, ...] = ()
    optional: bool = False
    negatable: bool = False
    sink: bool | Derivation = False
    joined: bool = False
    special: bool | Derivation = False
    symbol: bool = False
    immediates: bool = False
    minus: bool = False
    selectors: tuple[str, ...] = ()
    partial: bool = False
    sampler: bool = False
    unified: Availability | None = None
    parts: tuple[Operand, ...] = ()

    @property
    def maybe(self) -> Operand:
        """The same operand, which may be left out."""
        return evolve(self, optional=True)

    def stands(self, words: Words) -> bool:
        """True if the words ask for this operand."""
        return all(name in words for name in self.when)

    def slot(self, words: Words) -> OperandSlot:
        """The operand slot for these words."""
        of_type = self.type.of(words) if isinstance(self.type, Derivation) else self.type
        count = self.count.of(words) if isinstance(self.count, Derivation) else self.count
        return OperandSlot(
            name=self.name,
            role=self.role,
            kind=self._kind(of_type, count),
            type=of_type,
            count=max(count, 1),
            accepts=self._accepts(of_type),
            domain=self.domain.of(words) if isinstance(self.domain, Derivation) else self.domain,
            negatable=self.negatable,
            sink=self._sinks(words, count),
            joined=self.joined,
            special=bool(self.special.of(words)) if isinstance(self.special, Derivation) else self.special,
            symbol=self.symbol,
            immediates=self._takes_immediates(of_type),
            minus=self.minus,
            selectors=self.selectors,
            partial=self.partial,
            sampler=self.sampler,
            unified=self.unified,
            parts=tuple(each.slot(words) for each in self.parts),
        )

    def _takes_immediates(self, of_type: Type | None) -> bool:
        return self.immediates or (
            self.kind is OperandKind.IMMEDIATE or (self.kind is OperandKind.VALUE and not _half(of_type))
        )

    def _sinks(self, words: Words, count: int) -> bool:
        if isinstance(self.sink, Derivation):
            return bool(self.sink.of(words))
        return self.sink and (count > 0 or not isinstance(self.count, Derivation))

    def _kind(self, of_type: Type | None, count: int) -> OperandKind:
        if count and self.kind is not OperandKind.COORDINATE:
            return OperandKind.VECTOR
        return OperandKind.REGISTER if self.kind is OperandKind.VALUE and _half(of_type) else self.kind

    def _accepts(self, of_type: Type | None) -> frozenset[Type]:
        if self.kind is OperandKind.ADDRESS and of_type is None:
            return _ADDRESS_TYPES
        if of_type is None or self.kind is OperandKind.IMMEDIATE:
            return frozenset()
        if self.untyped:
            return frozenset(each for each in of_type.accepts if each.kind is Kind.BITS)
        return wider(of_type) if self.wide and of_type.register else of_type.accepts


@frozen(eq=False)
class Table:
    """The legal combinations of a few slots, each with its since-when."""

    slots: tuple[str, ...]
    rows: tuple[tuple[Availability, tuple[frozenset[str], ...]], ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The slots it speaks of."""
        return self.slots

    def judge(self, words: Words, decided: frozenset[str] | None = None) -> Availability | None:
        """Where the combination exists; None if it never does. Slots not in `decided` are still open."""
        found: Availability | None = None
        for since, cells in self.rows:
            if all(_fits(cell, words, name, decided) for name, cell in zip(self.slots, cells, strict=True)):
                found = since if found is None else found | since
        return found

    def reason(self, words: Words) -> str:
        """Why `judge` said None."""
        said = " ".join(f"{name}={words.get(name, 'none')}" for name in self.slots)
        return f"no such combination: {said}"


@frozen(eq=False)
class Rule:
    """When some slots hold certain words, others must hold, or may not hold, certain words, or it exists only since."""

    when: tuple[tuple[str, frozenset[str]], ...]
    only: tuple[tuple[str, frozenset[str]], ...]
    never: tuple[tuple[str, frozenset[str]], ...]
    since: Availability

    @property
    def names(self) -> tuple[str, ...]:
        """The slots it speaks of."""
        return tuple(name for name, _ in (*self.when, *self.only, *self.never))

    def judge(self, words: Words, decided: frozenset[str] | None = None) -> Availability | None:
        """As `Table.judge`; while a slot of `when` is open the rule does not apply."""
        if decided is not None and not all(name in decided for name, _ in self.when):
            return ALWAYS
        if not all(_fits(cell, words, name) for name, cell in self.when):
            return ALWAYS
        if not all(_fits(cell, words, name, decided) for name, cell in self.only):
            return None
        if any(_fits(cell, words, name) for name, cell in self.never if decided is None or name in decided):
            return None
        return self.since

    def reason(self, words: Words) -> str:
        """Why `judge` said None."""
        given = " ".join(f".{words[name]}" if name in words else f"no {name}" for name, _ in self.when)
        wanted = [f"{name} must be {_spelled(cell)}" for name, cell in self.only if not _fits(cell, words, name)]
        wanted += [f"{name} cannot be {_spelled(cell)}" for name, cell in self.never if _fits(cell, words, name)]
        return ("with " + given + ", " if given else "") + " and ".join(wanted)


Constraint = Table | Rule


def _fits(cell: frozenset[str], words: Words, name: str, decided: frozenset[str] | None = None) -> bool:
    if decided is not None and name not in decided:
        return True
    word = words.get(name, ABSENT)
    return word in cell or (word != ABSENT and ANY_WORD in cell)


def _spelled(cell: frozenset[str]) -> str:
    return " or ".join("none" if each == ABSENT else "any" if each == ANY_WORD else f".{each}" for each in sorted(cell))


def table(slots: str, *rows: tuple[Availability | str, ...]) -> Table:
    """`table("dtype atype", (since("7.0", 80), "f32", "f16 bf16"), ...)`: a cell is any of its words, `-` is none."""
    names = tuple(slots.split())
    made = []
    for since, *cells in rows:
        if not isinstance(since, Availability) or len(cells) != len(names):
            raise ValueError(f"a row of table {slots!r} is an availability and {len(names)} cells, not {since, *cells}")
        made.append((since, tuple(frozenset(str(cell).split()) for cell in cells)))
    return Table(names, tuple(made))


def rule(
    when: Mapping[str, str] | None = None,
    only: Mapping[str, str] | None = None,
    never: Mapping[str, str] | None = None,
    since: Availability = ALWAYS,
) -> Rule:
    """A rule on choices; each mapping gives a slot its words, `-` for an empty slot, `*` for any word."""
    return Rule(_cells(when), _cells(only), _cells(never), since)


def _cells(given: Mapping[str, str] | None) -> tuple[tuple[str, frozenset[str]], ...]:
    return tuple((name, frozenset(cell.split())) for name, cell in (given or {}).items())


@frozen(eq=False)
class Line:
    """One line of the manual's syntax: modifier slots in order, operands, where it exists, and constraints."""

    slots: tuple[Slot, ...]
    operands: tuple[Operand, ...]
    since: Availability
    constraints: tuple[Constraint, ...]

    def signatures(self, words: Words) -> tuple[Signature, ...]:
        """The ways to write the operands, the shortest first."""
        standing = [operand for operand in self.operands if operand.stands(words)]
        made = [Signature(tuple(each.slot(words) for each in chosen)) for chosen in _choices(standing)]
        return tuple(sorted(made, key=lambda signature: len(signature.slots)))


def _choices(operands: list[Operand]) -> Iterator[list[Operand]]:
    if not operands:
        yield []
        return
    first, rest = operands[0], operands[1:]
    for tail in _choices(rest):
        yield [first, *tail]
        if first.optional:
            yield tail


def line(
    *slots: Slot,
    operands: tuple[Operand, ...] = (),
    since: Availability = ALWAYS,
    rules: tuple[Constraint, ...] = (),
) -> Line:
    """A line of a family; `operands` in the manual's order, `rules` are tables and rules of this line only."""
    names = [each.name for each in slots]
    if len(set(names)) != len(names):
        raise ValueError(f"a line has two slots of one name: {names}")
    return Line(slots, operands, since, rules)


@frozen(eq=False)
class Family:
    """All lines of one opcode (`"mad"`, `"bar.warp.sync"`); `about` says in a few words what it does."""

    opcode: str
    lines: tuple[Line, ...]
    rules: tuple[Constraint, ...]
    about: str


def family(opcode: str, *lines: Line, rules: tuple[Constraint, ...] = (), about: str = "") -> Family:
    """A family; `rules` hold for every line (a slot that a line lacks is empty there)."""
    return Family(opcode, lines, rules, about)
