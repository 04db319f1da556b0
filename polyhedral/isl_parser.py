"""isl's notation for sets, maps and lists of expressions, read into unions."""

from __future__ import annotations

from attrs import evolve, frozen

from polyhedral.affine import var
from polyhedral.isl_formula import Case, Formulas, Union, conjunction
from polyhedral.isl_lexer import NotationError, Words
from polyhedral.maps import Map
from polyhedral.sets import Set
from polyhedral.spaces import Space, UnionMap, UnionSet
from polyhedral.system import UNIVERSE


def parse(text: str) -> UnionSet | UnionMap:
    """The set or map that `text` says in isl's notation, as `[N] -> { S[i,j] : 0 <= i < N and j = 2i }`.

    Read are named and nested tuples, expressions and ranges in tuples, `and`, `or`, `not`, `implies`, `exists`, chains
    of comparisons, lists in lexicographic order (`i, j << k, l`), `floor`, `ceil`, `mod`, `min` and `max`. A set of
    parameters alone, `[N] -> { : N > 0 }`, is one of a bare space without dimensions. Raises NotationError where the
    text is something else.
    """
    reader = _Reader(Words(text))
    try:
        found = reader.union()
    except RecursionError:
        raise NotationError(f"the text is nested too deeply at {reader.words.next.place}") from None
    if reader.words.next.kind != "end":
        raise reader.words.mistake("the end of the text is due")
    return found


def parse_many(text: str) -> tuple[UnionSet | UnionMap, ...]:
    """The sets and maps that follow one another in `text`, each as `parse` reads it."""
    words = Words(text)
    found = []
    while words.next.kind != "end":
        found.append(_Reader(words).union())
    return tuple(found)


def parse_set(text: str) -> UnionSet:
    """As `parse`, for a text that is a set."""
    found = parse(text)
    if isinstance(found, UnionMap):
        raise ValueError(f"{text!r} is a map, where a set is due")
    return found


def parse_map(text: str) -> UnionMap:
    """As `parse`, for a text that is a map; a set without points counts as the map without pairs."""
    found = parse(text)
    if isinstance(found, UnionSet):
        if found.is_empty():
            return UnionMap()
        raise ValueError(f"{text!r} is a set, where a map is due")
    return found


def parse_members(text: str) -> tuple[UnionMap, ...]:
    """The maps of a list of expressions such as `[N] -> [{ S[i] -> [i]; T[i] -> [i + 1] }, { S[i] -> [2i] }]`."""
    reader = _Reader(Words(text))
    found = reader.members()
    if reader.words.next.kind != "end":
        raise reader.words.mistake("the end of the text is due")
    return found


@frozen
class _Tuple:
    space: Space
    dims: tuple[str, ...]
    conditions: Union = (UNIVERSE,)


