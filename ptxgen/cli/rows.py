"""`ptxgen explain`: what an instruction takes and where it exists."""

from __future__ import annotations

from isa.availability import Availability
from isa.forms import UnknownInstruction, explain, families, resolve
from isa.special import UnknownSpecialRegister, special
from isa.targets import Target, target
from ptxgen.cli.texts import ExplainOptions
from ptxgen.cli.unusable import Unusable
from ptxgen.verify import CODES


def explained(name: str, on: Target | None = None) -> str:
    """What a name means: an instruction or family, a special register, the code of a finding; Unusable for others.

    With a target, whether it has the instruction or register, and since which PTX version.
    """
    if name in CODES:
        return f"{name}: {CODES[name]}"
    if name.startswith("%"):
        return _register(name, on)
    try:
        text = explain(name)
        since = None if _is_family(name) else resolve(name).availability
    except UnknownInstruction as unknown:
        raise Unusable(str(unknown)) from None
    return text + _on(name, since, on)


def _is_family(name: str) -> bool:
    return any(family.opcode == name or family.opcode.partition(".")[0] == name for family in families())


def _register(name: str, on: Target | None) -> str:
    try:
        fact = special(name)
    except UnknownSpecialRegister as unknown:
        raise Unusable(str(unknown)) from None
    shared = "each thread has its own" if fact.shared_by == "thread" else f"the same for a whole {fact.shared_by}"
    changes = "two reads by one thread may differ" if fact.volatile else shared
    return f"{fact}: {fact.type}, {changes}; {fact.availability}" + _on(name, fact.availability, on)


def _on(name: str, since: Availability | None, on: Target | None) -> str:
    if on is None or since is None:
        return ""
    least = since.least_version(on)
    return f"\n{on}: " + (f"since PTX {least}" if least is not None else f"{name} is not for this target")


def run_explain(options: ExplainOptions) -> int:
    """Prints what a name means."""
    print(explained(options.name, None if options.target is None else target(options.target)))
    return 0
