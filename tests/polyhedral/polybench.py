"""Programs in the manner of PolyBench, each as its statements in the order of the original loops."""

from __future__ import annotations

from collections.abc import Callable

from polyhedral import Access, Affine, ScheduledStatement, UnionSet, as_affine, parse, var

Program = list[ScheduledStatement]
SIZES = ("K", "M", "N")


def _affine(text: str, names: tuple[str, ...]) -> Affine:
    return as_affine(eval(text, {"__builtins__": {}}, {n: var(n) for n in (*names, *SIZES)}))


def _accesses(text: str, names: tuple[str, ...]) -> tuple[Access, ...]:
    found = []
    for word in text.split():
        array, _, indices = word.partition("[")
        own = [i for i in indices.rstrip("]").split(",") if i]
        found.append(Access(array, tuple(_affine(i, names) for i in own)))
    return tuple(found)


def statement(domain: str, times: str, writes: str, reads: str) -> ScheduledStatement:
    """One statement: a domain such as `S[i] : 0 <= i < N`, times such as `0,i`, accesses such as `A[i] B[i-1]`."""
    points = parse(f"[K, M, N] -> {{ {domain} }}")
    assert isinstance(points, UnionSet)
    ((space, own),) = points.parts
    schedule = tuple(_affine(t, own.dims) for t in times.split(","))
    return ScheduledStatement(space.name, own, _accesses(reads, own.dims), _accesses(writes, own.dims), schedule)


def matmul() -> Program:
    return [
        statement("S0[i,j] : 0 <= i < M and 0 <= j < N", "i,j,0", "C[i,j]", ""),
        statement("S1[i,j,k] : 0 <= i < M and 0 <= j < N and 0 <= k < K", "i,j,1,k", "C[i,j]", "C[i,j] A[i,k] B[k,j]"),
    ]


def two_products() -> Program:
    return [
        statement("S0[i,j] : 0 <= i < M and 0 <= j < N", "0,i,j,0", "T[i,j]", ""),
        statement(
            "S1[i,j,k] : 0 <= i < M and 0 <= j < N and 0 <= k < K", "0,i,j,1,k", "T[i,j]", "T[i,j] A[i,k] B[k,j]"
        ),
        statement("S2[i,j] : 0 <= i < M and 0 <= j < K", "1,i,j,0", "D[i,j]", "D[i,j]"),
        statement(
            "S3[i,j,k] : 0 <= i < M and 0 <= j < K and 0 <= k < N", "1,i,j,1,k", "D[i,j]", "D[i,j] T[i,k] C[k,j]"
        ),
    ]


def syrk() -> Program:
    return [
        statement("S0[i,j] : 0 <= j <= i < N", "i,0,j", "C[i,j]", "C[i,j]"),
        statement("S1[i,k,j] : 0 <= j <= i < N and 0 <= k < M", "i,1,k,j", "C[i,j]", "C[i,j] A[i,k] A[j,k]"),
    ]


def trmm() -> Program:
    return [
        statement("S0[i,j,k] : 0 <= i < k < M and 0 <= j < N", "i,j,0,k", "B[i,j]", "B[i,j] A[k,i] B[k,j]"),
        statement("S1[i,j] : 0 <= i < M and 0 <= j < N", "i,j,1", "B[i,j]", "B[i,j]"),
    ]


def lu() -> Program:
    return [
        statement("S0[i,j,k] : 0 <= k < j < i < N", "i,j,0,k", "A[i,j]", "A[i,j] A[i,k] A[k,j]"),
        statement("S1[i,j] : 0 <= j < i < N", "i,j,1", "A[i,j]", "A[i,j] A[j,j]"),
        statement("S2[i,j,k] : 0 <= k < i <= j < N", "i,j,2,k", "A[i,j]", "A[i,j] A[i,k] A[k,j]"),
    ]


def cholesky() -> Program:
    return [
        statement("S0[i,j,k] : 0 <= k < j < i < N", "i,j,0,k", "A[i,j]", "A[i,j] A[i,k] A[j,k]"),
        statement("S1[i,j] : 0 <= j < i < N", "i,j,1", "A[i,j]", "A[i,j] A[j,j]"),
        statement("S2[i,k] : 0 <= k < i < N", "i,i,0,k", "A[i,i]", "A[i,i] A[i,k]"),
        statement("S3[i] : 0 <= i < N", "i,i,1", "A[i,i]", "A[i,i]"),
    ]


def gemver() -> Program:
    square = "0 <= i < N and 0 <= j < N"
    return [
        statement(f"S0[i,j] : {square}", "0,i,j", "A[i,j]", "A[i,j] u[i] v[j]"),
        statement(f"S1[i,j] : {square}", "1,i,j", "x[i]", "x[i] A[j,i] y[j]"),
        statement("S2[i] : 0 <= i < N", "2,i", "x[i]", "x[i] z[i]"),
        statement(f"S3[i,j] : {square}", "3,i,j", "w[i]", "w[i] A[i,j] x[j]"),
    ]


