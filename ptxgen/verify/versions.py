"""The least PTX version that has everything a module uses, and why."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen

from isa.availability import ALWAYS, Availability
from isa.directives import ALIAS, B128, COMMON, DIRECTIVES, INLINED_AT, MASKED_ADDRESS, PRAGMAS, UNIFIED_ATTRIBUTE
from isa.drivers import cuda_version, first_driver, newest_ptx
from isa.forms import Form
from isa.targets import ALL_TARGETS, PtxVersion, Target, named_in
from isa.types import Type, b128
from ptxgen.ir import (
    Address,
    Alias,
    Attribute,
    AttributeKind,
    Directive,
    Function,
    Initial,
    Instruction,
    Linkage,
    Loc,
    MaskedAddress,
    Module,
    Origin,
    Parameter,
    Pragma,
    Prototype,
    Registers,
    Special,
    Variable,
    besides_instructions,
    walk,
)
from ptxgen.verify.instructions import special_named, unified_marks

_SAYING = frozenset({Special, Address})


@frozen
class Use:
    """Something in a module that does not exist everywhere: in words, where it exists, and the user's line."""

    what: str
    availability: Availability
    origin: Origin | None = None


@frozen
class Reason:
    """A use, the target of the module, and the least version that has it for that; None where no version has."""

    use: Use
    target: Target
    version: PtxVersion | None

    def __str__(self) -> str:
        """Such as `cp.async.wait_all needs PTX 7.0 and sm_80: kernel.py:42`."""
        place = "" if self.use.origin is None else f": {self.use.origin.file}:{self.use.origin.line}"
        if self.version is None:
            return f"{self.use.what} is not for {self.target}, it exists since {self.use.availability}{place}"
        lowest = _lowest(self.use.availability, self.target)
        return f"{self.use.what} needs PTX {self.version}{'' if lowest is None else f' and {lowest}'}{place}"


@frozen
class VersionReport:
    """The least version for a target, and what asks for it.

    `reasons` are the uses that came with the target's own first version or later, the most demanding first, one for
    each thing used; those that no version has for the target come before them. `driver` is the CUDA version that was
    asked about and `newest` what it takes, None where none was.
    """

    version: PtxVersion
    target: Target
    reasons: tuple[Reason, ...]
    driver: tuple[int, int] | None = None
    newest: PtxVersion | None = None

    @property
    def possible(self) -> bool:
        """True if some version has everything for the target, and the driver takes it."""
        known = all(reason.version is not None for reason in self.reasons)
        return known and (self.newest is None or self.version <= self.newest)

    def __str__(self) -> str:
        lines = [f"PTX {self.version} for {self.target}"]
        if not self.reasons:
            lines[0] += f", which exists since PTX {self.target.first_version}"
        lines += [f"    {reason}" for reason in self.reasons]
        if self.driver is not None and self.newest is not None and self.version > self.newest:
            needed = first_driver(self.version)
            later = "a later driver" if needed is None else f"a driver of CUDA {needed[0]}.{needed[1]}"
            major, minor = self.driver
            lines.append(f"    the driver of CUDA {major}.{minor} takes PTX up to {self.newest}; {later} is needed")
        return "\n".join(lines)


def least_version(module: Module, *, driver: int | tuple[int, int] | None = None) -> VersionReport:
    """The least PTX version that has all that a module uses for its target, with the reasons.

    `driver` is the CUDA version of a driver, `(12, 4)` or 12040 as cuDriverGetVersion tells it; the report then says
    whether it takes that version. The module's own version does not matter. LookupError for a driver before CUDA 6.0.
    """
    target = module.target
    reasons: dict[str, Reason] = {}
    for use in uses(module):
        least = use.availability.least_version(target)
        if (least is None or _first(use.availability, target) >= target.first_version) and use.what not in reasons:
            reasons[use.what] = Reason(use, target, least)
    ordered = sorted(reasons.values(), key=lambda each: (each.version is not None, _descending(each.version)))
    at = max((each.version for each in ordered if each.version is not None), default=target.first_version)
    if driver is None:
        return VersionReport(at, target, tuple(ordered))
    cuda = cuda_version(driver) if isinstance(driver, int) else driver
    return VersionReport(at, target, tuple(ordered), cuda, newest_ptx(cuda))


def _first(availability: Availability, target: Target) -> PtxVersion:
    """The first version that has something for a target, older than the target's own where it was there before."""
    return min(term.first for term in availability.terms if term.targets & target.bit)


