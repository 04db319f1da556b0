"""The best tilings found, kept on disk between processes, for whoever asks to be given them.

A folder for each product, target, device and version of the sources that make kernels; a file in it for each class of
shapes. Files that cannot be read or are not whole count as absent; a folder that nobody may write to keeps none.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from math import log
from pathlib import Path

from attrs import define, field, frozen

from ptxgen.kernels import store
from ptxgen.kernels.matmul_compute import MatmulSpec
from ptxgen.kernels.matmul_menu import Sizes
from ptxgen.kernels.matmul_tiling import MatmulTiling
from ptxgen.tune.tilings import plain, tiling_of

FOLDER, SUFFIX, FORMAT = "tuned", ".json", 1
BITS_OF_A_CLASS = 4
MODULI = (128, 64, 8, 1)


@frozen
class Best:
    """The best tiling of a shape, and its microseconds."""

    sizes: Sizes
    tiling: MatmulTiling
    microseconds: float


def class_of(sizes: Sizes) -> str:
    """The shapes that a best one serves: sizes equal in their first bits, and rows that begin alike."""
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
    """What is kept for products on one kind of device. `tiling` makes it an answer for `Matmul(tuned=...)` and
    `ptxgen.matmul(tuned=...)`: what it has once answered stays so, whatever others keep meanwhile."""

    device: str
    answers: dict[tuple[MatmulSpec, str, str], MatmulTiling | None] = field(factory=dict, repr=False)

    def tiling(self, spec: MatmulSpec, target: str, sizes: Sizes) -> MatmulTiling | None:
        """The best known for a class of shapes; None where none was measured."""
        key = (spec, target, class_of(sizes))
        if key not in self.answers:
            found = self.find(spec, target, sizes)
            self.answers[key] = None if found is None else found.tiling
        return self.answers[key]

    def find(self, spec: MatmulSpec, target: str, sizes: Sizes) -> Best | None:
        """The best kept for the class of a shape."""
        return _read(self.folder(spec, target) / (class_of(sizes) + SUFFIX))

    def nearest(self, spec: MatmulSpec, target: str, sizes: Sizes) -> Best | None:
        """The best kept for the shape most like this one, by the logarithms of the sizes."""
        return min(self.all(spec, target), key=lambda best: _distance(best.sizes, sizes), default=None)

    def all(self, spec: MatmulSpec, target: str) -> Iterator[Best]:
        """All that is kept of a product on a target."""
        for path in sorted(self.folder(spec, target).glob(f"*{SUFFIX}")):
            found = _read(path)
            if found is not None:
                yield found

    def keep(self, spec: MatmulSpec, target: str, best: Best) -> None:
        """Keeps the best of a shape in the place of an earlier one of its class."""
        sizes = [best.sizes.m, best.sizes.n, best.sizes.k, best.sizes.batches]
        told = {"format": FORMAT, "sizes": sizes, "us": best.microseconds, "tiling": plain(best.tiling)}
        where = self.folder(spec, target)
        with suppress(OSError):
            where.mkdir(parents=True, exist_ok=True)
            handle, scratch = tempfile.mkstemp(dir=where)
            with open(handle, "w", encoding="utf-8") as file:
                json.dump(told, file)
            Path(scratch).replace(where / (class_of(best.sizes) + SUFFIX))

    def folder(self, spec: MatmulSpec, target: str) -> Path:
        """Where they lie: another folder after every change of the sources that make kernels."""
        question = f"{store.sources_stamp()}\n{spec!r}\n{target}\n{self.device}"
        return store.folder() / FOLDER / hashlib.sha256(question.encode()).hexdigest()


def _distance(one: Sizes, other: Sizes) -> float:
    pairs = zip((one.m, one.n, one.k, one.batches), (other.m, other.n, other.k, other.batches), strict=True)
    return sum(abs(log(mine / yours)) for mine, yours in pairs)


def _read(path: Path) -> Best | None:
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        if told["format"] != FORMAT:
            return None
        m, n, k, batches = told["sizes"]
        return Best(Sizes(m, n, k, batches), tiling_of(told["tiling"]), float(told["us"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
