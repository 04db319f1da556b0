"""Declarations by themselves: spaces, types, shapes and alignments of variables and parameters, names given twice."""

from __future__ import annotations

from collections.abc import Iterator

from isa.types import Kind, Type
from ptxgen.errors import Finding, Severity
from ptxgen.ir import (
    BranchTargets,
    CallTargets,
    Directive,
    DirectiveKind,
    Function,
    FunctionKind,
    Label,
    Linkage,
    Module,
    Origin,
    Parameter,
    Prototype,
    Registers,
    Scope,
    Space,
    TargetOption,
    Variable,
    besides_instructions,
)
from ptxgen.verify.initials import initial_findings

_REFERENCES = frozenset({"texref", "surfref", "samplerref"})
_IN_REGISTERS = frozenset({"bf16", "bf16x2"})
_VECTOR_BITS = 128
_PARAMETER_ALIGN = 128
_SINK = "_"


def declaration_findings(module: Module) -> Iterator[Finding]:
    """`variable.space`, `.type`, `.shape`, `.initial`, `parameter.type`, `alignment` and `name.duplicate`.

    What both newest assemblers refuse and the manual's chapters on state spaces, variables and functions exclude.
    """
    independent = TargetOption.TEXMODE_INDEPENDENT in module.options
    declared: dict[str, Variable | Function] = {}
    for item in module.items:
        if isinstance(item, Variable | Function) and item.name == _SINK:
            yield _error("name.invalid", "_ is no name of a function or variable", item.origin)
        if isinstance(item, Variable):
            yield from _variable(item, outside=True, independent=independent)
            yield from initial_findings(item, declared)
        elif isinstance(item, Function):
            yield from _parameters(item)
            if item.body is not None:
                inner = [each for each in besides_instructions(item.body) if isinstance(each, Variable)]
                known = {**declared, item.name: item, **{each.name: each for each in inner}} if inner else declared
                for variable in inner:
                    yield from _variable(variable, outside=False, independent=independent)
                    yield from initial_findings(variable, known)
                yield from _duplicates(item, item.body)
        if isinstance(item, Variable | Function):
            declared.setdefault(item.name, item)


def _error(code: str, message: str, origin: Origin | None) -> Finding:
    return Finding(code, Severity.ERROR, message, origin)


def _variable(variable: Variable, *, outside: bool, independent: bool) -> Iterator[Finding]:
    name, origin, type_ = variable.name, variable.origin, variable.type
    if outside and variable.space in (Space.LOCAL, Space.PARAM):
        yield _error("variable.space", f"{name}: .{variable.space.value} variables stand in functions only", origin)
    elif not outside and variable.linkage is not Linkage.PRIVATE:
        yield _error("variable.space", f"{name}: .{variable.linkage.value} stands outside of functions only", origin)
    elif type_.name in _REFERENCES and variable.space not in (Space.GLOBAL, Space.PARAM, Space.TEX):
        yield _error("variable.space", f"{name}: {type_} variables are in .global", origin)
    if type_.name == "samplerref" and not independent:
        yield _error("variable.type", f"{name}: samplers apart from textures want .target texmode_independent", origin)
    elif words := _unfit(type_, variable.vector):
        yield _error("variable.type", f"{name}: {words}", origin)
    if not _is_power_of_two(variable.align):
        yield _error("alignment", f"{name}: the alignment {variable.align} is not a power of two", origin)
    if None in variable.shape[1:] or (variable.shape[:1] in ((None,), (0,)) and _sized(variable)):
        yield _error("variable.shape", f"{name} wants positive extents: {variable.shape}", origin)


def _sized(variable: Variable) -> bool:
    return variable.linkage is not Linkage.EXTERN and variable.initial is None


def _unfit(type_: Type, vector: int) -> str:
    """Why memory cannot hold elements of the type; empty where it can."""
    if type_.kind is Kind.PREDICATE:
        return "predicates live in registers, one in each"
    if type_.name in _IN_REGISTERS:
        return f"{type_} is a type of registers; memory has .b{type_.bits}"
    if type_.bits * vector > _VECTOR_BITS:
        return f"a vector of {vector} {type_} has more than {_VECTOR_BITS} bits"
    return ""


def _is_power_of_two(align: int | None) -> bool:
    return align is None or (align > 0 and align & (align - 1) == 0)


