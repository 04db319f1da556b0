"""The best tilings found, kept on disk between processes, for whoever asks to be given them.

A folder for each product, target, device, version of its driver, whose compiler makes what a call runs and what the
best was measured by, and of the sources that make kernels, launch and judge them: a change of any of these makes what
was found stale. A file in it for each shape and what its arguments allow. Files that cannot be read, are not whole or
hold what cannot be derived count as absent; a folder that nobody may write to keeps none.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from math import isfinite, log
from pathlib import Path
from typing import Any

from attrs import define, field, frozen

from ptxgen.kernels.choosing.legal import is_legal
from ptxgen.kernels.choosing.menu import Sizes
from ptxgen.kernels.launching import store
from ptxgen.kernels.products.compute import MatmulSpec
from ptxgen.kernels.products.tiling import MatmulTiling
from ptxgen.plan import Fact
from ptxgen.tune.tilings import plain, tiling_of

FOLDER, SUFFIX, FORMAT = "tuned", ".json", 2
NOT_ASKED = store.NOT_ASKED - {"runtime", "tune"}
BITS_OF_A_CLASS, DIGITS = 4, 16
MODULI = (128, 64, 8, 1)


@frozen
class Best:
    """The best tiling of a shape, and its microseconds."""

    sizes: Sizes
    tiling: MatmulTiling
    microseconds: float


def class_of(sizes: Sizes) -> str:
    """The shapes that a best one may serve: sizes equal in their first bits, and rows that begin alike."""
    parts = [f"{rounded(size)}-{alignment(size)}" for size in (sizes.m, sizes.n, sizes.k)]
    return "x".join([*parts, str(sizes.batches)])


def rounded(size: int) -> int:
    """A size rounded up to its first bits."""
    step = 1 << max(0, size.bit_length() - BITS_OF_A_CLASS)
    return -(-size // step) * step


def alignment(size: int) -> int:
    """The largest modulus that divides a size."""
    return next(modulus for modulus in MODULI if size % modulus == 0)


@define(eq=False)
class Kept:
    """What is kept for products on one kind of device, by the name that its driver gives it, whose compiler is of a
    version. `tiling` makes it an answer for `Matmul(tuned=...)` and `ptxgen.matmul(tuned=...)`: what it has once
    answered stays so, whatever others keep meanwhile. Two are equal only where they are the same object."""

    device: str
    driver: str = ""
    answers: dict[tuple[MatmulSpec, str, str, str], MatmulTiling | None] = field(factory=dict, repr=False)

    def tiling(self, spec: MatmulSpec, target: str, sizes: Sizes, facts: Iterable[Fact]) -> MatmulTiling | None:
        """The best known for a shape whose arguments allow `facts`, else of the shape nearest to it in its class; None
        where none of the class was measured with arguments that allow the same."""
        key = (spec, target, shape_of(sizes), allowed(facts))
        if key not in self.answers:
            found = self.find(spec, target, sizes, facts)
            self.answers[key] = None if found is None else found.tiling
        return self.answers[key]

    def find(self, spec: MatmulSpec, target: str, sizes: Sizes, facts: Iterable[Fact]) -> Best | None:
        """The best kept for a shape, or for the nearest one of its class, with arguments that allow the same."""
        paths = self.folder(spec, target).glob(f"{class_of(sizes)}.{allowed(facts)}.*{SUFFIX}")
        held = (best for best in _readable(paths) if is_legal(spec, target, best.tiling))
        return min(held, key=lambda best: _distance(best.sizes, sizes), default=None)

    def exact(self, spec: MatmulSpec, target: str, sizes: Sizes, facts: Iterable[Fact]) -> Best | None:
        """The best kept for this very shape."""
        found = _read(self.folder(spec, target) / name_of(sizes, facts))
        return found if found is not None and is_legal(spec, target, found.tiling) else None

    def nearest(self, spec: MatmulSpec, target: str, sizes: Sizes) -> Best | None:
        """The best kept for the shape most like this one, by the logarithms of the sizes."""
        return min(self.all(spec, target), key=lambda best: _distance(best.sizes, sizes), default=None)

    def all(self, spec: MatmulSpec, target: str) -> Iterator[Best]:
        """All that is kept of a product on a target."""
        yield from _readable(self.folder(spec, target).glob(f"*{SUFFIX}"))

    def keep(self, spec: MatmulSpec, target: str, best: Best, facts: tuple[Fact, ...]) -> None:
        """Keeps the best of a shape in the place of an earlier one of that very shape."""
        sizes = [best.sizes.m, best.sizes.n, best.sizes.k, best.sizes.batches]
        told = {"format": FORMAT, "sizes": sizes, "us": best.microseconds, "tiling": plain(best.tiling)}
        told["facts"] = sorted(map(str, facts))
        with suppress(OSError):
            store.write_whole(self.folder(spec, target) / name_of(best.sizes, facts), json.dumps(told))

    def folder(self, spec: MatmulSpec, target: str) -> Path:
        """Where they lie: another folder after every change of the sources, and of the driver."""
        question = "\n".join([store.sources_stamp(NOT_ASKED), repr(spec), target, self.device, self.driver])
        return store.folder() / FOLDER / hashlib.sha256(question.encode()).hexdigest()


@frozen(eq=False)
class Everywhere:
    """What is kept for the device that is asked about, `on` a number; for GPU 0 where nobody tells."""

    on: Callable[[int], Kept] = field(repr=False)

    def of_device(self, device: int) -> Kept:
        """What is kept for a device."""
        return self.on(device)

    def tiling(self, spec: MatmulSpec, target: str, sizes: Sizes, facts: Iterable[Fact]) -> MatmulTiling | None:
        """The best known for GPU 0."""
        return self.on(0).tiling(spec, target, sizes, facts)


def held() -> int:
    """How many shapes have a best one kept, of all products, devices and versions."""
    return sum(1 for _ in _all_files())


def clear() -> int:
    """Deletes them all; how many there were. OSError where one cannot be deleted."""
    paths = tuple(_all_files())
    for path in paths:
        path.unlink(missing_ok=True)
    for where in {path.parent for path in paths}:
        with suppress(OSError):
            where.rmdir()
    return len(paths)


def _all_files() -> Iterator[Path]:
    return (store.folder() / FOLDER).glob(f"*/*{SUFFIX}")


def shape_of(sizes: Sizes) -> str:
    """A shape as text."""
    return f"{sizes.m}x{sizes.n}x{sizes.k}x{sizes.batches}"


def allowed(facts: Iterable[Fact]) -> str:
    """Equal for arguments that allow the same."""
    return hashlib.sha256("\n".join(sorted(map(str, facts))).encode()).hexdigest()[:DIGITS]


def name_of(sizes: Sizes, facts: Iterable[Fact]) -> str:
    """The file of a shape: those of a class with arguments that allow the same begin alike."""
    return f"{class_of(sizes)}.{allowed(facts)}.{shape_of(sizes)}{SUFFIX}"


def _readable(paths: Iterable[Path]) -> Iterator[Best]:
    return (found for path in sorted(paths) if (found := _read(path)) is not None)


def _distance(one: Sizes, other: Sizes) -> float:
    pairs = zip((one.m, one.n, one.k, one.batches), (other.m, other.n, other.k, other.batches), strict=True)
    return sum(abs(log(mine / yours)) for mine, yours in pairs)


def _read(path: Path) -> Best | None:
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        if told["format"] != FORMAT:
            return None
        m, n, k, batches = map(_size, told["sizes"])
        micro = float(told["us"])
        return Best(Sizes(m, n, k, batches), tiling_of(told["tiling"]), micro) if isfinite(micro) else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _size(told: Any) -> int:
    if type(told) is not int or told < 1:
        raise ValueError(f"no size: {told!r}")
    return told
