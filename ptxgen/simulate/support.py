"""What the simulator does not run of a module, told before anything runs."""

from __future__ import annotations

from isa.targets import Target
from ptxgen.errors import Finding, KernelError, Severity, UnsupportedError
from ptxgen.ir import Function, FunctionKind, Module
from ptxgen.simulate.simulator import simulator


def unsupported(
    module: Module, kernel: str | None = None, *, target: Target | str | None = None
) -> tuple[Finding, ...]:
    """A finding for each instruction of a kernel, or of all kernels, and of what they call that the simulator does not
    run (code `simulate.unsupported`); none where it runs everything. Nothing is run.

    `target` is that of a run; by default the module's.
    """
    names = _kernels(module) if kernel is None else [kernel]
    found: dict[Finding, None] = {}
    for name in names:
        try:
            simulator(module, name, target=target)
        except KernelError as error:
            found.update(dict.fromkeys(error.findings))
        except UnsupportedError as error:
            found[Finding("simulate.unsupported", Severity.ERROR, f"{name}: not simulated: {error}")] = None
    return tuple(found)


def _kernels(module: Module) -> list[str]:
    functions = (item for item in module.items if isinstance(item, Function) and item.body is not None)
    return [each.name for each in functions if each.kind is FunctionKind.ENTRY]
