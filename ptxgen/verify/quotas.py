"""`setmaxnreg`: what the warpgroups of a block ask for together, against the registers there are."""

from __future__ import annotations

from collections.abc import Iterator

from isa.limits import limits
from isa.targets import Target
from ptxgen.errors import Finding, Severity
from ptxgen.ir import Directive, DirectiveKind, Instruction, Int
from ptxgen.verify.values import Values

_WARPGROUP = 128
_STEP = 8


def quota_findings(values: Values, target: Target) -> Iterator[Finding]:
    """`setmaxnreg.ignored` and `registers.budget` of `setmaxnreg`.

    ptxas knows the registers of a thread at its start from `.maxnreg` or from the threads of the block, and ignores the
    instruction without them. At best one warpgroup has what it asks for and all others the least that any of them may
    be left with.
    """
    asked = [values.body.flow.instructions[index] for index in values.body.by_opcode.get("setmaxnreg", ())]
    kinds = {each.kind: each.values for each in values.body.function.directives if isinstance(each, Directive)}
    if not asked:
        return
    if not {DirectiveKind.MAXNREG, DirectiveKind.MAXNTID, DirectiveKind.REQNTID} & kinds.keys():
        message = f"{asked[0].form.name} is ignored: without .maxntid, .reqntid or .maxnreg nobody knows the registers"
        yield Finding("setmaxnreg.ignored", Severity.ERROR, f"{message} of a thread at its start", asked[0].origin)
        return
    try:
        bounds = limits(target)
    except LookupError:
        return
    threads = values.launch.most_threads
    if threads is None or threads % _WARPGROUP:
        return
    resident = (kinds.get(DirectiveKind.MINNCTAPERSM) or (1,))[0]
    share = bounds.registers_per_sm // max(resident, 1) // threads // _STEP * _STEP
    start = min((kinds.get(DirectiveKind.MAXNREG) or (share,))[0], share, bounds.registers_per_thread)
    yield from _together(asked, start, threads // _WARPGROUP)


def _together(asked: list[Instruction], start: int, groups: int) -> Iterator[Finding]:
    numbers = {id(each): each.operands[0].value for each in asked if isinstance(each.operands[0], Int)}
    least = min([start, *numbers.values()])
    for instruction in asked:
        wanted = numbers.get(id(instruction), 0)
        needed = wanted + (groups - 1) * least
        if instruction.form.words["action"] == "inc" and needed > start * groups:
            message = (
                f"{instruction.form.name} waits for {wanted} registers a thread; {groups} warpgroups begin with "
                f"{start} each, and the others keep at least {least}"
            )
            yield Finding("registers.budget", Severity.ERROR, message, instruction.origin)
        if instruction.form.words["action"] == "dec" and wanted > start:
            message = f"{instruction.form.name} gives up registers down to {wanted}; a thread begins with {start}"
            yield Finding("registers.budget", Severity.ERROR, message, instruction.origin)
