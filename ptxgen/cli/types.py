"""The element types of a product, as `matmul` and `tune` are told them."""

from __future__ import annotations

import argparse

from attrs import frozen

from ptxgen.cli.unusable import Unusable
from ptxgen.compute import Element, f32
from ptxgen.kernels.products.compute import USUAL_RESULTS, USUAL_SUMS, Layout, MatmulSpec, check_types
from ptxgen.kernels.products.epilogue import Epilogue
from ptxgen.plan.instructions import SUMS

INPUTS: dict[str, Element] = {element.label: element for element in SUMS}
SUM_TYPES: dict[str, Element] = {element.label: element for sums in SUMS.values() for element in sums}
RESULTS: dict[str, Element] = {element.label: element for element in Element if element is not Element.TF32}


@frozen
class ProductTypes:
    """The types of A and B, of their sums and of the result, and after how many terms sums are promoted to f32."""

    input: Element
    b_input: Element
    accumulate: Element
    promote: int | None
    output: Element

    def spec(self, layout: Layout, epilogue: Epilogue, *, batched: bool) -> MatmulSpec:
        """The product of these types; Unusable where there is none."""
        found = MatmulSpec(
            layout,
            self.accumulate,
            self.output,
            epilogue,
            batched,
            input=self.input,
            b_input=None if self.b_input is self.input else self.b_input,
            promote=self.promote,
        )
        try:
            check_types(found)
        except ValueError as error:
            raise Unusable(str(error)) from None
        return found


def add_types(parser: argparse.ArgumentParser) -> None:
    """The options that `product_types` reads."""
    parser.add_argument(
        "--input-type",
        default="f16",
        metavar="TYPE",
        help=f"of A and B: {', '.join(INPUTS)}; two for A,B (default: f16)",
    )
    parser.add_argument("--accumulate", choices=list(SUM_TYPES), help="the type that sums are kept in (default: f32)")
    parser.add_argument("--promote", type=int, metavar="TERMS", help="sums in chains of so many terms, joined in f32")
    parser.add_argument(
        "--output-type", choices=list(RESULTS), help="the type of the result (default: f16, of the input)"
    )


def product_types(given: argparse.Namespace) -> ProductTypes:
    """What was said of types; Unusable says what is wrong with it."""
    if given.promote is not None and (given.promote < 1 or given.promote & (given.promote - 1)):
        raise Unusable(f"--promote must be a power of two, got {given.promote}")
    left, right = types_of(given.input_type)
    accumulate = SUM_TYPES[given.accumulate] if given.accumulate else USUAL_SUMS.get(left, f32)
    output = RESULTS[given.output_type] if given.output_type else USUAL_RESULTS.get(left, left)
    return ProductTypes(left, right, accumulate, given.promote, output)


def types_of(text: str) -> tuple[Element, Element]:
    """The types of A and B: `e4m3`, or `e4m3,e5m2`. Unusable names one that no product multiplies."""
    names = text.split(",")
    if not 1 <= len(names) <= 2 or any(name not in INPUTS for name in names):
        raise Unusable(f"--input-type must be one of {', '.join(INPUTS)}, or two of them for A and B, got {text}")
    return INPUTS[names[0]], INPUTS[names[-1]]
