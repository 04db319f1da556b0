"""cuBLASLt through ctypes: products by one algorithm of its own choice that neither splits the sum nor joins parts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import CDLL, Structure, byref, c_float, c_int, c_size_t, c_uint32, c_uint64, c_void_p, sizeof
from importlib.metadata import PackageNotFoundError, files
from typing import Any

COMPUTE_F32, REAL_F32 = 68, 0
TYPES = {"float16": 2, "bfloat16": 14, "float32": 0}
TRANSPOSE_A, WORKSPACE_BYTES, REDUCTION_SCHEMES = 3, 1, 3
SPLIT_K, REDUCTION_SCHEME = 2, 3
CUBLAS_T = 1
DISTRIBUTIONS = ("nvidia-cublas", "nvidia-cublas-cu13", "nvidia-cublas-cu12")


class Found(Structure):
    """cublasLtMatmulHeuristicResult_t."""

    _fields_ = (
        ("algorithm", c_uint64 * 8),
        ("workspace", c_size_t),
        ("state", c_int),
        ("waves", c_float),
        ("reserved", c_int * 4),
    )


class Library:
    """The library of the wheel that torch brings; OSError where there is none."""

    def __init__(self) -> None:
        self.functions = CDLL(next(_paths()))
        self.handle = c_void_p()
        self.call("cublasLtCreate", byref(self.handle))

    def call(self, name: str, *arguments: Any) -> None:
        status = getattr(self.functions, name)(*arguments)
        assert status == 0, f"{name} gave {status}"

    @contextmanager
    def made(self, kind: str, *arguments: Any) -> Iterator[c_void_p]:
        one = c_void_p()
        self.call(f"cublasLt{kind}Create", byref(one), *arguments)
        try:
            yield one
        finally:
            self.call(f"cublasLt{kind}Destroy", one)

    def product(self, a: Any, b: Any, d: Any) -> None:
        """d = a @ b.T for tensors of torch in rows, sums in f32, in one chain along k: the algorithm says so itself."""
        import torch

        (m, k), n = a.shape, b.shape[0]
        kind, result = (TYPES[str(each.dtype).removeprefix("torch.")] for each in (a, d))
        with (
            self.made("MatmulDesc", COMPUTE_F32, REAL_F32) as what,
            self.made("MatrixLayout", kind, c_uint64(k), c_uint64(n), c_uint64(k)) as left,
            self.made("MatrixLayout", kind, c_uint64(k), c_uint64(m), c_uint64(k)) as right,
            self.made("MatrixLayout", result, c_uint64(n), c_uint64(m), c_uint64(n)) as out,
            self.made("MatmulPreference") as wish,
        ):
            turned, none, no_bytes = c_int(CUBLAS_T), c_uint32(0), c_uint64(0)
            self.call("cublasLtMatmulDescSetAttribute", what, TRANSPOSE_A, byref(turned), c_size_t(sizeof(turned)))
            setting = "cublasLtMatmulPreferenceSetAttribute"
            self.call(setting, wish, REDUCTION_SCHEMES, byref(none), c_size_t(sizeof(none)))
            self.call(setting, wish, WORKSPACE_BYTES, byref(no_bytes), c_size_t(sizeof(no_bytes)))
            found, count = Found(), c_int()
            asked = (self.handle, what, left, right, out, out, wish, 1, byref(found), byref(count))
            self.call("cublasLtMatmulAlgoGetHeuristic", *asked)
            assert count.value == 1
            assert self.attribute(found, SPLIT_K) in (0, 1)
            assert self.attribute(found, REDUCTION_SCHEME) == 0
            one, zero = c_float(1), c_float(0)
            stream = c_void_p(torch.cuda.current_stream().cuda_stream)
            left_at, right_at, out_at = (c_void_p(each.data_ptr()) for each in (b, a, d))
            self.call(
                "cublasLtMatmul", self.handle, what, byref(one), left_at, left, right_at, right, byref(zero),
                out_at, out, out_at, out, byref(found.algorithm), c_void_p(), c_size_t(0), stream,
            )  # fmt: skip

    def attribute(self, found: Found, which: int) -> int:
        value, written = c_int(), c_size_t()
        asked = (byref(found.algorithm), which, byref(value), c_size_t(sizeof(value)), byref(written))
        self.call("cublasLtMatmulAlgoConfigGetAttribute", *asked)
        return value.value


def _paths() -> Iterator[str]:
    for distribution in DISTRIBUTIONS:
        try:
            held = files(distribution) or []
        except PackageNotFoundError:
            continue
        yield from (str(each.locate()) for each in held if each.name.startswith("libcublasLt.so"))
    raise OSError(f"none of {', '.join(DISTRIBUTIONS)} is installed")
