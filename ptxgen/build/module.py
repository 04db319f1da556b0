"""A module while it is written."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from attrs import evolve

from isa.availability import Availability
from isa.targets import VERSIONS, PtxVersion, Target, UnknownTarget, version
from isa.targets import target as target_named
from isa.types import Kind, Type, b8
from ptxgen import ir
from ptxgen.build.blame import Resolver, fail, failure, origin_of_frame, users_frame
from ptxgen.build.draft import Draft
from ptxgen.build.handles import Symbol
from ptxgen.build.initial import initial_of
from ptxgen.build.kernel import Kernel
from ptxgen.build.names import checked_name
from ptxgen.build.parameters import check_align, parameter_of
from ptxgen.errors import Finding, KernelError, PtxSyntaxError, Severity
from ptxgen.ir import Alias, Comment, Function, FunctionKind, Linkage, Space, TargetOption, Variable
from ptxgen.parse import items
from ptxgen.verify import least_version, verified


class Module:
    """A PTX module for a target (`"sm_70"`); `build` gives its IR.

    `version` (`"7.0"`) fixes the PTX version, and instructions it lacks are refused; None takes the least version that
    has everything the module uses.
    """

    def __init__(
        self, target: str | Target, *, version: str | PtxVersion | None = None, options: tuple[str, ...] = ()
    ) -> None:
        try:
            self.target = target_named(target) if isinstance(target, str) else target
        except UnknownTarget as unknown:
            fail("target.unknown", str(unknown))
        self.version = _version(version)
        if self.version is not None and self.version < self.target.first_version:
            fail(
                "target.unsupported",
                f"PTX {self.version} does not know {self.target}; it exists since {self.target.first_version}",
            )
        self.address_size = 64
        self.resolver = Resolver()
        self._options = tuple(map(_option, options))
        self._heading: list[Comment] = []
        self._variables: list[Variable] = []
        self._written: list[Draft | ir.Item] = []
        self._unfinished: list[Draft] = []
        self.names: set[str] = set()
        self._fresh = 0
        self._dynamic: str | None = None

    def kernel(self, name: str, /, **parameters: object) -> Kernel:
        """A kernel to be written in a with-block; each parameter is a type, `pointer(f32)` or `array(b8, 128)`."""
        self._function_name(name)
        made = tuple(parameter_of(each, type_, self.address_size) for each, type_ in parameters.items())
        for parameter in made:
            checked_name(parameter.name, set())
        return self._begun(Draft(self, name, made, self._origin()))

    def function(self, name: str, /, *, returns: Mapping[str, object] | None = None, **parameters: object) -> Kernel:
        """A function that kernels call, written like a kernel; `returns` has the types of what it returns, by name."""
        self._function_name(name)
        given, taken = (
            tuple(parameter_of(each, type_, self.address_size) for each, type_ in named.items())
            for named in (returns or {}, parameters)
        )
        kind, linkage = FunctionKind.FUNC, Linkage.PRIVATE
        return self._begun(Draft(self, name, taken, self._origin(), returns=given, kind=kind, linkage=linkage))

    def ptx(self, text: str) -> None:
        """Whole items of a module in the manual's spelling: variables, functions, `.alias`, `.file`, comments.

        They stand behind the variables of `variable`, in order with the kernels. KernelError on the user's line.
        """
        try:
            made = items(text, version=self.version or VERSIONS[-1], target=self.target, known=self.names)
        except PtxSyntaxError as error:
            shown = f": {error.text.strip()}" if error.text else ""
            code = "ptx.syntax" if error.code == "syntax" else error.code
            message = f"Module.ptx: line {error.line}, column {error.column}: {error.reason}{shown}"
            raise failure(code, message) from error
        self._written += made
        self.names |= {each.name for each in made if isinstance(each, Variable | Function | Alias)}

    def comment(self, text: str, *, heading: bool = False, trailing: bool = False) -> None:
        """A comment, one for each line of the text: with `heading` before the version, else in order with the rest."""
        made = [Comment(line, trailing and number == 0) for number, line in enumerate(text.split("\n"))]
        if heading:
            self._heading += made
        else:
            self._written += made

    def declared(self, name: str) -> Symbol | None:
        """The handle of a variable of the module, or None."""
        for each in (*self._variables, *self._written):
            if isinstance(each, Variable) and each.name == name:
                return Symbol(name, each.type, each.space, each.shape, None, each.size_bytes)
        return None

    def variable(
        self,
        name: str,
        type: Type,
        shape: int | tuple[int, ...] = (),
        *,
        space: str,
        init: Any = None,
        align: int | None = None,
        linkage: str | None = None,
    ) -> Symbol:
        """A variable of the module in space global, const or shared; `init` a number or nested sequences of them."""
        spaces = {each.value: each for each in (Space.GLOBAL, Space.CONST, Space.SHARED)}
        linkages = {each.value: each for each in Linkage}
        if space not in spaces or (linkage or "") not in linkages:
            fail(
                "variable.space",
                f"space is one of {', '.join(spaces)} and linkage one of {', '.join(filter(None, linkages))}",
            )
        if type.kind is Kind.PREDICATE or not type.register:
            fail("variable.type", f"a variable cannot have type {type}")
        check_align(align)
        checked_name(name, self.names)
        extents = (shape,) if isinstance(shape, int) else tuple(shape)
        variable = Variable(
            name, type, spaces[space], extents, align, 1, None if init is None else initial_of(init, type),
            linkages[linkage or ""], self._origin(),
        )  # fmt: skip
        self._variables.append(variable)
        return Symbol(name, type, spaces[space], extents, None, variable.size_bytes)

    def dynamic_shared(self, align: int) -> Symbol:
        """The module's one array of shared bytes whose size the launch gives, aligned to at least `align` bytes."""
        if self._dynamic is None:
            self._dynamic = checked_name("dynamic_shared", self.names)
            self._variables.append(Variable(self._dynamic, b8, Space.SHARED, (None,), align, linkage=Linkage.EXTERN))
        index = next(i for i, each in enumerate(self._variables) if each.name == self._dynamic)
        kept = self._variables[index].align or align
        self._variables[index] = Variable(
            self._dynamic, b8, Space.SHARED, (None,), max(align, kept), linkage=Linkage.EXTERN
        )
        return Symbol(self._dynamic, b8, Space.SHARED, (None,), None, 0)

    def build(self, *, checked: bool = True) -> ir.Module:
        """The module as frozen IR, verified; KernelError with all findings where something is wrong.

        With `checked` False, what only the whole module shows is not judged. KernelError where the with-block of a
        kernel is still open or was never entered.
        """
        self._all_finished()
        written = tuple(each.frozen() if isinstance(each, Draft) else each for each in self._written)
        at = self.version or self.target.first_version
        made = ir.Module(
            at, self.target, self.address_size, (*self._variables, *written), self._options, tuple(self._heading)
        )
        if self.version is None:
            made = evolve(made, version=least_version(made).version)
        return verified(made) if checked else made

    def has(self, availability: Availability) -> bool:
        """True if this module's target, in its version or in any where none is fixed, has what exists so."""
        return _exists(availability, self.version, self.target)

    @property
    def described(self) -> str:
        """The target and the version where it is fixed, in words."""
        return f"{self.target}" if self.version is None else f"{self.target} with PTX {self.version}"

    def _function_name(self, name: str) -> None:
        """Takes the name of a function, which a declaration may have said before."""
        told = any(isinstance(each, Function) and each.name == name and each.body is None for each in self._written)
        checked_name(name, self.names - {name} if told else self.names)
        self.names.add(name)

    def _begun(self, kernel: Draft) -> Kernel:
        self._unfinished.append(kernel)
        return Kernel(kernel)

    def finished(self, kernel: Draft, *, kept: bool) -> None:
        """A kernel's with-block has closed, and the kernel belongs to the module if it is `kept`."""
        self._unfinished.remove(kernel)
        if kept:
            self._written.append(kernel)

    def _all_finished(self) -> None:
        if self._unfinished:
            here = self._origin()
            raise KernelError(
                Finding("kernel.open", Severity.ERROR, each.unfinished(), here) for each in self._unfinished
            )

    def fresh_name(self, stem: str) -> str:
        """A name nobody has, numbered in order."""
        self._fresh += 1
        return f"{stem}{self._fresh}"

    def _origin(self) -> ir.Origin:
        return origin_of_frame(users_frame())


@cache
def _exists(availability: Availability, at: PtxVersion | None, on: Target) -> bool:
    return availability.least_version(on) is not None if at is None else availability.holds(at, on)


def _option(given: str) -> TargetOption:
    options = {each.value: each for each in TargetOption}
    if given not in options:
        fail("target.unknown", f"no option of a target is called {given!r}; known: {', '.join(options)}")
    return options[given]


def _version(given: str | PtxVersion | None) -> PtxVersion | None:
    if not isinstance(given, str):
        return given
    try:
        return version(given)
    except ValueError as wrong:
        fail("version.unknown", str(wrong))
