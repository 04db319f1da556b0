"""Kernels: each a compute and a choice of plan, and one launcher for all (see README.md)."""

from ptxgen.kernels.chained import chained_compute, chained_plan
from ptxgen.kernels.elementwise import epilogue_compute, epilogue_plan
from ptxgen.kernels.launching.generated import GeneratedKernel, generate
from ptxgen.kernels.matmul import Machine, Matmul, Outcome
from ptxgen.kernels.products.compute import Grouping, Layout, MatmulSpec, matmul_compute
from ptxgen.kernels.products.defaults import default_tiling
from ptxgen.kernels.products.epilogue import Epilogue, Piece, parse_epilogue
from ptxgen.kernels.products.plan import matmul_plan
from ptxgen.kernels.products.samples import menu
from ptxgen.kernels.products.tiling import MatmulTiling
from ptxgen.kernels.softmax import softmax_compute, softmax_plan
from ptxgen.kernels.transpose import transpose_compute, transpose_plan
from ptxgen.kernels.variants import Reach, Variant

__all__ = [
    "Epilogue", "GeneratedKernel", "Grouping", "Layout", "Machine", "Matmul", "MatmulSpec", "MatmulTiling", "Outcome",
    "Piece", "Reach", "Variant", "chained_compute", "chained_plan", "default_tiling", "epilogue_compute",
    "epilogue_plan", "generate", "matmul_compute", "matmul_plan", "menu", "parse_epilogue", "softmax_compute",
    "softmax_plan", "transpose_compute", "transpose_plan",
]  # fmt: skip
