"""Atomic operations of many lanes at few places: as if lane after lane did them, whatever way they are worked out."""

from collections.abc import Callable

import numpy as np
import pytest

from isa.types import type_named
from ptxgen.simulate.memory import WRITTEN, Arena
from ptxgen.simulate.semantics.atomics import law_of, update_of
from ptxgen.simulate.turns import in_turn

CASES = [
    *((op, of) for op in ("add", "min", "max") for of in ("u32", "s32", "u64", "s64") if (op, of) != ("add", "s64")),
    *((op, of) for op in ("and", "or", "xor", "exch", "cas") for of in ("b32", "b64")), ("inc", "u32"), ("dec", "u32"),
    ("add", "f32"), ("add", "f64"), ("add", "f16x2"), ("add", "f16"), ("exch", "b128"), ("cas", "b128"), ("cas", "b16"),
]  # fmt: skip


@pytest.mark.parametrize("few", [1, 3, 400])
@pytest.mark.parametrize("operation, name", CASES)
def test_one_after_another(operation: str, name: str, few: int):
    of = type_named(name)
    rng = np.random.default_rng(few)
    count, width = 500, of.bytes
    dtype = np.dtype(np.complex128 if width == 16 else f"u{width}")
    arena = Arena(few * width)
    arena.shadow[:] = WRITTEN

    def drawn(size: int) -> np.ndarray:
        if name in ("f32", "f64"):
            values = rng.standard_normal(size) * 10.0 ** rng.integers(-3, 6, size)
            values[rng.random(size) < 0.002] = rng.choice([np.nan, np.inf, 1e-40])
            return values.astype(f"f{width}").view(dtype)
        if operation == "cas":
            return (
                np.repeat(rng.integers(0, 3, size).astype(np.uint64), max(1, width // 8))
                .astype(f"u{min(width, 8)}")
                .view(dtype)
            )
        return np.frombuffer(rng.bytes(size * width), dtype).copy()

    arena.data[: few * width] = drawn(few).view(np.uint8)
    start = arena.data.copy()
    index = rng.integers(0, few, count) * width
    a, b = drawn(count), drawn(count)
    if operation == "cas" and few == 3:
        a[:], b[:] = a[0], b[0]
    update = update_of(operation, of)
    with np.errstate(all="ignore"):
        old = in_turn(arena, index, (a, b), update, law_of(operation, of))
        exact, wanted = Arena(few * width), np.zeros(count, dtype)
        exact.data[:] = start
        for lane in range(count):
            wanted[lane] = exact.load(index[lane : lane + 1], width)[0]
            exact.store(
                index[lane : lane + 1], update(wanted[lane : lane + 1], a[lane : lane + 1], b[lane : lane + 1]), width
            )
    assert old.tobytes() == wanted.tobytes()
    assert (arena.data == exact.data).all()


def test_counters_in_python():
    update: Callable[..., np.ndarray] = update_of("add", type_named("u32"))
    arena = Arena(8)
    index = np.array([0, 4, 0, 0, 4, 0, 0, 0, 0, 0])
    operands = np.arange(10, dtype=np.uint32)
    old = in_turn(arena, index, (operands, operands), update, law_of("add", type_named("u32")))
    counters = {0: 0, 4: 0}
    for place, operand, found in zip(index.tolist(), operands.tolist(), old.tolist(), strict=True):
        assert found == counters[place]
        counters[place] += operand
    assert arena.data.view(np.uint32)[:2].tolist() == [counters[0], counters[4]]
