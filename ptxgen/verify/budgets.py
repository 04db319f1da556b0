"""What a CTA may hold: shared memory and threads."""

from __future__ import annotations

from collections.abc import Iterator

from isa.limits import limits
from isa.targets import Target
from ptxgen.errors import Finding, Severity
from ptxgen.ir import Directive, DirectiveKind, Function, Module, Space, Variable, walk


def budget_findings(module: Module, function: Function, target: Target) -> Iterator[Finding]:
    """The findings on a function's shared memory and launch bounds, against the limits of the target.

    None for a target whose limits no published table has.
    """
    try:
        bounds = limits(target)
    except LookupError:
        return
    variables = [item for item in module.items if isinstance(item, Variable)]
    variables += [node for node in walk(function.body) if isinstance(node, Variable)] if function.body else []
    shared = [variable for variable in variables if variable.space is Space.SHARED]
    total = shared_bytes(shared)
    if total > bounds.shared_static_bytes:
        message = (
            f"{function.name} declares {total} bytes of shared memory; {target} allows {bounds.shared_static_bytes} "
            "in declarations, more through k.dynamic_shared"
        )
        yield Finding("shared.budget", Severity.ERROR, message, shared[-1].origin or function.origin)
    kinds = {each.kind: each for each in function.directives if isinstance(each, Directive)}
    for kind in (DirectiveKind.MAXNTID, DirectiveKind.REQNTID):
        threads = 1
        for extent in kinds[kind].values if kind in kinds else ():
            threads *= extent
        if threads > bounds.threads_per_cta:
            message = f".{kind.value} asks for {threads} threads; {target} has at most {bounds.threads_per_cta} per CTA"
            yield Finding("threads.budget", Severity.ERROR, message, function.origin)
    if DirectiveKind.MINNCTAPERSM in kinds and not {DirectiveKind.MAXNTID, DirectiveKind.REQNTID} & kinds.keys():
        message = f"{function.name}: .minnctapersm wants .maxntid or .reqntid beside it"
        yield Finding("directive.alone", Severity.ERROR, message, function.origin)


def shared_bytes(variables: list[Variable]) -> int:
    """The bytes that shared variables take one after another, each aligned as it asks."""
    total = 0
    for variable in variables:
        align = variable.align or variable.type.bits // 8 * variable.vector
        total = -(-total // align) * align + variable.size_bytes
    return total
