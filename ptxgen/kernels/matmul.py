"""The matrix product as one object: statement, plan, kernel and launch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from functools import cached_property, lru_cache
from types import NoneType
from typing import Any

import numpy as np
from attrs import define, evolve, field, frozen

from isa.targets import UnknownTarget
from isa.targets import target as target_named
from ptxgen.compute import Array, ArrayKind, Compute, SourceLine, caller
from ptxgen.errors import LaunchError, PlanError, UnsupportedError
from ptxgen.kernels.choosing.choice import Tuned, chosen_tiling
from ptxgen.kernels.choosing.menu import Sizes
from ptxgen.kernels.choosing.processors import Processor, processor_here
from ptxgen.kernels.launching.apart import check_apart
from ptxgen.kernels.launching.binding import OWN_NAMES, Bound, arrays_in_memory, bind, facts_of
from ptxgen.kernels.launching.generated import GeneratedKernel, generate, stored
from ptxgen.kernels.launching.settled import check_settled
from ptxgen.kernels.launching.views import DTYPES, aligned_zeros, outline
from ptxgen.kernels.products.by_warpgroups import by_warpgroups
from ptxgen.kernels.products.compute import MatmulSpec, check_types, matmul_compute
from ptxgen.kernels.products.defaults import default_tiling
from ptxgen.kernels.products.epilogue import Axis
from ptxgen.kernels.products.needs import check_asked
from ptxgen.kernels.products.plan import matmul_plan
from ptxgen.kernels.products.stated_kinds import kind, measured
from ptxgen.kernels.products.tiling import MatmulTiling
from ptxgen.kernels.products.total import total_plan
from ptxgen.kernels.variants import Variant, variant_of
from ptxgen.plan import Fact, MatrixInstruction, Plan
from ptxgen.simulate import ALL_CHECKS, Check, Report

KERNELS_KEPT, ABOVE_INIT = 128, 2


class Machine(Enum):
    """Where a kernel runs: the CPU simulator or GPU 0."""

    CPU = "cpu"
    GPU = "gpu"


@frozen(eq=False)
class Outcome:
    """What a run left: the arrays by name, the kernel that ran, and the simulator's report (None on a GPU, and where
    there was nothing to run)."""

    arrays: Mapping[str, Any] = field(repr=lambda arrays: f"({', '.join(arrays)})")
    kernel: GeneratedKernel
    report: Report | None = field(repr=lambda report: "None" if report is None else f"<{report.total.warps} steps>")


@define(slots=False, frozen=True)
class Matmul:
    """A matrix product with an epilogue on one target.

    `tiling` is the plan's; None: what `tuned` knows for the sizes of the arrays, else one chosen for them. ValueError
    for a spec whose types do not fit each other. PlanError, with all of them, for choices of a tiling that would not be
    carried out, of arrays that suit it, on the target; with `chosen` by others, for arrays that may deny what it wants,
    nobody is told.

    ```python
    Matmul(MatmulSpec(epilogue=parse_epilogue("bias,relu")))({"A": a, "B": b, "bias": bias}).arrays["D"]
    ```
    """

    spec: MatmulSpec = field(factory=MatmulSpec, validator=kind(MatmulSpec, "a MatmulSpec"))
    target: str = field(default="sm_70", validator=kind(str, "the name of a target such as 'sm_90a'"))
    tiling: MatmulTiling | None = field(
        default=None, validator=kind((MatmulTiling, NoneType), "a MatmulTiling or None")
    )
    processor: Processor | None = field(default=None, validator=kind((Processor, NoneType), "a Processor or None"))
    tuned: Tuned | None = field(default=None, validator=measured)
    chosen: bool = field(default=False, kw_only=True, repr=False)
    _asked_at: SourceLine = field(init=False, eq=False, repr=False)

    @_asked_at.default
    def _line_of_the_asker(self) -> SourceLine:
        return caller(ABOVE_INIT)

    def __attrs_post_init__(self) -> None:
        try:
            target_named(self.target)
        except UnknownTarget as error:
            raise UnsupportedError(str(error)) from None
        check_types(self.spec)
        if self.tiling is not None and not self.chosen:
            check_asked(self.spec, self.target, self.tiling, self._asked_at)

    @cached_property
    def tiled(self) -> MatmulTiling:
        """The tiling given, or the default one."""
        return self.tiling or default_tiling(self.spec, self.target)

    def fitted(self, arrays: Mapping[str, Any]) -> Matmul:
        """This product with the tiling that it is given for these arrays: its own, else what `tuned` knows of arguments
        that allow the same, else one chosen for their sizes, on `processor` or on the GPU that is here, or the first
        known one of the target, by a model that runs nothing (`choosing`): by warps where the arrays deny what
        warpgroups need."""
        if self.tiling is not None:
            return self
        row = self.processor or processor_here(target_named(self.target).number)
        if self.tuned is None and (row is None or not row.measured):
            return self
        bound = self._bound(self.with_outputs(arrays, make=outline))
        facts = facts_of(self.compute, bound)
        plan = Plan(self.compute, self.target).assume(*facts)
        wide = isinstance(by_warpgroups(plan, self.spec, self.tiled), MatrixInstruction)
        sizes = Sizes.of(self.spec, bound.sizes)
        tuned = None if self.spec.totals else self.tuned
        found = None if tuned is None else tuned.tiling(self.spec, self.target, sizes, facts)
        target = self.target if wide else self.target.rstrip("af")
        tiling = found or chosen_tiling(self.spec, target, sizes, row)
        return _tiled(self.spec, self.target, tiling)

    @cached_property
    def parted(self) -> MatmulSpec:
        """The spec with partial sums as large as a warp's tile."""
        return evolve(self.spec, parts=self.tiled.warp_tile)

    @cached_property
    def stated(self) -> Compute:
        """What is computed in all."""
        return matmul_compute(self.spec)

    @cached_property
    def compute(self) -> Compute:
        """What the first kernel computes: the same, but for the joining of row and column sums."""
        return matmul_compute(self.parted)

    def kernel(self, facts: tuple[Fact, ...] = (), *, on_disk: bool = False) -> GeneratedKernel:
        """The kernel for arguments of which `facts` hold; held, so that asking again costs nothing. With `on_disk` it
        is looked for in the store, and kept there for other processes. PlanError, on the line that asked for the
        tiling, where a block of the target cannot hold it."""
        try:
            return (_stored if on_disk else _generated)(self.parted, self.target, self.tiled, facts)
        except PlanError as error:
            if self.tiling is None or self.chosen:
                raise
            raise PlanError(f"{self.target}, tiling {self.tiling}: {error.reason}", line=self._asked_at) from error

    def kernel_for(self, arrays: Mapping[str, Any], *, on_disk: bool = False) -> GeneratedKernel:
        """The widest kernel that these arrays allow, of the tiling for their sizes; LaunchError where they do not
        fit."""
        product = self.fitted(arrays)
        return product.kernel(facts_of(product.compute, product._bound(arrays)), on_disk=on_disk)

    def variant(self, arrays: Mapping[str, Any]) -> Variant:
        """Which kernel these arrays are given, and why it is no wider one; LaunchError where they do not fit."""
        whole = self.with_outputs(arrays, make=outline)
        product = self.fitted(whole)
        return variant_of(product.kernel_for(whole).plan, product.parted, product.tiled, product._bound(whole))

    def __call__(
        self,
        arrays: Mapping[str, Any],
        scalars: Mapping[str, float] | None = None,
        *,
        on: Machine = Machine.CPU,
        checks: frozenset[Check] = ALL_CHECKS,
    ) -> Outcome:
        """Runs the product. `arrays` brings every input by name, and outputs to write in place; missing ones are made.
        A `row_sum` or `column_sum` of the epilogue is an output of that name, of one dimension and f32.

        LaunchError, before anything runs, for arrays or scalars that do not fit, and on the CPU for products of which
        nobody has recorded how they round; there KernelError with every fault that the simulator finds.
        """
        if not isinstance(on, Machine):
            raise LaunchError(f"on is Machine.CPU or Machine.GPU, got {on!r}")
        if not isinstance(checks, frozenset):
            raise LaunchError(f"checks is a frozenset of Check, as ALL_CHECKS, got {checks!r}")
        whole = self.with_outputs(arrays)
        sums = {str(total): arrays[str(total)] for total in self.spec.totals if str(total) in arrays}
        kernel = self.kernel_for(whole)
        report = None
        if on is Machine.GPU:
            kernel.run(whole, scalars)
        else:
            check_settled(kernel)
            report = kernel.simulate(whole, scalars, checks=checks)
            if report is not None:
                report.raise_findings()
        for total in self.spec.totals:
            sums[str(total)] = self._joined(whole.pop(total.parts), sums.get(str(total)), on)
        return Outcome({**whole, **sums}, kernel, report)

    def _joined(self, parts: Any, into: Any, on: Machine) -> Any:
        """The sum of all parts, by the second kernel."""
        shape = tuple(parts.shape)
        total = np.zeros((*shape[:-2], shape[-1]), np.float32) if into is None else into
        joining = _joining(self.spec.batched, self.target)
        if on is Machine.GPU:
            joining.run({"parts": parts, "total": total})
        else:
            report = joining.simulate({"parts": parts, "total": total})
            if report is not None:
                report.raise_findings()
        return total

    def with_outputs(
        self,
        arrays: Mapping[str, Any],
        make: Callable[[np.dtype[Any], tuple[int, ...]], Any] = aligned_zeros,
        spoken: Mapping[str, str] = OWN_NAMES,
    ) -> dict[str, Any]:
        """The arrays of the first kernel: those given, and outputs from `make` (zeros) where `arrays` brings none.

        LaunchError, with names as `spoken`, where the arrays given do not fit each other, or one that is written lies
        on another.
        """
        if not isinstance(arrays, Mapping):
            raise LaunchError(f"arrays are given by name, as {{'A': a, 'B': b}}, got {type(arrays).__name__}")
        given = [a for a in arrays_in_memory(self.stated) if a.kind is ArrayKind.INPUT or a.name in arrays]
        bound = bind(given, arrays, spoken=spoken)
        check_apart(self.stated, bound, spoken)
        sizes = dict(bound.sizes)
        for total in self.spec.totals:
            rows, columns = self.tiled.warp_tile
            extent, size = ("N", columns) if total.along is Axis.ROWS else ("M", rows)
            sizes[f"{total}_part_count"] = -(-sizes[extent] // size)
        wanted = {array.name: array for array in arrays_in_memory(self.compute)}
        return {name: arrays[name] if name in arrays else _made(a, sizes, make) for name, a in wanted.items()}

    def _bound(self, arrays: Mapping[str, Any]) -> Bound:
        bound = bind(arrays_in_memory(self.compute), arrays)
        check_apart(self.compute, bound)
        return bound


@lru_cache(maxsize=KERNELS_KEPT)
def _tiled(spec: MatmulSpec, target: str, tiling: MatmulTiling) -> Matmul:
    return Matmul(spec, target, tiling, chosen=True)


@lru_cache(maxsize=KERNELS_KEPT)
def _generated(spec: MatmulSpec, target: str, tiling: MatmulTiling, facts: tuple[Fact, ...]) -> GeneratedKernel:
    return generate(matmul_plan(matmul_compute(spec), spec, facts, tiling, target))


@lru_cache(maxsize=KERNELS_KEPT)
def _stored(spec: MatmulSpec, target: str, tiling: MatmulTiling, facts: tuple[Fact, ...]) -> GeneratedKernel:
    question = repr(("matmul", spec, target, tiling, facts))
    return stored(question, lambda: _generated(spec, target, tiling, facts))


@lru_cache(maxsize=KERNELS_KEPT)
def _joining(batched: bool, target: str) -> GeneratedKernel:
    return generate(total_plan(batched, target))


def _made(array: Array, sizes: Mapping[str, int], make: Callable[[np.dtype[Any], tuple[int, ...]], Any]) -> Any:
    return make(DTYPES[array.element], tuple(extent.evaluate(sizes) for extent in array.extents))
