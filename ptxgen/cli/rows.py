"""`ptxgen explain`: what a name means and where it exists."""

from __future__ import annotations

import json
from difflib import get_close_matches
from enum import Enum
from typing import Any

from attrs import Attribute, asdict

from isa.availability import Availability
from isa.explaining import explain
from isa.explanation import Explanation, Subject, UnknownName
from isa.targets import Target, target
from ptxgen.cli.terminal import show
from ptxgen.cli.texts import ExplainOptions
from ptxgen.cli.unusable import Unusable
from ptxgen.verify import CODES

FINDINGS = CODES | {
    "assembler.error": "what ptxas, nvJitLink or the driver's compiler refuses",
    "assembler.warning": "what ptxas, nvJitLink or the driver's compiler warns of",
}


def explained(name: str, on: Target | None = None) -> str:
    """What a name means: a beginning of instructions, a special register, a directive, a state space, a type, a
    modifier, the code of a finding; Unusable for others.

    With a target, whether it has the thing, and since which PTX version.
    """
    if name in FINDINGS:
        return f"{name}: {FINDINGS[name]}"
    try:
        found = asked(name, on)
    except Unusable:
        if (of_a_run := _found_in_runs(name)) is None:
            raise
        return f"{name}: {of_a_run}"
    return str(found) + _on(found, on)


def _found_in_runs(name: str) -> str | None:
    """What a code of the simulator means; numpy is loaded with it, so it is asked last."""
    from ptxgen.simulate.codes import CODES as of_runs

    return of_runs.get(name)


def asked(name: str, on: Target | None) -> Explanation:
    """The explanation of a name on a target; without regard to the target where that has nothing of it."""
    try:
        found = explain(name, target=on)
        if on is not None and found.subject is Subject.INSTRUCTION and not (found.forms or found.longer):
            return explain(name)
    except UnknownName as unknown:
        near = get_close_matches(name, FINDINGS, n=3, cutoff=0.8)
        findings = f"; perhaps the finding {' or '.join(near)}" if near else ""
        raise Unusable(f"{unknown}{findings}") from None
    return found


def _on(found: Explanation, on: Target | None) -> str:
    if on is None:
        return ""
    least = found.availability.least_version(on)
    return f"\n\n{on}: " + (f"since PTX {least}" if least is not None else f"{found.name} is not for this target")


def as_json(name: str, on: Target | None = None) -> dict[str, Any]:
    """The same as plain values: an explanation with the names of its fields, availability and types in words."""
    if name in FINDINGS:
        return {"name": name, "subject": "finding", "about": FINDINGS[name]}
    try:
        found = asked(name, on)
    except Unusable:
        if (of_a_run := _found_in_runs(name)) is None:
            raise
        return {"name": name, "subject": "finding", "about": of_a_run}
    plain = asdict(found, value_serializer=_plain)
    if on is not None:
        least = found.availability.least_version(on)
        plain["target"] = {"name": on.name, "since": None if least is None else str(least)}
    return plain


def _plain(owner: object, attribute: Attribute[Any] | None, value: object) -> object:
    if isinstance(value, Availability):
        return str(value)
    return value.value if isinstance(value, Enum) else value


def run_explain(options: ExplainOptions) -> int:
    """Prints what a name means."""
    on = None if options.target is None else target(options.target)
    if options.json:
        print(json.dumps(as_json(options.name, on), indent=2))
    else:
        show(explained(options.name, on))
    return 0
