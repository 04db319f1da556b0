"""Whole statements as PTX text, with the user's handles in them."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from attrs import evolve

from isa.targets import VERSIONS
from isa.types import Type
from ptxgen.build.blame import fail, failure
from ptxgen.build.handles import Label, Not, Offset, SpecialRegister, Symbol, Value, handle_of, sink
from ptxgen.build.names import checked_name
from ptxgen.errors import Finding, KernelError, PtxSyntaxError, Severity
from ptxgen.ir import Instruction, LabelName, Pragma, Register, Registers, Space, Statement, Variable
from ptxgen.parse import Open, fragment
from ptxgen.verify import operand_findings

if TYPE_CHECKING:
    from ptxgen.build.draft import Draft
    from ptxgen.ir import Origin

_PLACE = re.compile(r"\{\s*([A-Za-z_]\w*)\s*\}")


class Texts:
    """What a kernel's texts declare, scope by scope, so that later ones know it."""

    def __init__(self, kernel: Draft) -> None:
        self._kernel = kernel
        self._module = Open(-1, None)
        self._around = Open(0, self._module)
        self._open: dict[int, Open] = {}
        self._variables: dict[str, Variable] = {}

    def scope(self, ordinals: list[int]) -> Open:
        """What is known in the innermost of the open scopes of these ordinals."""
        self._module.symbols |= self._kernel.module.names
        self._around.symbols |= self._kernel.names
        around = self._around
        for ordinal in ordinals:
            around = self._open.setdefault(ordinal, Open(ordinal, around))
        return around

    def declare(self, scope: Open, registers: Registers) -> None:
        """Makes registers known in a scope; KernelError where the scope already has the name."""
        if registers.name in scope.singles or registers.name in scope.families:
            fail("name.duplicate", f"the registers {registers.name} are already declared in this scope")
        scope.declare_registers(registers.name, registers.type, registers.count)

    def read(
        self, text: str, operands: dict[str, Any], scope: Open, next_scope: int
    ) -> tuple[tuple[Statement, ...], int]:
        """The statements of a text and the next free number of a scope; KernelError on the user's line."""
        kernel = self._kernel
        labels: dict[str, LabelName] = {}

        def spelled(found: re.Match[str]) -> str:
            return self._spelled(operands[found[1]], scope, labels) if found[1] in operands else found[0]

        version = kernel.module.version or VERSIONS[-1]
        try:
            statements, following = fragment(
                _PLACE.sub(spelled, text), scope, version=version, target=kernel.module.target, function=kernel.name,
                next_scope=next_scope, labels=labels,
            )  # fmt: skip
        except PtxSyntaxError as error:
            shown = f": {error.text.strip()}" if error.text else ""
            code = "ptx.syntax" if error.code == "syntax" else error.code
            raise failure(code, f"k.ptx: line {error.line}, column {error.column}: {error.reason}{shown}") from error
        self._variables |= {each.name: each for each in statements if isinstance(each, Variable)}
        return statements, following

    def variable(self, name: str) -> Variable | None:
        """The variable of that name that a text has declared."""
        return self._variables.get(name)

    def _spelled(self, given: Any, scope: Open, labels: dict[str, LabelName]) -> str:
        """How a handle or number stands in the text; its registers and labels are known from then on."""
        kernel = getattr(given, "kernel", None)
        if kernel is not None and kernel is not self._kernel:
            fail("register.foreign", f"k.ptx: {given!r} belongs to kernel {kernel.name}")
        match given:
            case Value(node=node):
                return self._known(node, scope)
            case Not(value=value):
                return "!" + self._spelled(value, scope, labels)
            case Offset(address=address):
                if isinstance(address.base, Register):
                    self._known(address.base, scope)
                return f"{address.base.text}+{address.offset}"
            case Symbol(name=name):
                return name
            case Label(node=node):
                labels[node.name] = node
                return node.name
            case SpecialRegister(node=special):
                return special.text
            case tuple() | list():
                return "{" + ", ".join(self._spelled(each, scope, labels) for each in given) + "}"
            case int():
                return str(int(given))
            case float() if math.isfinite(given):
                return repr(given)
            case _ if given is sink:
                return "_"
        raise failure("operand.kind", f"k.ptx takes registers, labels, symbols, numbers and tuples, got {given!r}")

    def _known(self, node: Register, scope: Open) -> str:
        found = scope.find(node.name)
        if found is None:
            scope.singles[node.name] = node
        elif found != node:
            fail("name.duplicate", f"k.ptx: {node.name} means another register here than the one given")
        return node.name


def checked(kernel: Draft, statement: Statement, where: Origin) -> Statement:
    """A statement of a text on the user's line; KernelError with all that is wrong with its instruction."""
    if isinstance(statement, Registers | Pragma | Variable):
        return evolve(statement, origin=where)
    if not isinstance(statement, Instruction):
        return statement
    here = evolve(statement, origin=where)
    found = list(operand_findings(here))
    if not kernel.module.has(here.form.availability):
        message = (
            f"{here.form.name} exists since {here.form.availability}; this module is for {kernel.module.described}"
        )
        found.append(Finding("target.unsupported", Severity.ERROR, message, where))
    if found:
        raise KernelError(found)
    return here


class Family:
    """Registers `%r<100>`: `family[7]` is `%r7`."""

    def __init__(self, kernel: Draft, registers: Registers, scope: int) -> None:
        self._kernel, self._registers, self._scope = kernel, registers, scope

    def __getitem__(self, number: int) -> Value:
        """The register of a number; KernelError where the family has none of it."""
        count = self._registers.count or 0
        if number.__class__ is not int or not 0 <= number < count:
            fail(
                "register.number",
                f"the registers {self._registers.name} have the numbers 0 to {count - 1}, not {number!r}",
            )
        type_ = self._registers.type
        return handle_of(self._kernel.pool(type_), Register(f"{self._registers.name}{number}", type_, self._scope))

    def __len__(self) -> int:
        return self._registers.count or 0


def declared(kernel: Draft, type_: object, name: str, count: int | None, scope: int) -> tuple[Registers, Any]:
    """The `.reg` statement and the handle of it: a Value, or with a count a Family."""
    if not isinstance(type_, Type) or not type_.register:
        fail("register.type", f"k.registers wants a type that registers can have, got {type_!r}")
    if count is not None and (count.__class__ is not int or count < 1):
        fail("register.number", f"k.registers wants a positive count or none, got {count!r}")
    checked_name(name, set())
    registers = Registers(type_, name, count, origin=kernel.here())
    if count is None:
        return registers, handle_of(kernel.pool(type_), Register(name, type_, scope))
    return registers, Family(kernel, registers, scope)


def symbol_of(kernel: Draft, name: str, variable: Variable | None) -> Symbol:
    """The handle of a parameter, a variable of a text, or one of the module; KernelError where there is none."""
    parameter = next((each for each in (*kernel.parameters, *kernel.returns) if each.name == name), None)
    if parameter is not None:
        return Symbol(name, parameter.type, Space.PARAM, parameter.shape, kernel, parameter.size_bytes)
    if variable is not None:
        return Symbol(name, variable.type, variable.space, variable.shape, kernel, variable.size_bytes)
    found = kernel.module.declared(name)
    if found is None:
        raise failure("symbol.unknown", f"k.symbol: {name} is not declared here")
    return found
