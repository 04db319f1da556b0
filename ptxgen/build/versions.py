"""The least PTX version that has everything a module uses."""

from __future__ import annotations

from collections.abc import Iterable

from isa.special import special
from isa.targets import PtxVersion, Target
from ptxgen.ir import Function, Special


def least_version_of(functions: Iterable[Function], target: Target) -> PtxVersion:
    """The least version that knows the target and has all instructions and special registers of the functions for it.

    What no version has for the target does not count; `verify` reports it.
    """
    instructions = [each for function in functions for each in function.instructions()]
    availabilities = {form.availability for form in {each.form for each in instructions}}
    specials = {operand.name for each in instructions for operand in each.operands if isinstance(operand, Special)}
    availabilities |= {special(name).availability for name in specials}
    least = (each.least_version(target) for each in availabilities)
    return max((each for each in least if each is not None), default=target.first_version)
