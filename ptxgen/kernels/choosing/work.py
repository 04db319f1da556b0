"""What holds of a product on a device by any tiling."""

from __future__ import annotations

from attrs import frozen

from isa.limits import Limits, limits
from isa.targets import target as target_named
from ptxgen.kernels.choosing.menu import Sizes
from ptxgen.kernels.choosing.processors import Processor
from ptxgen.kernels.products.compute import MatmulSpec
from ptxgen.kernels.products.epilogue import Activate, Activation, Beta, Bias, Keep, Residual
from ptxgen.kernels.products.groups import groups_multiply

BYTES_PER_US = 1e6
LINE_BYTES = 64


@frozen
class Lines:
    """The lines of the cache that are read for each line of an operand: `whole` ones, which neighbours' reads of them
    meet on their way to, and further ones, where rows begin within a line and `cut` it."""

    whole: float
    cut: float = 0.0

    def shared(self, blocks: int, row: Processor) -> float:
        """Those that each of so many blocks of a cluster reads, which share the operand."""
        return self.whole / float(blocks**row.saved) + self.cut / blocks


@frozen
class Product:
    """A product on a device, and what holds of it by any tiling: the bytes of an operand's element, of a result's with
    what that is kept in, and of those that it is `joined` with; the clocks that an element's curves take; the
    operations of a clock, the lines of A and of B, the bytes of the operands and the least time that memory takes."""

    sizes: Sizes
    spec: MatmulSpec
    target: str
    processor: Processor
    room: Limits
    has_groups: bool
    width: int
    result_bytes: int
    joined_bytes: int
    curve_clocks: float
    peak: float
    lines: tuple[Lines, Lines]
    operand_bytes: int
    least_memory: float


def product_of(spec: MatmulSpec, target: str, sizes: Sizes, row: Processor) -> Product:
    """The product of such arrays."""
    width = spec.input.byte_count
    lying = (
        sizes.m if spec.layout.a_transposed else sizes.k,
        sizes.k if spec.layout.b_transposed else sizes.n,
    )
    further = [0.0 if along * width % LINE_BYTES == 0 else row.lines_cut - 1 for along in lying]
    longer = [float(extent) ** row.longer for extent in (sizes.m, sizes.n)]
    weights = [2 * each / sum(longer) for each in longer]
    of_a, of_b = (Lines(own, own * cut) for own, cut in zip(weights, further, strict=True))
    joined = sum(each.element.byte_count for each in spec.epilogue if isinstance(each, (Beta, Residual)))
    kept = sum(each.element.byte_count for each in spec.epilogue if isinstance(each, Keep))
    curves = sum(isinstance(each, Activate) and each.function is not Activation.RELU for each in spec.epilogue)
    bias = sum(each.element.byte_count for each in spec.epilogue if isinstance(each, Bias))
    operands = (sizes.m + sizes.n) * sizes.k * width * sizes.batches
    written = spec.output.byte_count + kept
    moved = sizes.m * sizes.n * sizes.batches * (joined + written / row.write_share) + sizes.n * bias
    return Product(
        sizes=sizes,
        spec=spec,
        target=target,
        processor=row,
        room=limits(target_named(target)),
        has_groups=groups_multiply(spec, target),
        width=width,
        result_bytes=written,
        joined_bytes=joined,
        curve_clocks=row.curve * curves,
        peak=row.flops(spec.input),
        lines=(of_a, of_b),
        operand_bytes=operands,
        least_memory=(operands + moved) / (row.memory_rate * BYTES_PER_US),
    )
