"""Names of the module declared more than once, and other names of functions: whether the declarations agree."""

from __future__ import annotations

from collections.abc import Iterator

from ptxgen.errors import Finding, Severity
from ptxgen.ir import Alias, DirectiveKind, Function, Linkage, Module, Origin, Parameter, Variable

_TWICE, _APART = "name.duplicate", "name.conflict"


def linkage_findings(module: Module) -> Iterator[Finding]:
    """`name.duplicate` for names defined twice or declared behind their definition, `name.conflict` for declarations
    that do not agree and for `.alias` of functions that are not declared before it.

    What both newest assemblers refuse. An alias has no line; that of its function's declaration stands for it.
    """
    seen: dict[str, Variable | Function] = {}
    for item in module.items:
        match item:
            case Variable() | Function():
                if (before := seen.get(item.name)) is not None:
                    yield from _pair(before, item)
                if before is None or _defines(item):
                    seen[item.name] = item
            case Alias():
                yield from _alias(module, item, seen)
            case _:
                pass


def _pair(before: Variable | Function, item: Variable | Function) -> Iterator[Finding]:
    name = item.name
    if _defines(before) and _defines(item):
        yield _error(_TWICE, f"{name} is defined twice", item.origin)
        return
    wrong = ""
    match before, item:
        case Function(), Function():
            if _defines(before):
                yield _error(_TWICE, f"{name} is declared behind its definition", item.origin)
                return
            wrong = _functions(before, item)
        case Variable(), Variable():
            wrong = _variables(before, item)
        case _:
            wrong = "a variable and a function"
    if wrong:
        yield _error(_APART, f"{name} is declared before, and differently: {wrong}", item.origin)


def _functions(before: Function, item: Function) -> str:
    """What a declaration and another one, or the definition, do not agree in; empty where they do."""
    if before.kind is not item.kind:
        return f".{before.kind.value} and .{item.kind.value}"
    first, second = before.linkage, item.linkage
    if first is not second and (second is not Linkage.PRIVATE or first is Linkage.EXTERN):
        return f"{_linkage(first)} and {_linkage(second)}"
    if first is Linkage.EXTERN and item.body is not None:
        return f"{_linkage(first)} and with a body"
    if _ends(before) is not _ends(item):
        return "one is .noreturn, the other returns"
    return _signatures(before, item)


def _signatures(one: Function, other: Function) -> str:
    for what, first, second in (
        ("return values", one.returns, other.returns),
        ("parameters", one.parameters, other.parameters),
    ):
        if len(first) != len(second):
            return f"{len(first)} and {len(second)} {what}"
        for place, (left, right) in enumerate(zip(first, second, strict=True)):
            if _passed(left) != _passed(right):
                return f"number {place} of the {what} is {_told(left)} and {_told(right)}"
    return ""


def _passed(parameter: Parameter) -> tuple[object, ...]:
    return parameter.register, parameter.type, parameter.shape, parameter.register or parameter.align_bytes


def _told(parameter: Parameter) -> str:
    space = ".reg" if parameter.register else f".param .align {parameter.align_bytes}"
    return f"{space} .{parameter.type.name}{_extents(parameter.shape)}"


def _extents(shape: tuple[int | None, ...]) -> str:
    return "".join(f"[{'' if each is None else each}]" for each in shape)


def _variables(before: Variable, item: Variable) -> str:
    kinds = [
        f"{f'.v{each.vector} ' if each.vector > 1 else ''}.{each.type.name}{_extents(each.shape)}"
        for each in (before, item)
    ]
    unlike = (before.type, before.vector, before.shape[1:]) != (item.type, item.vector, item.shape[1:])
    first, second = before.shape[:1], item.shape[:1]
    if unlike or len(first) != len(second) or (first != second and None not in (*first, *second)):
        return " and ".join(kinds)
    if before.linkage is Linkage.EXTERN and item.linkage is Linkage.PRIVATE:
        return f"{_linkage(before.linkage)} and {_linkage(item.linkage)}"
    return ""


def _alias(module: Module, alias: Alias, seen: dict[str, Variable | Function]) -> Iterator[Finding]:
    told = f".alias {alias.name}, {alias.of}"
    found = [seen.get(name) for name in (alias.name, alias.of)]
    for name, function in zip((alias.name, alias.of), found, strict=True):
        if not isinstance(function, Function):
            yield _error(_APART, f"{told} wants {name} declared as a function before it", _place(module, alias))
            return
    one, other = found
    if isinstance(one, Function) and one.body is not None:
        yield _error(_TWICE, f"{told} of a function that has a body", one.origin)
    elif isinstance(one, Function) and isinstance(other, Function) and (wrong := _signatures(one, other)):
        yield _error(_APART, f"{told} of functions that differ: {wrong}", _place(module, alias))


def _place(module: Module, alias: Alias) -> Origin | None:
    """Where the alias's function is declared, else the function that it stands for."""
    functions = {item.name: item.origin for item in module.items if isinstance(item, Function)}
    return functions.get(alias.name) or functions.get(alias.of)


def _defines(item: Variable | Function) -> bool:
    """A declaration may be repeated: a function without body, an extern variable."""
    return item.body is not None if isinstance(item, Function) else item.linkage is not Linkage.EXTERN


def _ends(function: Function) -> bool:
    return any(getattr(each, "kind", None) is DirectiveKind.NORETURN for each in function.directives)


def _linkage(linkage: Linkage) -> str:
    return f".{linkage.value}" if linkage.value else "without linkage"


def _error(code: str, message: str, origin: Origin | None) -> Finding:
    return Finding(code, Severity.ERROR, message, origin)