def _lowest(availability: Availability, target: Target) -> Target | None:
    """The lowest target of those that have something as this one does; None where all have it."""
    mask = next(term.targets for term in availability.terms if term.targets & target.bit)
    return None if mask == ALL_TARGETS else named_in(mask)[0]


def _descending(version: PtxVersion | None) -> tuple[int, int]:
    return (0, 0) if version is None else (-version.major, -version.minor)


def uses(module: Module) -> Iterator[Use]:
    """All that a module uses and that does not exist everywhere, in the order of the text; an instruction of the same
    meaning counts where a function first has it."""
    yield from _used(module, True)


def things(module: Module) -> Iterator[Use]:
    """As `uses`, without instructions and special registers."""
    yield from _used(module, False)


def _used(module: Module, instructions: bool) -> Iterator[Use]:
    for item in module.items:
        if isinstance(item, Variable):
            yield from _variable(item)
        elif isinstance(item, Alias):
            yield Use(".alias", ALIAS)
        elif isinstance(item, Function):
            yield from _function(item, instructions)


def _function(function: Function, instructions: bool) -> Iterator[Use]:
    yield from _attributes(function.attributes, function.origin)
    for directive in function.directives:
        if isinstance(directive, Directive):
            yield from _directive(directive, function.origin)
        else:
            yield from _pragma(directive, directive.origin or function.origin)
    for parameter in (*function.parameters, *function.returns):
        yield from _parameter(parameter, parameter.origin or function.origin)
    told: set[Form] = set()
    for node in () if function.body is None else (walk if instructions else besides_instructions)(function.body):
        if node.__class__ is Instruction:
            if node.form not in told or not _SAYING.isdisjoint(map(type, node.operands)):
                yield from _instruction(node, told)
            continue
        match node:
            case Variable():
                yield from _variable(node)
            case Registers(type=type_):
                yield from _type(type_, node.origin or function.origin)
            case Prototype(directives=directives, parameters=parameters, returns=returns):
                for each in directives:
                    yield from _directive(each, function.origin)
                for parameter in (*parameters, *returns):
                    yield from _parameter(parameter, parameter.origin or function.origin)
            case Pragma():
                yield from _pragma(node, node.origin or function.origin)
            case Loc(inlined_at=inlined) if inlined is not None:
                yield Use(".loc with inlined_at", INLINED_AT, function.origin)
            case _:
                pass


def _instruction(instruction: Instruction, told: set[Form]) -> Iterator[Use]:
    form = instruction.form
    if form not in told:
        told.add(form)
        if form.availability is not ALWAYS:
            yield Use(form.name, form.availability, instruction.origin)
    for operand in instruction.operands:
        if operand.__class__ is Special:
            yield Use(operand.text, special_named(operand.name).availability, instruction.origin)
        elif operand.__class__ is Address and operand.unified:
            for since in unified_marks(instruction):
                yield Use("[a].unified", since, instruction.origin)


def _directive(directive: Directive, origin: Origin | None) -> Iterator[Use]:
    since = DIRECTIVES[directive.kind.value]
    if since is not ALWAYS:
        yield Use(f".{directive.kind.value}", since, origin)


def _pragma(pragma: Pragma, origin: Origin | None) -> Iterator[Use]:
    for text in (pragma.text, *pragma.more):
        since = PRAGMAS.get(text.partition(" ")[0], ALWAYS)
        if since is not ALWAYS:
            yield Use(f'.pragma "{text}"', since, origin)


def _attributes(attributes: tuple[Attribute, ...], origin: Origin | None) -> Iterator[Use]:
    for attribute in attributes:
        if attribute.kind is AttributeKind.UNIFIED:
            yield Use(".attribute(.unified)", UNIFIED_ATTRIBUTE, origin)


def _parameter(parameter: Parameter, origin: Origin | None) -> Iterator[Use]:
    yield from _type(parameter.type, origin)


def _type(type_: Type, origin: Origin | None) -> Iterator[Use]:
    if type_ is b128:
        yield Use("the type .b128", B128, origin)


def _variable(variable: Variable) -> Iterator[Use]:
    yield from _attributes(variable.attributes, variable.origin)
    yield from _type(variable.type, variable.origin)
    if variable.linkage is Linkage.COMMON:
        yield Use(".common", COMMON, variable.origin)
    if variable.initial is not None and _has_mask(variable.initial):
        yield Use("a byte of an address as initial value", MASKED_ADDRESS, variable.origin)


def _has_mask(initial: Initial) -> bool:
    return isinstance(initial, MaskedAddress) or (isinstance(initial, tuple) and any(map(_has_mask, initial)))