def _parameters(function: Function) -> Iterator[Finding]:
    entry = function.kind is FunctionKind.ENTRY
    for each in (*function.returns, *function.parameters):
        origin = each.origin or function.origin
        if each.name == _SINK and not entry:
            yield _error("name.invalid", f"{function.name}: _ is no name of a parameter of a function", origin)
        for words in _parameter(each, entry=entry, last=each in function.parameters[-1:]):
            yield _error("parameter.type", f"{function.name}: parameter {each.name} {words}", origin)
        if not _is_power_of_two(each.align) or (not entry and (each.align or 0) > _PARAMETER_ALIGN):
            words = f"{each.align}; wanted a power of two up to {_PARAMETER_ALIGN}"
            yield _error("alignment", f"{function.name}: parameter {each.name} is aligned to {words}", origin)
    ends = any(isinstance(each, Directive) and each.kind is DirectiveKind.NORETURN for each in function.directives)
    if ends and (entry or function.returns):
        message = f"{function.name}: .noreturn is for functions that return nothing"
        yield _error("directive.conflict", message, function.origin)


def _parameter(parameter: Parameter, *, entry: bool, last: bool) -> Iterator[str]:
    if parameter.register:
        if entry:
            yield "of a kernel lies in .param, not in a register"
        return
    if parameter.type.kind is Kind.PREDICATE:
        yield "is a predicate, which lives in a register only"
    if None in parameter.shape and (entry or not last):
        yield "has no size; only the last one of a function may have none"


def _duplicates(function: Function, body: Scope) -> Iterator[Finding]:
    """Names given twice in one scope, told on the line of the second."""
    passed = (*function.returns, *function.parameters)
    given = [each.name for each in passed]
    for place, each in enumerate(passed):
        if each.name in given[:place]:
            yield _twice(function, each.name, each.origin)
    scopes = [(body, frozenset(given))]
    while scopes:
        scope, outer = scopes.pop()
        names, families, labels = set(outer), dict[str, int](), set[str]()
        for statement in scope.besides_instructions():
            match statement:
                case Scope():
                    scopes.append((statement, frozenset()))
                case Registers(name=name):
                    if statement.count is None and name in labels:
                        yield _twice(function, name, statement.origin)
                    yield from _registers(function, statement, names, families)
                    yield from _named(function, name, statement.origin)
                case Variable(name=name):
                    if name in names or name in labels or _numbered(name, families):
                        yield _twice(function, name, statement.origin)
                    names.add(name)
                    yield from _named(function, name, statement.origin)
                case Label() | BranchTargets() | CallTargets() | Prototype():
                    label = statement.name.name
                    origin = statement.origin if isinstance(statement, Label) else None
                    if label in names:
                        yield _twice(function, label, origin)
                    labels.add(label)
                    yield from _named(function, label, origin)
                case _:
                    pass


def _registers(
    function: Function, registers: Registers, names: set[str], families: dict[str, int]
) -> Iterator[Finding]:
    name, count, type_ = registers.name, registers.count, registers.type
    if registers.vector > 1 and type_.name not in _IN_REGISTERS and (words := _unfit(type_, registers.vector)):
        yield _error("register.type", f"{name}: {words}", registers.origin or function.origin)
    if count is None:
        if name in names or _numbered(name, families):
            yield _twice(function, name, registers.origin)
        names.add(name)
    else:
        if name in families or any(_numbered(each, {name: count}) for each in names if each.startswith(name)):
            yield _twice(function, f"{name}<{count}>", registers.origin)
        families[name] = max(count, families.get(name, 0))


def _named(function: Function, name: str, origin: Origin | None = None) -> Iterator[Finding]:
    if name == _SINK:
        yield _error(
            "name.invalid", f"_ in {function.name} stands for no operand, and is no name", origin or function.origin
        )


def _twice(function: Function, name: str, origin: Origin | None = None) -> Finding:
    message = f"{name} is declared twice in one scope of {function.name}"
    return _error("name.duplicate", message, origin or function.origin)


def _numbered(name: str, families: dict[str, int]) -> bool:
    """True if a family of registers has the name already."""
    stem = name.rstrip("0123456789")
    for end in range(len(stem), len(name)):
        number = name[end:]
        if str(int(number)) == number and int(number) < families.get(name[:end], 0):
            return True
    return False