class _Reader:
    def __init__(self, words: Words) -> None:
        self.words = words
        self.params: set[str] = set()
        self.given: Union = (UNIVERSE,)
        self.fresh = 0

    def union(self) -> UnionSet | UnionMap:
        if self.words.next.text == "[":
            self.params, self.given = self._parameters()
            self.words.expect("->")
        return self._braces()

    def members(self) -> tuple[UnionMap, ...]:
        if self.words.next.text == "[" and self.words.ahead(1).text not in ("{", "]"):
            self.params, self.given = self._parameters()
            self.words.expect("->")
        elif self.words.next.text == "[" and self.words.ahead(1).text == "]" and self.words.ahead(2).text == "->":
            self.words.place += 3
        if self.words.next.kind == "name":
            self.words.read()
        self.words.expect("[")
        found: list[UnionMap] = []
        while not self.words.take("]"):
            one = self._braces()
            if isinstance(one, UnionSet):
                if not one.is_empty():
                    raise self.words.mistake("a list of expressions holds maps")
                one = UnionMap()
            found.append(one)
            self.words.take(",")
        return tuple(found)

    def _parameters(self) -> tuple[set[str], Union]:
        formulas = Formulas(self.words, set())
        found = self._tuple(formulas, parameters=True)
        return set(formulas.known), found.conditions

    def _braces(self) -> UnionSet | UnionMap:
        self.words.expect("{")
        sets: list[tuple[Space, Set]] = []
        maps: list[tuple[Space, Space, Map]] = []
        while not self.words.take("}"):
            found = self._member()
            if len(found) == 2:
                sets.append(found)
            else:
                maps.append(found)
            if not self.words.take(";") and self.words.next.text != "}":
                raise self.words.mistake("';' or '}' is due")
        if sets and maps:
            raise self.words.mistake("a union is of sets or of maps, not of both,")
        return UnionMap(tuple(maps)) if maps else UnionSet(tuple(sets))

    def _member(self) -> tuple[Space, Set] | tuple[Space, Space, Map]:
        formulas = Formulas(self.words, set(self.params))
        if self.words.next.text == ":":
            first = _Tuple(Space("", 0, bare=True), ())
        else:
            first = self._tuple(formulas)
        second = self._tuple(formulas) if self.words.take("->") else None
        pieces = conjunction(self.given, first.conditions)
        if second is not None:
            pieces = conjunction(pieces, second.conditions)
        if self.words.take(":") and self.words.next.text not in ("}", ";"):
            pieces = conjunction(pieces, formulas.formula())
        if second is None:
            return first.space, Set(first.dims, pieces).normalised()
        return first.space, second.space, Map(first.dims, second.dims, pieces).normalised()

    def _tuple(self, formulas: Formulas, parameters: bool = False) -> _Tuple:
        name = ""
        if self.words.next.kind in ("name", "string"):
            name = self.words.read().text.strip('"')
        elif self.words.next.text == "(":
            return self._scalar(formulas)
        self.words.expect("[")
        if self._holds_arrow():
            first, second = self._tuple(formulas), self._arrow_and_tuple(formulas)
            self.words.expect("]")
            width = first.space.width + second.space.width
            space = Space(name, width, (first.space, second.space))
            return _Tuple(space, first.dims + second.dims, conjunction(first.conditions, second.conditions))
        found = _Tuple(Space(name, 0), ())
        while not self.words.take("]"):
            found = self._entry(found, formulas, parameters)
            self.words.take(",")
        return evolve(found, space=Space(name, len(found.dims)))

    def _scalar(self, formulas: Formulas) -> _Tuple:
        found = self._entry(_Tuple(Space("", 1), ()), formulas, False)
        return evolve(found, space=Space("", 1))

    def _arrow_and_tuple(self, formulas: Formulas) -> _Tuple:
        self.words.expect("->")
        return self._tuple(formulas)

    def _holds_arrow(self) -> bool:
        depth, count = 0, 0
        while True:
            text = self.words.ahead(count).text
            if text == "->" and depth == 0:
                return True
            depth += {"[": 1, "]": -1}.get(text, 0)
            if depth < 0 or self.words.ahead(count).kind == "end":
                return False
            count += 1

    def _entry(self, found: _Tuple, formulas: Formulas, parameters: bool) -> _Tuple:
        word, after = self.words.next, self.words.ahead(1).text
        if parameters and word.kind == "name" and word.text in formulas.known:
            raise self.words.mistake(f"the parameter {word.text!r} is named twice in {list(found.dims)}")
        if word.kind == "name" and word.text not in formulas.known and after in (",", "]", "="):
            name = self.words.read().text
            formulas.known.add(name)
            if not self.words.take("="):
                return evolve(found, dims=(*found.dims, name))
        else:
            name = self._fresh_dim(formulas, word.text if word.kind == "name" else "o")
            if self.words.take("*"):
                return evolve(found, dims=(*found.dims, name))
        value = formulas.expression()
        own = (Case(var(name)),)
        if self.words.take(":"):
            rows = conjunction(formulas.compare(own, ">=", value), formulas.compare(own, "<=", formulas.expression()))
        else:
            rows = formulas.compare(own, "=", value)
        return evolve(found, dims=(*found.dims, name), conditions=conjunction(found.conditions, rows))

    def _fresh_dim(self, formulas: Formulas, base: str) -> str:
        name = f"{base}_{self.fresh}"
        while name in formulas.known or name in self.words.text:
            self.fresh += 1
            name = f"{base}_{self.fresh}"
        self.fresh += 1
        formulas.known.add(name)
        return name
