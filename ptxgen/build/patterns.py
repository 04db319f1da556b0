"""The checks of an instruction's operands, written out as Python source once per pattern of operands."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import Any, TypeAlias

from isa.operands import OperandKind, OperandSlot, Role, Signature
from ptxgen.build.blame import fail
from ptxgen.build.handles import Offset, Value
from ptxgen.build.operands import operand
from ptxgen.ir import Address, Sink

Call: TypeAlias = Callable[..., Any]
Pattern: TypeAlias = tuple[tuple[str, int], ...]
_MISSING: Any = object()


def sources_of(signature: Signature) -> tuple[OperandSlot, ...]:
    """The slots that the user fills by position: all but those only written, an address being a source always."""
    return tuple(slot for slot in signature.slots if not is_destination(slot) and slot.kind is not OperandKind.SINK)


def is_destination(slot: OperandSlot) -> bool:
    """True for a slot that a fresh register or `into=` fills; one that takes `_` only is filled without the user."""
    return slot.role is Role.WRITE and slot.kind not in (OperandKind.ADDRESS, OperandKind.SINK)


def pattern_of(signature: Signature) -> Pattern:
    """One word and one element count per operand slot, in order: all that the written-out checks depend on."""
    return tuple((_word_of(slot), slot.count) for slot in signature.slots)


def _word_of(slot: OperandSlot) -> str:
    if is_destination(slot):
        return "vector destination" if slot.kind is OperandKind.VECTOR else "destination"
    match slot.kind:
        case OperandKind.VECTOR:
            return "vector"
        case OperandKind.ADDRESS:
            return "address"
        case OperandKind.SINK:
            return "sink"
        case OperandKind.REGISTER | OperandKind.VALUE | OperandKind.PREDICATE:
            return "value"
        case _:
            return "other"


@cache
def factory(pattern: Pattern) -> Call:
    """The maker of functions for a pattern of operands, compiled from `source_for` as attrs compiles `__init__`."""
    namespace: dict[str, Any] = {
        "__name__": f"{__package__}.generated",
        "getframe": sys._getframe, "Value": Value, "Offset": Offset, "Address": Address, "operand": operand,
        "missing": _MISSING, "nothing": Sink(), "wrong_count": _wrong_count,
        "wrong_into": _wrong_into, "guard_needs_into": _guard_needs_into,
    }  # fmt: skip
    exec(compile(source_for(pattern), "<ptxgen.build instruction>", "exec"), namespace)
    made: Call = namespace["make"]
    return made


def source_for(pattern: Pattern) -> str:
    """The Python source of the maker for a pattern: one word and one element count per operand slot, in order."""
    written = [index for index, (word, _) in enumerate(pattern) if "destination" in word]
    read = [index for index, (word, _) in enumerate(pattern) if index not in written and word != "sink"]
    lines = ["def make(kernel, form, signature, slots, accepts, pools, choose):", "    name = form.name"]
    for i in range(len(pattern)):
        lines.append(f"    s{i} = slots[{i}]; ok{i} = accepts[{i}]; ints{i} = {{}}; floats{i} = {{}}")
    vectors = [(i, count) for i, (word, count) in enumerate(pattern) if "vector" in word]
    lines += [f"    vectors{i} = kernel.vectors(ok{i}, {count})" for i, count in vectors]
    lines += [f"    pool{i} = pools[{i}]; take{i} = pool{i}.take; node{i} = pool{i}.next_node" for i in written]
    given = "".join(f"a{i}=missing, " for i in read)
    lines.append(f"    def call({given}extra=missing, into=None, _depth=1, *more):")
    lines.append(f"        if extra is not missing{f' or a{read[-1]} is missing' if read else ''}:")
    lines.append(f"            wrong_count(name, signature, ({''.join(f'a{i}, ' for i in read)}extra,), into)")
    for index in read:
        lines += _source_checks(index, *pattern[index])
    lines += [f"        n{index} = nothing" for index, (word, _) in enumerate(pattern) if word == "sink"]
    lines.append("        guard = kernel.guarding")
    lines += _destinations(pattern, written)
    lines += [
        "        where = kernel.attribution",
        "        if where is None:",
        "            frame = getframe(_depth); where = frame.f_code; offset = frame.f_lasti",
        "        else: offset = 0",
        f"        operands = ({''.join(f'n{i}, ' for i in range(len(pattern)))})",
        "        kernel.record((form, operands, guard, where, offset))",
        "        return " + ("None" if not written else ", ".join(f"a{i}" for i in written)),
        "    call.__qualname__ = 'k.' + name",
        "    return call",
    ]
    return "\n".join(lines)


def _source_checks(index: int, word: str, count: int) -> list[str]:
    slow = f"n{index} = operand(kernel, name, s{index}, a{index})"
    match word:
        case "value":
            return [
                f"        if {_fits(index)}: n{index} = a{index}.node",
                f"        elif type(a{index}) is int:",
                f"            n{index} = ints{index}.get(a{index})",
                f"            if n{index} is None: {slow}; ints{index}[a{index}] = n{index}",
                f"        elif type(a{index}) is float:",
                f"            signed = a{index} or str(a{index})",
                f"            n{index} = floats{index}.get(signed)",
                f"            if n{index} is None: {slow}; floats{index}[signed] = n{index}",
                f"        else: {slow}",
            ]
        case "address":
            return [
                f"        if {_fits(index, 'Offset')}:",
                f"            n{index} = a{index}.address",
                f"        elif {_fits(index)}: n{index} = Address(a{index}.node)",
                f"        else: {slow}",
            ]
        case "vector":
            return _vector_checks(index, count)
        case _:
            return [f"        {slow}"]


def _fits(index: int, handle: str = "Value") -> str:
    return f"type(a{index}) is {handle} and a{index}.pool in ok{index}"


def _vector_checks(index: int, count: int, before: str = "") -> list[str]:
    each = f"type(e) is Value and e.pool in ok{index}"
    slow = f"{before + '; ' if before else ''}n{index} = operand(kernel, name, s{index}, a{index})"
    return [
        f"        if type(a{index}) is tuple:",
        f"            try: n{index} = vectors{index}.get(a{index})",
        f"            except TypeError: n{index} = None",
        f"            if n{index} is None:",
        f"                n{index} = tuple([e.node for e in a{index} if {each}])",
        f"                if len(n{index}) != {count} or len(a{index}) != {count}: {slow}",
        f"                else: vectors{index}[a{index}] = n{index}",
        f"        else: n{index} = operand(kernel, name, s{index}, a{index})",
    ]


def _destinations(pattern: Pattern, written: list[int]) -> list[str]:
    if not written:
        return ["        if into is not None: wrong_into(name, signature, into)"]
    lines = ["        if into is None:", "            if guard is not None: guard_needs_into(name)"]
    for index in written:
        word, count = pattern[index]
        if word == "vector destination":
            lines.append(f"            a{index} = ({f'take{index}(), ' * count})")
            lines.append(f"            n{index} = ({''.join(f'a{index}[{e}].node, ' for e in range(count))})")
        else:
            made = f"a{index} = Value(); a{index}.pool = pool{index}"
            lines.append(f"            {made}; a{index}.node = n{index} = node{index}()")
    lines.append("        else:")
    if len(written) == 1 and pattern[written[0]][0] == "destination":
        given = "".join(
            f"a{index}, " for index, (word, _) in enumerate(pattern) if index not in written and word != "sink"
        )
        lines.append("            if choose is not None and into.__class__ in (tuple, list):")
        lines.append(f"                return choose({given}into=into, _depth=_depth + 1)")
    if len(written) == 1:
        lines.append(f"            a{written[0]} = into")
    else:
        lines.append(f"            if not isinstance(into, (tuple, list)) or len(into) != {len(written)}:")
        lines.append("                wrong_into(name, signature, into)")
        lines.append("            " + ", ".join(f"a{i}" for i in written) + " = into")
    for index in written:
        word, count = pattern[index]
        lines += [f"    {line}" for line in _into_checks(index, word, count)]
    return lines


def _into_checks(index: int, word: str, count: int) -> list[str]:
    if word == "vector destination":
        filled = f"a{index} = tuple([take{index}() if e is None else e for e in a{index}])"
        return _vector_checks(index, count, before=filled)
    return [
        f"        if a{index} is None: a{index} = take{index}()",
        f"        if {_fits(index)}: n{index} = a{index}.node",
        f"        else: n{index} = operand(kernel, name, s{index}, a{index})",
    ]


def _wrong_count(name: str, signature: Signature, sources: tuple[object, ...], into: object) -> None:
    """Tells how many sources came; with an `into` that may be one source more, only that there are too many."""
    names = [slot.name for slot in sources_of(signature)]
    wanted = f"{len(names)} sources ({', '.join(names)})" if names else "no source"
    given = sum(each is not _MISSING for each in sources)
    fail("operand.count", f"{name} takes {wanted}, got {given if given <= len(names) or into is None else 'more'}")


def _wrong_into(name: str, signature: Signature, into: object) -> None:
    written = [str(slot) for slot in signature.slots if is_destination(slot)]
    wanted = f"into=({', '.join(written)})" if written else "no into=, for it writes no register"
    fail("operand.count", f"{name} takes {wanted}; got into={into!r}")


def _guard_needs_into(name: str) -> None:
    fail(
        "guard.fresh",
        f"{name} under k.guard needs into=: a fresh register would have no value where the guard is false",
    )
