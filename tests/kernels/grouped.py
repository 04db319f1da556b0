"""Grouped products as numpy multiplies them in float64, group by group."""

from __future__ import annotations

from typing import Any

import numpy as np
from attrs import frozen

from ptxgen.kernels import Grouping, Layout

UNTOUCHED = -7.0


def bounds(ends: Any, rows: int) -> list[tuple[int, int]]:
    """Where each group begins and ends, whatever the array of ends holds."""
    first, found = 0, []
    for end in map(int, ends):
        found.append((first, min(rows, max(first, end))))
        first = found[-1][1]
    return found


@frozen(eq=False)
class Case:
    """Factors as they are multiplied, with ends, a bias for each group, and what is behind the last end: NaN, which
    must reach nothing."""

    a: Any
    b: Any
    bias: Any
    ends: Any
    grouping: Grouping

    @classmethod
    def of(cls, grouping: Grouping, ends: list[int], size: tuple[int, int, int], seed: int = 3) -> Case:
        rng, (m, n, k), groups = np.random.default_rng(seed), size, len(ends)
        b_shape = (groups, k, n) if grouping is Grouping.ROWS else (k, n)
        a, b = (rng.standard_normal(shape).astype(np.float16) for shape in ((m, k), b_shape))
        last = max([0, *(end for _, end in bounds(ends, m if grouping is Grouping.ROWS else k))])
        if grouping is Grouping.ROWS:
            a[last:] = np.nan
        else:
            a[:, last:], b[last:] = np.nan, np.nan
        bias = rng.standard_normal((groups, n)).astype(np.float32)
        return cls(a, b, bias, np.array(ends, np.int32), grouping)

    @property
    def result(self) -> Any:
        """A result that nothing has written."""
        rows, columns = self.a.shape[0], self.b.shape[-1]
        shape = (rows, columns) if self.grouping is Grouping.ROWS else (len(self.ends), rows, columns)
        return np.full(shape, UNTOUCHED, np.float16)

    def arrays(self, layout: Layout) -> dict[str, Any]:
        """The arrays of the product's compute, as a layout has them in memory."""
        turned = {"A": layout.a_transposed, "B": layout.b_transposed}
        stored = {
            name: np.ascontiguousarray(array.swapaxes(-1, -2)) if turned[name] else array
            for name, array in (("A", self.a), ("B", self.b))
        }
        return {**stored, "ends": self.ends, "bias": self.bias, "D": self.result}

    def wanted(self) -> tuple[Any, Any]:
        """max(a @ b + bias, 0) of each group, and the sums of the terms' magnitudes; what no group has is NaN."""
        total, sizes = (np.full(self.result.shape, np.nan) for _ in range(2))
        a, b = self.a.astype(np.float64), self.b.astype(np.float64)
        for group, (first, end) in enumerate(bounds(self.ends, self.a.shape[self.grouping is Grouping.TERMS])):
            own: Any = slice(first, end) if self.grouping is Grouping.ROWS else group
            rows = self.grouping is Grouping.ROWS
            left, right = (a[own], b[group]) if rows else (a[:, first:end], b[first:end])
            total[own] = np.maximum(left @ right + self.bias[group], 0)
            sizes[own] = abs(left) @ abs(right) + abs(self.bias[group])
        return total, sizes

    def judge(self, found: Any) -> None:
        """Every element of a group is near the float64 one, every other one untouched."""
        total, sizes = self.wanted()
        assert found.shape == total.shape
        own = ~np.isnan(total)
        assert (found[~own] == UNTOUCHED).all()
        error = abs(found[own] - total[own])
        assert (error <= 2.0**-10 * abs(total[own]) + 2.0**-16 * sizes[own] + 2.0**-24).all(), error.max()
