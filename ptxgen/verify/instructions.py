"""What one instruction says about itself: its availability, its operands, its guard."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from isa.availability import Availability
from isa.forms import Form
from isa.operands import OperandKind, OperandSlot
from isa.special import SpecialRegister, UnknownSpecialRegister, special
from isa.targets import PtxVersion, Target
from isa.types import Type, pred
from ptxgen.errors import Finding, Severity
from ptxgen.ir import Address, Instruction, Int, Operand, Register, Special, signature_of, signatures_of_length
from ptxgen.verify.operands import Refusal, refusal, told

_TYPED = frozenset({OperandKind.REGISTER, OperandKind.VALUE, OperandKind.PREDICATE})


def instruction_findings(instruction: Instruction, version: PtxVersion, target: Target) -> Iterator[Finding]:
    """The findings on one instruction in PTX `version` for `target`, which has it."""
    for operand in instruction.operands:
        if operand.__class__ is Special:
            yield from _special(instruction, operand, version, target)
        elif operand.__class__ is Address:
            yield from _address(instruction, operand, version, target)
    guard = instruction.guard
    if guard is not None and guard.register.type.name != "pred":
        yield _finding(instruction, "type.mismatch", f"the guard wants a predicate, got {told(guard.register)}")
    yield from operand_findings(instruction)


class Glance:
    """Clears instructions by one look at each operand. What was found of an operand that is no register is remembered
    by the identity of its object, which must stay alive meanwhile."""

    def __init__(self) -> None:
        self._fitting: set[tuple[int, int]] = set()

    def clears(self, instruction: Instruction) -> bool:
        """True where it shows that `instruction_findings` has nothing to say, for any target that has the instruction;
        it is asked where not."""
        operands, guard = instruction.operands, instruction.guard
        taken = _taken(instruction.form, len(operands))
        if taken is None or (guard is not None and guard.register.type is not pred):
            return False
        slots, types = taken
        fitting = self._fitting
        for place, operand in enumerate(operands):
            if operand.__class__ is Register:
                if operand.type not in types[place]:
                    return False
            elif (id(operand), id(slots[place])) not in fitting:
                if refusal(slots[place], operand) is not None or _depends(operand):
                    return False
                fitting.add((id(operand), id(slots[place])))
        return True


def _depends(operand: Operand) -> bool:
    """Whether it depends on the target or the instruction if there is such an operand."""
    if operand.__class__ is Address:
        return operand.unified or operand.base.__class__ is Int
    if operand.__class__ is tuple:
        return any(part.__class__ is not Register for part in operand)
    return operand.__class__ is Special


@cache
def _taken(form: Form, count: int) -> tuple[tuple[OperandSlot, ...], tuple[frozenset[Type], ...]] | None:
    """The slots of that many operands, and the types of a register that may stand in each whole; None where the sorts
    of the operands choose the signature."""
    found = signatures_of_length(form, count)
    if len(found) != 1:
        return None
    slots, nothing = found[0].slots, frozenset[Type]()
    return slots, tuple(slot.accepts if slot.kind in _TYPED and not slot.partial else nothing for slot in slots)


def unavailable_finding(instruction: Instruction, version: PtxVersion, target: Target) -> Finding:
    """That an instruction does not exist in PTX `version` for `target`."""
    form = instruction.form
    return _finding(instruction, "target.unsupported", unavailable(form.name, form, version, target))


def unavailable(name: str, form: Form, version: PtxVersion, target: Target) -> str:
    """That an instruction does not exist in a version for a target, both named."""
    return f"{name} exists since {form.availability}; this module is PTX {version} for {target}"


def operand_findings(instruction: Instruction) -> Iterator[Finding]:
    """The findings on the number, sorts, types and values of an instruction's operands."""
    form, operands = instruction.form, instruction.operands
    signature = signature_of(form, operands)
    if signature is None:
        yield _finding(instruction, "operand.count", f"{form.name} takes {_ways(form)}, got {len(operands)} operands")
        return
    found = _refused(signature.slots, operands)
    if found:
        others = (_refused(each.slots, operands) for each in signatures_of_length(form, len(operands)))
        found = min((found, *others), key=len)
    count = _surplus(form, operands) if len(found) > 1 else None
    if count is not None:
        message = f"{form.name} takes {_ways(form)}: {told(operands[count])} is too many"
        yield _finding(instruction, "operand.count", message)
        return
    for refused in found:
        yield _finding(instruction, refused.code, f"{form.name}: {refused.message}")


def _ways(form: Form) -> str:
    return " or ".join(f"'{each}'" for each in form.signatures)


def _refused(slots: tuple[OperandSlot, ...], operands: tuple[Operand, ...]) -> list[Refusal]:
    found = []
    for slot, operand in zip(slots, operands, strict=True):
        if operand.__class__ is Register and operand.type in slot.accepts and slot.kind in _TYPED and not slot.partial:
            continue
        refused = refusal(slot, operand)
        if refused is not None:
            found.append(refused)
    return found


def _surplus(form: Form, operands: tuple[Operand, ...]) -> int | None:
    """How many operands fit a shorter signature, so that the next one is too many; None where none fits."""
    for count in range(len(operands) - 1, 0, -1):
        for shorter in signatures_of_length(form, count):
            if not _refused(shorter.slots, operands[:count]):
                return count
    return None


def _special(instruction: Instruction, operand: Special, version: PtxVersion, target: Target) -> Iterator[Finding]:
    fact = special_named(operand.name)
    if not fact.availability.holds(version, target):
        message = f"{operand.text} exists since {fact.availability}; this module is PTX {version} for {target}"
        yield _finding(instruction, "target.unsupported", message)


def _address(instruction: Instruction, operand: Address, version: PtxVersion, target: Target) -> Iterator[Finding]:
    """An address marked `.unified` where that does not exist, and an absolute one, which local memory alone has."""
    if operand.unified:
        yield from _unified(instruction, version, target)
    if operand.base.__class__ is Int and instruction.form.words.get("space") != "local":
        message = f"{instruction.form.name}: {operand.text} is an absolute address, which .local alone has"
        yield _finding(instruction, "memory.space", message)


def _unified(instruction: Instruction, version: PtxVersion, target: Target) -> Iterator[Finding]:
    """An address marked `.unified` where that does not exist."""
    for since in unified_marks(instruction):
        if not since.holds(version, target):
            message = f"[a].unified exists since {since}; this module is PTX {version} for {target}"
            yield _finding(instruction, "target.unsupported", f"{instruction.form.name}: {message}")


def unified_marks(instruction: Instruction) -> Iterator[Availability]:
    """Where the marks `.unified` of an instruction's addresses exist."""
    signature = signature_of(instruction.form, instruction.operands)
    for slot, operand in zip(() if signature is None else signature.slots, instruction.operands, strict=False):
        if isinstance(operand, Address) and operand.unified and slot.unified is not None:
            yield slot.unified


def special_named(name: str) -> SpecialRegister:
    """The facts of a special register; of a whole vector such as `tid`, those of its first component."""
    try:
        return special(name)
    except UnknownSpecialRegister:
        return special(f"{name}.x")


def _finding(instruction: Instruction, code: str, message: str) -> Finding:
    return Finding(code, Severity.ERROR, message, instruction.origin)
