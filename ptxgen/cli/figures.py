"""What was made, in a few lines."""

from __future__ import annotations

from ptxgen.derive.budgets import most_registers, register_count
from ptxgen.errors import AssemblerError
from ptxgen.kernels.launching.generated import GeneratedKernel
from ptxgen.kernels.matmul import Matmul
from ptxgen.kernels.variants import Variant
from ptxgen.tile import Space


def figures(product: Matmul, kernel: GeneratedKernel, variant: Variant, seconds: float) -> str:
    """The kernel, its tile, stages, registers, shared bytes, the facts that it relies on, and how long it took."""
    spec, tiling = product.spec, product.tiled
    pieces = ", ".join(map(str, spec.epilogue)) or "none"
    rings = [b for b in kernel.program.buffers if b.space is Space.SHARED]
    stages = ", ".join(f"{ring.array} {ring.depth}" for ring in rings)
    facts = [*map(str, kernel.program.facts)]
    facts += [f"{p.name} aligned to {p.alignment}" for p in kernel.program.parameters if p.alignment > 1]
    left, right = spec.inputs
    inputs = f"{left}" if left is right else f"{left} by {right}"
    chains = f", in chains of {spec.promote} joined in f32" if spec.promote else ""
    types = f"{spec.layout.value}, {inputs}, sums in {spec.accumulate}{chains}, result {spec.output}"
    blocks = "blocks" if tiling.workers is None else f"{tiling.walking} that stay"
    return "\n".join([
        f"kernel     {kernel.program.name} for {product.target}: {types}, epilogue {pieces}",
        f"tile       {tiling.i}x{tiling.j}x{tiling.k} on {kernel.program.warps} warps, {blocks} in {tiling.raster}",
        f"stages     {stages} in shared memory",
        f"registers  {registers(kernel)}",
        f"shared     {kernel.program.shared_bytes} bytes",
        f"relies on  {', '.join(facts) or 'nothing'}",
        *(f"{'variant' if number == 0 else '':10} {told}" for number, told in enumerate(variant.reasons)),
        f"made       in {1e3 * seconds:.0f} ms, {len(kernel.listing.text.splitlines())} lines of PTX",
    ])  # fmt: skip


def registers(kernel: GeneratedKernel) -> str:
    """Registers of a thread: what ptxas says where there is one that knows the target, else what the tiles take."""
    try:
        cubin = kernel.assembled()
    except AssemblerError as error:
        if error.findings:
            raise
        tiles = max(sum(map(register_count, most_registers(part.ops))) for part in kernel.derivation.parts)
        return f"{tiles} for tiles, addresses not counted (there is no ptxas to ask)"
    return f"{cubin.registers}, {cubin.spills} bytes spilled ({cubin.assembler.name})"