def jacobi_1d() -> Program:
    inside = "0 <= t < K and 1 <= i < N - 1"
    return [
        statement(f"S0[t,i] : {inside}", "t,0,i", "B[i]", "A[i-1] A[i] A[i+1]"),
        statement(f"S1[t,i] : {inside}", "t,1,i", "A[i]", "B[i-1] B[i] B[i+1]"),
    ]


def jacobi_2d() -> Program:
    inside = "0 <= t < K and 1 <= i < N - 1 and 1 <= j < N - 1"
    around = "{0}[i,j] {0}[i,j-1] {0}[i,j+1] {0}[i-1,j] {0}[i+1,j]"
    return [
        statement(f"S0[t,i,j] : {inside}", "t,0,i,j", "B[i,j]", around.format("A")),
        statement(f"S1[t,i,j] : {inside}", "t,1,i,j", "A[i,j]", around.format("B")),
    ]


def seidel_2d() -> Program:
    inside = "0 <= t < K and 1 <= i < N - 1 and 1 <= j < N - 1"
    reads = "A[i-1,j-1] A[i-1,j] A[i-1,j+1] A[i,j-1] A[i,j] A[i,j+1] A[i+1,j-1] A[i+1,j] A[i+1,j+1]"
    return [statement(f"S0[t,i,j] : {inside}", "t,i,j", "A[i,j]", reads)]


def fdtd_2d() -> Program:
    return [
        statement("S0[t,j] : 0 <= t < K and 0 <= j < N", "t,0,j", "y[0,j]", "f[t]"),
        statement(
            "S1[t,i,j] : 0 <= t < K and 1 <= i < M and 0 <= j < N", "t,1,i,j", "y[i,j]", "y[i,j] h[i,j] h[i-1,j]"
        ),
        statement(
            "S2[t,i,j] : 0 <= t < K and 0 <= i < M and 1 <= j < N", "t,2,i,j", "x[i,j]", "x[i,j] h[i,j] h[i,j-1]"
        ),
        statement(
            "S3[t,i,j] : 0 <= t < K and 0 <= i < M - 1 and 0 <= j < N - 1",
            *("t,3,i,j", "h[i,j]", "h[i,j] x[i,j+1] x[i,j] y[i+1,j] y[i,j]"),
        ),
    ]


def heat_3d() -> Program:
    inside = "0 <= t < K and 1 <= i < N - 1 and 1 <= j < N - 1 and 1 <= k < N - 1"
    around = "{0}[i,j,k] {0}[i-1,j,k] {0}[i+1,j,k] {0}[i,j-1,k] {0}[i,j+1,k] {0}[i,j,k-1] {0}[i,j,k+1]"
    return [
        statement(f"S0[t,i,j,k] : {inside}", "t,0,i,j,k", "B[i,j,k]", around.format("A")),
        statement(f"S1[t,i,j,k] : {inside}", "t,1,i,j,k", "A[i,j,k]", around.format("B")),
    ]


def floyd_warshall() -> Program:
    inside = "0 <= k < N and 0 <= i < N and 0 <= j < N"
    return [statement(f"S0[k,i,j] : {inside}", "k,i,j", "p[i,j]", "p[i,j] p[i,k] p[k,j]")]


def durbin() -> Program:
    return [
        statement("S0[k] : 1 <= k < N", "k,0", "b[]", "b[] a[]"),
        statement("S1[k] : 1 <= k < N", "k,1", "s[]", ""),
        statement("S2[k,i] : 0 <= i < k < N", "k,2,i", "s[]", "s[] r[k-i-1] y[i]"),
        statement("S3[k] : 1 <= k < N", "k,3", "a[]", "r[k] s[] b[]"),
        statement("S4[k,i] : 0 <= i < k < N", "k,4,i", "z[i]", "y[i] a[] y[k-i-1]"),
        statement("S5[k,i] : 0 <= i < k < N", "k,5,i", "y[i]", "z[i]"),
        statement("S6[k] : 1 <= k < N", "k,6", "y[k]", "a[]"),
    ]


PROGRAMS: dict[str, Callable[[], Program]] = {
    "matmul": matmul,
    "2mm": two_products,
    "syrk": syrk,
    "trmm": trmm,
    "lu": lu,
    "cholesky": cholesky,
    "gemver": gemver,
    "jacobi-1d": jacobi_1d,
    "jacobi-2d": jacobi_2d,
    "seidel-2d": seidel_2d,
    "fdtd-2d": fdtd_2d,
    "heat-3d": heat_3d,
    "floyd-warshall": floyd_warshall,
    "durbin": durbin,
}
