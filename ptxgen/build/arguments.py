"""Parameters as the kernel's body meets them: `k.args.n`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isa.types import Kind
from ptxgen.build.blame import fail
from ptxgen.build.handles import Symbol
from ptxgen.build.registers import register_type
from ptxgen.ir import Address, Parameter, Space, SymbolAddress

if TYPE_CHECKING:
    from ptxgen.build.draft import Draft


class Arguments:
    """One attribute per parameter: a register loaded once in the entry block, or for an array its place in memory."""

    def __init__(self, kernel: Draft) -> None:
        self._kernel = kernel

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        kernel = self._kernel
        parameter = next((each for each in kernel.parameters if each.name == name), None)
        if parameter is None:
            known = ", ".join(each.name for each in kernel.parameters) or "none"
            fail("parameter.unknown", f"kernel {kernel.name} has no parameter {name!r}; it has: {known}")
        found = self.__dict__[name] = _loaded(kernel, parameter)
        return found

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name)

    def __dir__(self) -> list[str]:
        return [parameter.name for parameter in self._kernel.parameters]


def _loaded(kernel: Draft, parameter: Parameter) -> Any:
    if parameter.shape:
        return Symbol(parameter.name, parameter.type, Space.PARAM, parameter.shape, kernel, parameter.size_bytes)
    kind = parameter.type.kind
    word = (
        f"b{parameter.type.bits}"
        if kind is Kind.FLOAT and parameter.type.name not in ("f32", "f64")
        else parameter.type.name
    )
    value = kernel.pool(register_type(parameter.type)).take()
    kernel.enter(f"ld.param.{word}", (value.node, Address(SymbolAddress(parameter.name))))
    return value
