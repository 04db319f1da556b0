"""Loop generation beside islpy in the same run: a tiled product with full tiles isolated, and the CLooG suite."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from functools import _lru_cache_wrapper, partial
from pathlib import Path

import islpy as isl
import pytest

from polyhedral import Node, Set, Statement, System, isolated, scan, tile, var
from tests.polyhedral.cloog_reader import NotTaken, Scanning, read
from tests.polyhedral.codegen_inputs import both_of_scanning, loops_of_scanning, their_loops_of_scanning
from tests.polyhedral.test_cloog import NOT_BOUNDED, inputs

SHARED = Path(__file__).parents[2] / "shared"
ROUNDS = 25
MATMUL_BOUND, PLAIN_BOUND, SUITE_BOUND = 0.3, 1.05, 4.0
SIZES = {"i": 128, "j": 128, "k": 32}
ORDER = ("ci", "cj", "ck", "wi", "wj", "k", "i", "j")
TIMES = "[floor(i/128)] [floor(j/128)] [floor(k/32)] [floor(i/64)] [floor(j/64)] [k] [i] [j]"
ISOLATE = "0 <= a and 128a + 128 <= M and 0 <= b and 128b + 128 <= N and 0 <= c and 32c + 32 <= K"


def ours(isolate: bool) -> Node:
    """The product tiled 128 x 128 x 32 and 64 x 64, in full and partial tiles where `isolate`."""
    i, j, k, m, n, depth = (var(x) for x in ("i", "j", "k", "M", "N", "K"))
    box = Set.of(("i", "j", "k"), i >= 0, i < m, j >= 0, j < n, k >= 0, k < depth)
    names = {d: f"c{d}" for d in SIZES}
    parts = isolated(box, SIZES, names) if isolate else (tile(box, SIZES, names),)
    statements = [
        Statement("S", tile(p, {"i": 64, "j": 64}, {"i": "wi", "j": "wj"}), tuple(map(var, ORDER))) for p in parts
    ]
    return scan(statements, System.of(m >= 1, n >= 1, depth >= 1))


def theirs(isolate: bool) -> isl.AstNode:
    """isl's loops for the same."""
    members = ", ".join(f"{{ S[i,j,k] -> {t} }}" for t in TIMES.split(" ") if t)
    text = 'domain: "[M,N,K] -> { S[i,j,k] : 0 <= i < M and 0 <= j < N and 0 <= k < K }"\nchild:\n'
    text += f'  schedule: "[M,N,K] -> [{members}]"\n'
    if isolate:
        text += f'  options: "[M,N,K] -> {{ isolate[[] -> [a,b,c,d,e,f,g,h]] : {ISOLATE} }}"\n'
    known = isl.Set("[M,N,K] -> { : M >= 1 and N >= 1 and K >= 1 }")
    return isl.AstBuild.from_context(known).node_from_schedule(isl.Schedule(text))


def processor_seconds(work: Callable[[], object]) -> float:
    """Processor time of one run, in which no garbage is collected, as `timeit` measures."""
    gc.collect()
    gc.disable()
    start = time.process_time()
    work()
    took = time.process_time() - start
    gc.enable()
    return took


def forget() -> None:
    """Empties every memory of the package, so that the next loops are made as the first ones are."""
    for found in gc.get_objects():
        if isinstance(found, _lru_cache_wrapper) and found.__module__.startswith("polyhedral."):
            found.cache_clear()


def fresh_seconds(isolate: bool) -> float:
    """Processor time of our loops where nothing is remembered; the interpreter is warm, as isl is."""
    forget()
    return processor_seconds(lambda: ours(isolate))


def test_isolated_product() -> None:
    """The goal is the time of isl's loops without isolation, with leave for what runs beside."""
    rounds = [
        (fresh_seconds(True), fresh_seconds(False), processor_seconds(lambda: theirs(False))) for _ in range(ROUNDS)
    ]
    isolated_, plain, isl_plain = (min(column) for column in zip(*rounds, strict=True))
    isl_isolated = min(processor_seconds(lambda: theirs(True)) for _ in range(3))
    print(f"\nisolated: ours {isolated_ * 1e3:.1f} ms, isl {isl_isolated * 1e3:.1f} ms, {isolated_ / isl_isolated:.2f}")
    print(f"not isolated: ours {plain * 1e3:.1f} ms, isl {isl_plain * 1e3:.1f} ms, {plain / isl_plain:.2f}")
    print(f"ours isolated by isl's without: {isolated_ / isl_plain:.2f}")
    assert isolated_ <= MATMUL_BOUND * isl_isolated
    assert isolated_ <= PLAIN_BOUND * isl_plain


def scannings() -> list[tuple[str, Scanning]]:
    """The inputs of the suite that both sides take."""
    found = []
    for name, path in inputs(SHARED).items():
        if name not in NOT_BOUNDED:
            try:
                found.append((name, read(path)))
            except NotTaken:
                continue
    return found


@pytest.mark.skipif(not SHARED.exists(), reason="the inputs are not beside the checkout")
def test_cloog_suite() -> None:
    cases = scannings()
    both_of_scanning(cases[0][1])
    own, other = {}, {}
    for name, scanning in cases:
        own[name] = processor_seconds(partial(loops_of_scanning, scanning))
        other[name] = processor_seconds(partial(their_loops_of_scanning, scanning))
    worst = sorted(own, key=lambda n: -own[n])[:5]
    ratio = sum(own.values()) / sum(other.values())
    print(f"\nsuite of {len(cases)}: ours {sum(own.values()):.2f} s, isl {sum(other.values()):.2f} s, {ratio:.1f}")
    print(", ".join(f"{n} {own[n]:.2f} s" for n in worst))
    assert ratio <= SUITE_BOUND
