"""What a call may do: summaries of the functions of a module, over its call graph."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from attrs import frozen

from isa.forms import Form
from ptxgen.ir import Alias, Call, CallTargets, Function, Module, SymbolAddress, besides_instructions
from ptxgen.verify.body import CALL, Body

_HARMLESS = frozenset({"vprintf", "malloc", "free", "__assertfail"})


@frozen
class Effects:
    """The instructions that a function and all that it calls may execute; `known` is False where nobody can tell."""

    forms: frozenset[Form]
    known: bool = True


_NONE, _UNKNOWN = Effects(frozenset()), Effects(frozenset(), False)


def effects_of(module: Module, bodies: Iterable[Body]) -> Mapping[str, Effects]:
    """The effects of each function of a module that has a body, by its name and its aliases."""
    own: dict[str, tuple[frozenset[Form], tuple[str, ...] | None]] = {}
    for body in bodies:
        forms = frozenset(each for each in body.forms if each.opcode != CALL)
        own[body.function.name] = (forms, _callees(body))
    for alias in (item for item in module.items if isinstance(item, Alias)):
        if alias.of in own:
            own[alias.name] = own[alias.of]
    return {name: _whole(name, own) for name in own}


def _whole(name: str, own: Mapping[str, tuple[frozenset[Form], tuple[str, ...] | None]]) -> Effects:
    forms: set[Form] = set()
    seen, stack = {name}, [name]
    while stack:
        each = stack.pop()
        if each in _HARMLESS:
            continue
        if each not in own:
            return _UNKNOWN
        here, called = own[each]
        if called is None:
            return _UNKNOWN
        forms |= here
        stack += [other for other in called if other not in seen]
        seen.update(called)
    return Effects(frozenset(forms))


def _callees(body: Body) -> tuple[str, ...] | None:
    found: list[str] = []
    for call in body.calls.values():
        names = callees(body.function, call)
        if names is None:
            return None
        found += names
    return tuple(dict.fromkeys(found))


def callees(function: Function, call: Call) -> tuple[str, ...] | None:
    """The names of the functions that a call of `function` may reach; None where any may be reached."""
    if isinstance(call.target, SymbolAddress):
        return (call.target.name,)
    if function.body is not None and call.declared is not None:
        for node in besides_instructions(function.body):
            if isinstance(node, CallTargets) and node.name.name == call.declared.name:
                return node.functions
    return None


def joined(effects: Mapping[str, Effects], names: tuple[str, ...] | None) -> Effects:
    """What a call that may reach any of these functions may do."""
    if names is None:
        return _UNKNOWN
    found = [_NONE if name in _HARMLESS and name not in effects else effects.get(name, _UNKNOWN) for name in names]
    return Effects(frozenset().union(*(each.forms for each in found)), all(each.known for each in found))
