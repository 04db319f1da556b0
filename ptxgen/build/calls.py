"""From an instruction's name to the checked function that writes it, its checks written out once per pattern."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from isa.forms import Form, UnknownInstruction, resolve
from isa.operands import OperandKind, OperandSlot, Role, Signature

from ptxgen.build.blame import fail
from ptxgen.build.handles import Label, Not, Offset, SpecialRegister, Symbol, Value, sink
from ptxgen.build.operands import operand
from ptxgen.build.registers import register_type
from ptxgen.ir import Address

if TYPE_CHECKING:
    from ptxgen.build.kernel import Kernel

Call: TypeAlias = Callable[..., Any]
_MISSING: Any = object()


def function_for(kernel: Kernel, name: str) -> Call:
    """The function `(*sources, into=None)` that writes instruction `name` into the kernel.

    An unknown name raises KernelError now; a name that the target or PTX version lacks gives a function that raises
    when called, so that completion may look at it.
    """
    try:
        candidates = resolve(name)
    except UnknownInstruction as unknown:
        fail("instruction.unknown", str(unknown))
    able = [form for form in candidates if kernel.module.has(form.availability)]
    if not able:
        return _unavailable(kernel, name, str(candidates.availability))
    made = [(signature, _specialised(kernel, form, signature)) for form in able for signature in form.signatures]
    if len(made) == 1:
        return made[0][1]
    choose = _choosing(name, made)
    if len({sources_of(signature) for signature, _ in made}) > 1:
        return choose
    least = min((signature for signature, _ in made), key=_destination_count)
    return _specialised(kernel, able[0], least, choose)


def _unavailable(kernel: Kernel, name: str, availability: str) -> Call:
    def refuse(*sources: object, into: object = None, _depth: int = 1) -> None:
        fail("target.unsupported", f"{name} exists since {availability}; this module is for {kernel.module.described}")

    return refuse


def sources_of(signature: Signature) -> tuple[OperandSlot, ...]:
    """The slots that the user fills by position: all but those only written, an address being a source always."""
    return tuple(slot for slot in signature.slots if not is_destination(slot))


def is_destination(slot: OperandSlot) -> bool:
    """True for a slot that a fresh register or `into=` fills."""
    return slot.role is Role.WRITE and slot.kind is not OperandKind.ADDRESS


def _choosing(name: str, made: list[tuple[Signature, Call]]) -> Call:
    """A function that picks the signature by the number and sort of the sources and the shape of `into`.

    Without `into`, the signature with the fewest destinations of those that take the same sources.
    """
    plain = sorted(made, key=lambda each: _destination_count(each[0]))
    fresh: dict[int, dict[tuple[OperandSlot, ...], Call]] = {}
    for signature, call in plain:
        slots = sources_of(signature)
        fresh.setdefault(len(slots), {}).setdefault(slots, call)
    only = {count: next(iter(ways.values())) for count, ways in fresh.items() if len(ways) == 1}

    def choose(*sources: object, into: object = None, _depth: int = 1) -> Any:
        if into is None and (call := only.get(len(sources))) is not None:
            return call(*sources, _depth=_depth + 1)
        fitting = [each for each in plain if len(sources_of(each[0])) == len(sources) and _takes_into(each[0], into)]
        exact = (each for each in fitting if all(map(_stands, sources_of(each[0]), sources)))
        chosen = next(exact, fitting[0] if fitting else None)
        if chosen is None:
            ways = " or ".join(f"'{signature}'" for signature, _ in made)
            fail("operand.count", f"{name} takes {ways}; got {len(sources)} sources" + _told_into(into))
        return chosen[1](*sources, into=into, _depth=_depth + 1)

    return choose


def _destination_count(signature: Signature) -> int:
    return sum(map(is_destination, signature.slots))


def _told_into(into: object) -> str:
    return "" if into is None else f" and into={into!r}"


def _takes_into(signature: Signature, into: object) -> bool:
    written = [slot for slot in signature.slots if is_destination(slot)]
    if into is None:
        return True
    if isinstance(into, tuple | list):
        vector = len(written) == 1 and written[0].kind is OperandKind.VECTOR
        return len(into) == (written[0].count if vector else len(written)) and (vector or len(written) > 1)
    return len(written) == 1 and written[0].kind is not OperandKind.VECTOR


_SORTS: dict[OperandKind, tuple[type, ...]] = {
    OperandKind.REGISTER: (Value,),
    OperandKind.VALUE: (Value, int, float),
    OperandKind.PREDICATE: (Value, Not),
    OperandKind.VECTOR: (tuple, list),
    OperandKind.ADDRESS: (Value, Offset, Symbol, int),
    OperandKind.COORDINATE: (),
    OperandKind.IMMEDIATE: (int, float),
    OperandKind.LABEL: (Label,),
    OperandKind.SYMBOL: (Symbol, Offset),
    OperandKind.SPECIAL: (SpecialRegister,),
}


def _stands(slot: OperandSlot, given: object) -> bool:
    if isinstance(given, Value):
        return slot.kind in _SORTS and Value in _SORTS[slot.kind] and given.type in slot.accepts
    return (
        isinstance(given, _SORTS[slot.kind])
        or (slot.symbol and isinstance(given, Symbol | Offset))
        or (slot.special and isinstance(given, SpecialRegister))
        or (slot.sink and given is sink)
    )


def _specialised(kernel: Kernel, form: Form, signature: Signature, choose: Call | None = None) -> Call:
    """The function for one signature; `choose` takes over where `into` asks for another number of destinations."""
    slots = signature.slots
    pattern = tuple((_pattern_of(slot), slot.count) for slot in slots)
    takers = [
        kernel.pool(register_type(slot.type)).take if is_destination(slot) and slot.type is not None else None
        for slot in slots
    ]
    return _factory(pattern)(kernel, form, signature, slots, [slot.accepts for slot in slots], takers, choose)


def _pattern_of(slot: OperandSlot) -> str:
    if is_destination(slot):
        return "vector destination" if slot.kind is OperandKind.VECTOR else "destination"
    match slot.kind:
        case OperandKind.VECTOR:
            return "vector"
        case OperandKind.ADDRESS:
            return "address"
        case OperandKind.REGISTER | OperandKind.VALUE | OperandKind.PREDICATE:
            return "value"
        case _:
            return "other"


@cache
def _factory(pattern: tuple[tuple[str, int], ...]) -> Call:
    """The maker of functions for a pattern of operands, compiled from `source_for` as attrs compiles `__init__`."""
    namespace: dict[str, Any] = {
        "__name__": f"{__package__}.generated",
        "getframe": sys._getframe, "Value": Value, "Offset": Offset, "Address": Address, "operand": operand, "missing": _MISSING,
        "wrong_count": _wrong_count, "wrong_into": _wrong_into, "guard_needs_into": _guard_needs_into,
    }  # fmt: skip
    exec(compile(source_for(pattern), "<ptxgen.build instruction>", "exec"), namespace)
    made: Call = namespace["make"]
    return made


def source_for(pattern: tuple[tuple[str, int], ...]) -> str:
    """The Python source of the maker for a pattern: one word and one element count per operand slot, in order."""
    written = [index for index, (word, _) in enumerate(pattern) if "destination" in word]
    read = [index for index in range(len(pattern)) if index not in written]
    lines = ["def make(kernel, form, signature, slots, accepts, takers, choose):", "    name = form.name"]
    for i in range(len(pattern)):
        lines.append(f"    s{i} = slots[{i}]; ok{i} = accepts[{i}]; take{i} = takers[{i}]; numbers{i} = {{}}")
    given = "".join(f"a{i}=missing, " for i in read)
    lines.append(f"    def call({given}{'/, ' if read else ''}*extra, into=None, _depth=1):")
    lines.append(f"        if extra{f' or a{read[-1]} is missing' if read else ''}:")
    lines.append(f"            wrong_count(name, signature, ({''.join(f'a{i}, ' for i in read)}*extra,))")
    for index in read:
        lines += _source_checks(index, *pattern[index])
    lines += _destinations(pattern, written)
    lines += [
        "        where = kernel.attribution",
        "        if where is None:",
        "            frame = getframe(_depth); where = frame.f_code; offset = frame.f_lasti",
        "        else: offset = 0",
        f"        kernel.record((form, ({''.join(f'n{i}, ' for i in range(len(pattern)))}), kernel.guarding, where, offset))",
        "        return " + ("None" if not written else ", ".join(f"a{i}" for i in written)),
        "    return call",
    ]
    return "\n".join(lines)


def _source_checks(index: int, word: str, count: int) -> list[str]:
    slow = f"n{index} = operand(kernel, name, s{index}, a{index})"
    match word:
        case "value":
            return [
                f"        if {_fits(index)}: n{index} = a{index}.node",
                f"        elif a{index}.__class__ is int or a{index}.__class__ is float and a{index}:",
                f"            n{index} = numbers{index}.get((a{index}, a{index}.__class__))",
                f"            if n{index} is None:",
                f"                {slow}; numbers{index}[a{index}, a{index}.__class__] = n{index}",
                f"        else: {slow}",
            ]
        case "address":
            return [
                f"        if a{index}.__class__ is Offset and a{index}.kernel is kernel and a{index}.type in ok{index}:",
                f"            n{index} = a{index}.address",
                f"        elif {_fits(index)}: n{index} = Address(a{index}.node)",
                f"        else: {slow}",
            ]
        case "vector":
            return _vector_checks(index, count)
        case _:
            return [f"        {slow}"]


def _fits(index: int) -> str:
    return f"a{index}.__class__ is Value and a{index}.kernel is kernel and a{index}.type in ok{index}"


def _vector_checks(index: int, count: int, before: str = "") -> list[str]:
    each = f"e.__class__ is Value and e.kernel is kernel and e.type in ok{index}"
    slow = f"{before + '; ' if before else ''}n{index} = operand(kernel, name, s{index}, a{index})"
    return [
        f"        if a{index}.__class__ is tuple:",
        f"            n{index} = tuple([e.node for e in a{index} if {each}])",
        f"            if len(n{index}) != {count} or len(a{index}) != {count}: {slow}",
        f"        else: n{index} = operand(kernel, name, s{index}, a{index})",
    ]


def _destinations(pattern: tuple[tuple[str, int], ...], written: list[int]) -> list[str]:
    if not written:
        return ["        if into is not None: wrong_into(name, signature, into)"]
    lines = ["        if into is None:", "            if kernel.guarding is not None: guard_needs_into(name)"]
    for index in written:
        word, count = pattern[index]
        if word == "vector destination":
            lines.append(f"            a{index} = ({f'take{index}(), ' * count})")
            lines.append(f"            n{index} = ({''.join(f'a{index}[{e}].node, ' for e in range(count))})")
        else:
            lines.append(f"            a{index} = take{index}(); n{index} = a{index}.node")
    lines.append("        else:")
    if len(written) == 1 and pattern[written[0]][0] == "destination":
        given = "".join(f"a{index}, " for index in range(len(pattern)) if index not in written)
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


def _wrong_count(name: str, signature: Signature, sources: tuple[object, ...]) -> None:
    names = [slot.name for slot in sources_of(signature)]
    wanted = f"{len(names)} sources ({', '.join(names)})" if names else "no source"
    fail("operand.count", f"{name} takes {wanted}, got {sum(each is not _MISSING for each in sources)}")


def _wrong_into(name: str, signature: Signature, into: object) -> None:
    written = [str(slot) for slot in signature.slots if is_destination(slot)]
    wanted = f"into=({', '.join(written)})" if written else "no into=, for it writes no register"
    fail("operand.count", f"{name} takes {wanted}; got into={into!r}")


def _guard_needs_into(name: str) -> None:
    fail("guard.fresh", f"{name} under k.guard needs into=: a fresh register would have no value where the guard is false")
