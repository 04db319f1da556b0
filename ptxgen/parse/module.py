"""A whole module from text to IR."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import evolve, frozen

from isa.targets import PtxVersion, Target, UnknownTarget, target, version
from ptxgen.errors import Finding, PtxSyntaxError
from ptxgen.ir import (
    Alias,
    Comment,
    Function,
    FunctionKind,
    Item,
    Linkage,
    Module,
    Origin,
    Parameter,
    Scope,
    TargetOption,
)
from ptxgen.parse.bodies import Bodies, finding
from ptxgen.parse.debug import dwarf_line, file_directive, section
from ptxgen.parse.declarations import LINKAGES, SPACES, attribute_list, parameters, variables
from ptxgen.parse.directives import directives, pragma
from ptxgen.parse.instructions import Instructions
from ptxgen.parse.names import Open
from ptxgen.parse.pieces import Meanings
from ptxgen.parse.reader import Misuse, Reader

_FUNCTIONS = {f".{kind.value}": kind for kind in FunctionKind}
_OPTIONS = {option.value: option for option in TargetOption}
_WANTED = "a function, a variable or a directive"
_ADDRESS_SIZE = 64


@frozen
class Reading:
    """What a text says: the module without the statements that mean nothing, and a finding for each of those."""

    module: Module
    findings: tuple[Finding, ...]


def parse(text: str, *, file: str = "<string>") -> Module:
    """The module that PTX text spells; each instruction has its line of `file` as origin.

    PtxSyntaxError at the first place that is no PTX, that names an instruction which there is not, or a register,
    variable or label that is not declared; it has the line, the column, what was wanted, and shows the line. What can
    be read but is wrong, such as types and ranges, is for `verify`. Comments become statements, constant expressions
    their value; a module without `.address_size` has 64 bits.
    """
    return _guarded(text, file, None).module


def read(text: str, *, file: str = "<string>") -> Reading:
    """As `parse`, but a statement that means nothing is left out with a finding; PtxSyntaxError is for the rest."""
    return _guarded(text, file, [])


def items(text: str, *, version: PtxVersion, target: Target, known: Iterable[str]) -> tuple[Item, ...]:
    """The items that a text without header spells, for a module that already has the names `known`."""
    modules = _Modules(Reader(text, ""), None)
    for name in known:
        modules.globals.declare_symbol(name)
    return modules.items(version, target)


def _guarded(text: str, file: str, findings: list[Finding] | None) -> Reading:
    try:
        return _Modules(Reader(text, file), findings).read()
    except RecursionError:
        raise PtxSyntaxError("scopes or parentheses nest too deeply", line=1, column=1, file=file) from None


class _Modules:
    def __init__(self, reader: Reader, findings: list[Finding] | None) -> None:
        self._reader, self._findings = reader, findings
        self.globals = Open(-1, None)
        self._items: list[Item] = []

    def read(self) -> Reading:
        reader = self._reader
        at = self._version()
        on, options = self._target()
        size = self._address_size()
        first = reader.previous
        heading = tuple(comment for offset, comment in reader.comments if offset < first)
        reader.comments = [each for each in reader.comments if each[0] >= first]
        made = self.items(at, on)
        return Reading(Module(at, on, size, made, options, heading), tuple(self._findings or ()))

    def items(self, at: PtxVersion, on: Target) -> tuple[Item, ...]:
        """The items from here to the end of the text."""
        reader = self._reader
        self._bodies = Bodies(reader, Instructions(reader, at, on), self._findings)
        while True:
            self._comments()
            if not reader.kind:
                return tuple(self._items)
            before = len(self._items)
            try:
                self._item()
            except Misuse as error:
                if self._findings is None:
                    raise
                self._skip(error)
            self._hoist(before)

    def _skip(self, error: Misuse) -> None:
        end = self._reader.source.find(";", self._reader.start)
        if self._findings is None or end < 0:
            raise error
        self._findings.append(finding(error))
        self._reader.go(end + 1)

    def _version(self) -> PtxVersion:
        reader = self._reader
        reader.expect(".version", "'.version', with which a module begins")
        at = reader.start
        try:
            return version(reader.take("number", "a version such as 8.0"))
        except ValueError as wrong:
            reader.fail(str(wrong), at=at)

    def _target(self) -> tuple[Target, tuple[TargetOption, ...]]:
        reader = self._reader
        reader.expect(".target", "'.target' behind the version")
        at = reader.start
        try:
            found = target(reader.take("word", "a target such as sm_80"))
        except UnknownTarget as unknown:
            reader.fail(str(unknown), at=at)
        options: list[TargetOption] = []
        while reader.accept(","):
            at, word = reader.start, reader.take("word", " or ".join(_OPTIONS))
            if word not in _OPTIONS:
                reader.fail(f"unexpected {word!r}", wanted=" or ".join(_OPTIONS), at=at)
            options.append(_OPTIONS[word])
        return found, tuple(options)

    def _address_size(self) -> int:
        reader = self._reader
        if not reader.accept(".address_size"):
            return _ADDRESS_SIZE
        at = reader.start
        size = reader.number("32 or 64")
        if size not in (32, 64):
            reader.fail(f"unexpected {size}", wanted="32 or 64", at=at)
        return size

    def _comments(self) -> None:
        reader = self._reader
        end = reader.previous
        if reader.comments:
            met = reader.take_comments()
            behind = bool(self._items) and not isinstance(self._items[-1], Comment)
            if behind and "\n" not in reader.source[end : met[0][0]]:
                self._items.append(Comment(met.pop(0)[1].text, trailing=True))
            self._items += [comment for _, comment in met]

    def _hoist(self, before: int) -> None:
        reader = self._reader
        if reader.comments:
            self._items[before:before] = [comment for at, comment in reader.comments if at < reader.previous]
            reader.comments = [each for each in reader.comments if each[0] >= reader.previous]

    def _item(self) -> None:
        reader = self._reader
        match reader.text:
            case ".file":
                self._items.append(file_directive(reader))
            case ".section":
                self._items.append(section(reader))
            case ".pragma":
                self._items.append(pragma(reader, ""))
            case ".alias":
                self._items.append(self._alias())
            case "@@":
                self._items.append(dwarf_line(reader))
            case _:
                self._linked()

    def _alias(self) -> Alias:
        reader = self._reader
        reader.advance()
        name = reader.take("word", "a function's name")
        reader.expect(",")
        of = reader.take("word", "a function's name")
        reader.expect(";")
        self.globals.declare_symbol(name)
        return Alias(name, of)

    def _linked(self) -> None:
        """A variable or a function, with its linkage before it."""
        reader = self._reader
        origin = reader.origin(reader.start, "")
        linkage = Linkage.PRIVATE
        if reader.text in LINKAGES:
            linkage = LINKAGES[reader.advance()]
        if reader.text in _FUNCTIONS:
            self._items.append(self._function(_FUNCTIONS[reader.advance()], linkage, origin))
        elif reader.text in SPACES:
            self._items += variables(reader, self.globals, linkage, origin)
        else:
            reader.fail(f"unexpected {reader.told()}", wanted=_WANTED)

    def _function(self, kind: FunctionKind, linkage: Linkage, origin: Origin) -> Function:
        reader = self._reader
        attributes = attribute_list(reader) if reader.text == ".attribute" else ()
        returned = parameters(reader, "") if reader.text == "(" else ()
        name = reader.take("word", "a function's name")
        returns = tuple([evolve(each, origin=_within(each.origin, name)) for each in returned])
        taken = parameters(reader, name) if reader.text == "(" else ()
        asked = directives(reader, name)
        self.globals.declare_symbol(name)
        body: Scope | None = None
        if reader.text == "{":
            body = self._bodies.read(name, self._around((*returns, *taken)))
        else:
            reader.expect(";", "a directive, '{' or ';'")
        return Function(kind, name, linkage, returns, taken, asked, body, _within(origin, name), attributes)

    def _around(self, passed: tuple[Parameter, ...]) -> Open:
        """The scope around a body, which knows the parameters; registers among them belong to the body."""
        around = Open(0, self.globals)
        for parameter in passed:
            if parameter.register:
                around.declare_registers(parameter.name, parameter.type, None, parameter.vector)
            else:
                around.declare_symbol(parameter.name)
        around.cache = Meanings(around)
        return around


def _within(origin: Origin | None, function: str) -> Origin | None:
    return None if origin is None else Origin(origin.file, origin.line, function)
