"""Judging a whole module: all findings, collected."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from isa.targets import Target
from isa.targets import target as target_named
from ptxgen.errors import Finding, KernelError, Severity
from ptxgen.ir import Alias, Function, Guard, Module, Parameter, Variable
from ptxgen.verify.addresses import address_findings
from ptxgen.verify.allowed import allowed_everywhere, without_allowed
from ptxgen.verify.barriers import barrier_findings
from ptxgen.verify.body import Body, body_of, endless_functions
from ptxgen.verify.budgets import budget_findings, constant_budget_findings
from ptxgen.verify.calls import call_findings
from ptxgen.verify.clusters import cluster_findings
from ptxgen.verify.constants import constant_findings, repeated_findings
from ptxgen.verify.convergence import divergence_findings
from ptxgen.verify.copies import copy_findings
from ptxgen.verify.declarations import declaration_findings
from ptxgen.verify.definitions import early_reads_in
from ptxgen.verify.directives import directive_findings, outer_pragma_findings, pragma_findings
from ptxgen.verify.effects import Effects, effects_of
from ptxgen.verify.implications import Implications
from ptxgen.verify.instructions import Glance, instruction_findings, unavailable_finding
from ptxgen.verify.linkage import linkage_findings
from ptxgen.verify.membership import membership_findings
from ptxgen.verify.memory import read_only_findings, unwritten_findings
from ptxgen.verify.multiplies import multiply_findings
from ptxgen.verify.names import name_findings
from ptxgen.verify.paths import path_findings
from ptxgen.verify.proxies import proxy_findings
from ptxgen.verify.quotas import quota_findings
from ptxgen.verify.steps import Numbers
from ptxgen.verify.tensor_memory import tensor_memory_findings
from ptxgen.verify.values import Values
from ptxgen.verify.versions import things

_EARLY = "uninitialised.register"
_CHECKS: tuple[Callable[[Values], Iterator[Finding]], ...] = (
    address_findings,
    constant_findings,
    repeated_findings,
    divergence_findings,
    membership_findings,
    multiply_findings,
    copy_findings,
    proxy_findings,
    barrier_findings,
    cluster_findings,
    tensor_memory_findings,
    read_only_findings,
    unwritten_findings,
    pragma_findings,
    path_findings,
)

# Instructions with other operands than their names have are not looked into further, nor are those around them.
_MALFORMED = frozenset({"operand.count", "operand.kind"})


def verify(module: Module, *, target: str | Target | None = None) -> tuple[Finding, ...]:
    """Everything that is wrong with a module, for its own target or another, in the order of the user's lines.

    Operands and availability of each instruction, names and labels, registers read before they are written on some
    path, what a launch and its memory ask for, and what assemblers take silently: see `CODES`. What a comment
    `ptxgen: allow CODE` allows on its statement is left out.
    UnknownTarget where the target's name is not known.
    """
    judged = module.target if target is None else target_named(target) if isinstance(target, str) else target
    found = list(_version(module, judged))
    found += _things(module, judged)
    symbols = frozenset(item.name for item in module.items if isinstance(item, Variable | Function | Alias))
    bodies = _bodies(module)
    effects = effects_of(module, bodies.values())
    for item in module.items:
        if isinstance(item, Function):
            body = bodies.get(id(item))
            said = list(_function(module, item, judged, symbols, None if body is None else body.numbers))
            found += said
            found += budget_findings(module, item, () if body is None else body.others, judged)
            if body is not None and not any(finding.code in _MALFORMED for finding in said):
                found += _body(module, body, judged, effects)
    found += declaration_findings(module)
    found += constant_budget_findings(module)
    found += outer_pragma_findings(module)
    found += linkage_findings(module)
    return tuple(sorted(without_allowed(module, found), key=_line))


def _line(finding: Finding) -> tuple[str, int]:
    """Findings without a line come first, then those of each file in the order of its lines."""
    return ("", 0) if finding.origin is None else (finding.origin.file, finding.origin.line)


def verified(module: Module) -> Module:
    """The module itself where nothing is wrong; else KernelError with all findings."""
    found = verify(module)
    if any(finding.severity is Severity.ERROR for finding in found):
        raise KernelError(found)
    return module


def _version(module: Module, target: Target) -> Iterator[Finding]:
    if module.version < target.first_version:
        message = f"PTX {module.version} does not know {target}, which exists since {target.first_version}"
        yield Finding("target.unsupported", Severity.ERROR, message)


def _things(module: Module, target: Target) -> Iterator[Finding]:
    """Directives, types and declarations that the version or the target does not have."""
    version = max(module.version, target.first_version)
    for use in things(module):
        if not use.availability.holds(version, target):
            message = f"{use.what} exists since {use.availability}; this module is PTX {version} for {target}"
            yield Finding("target.unsupported", Severity.ERROR, message, use.origin)


def _bodies(module: Module) -> dict[int, Body]:
    """The bodies of a module's functions, by the identity of the function."""
    known: dict[str, Variable | Parameter] = {item.name: item for item in module.items if isinstance(item, Variable)}
    endless = endless_functions(module)
    functions = [item for item in module.items if isinstance(item, Function) and item.body is not None]
    return {id(function): body_of(module, function, known, endless) for function in functions}


def _function(
    module: Module, function: Function, target: Target, symbols: frozenset[str], numbers: Numbers | None
) -> Iterator[Finding]:
    version = max(module.version, target.first_version)
    written = tuple(function.instructions())
    missing = {form for form in {each.form for each in written} if not form.availability.holds(version, target)}
    glance = Glance()
    for instruction in written:
        if instruction.form in missing:
            yield unavailable_finding(instruction, version, target)
        if not glance.clears(instruction):
            yield from instruction_findings(instruction, version, target)
    yield from name_findings(function, symbols, numbers)
    yield from directive_findings(function)


def _body(module: Module, body: Body, target: Target, effects: Mapping[str, Effects]) -> Iterator[Finding]:
    values = Values(body, effects)
    if _EARLY not in allowed_everywhere(module):
        yield from _early(values)
    for findings in _CHECKS:
        yield from findings(values)
    yield from quota_findings(values, target)
    yield from call_findings(module, body)


def _early(values: Values) -> Iterator[Finding]:
    body, implications = values.body, list[Implications]()

    def implied(guard: Guard) -> tuple[Guard, ...]:
        if not implications:
            implications.append(Implications(values))
        return implications[0].of(guard)

    given = {parameter.name for parameter in body.function.parameters if parameter.register}
    for early in early_reads_in(body.flow, body.steps, body.numbers, implied):
        register = early.register
        if register.name in given:
            continue
        message = (
            f"{register.type} register {register.name} is read before it is written on some path: {early.instruction}"
        )
        yield Finding(_EARLY, Severity.ERROR, message, early.instruction.origin)
