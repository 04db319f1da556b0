"""What a CTA may hold: shared memory and threads."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from isa.availability import since
from isa.limits import KIB, Limits, limits
from isa.targets import Target
from ptxgen.errors import Finding, Severity
from ptxgen.ir import Directive, DirectiveKind, Function, FunctionKind, Module, Space, Statement, Variable

_CLUSTER = DirectiveKind.REQNCTAPERCLUSTER
_MOST_CTAS = 16
_WIDE_STATIC = 90
_LOCAL_BYTES, _CONSTANT_BYTES = 512 * KIB, 64 * KIB
_PARAMETER_BYTES, _WIDE_PARAMETER_BYTES = 4352, 32764
_WIDE_PARAMETERS = since("8.1", 70)


def budget_findings(
    module: Module, function: Function, statements: tuple[Statement, ...], target: Target
) -> Iterator[Finding]:
    """The findings on a function's memory and launch bounds, against the limits of the target.

    `statements` are those of the function, or all of them but instructions. None are found for a target whose limits
    no published table has. That much static shared memory on sm_90 and later is a warning where only assemblers before
    13 refuse it.
    """
    try:
        bounds = limits(target)
    except LookupError:
        return
    own = [node for node in statements if isinstance(node, Variable)]
    variables = [item for item in module.items if isinstance(item, Variable)] + own
    shared = [variable for variable in variables if variable.space is Space.SHARED]
    total = space_bytes(shared)
    if total > bounds.shared_static_bytes:
        message = (
            f"{function.name} declares {total} bytes of shared memory; {target} allows {bounds.shared_static_bytes} "
            "in declarations, more through k.dynamic_shared"
        )
        newer = target.number >= _WIDE_STATIC and total <= bounds.shared_bytes_per_cta
        severity = Severity.WARNING if newer else Severity.ERROR
        yield Finding("shared.budget", severity, message, shared[-1].origin or function.origin)
    kinds = {each.kind: each for each in function.directives if isinstance(each, Directive)}
    yield from _residence(function, kinds, total, bounds, target)
    for kind in (DirectiveKind.MAXNTID, DirectiveKind.REQNTID):
        threads = 1
        for extent in kinds[kind].values if kind in kinds else ():
            threads *= extent
        if threads > bounds.threads_per_cta:
            message = f".{kind.value} asks for {threads} threads; {target} has at most {bounds.threads_per_cta} per CTA"
            yield Finding("threads.budget", Severity.ERROR, message, function.origin)
    yield from _local(function, own)
    yield from _parameters(module, function, target)


def _residence(
    function: Function, kinds: dict[DirectiveKind, Directive], shared: int, bounds: Limits, target: Target
) -> Iterator[Finding]:
    """What several directives ask for together, against the registers, threads and shared memory of an SM."""
    asked = kinds.get(DirectiveKind.REQNTID) or kinds.get(DirectiveKind.MAXNTID)
    threads = prod(asked.values) if asked is not None else 0
    registers = _value(kinds, DirectiveKind.MAXNREG)
    resident = _value(kinds, DirectiveKind.MINNCTAPERSM)
    if registers > bounds.registers_per_thread:
        message = f".maxnreg {registers}: a thread of {target} has at most {bounds.registers_per_thread} registers"
        yield Finding("registers.budget", Severity.WARNING, message, function.origin)
    yield from _registers(function, kinds, threads, bounds, target)
    if resident * threads > bounds.threads_per_sm:
        message = f"{resident} CTAs of {threads} threads; an SM of {target} has at most {bounds.threads_per_sm} threads"
        yield Finding("threads.budget", Severity.ERROR, message, function.origin)
    if resident > 1 and resident * shared > bounds.shared_bytes_per_sm:
        message = (
            f"{resident} CTAs of {shared} bytes of shared memory; an SM of {target} has {bounds.shared_bytes_per_sm}"
        )
        yield Finding("shared.budget", Severity.ERROR, message, function.origin)
    cluster = prod(kinds[_CLUSTER].values) if _CLUSTER in kinds else 0
    if cluster > _MOST_CTAS:
        message = f".{_CLUSTER.value} asks for {cluster} CTAs; a cluster has at most {_MOST_CTAS}"
        yield Finding("cluster.budget", Severity.ERROR, message, function.origin)


def _registers(
    function: Function, kinds: dict[DirectiveKind, Directive], threads: int, bounds: Limits, target: Target
) -> Iterator[Finding]:
    """`.maxnreg` against the CTAs that shall reside together: a smaller number of registers would have to do."""
    registers, resident = _value(kinds, DirectiveKind.MAXNREG), max(_value(kinds, DirectiveKind.MINNCTAPERSM), 1)
    if registers * threads * resident > bounds.registers_per_sm:
        message = (
            f".maxnreg {registers} for {resident * threads} threads in {resident} CTAs; "
            f"an SM of {target} has {bounds.registers_per_sm} registers"
        )
        yield Finding("registers.budget", Severity.WARNING, message, function.origin)


def _local(function: Function, own: list[Variable]) -> Iterator[Finding]:
    local = [each for each in own if each.space is Space.LOCAL]
    total = space_bytes(local)
    if total > _LOCAL_BYTES:
        message = f"{function.name} declares {total} bytes of local memory; a thread has at most {_LOCAL_BYTES}"
        yield Finding("local.budget", Severity.ERROR, message, local[-1].origin or function.origin)


def _parameters(module: Module, function: Function, target: Target) -> Iterator[Finding]:
    if function.kind is not FunctionKind.ENTRY:
        return
    total = 0
    for parameter in function.parameters:
        total = -(-total // max(parameter.align_bytes, 1)) * max(parameter.align_bytes, 1) + parameter.size_bytes
    wide = _WIDE_PARAMETERS.holds(module.version, target)
    most = _WIDE_PARAMETER_BYTES if wide else _PARAMETER_BYTES
    if total > most:
        more = "" if wide else f"; {_WIDE_PARAMETER_BYTES} since {_WIDE_PARAMETERS}"
        message = f"{function.name} has {total} bytes of parameters; PTX {module.version} for {target} has {most}{more}"
        yield Finding("parameters.budget", Severity.ERROR, message, function.origin)


def constant_budget_findings(module: Module) -> Iterator[Finding]:
    """`constants.budget`: the constants of a module against what there is."""
    constants = [each for each in module.items if isinstance(each, Variable) and each.space is Space.CONST]
    total = space_bytes(constants)
    if total > _CONSTANT_BYTES:
        message = f"the module declares {total} bytes of constants; there are {_CONSTANT_BYTES}"
        yield Finding("constants.budget", Severity.ERROR, message, constants[-1].origin)


def _value(kinds: dict[DirectiveKind, Directive], kind: DirectiveKind) -> int:
    return kinds[kind].values[0] if kind in kinds and kinds[kind].values else 0


def space_bytes(variables: list[Variable]) -> int:
    """The bytes that variables of one space take one after another, each aligned as it asks."""
    total = 0
    for variable in variables:
        align = variable.align or variable.type.bits // 8 * variable.vector
        total = -(-total // align) * align + variable.size_bytes
    return total
