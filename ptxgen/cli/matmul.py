"""`ptxgen matmul`: make the kernel, run it, check it, say what happened."""

from __future__ import annotations

import time
from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np
from attrs import evolve, frozen

from ptxgen.cli.explain import Stage, explain
from ptxgen.cli.figures import figures
from ptxgen.cli.operands import check_used, inputs_of, read_files, scalars_of, typed_epilogue
from ptxgen.cli.outputs import check_outputs, write_array, write_text
from ptxgen.cli.parser import MatmulOptions
from ptxgen.cli.unusable import Unusable
from ptxgen.errors import KernelError
from ptxgen.kernels.launching.binding import arrays_in_memory, bind
from ptxgen.kernels.launching.generated import GeneratedKernel
from ptxgen.kernels.launching.settled import unsettled
from ptxgen.kernels.launching.views import outline
from ptxgen.kernels.matmul import Machine, Matmul, Outcome
from ptxgen.kernels.products.case import Case
from ptxgen.kernels.products.compute import MatmulSpec
from ptxgen.kernels.products.defaults import default_tiling
from ptxgen.kernels.products.needs import Conflict, conflicts, told_together
from ptxgen.kernels.products.tiling import MatmulTiling
from ptxgen.plan import Workers
from ptxgen.runtime import compute_capability, device_count
from ptxgen.testing import bounded
from ptxgen.testing.formats import values_of


def run_matmul(options: MatmulOptions) -> int:
    """Carries out the command and returns its exit status; Unusable or a PtxgenError where it cannot be.

    What is printed and written follows the run, so that nothing is where the command cannot be carried out.
    """
    check_outputs(options)
    loaded = read_files(options)
    batched = "batches" in options.sizes
    spec = options.types.spec(options.layout, typed_epilogue(options.epilogue, loaded), batched=batched)
    product = Matmul(spec, options.target, _tiling(options, spec))
    check_used(options, product.compute)
    inputs = inputs_of(options, product.stated, loaded)
    scalars = scalars_of(options, product.compute)
    started = time.perf_counter()
    product = product.fitted(inputs)
    kernel = product.kernel_for(product.with_outputs(inputs, make=outline))
    text, seconds = str(kernel.listing), time.perf_counter() - started
    if options.cluster and prod(options.cluster) != kernel.program.grid.cluster:
        raise Unusable("--cluster: blocks of this product bring their own tiles, by no copy that several could share")
    _check_simulator(options, kernel)
    try:
        verdict = NOT_RUN if options.run == "none" else _judged(options, product, inputs, scalars)
    except MemoryError:
        raise Unusable("the arrays do not fit into the memory of this machine") from None
    variant = product.variant(inputs)
    stage = Stage(options.explain) if options.explain else None
    told = [figures(product, kernel, variant, seconds), *verdict.lines]
    if stage is Stage.TILE:
        told = [f"# {line}" for each in told for line in each.splitlines()]
    lines = [told[0], *([explain(kernel, stage)] if stage else []), *told[1:]]
    if options.emit:
        lines.append(write_text(options.emit, text))
    for path, name in ((options.out, "D"), (options.second_out, "E")):
        if path is not None and name in verdict.arrays:
            lines.append(write_array(path, verdict.arrays[name]))
    print("\n".join(lines))
    return 0 if verdict.good else 1


def _tiling(options: MatmulOptions, spec: MatmulSpec) -> MatmulTiling | None:
    """The plan's own tiling with what the options ask for; None where they ask for nothing."""
    asked: dict[str, Any] = {"warps": options.warps, "workers": options.workers, "cluster": options.cluster}
    asked |= {"drain": options.drain or None, "stream": options.stream or None}
    changed = {name: value for name, value in asked.items() if value is not None}
    if not changed:
        return None
    tiling = evolve(default_tiling(spec, options.target), **changed)
    if found := told_together(conflicts(Case.of(spec, options.target, tiling)), _option):
        raise Unusable(f"not carried out on {options.target}: {'; '.join(found)}")
    return tiling


def _option(conflict: Conflict) -> str:
    """A choice as the command line spells it, or, of the default tiling, as that does."""
    match conflict.asked:
        case (rows, columns) if conflict.name == "cluster":
            return f"--cluster {rows}x{columns}"
        case Workers() as each:
            return f"--workers {each.value}"
        case each if conflict.name in OPTIONS:
            return f"--{conflict.name} {each}"
        case _:
            return f"{conflict.choice} of the default plan"


def _machine(options: MatmulOptions) -> Machine:
    return Machine.GPU if options.run == "gpu" or (options.run == "auto" and device_count()) else Machine.CPU


def _check_simulator(options: MatmulOptions, kernel: GeneratedKernel) -> None:
    """Unusable where nobody has recorded how the kernel's products round."""
    if options.run == "none" or _machine(options) is Machine.GPU:
        return
    why = unsettled(kernel)
    if why is not None:
        raise Unusable(f"the CPU cannot run this: {why}; take --run gpu, --run none or --target sm_70")


@frozen(eq=False)
class Verdict:
    """How a run went, in lines, and the arrays that it left if it went well."""

    good: bool
    lines: tuple[str, ...]
    arrays: Mapping[str, Any]


OPTIONS = ("warps", "workers", "drain")
NOT_RUN = Verdict(True, ("ran        not at all (--run none)",), {})


def _judged(
    options: MatmulOptions, product: Matmul, inputs: Mapping[str, Any], scalars: Mapping[str, float]
) -> Verdict:
    on = _machine(options)
    started = time.perf_counter()
    try:
        outcome = product(inputs, scalars, on=on)
    except KernelError as error:
        return Verdict(False, (f"ran        on the {on.value}, with findings:", str(error)), {})
    ran = _how_it_ran(outcome, on, time.perf_counter() - started)
    sizes = bind(arrays_in_memory(product.stated), outcome.arrays).sizes
    where = _ran_on(product, on)
    orders = outcome.kernel.derivation.signature(where)
    exact = bounded(product.stated, inputs, sizes, scalars, target=where, orders=orders)
    good, lines = True, [ran]
    for name in ("D", "E", *map(str, product.spec.totals)):
        if name in outcome.arrays:
            found = exact[name].excess(outcome.arrays[name])
            good &= found <= 1.0
            computed = values_of(outcome.arrays[name], exact[name].element)
            lines.append(_error_line(name, computed, exact[name].value, found))
    return Verdict(good, tuple(lines), outcome.arrays if good else {})


def _ran_on(product: Matmul, on: Machine) -> str:
    if on is Machine.CPU:
        return product.target
    major, minor = compute_capability()
    return f"sm_{major}{minor}"


def _how_it_ran(outcome: Outcome, on: Machine, seconds: float) -> str:
    if on is Machine.GPU:
        return f"ran        on GPU 0, {1e3 * seconds:.1f} ms with loading and copies"
    if outcome.report is None:
        return "ran        nothing: the result has no elements"
    report = outcome.report
    return (
        f"ran        on the CPU simulator in {seconds:.2f} s: {report.grid[0]} blocks, "
        f"{report.total.warps} warp-instructions, {report.conflicts} bank conflicts, no findings"
    )


def _error_line(name: str, computed: Any, exact: Any, excess: float) -> str:
    with np.errstate(all="ignore"):
        off = np.abs(computed - exact)
    worst = float(np.nanmax(off)) if off.size and not np.isnan(off).all() else 0.0
    verdict = "good" if excess <= 1.0 else "WRONG"
    return f"error      {verdict}: at most {worst:.3g} from float64 in {name}, {excess:.2f} of what rounding may do"
