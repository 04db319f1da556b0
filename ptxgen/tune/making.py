"""Candidates made into kernels, each in whatever process an executor gives it."""

from __future__ import annotations

from functools import cached_property
from time import perf_counter

from attrs import define, field, frozen

from ptxgen.derive import SumOrder
from ptxgen.emit import Listing
from ptxgen.errors import AssemblerError, PtxgenError
from ptxgen.kernels.launching.entry import entry_of
from ptxgen.kernels.launching.generated import GeneratedKernel, generate
from ptxgen.kernels.launching.store import Kept
from ptxgen.kernels.products.compute import MatmulSpec, matmul_compute
from ptxgen.kernels.products.plan import matmul_plan
from ptxgen.kernels.products.tiling import MatmulTiling
from ptxgen.plan import Fact
from ptxgen.runtime import Cubin, assemble, find_assembler
from ptxgen.runtime.entries import read_headers


@frozen
class Wanted:
    """A candidate: a product, a target, a tiling, and what holds of the arguments."""

    spec: MatmulSpec
    target: str
    tiling: MatmulTiling
    facts: tuple[Fact, ...]


@define(slots=False, frozen=True, eq=False)
class Made:
    """What became of a candidate: its text and entry, its machine code where an assembler is here, the order of its
    sums, how long it took; or why it could not be made: by whom, and in which words."""

    wanted: Wanted
    kept: Kept | None = field(default=None, repr=False)
    cubin: Cubin | None = field(default=None, repr=False)
    orders: tuple[SumOrder, ...] = field(default=(), repr=False)
    refused_by: type[PtxgenError] | None = None
    reason: str = ""
    seconds: float = 0.0

    @property
    def doubts(self) -> tuple[str, ...]:
        """Why it is not proved; nothing where it is."""
        return (self.reason,) if self.kept is None else ()

    @cached_property
    def kernel(self) -> GeneratedKernel:
        """The kernel, which derives again only what somebody asks of its plan."""
        if self.kept is None:
            raise ValueError(f"no kernel was made of {self.wanted.tiling}: {self.reason}")
        wanted = self.wanted
        return GeneratedKernel(lambda: derived(wanted).made, self.kept)


def derived(wanted: Wanted) -> GeneratedKernel:
    """The kernel of a candidate, derived and proved; PlanError or UnsupportedError for one that cannot be."""
    compute = matmul_compute(wanted.spec)
    return generate(matmul_plan(compute, wanted.spec, wanted.facts, wanted.tiling, wanted.target))


def make(wanted: Wanted) -> Made:
    """A candidate made, whatever comes of it. Its machine code is left out where no assembler here knows the target."""
    begun = perf_counter()
    try:
        kernel = derived(wanted)
        kept = Kept(entry_of(kernel.program), kernel.listing.text)
        orders = kernel.derivation.signature(wanted.target)
    except (PtxgenError, ValueError) as error:
        kind = type(error) if isinstance(error, PtxgenError) else PtxgenError
        return Made(wanted, refused_by=kind, reason=str(error), seconds=perf_counter() - begun)
    try:
        cubin = assembled(kept.text)
    except AssemblerError as error:
        return Made(wanted, kept, None, orders, AssemblerError, str(error), seconds=perf_counter() - begun)
    return Made(wanted, kept, cubin, orders, seconds=perf_counter() - begun)


def assembled(text: str) -> Cubin | None:
    """Machine code of PTX text; None where no assembler here knows its target. AssemblerError where one refuses it."""
    headers = read_headers(text)
    try:
        assembler = find_assembler(headers.target, headers.version)
    except AssemblerError:
        return None
    return assemble(Listing(text, (None,) * (text.count("\n") + 1)), assembler=assembler)
