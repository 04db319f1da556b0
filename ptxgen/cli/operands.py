"""The arrays of a product: from files, or random."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from attrs import evolve
from numpy.typing import NDArray

from ptxgen.cli.parser import FILES, SCALARS, SIZES, MatmulOptions
from ptxgen.cli.unusable import Unusable
from ptxgen.compute import Array, ArrayKind, Compute, Element, bf16, f16, f32, f64
from ptxgen.kernels.launching.binding import LARGEST_SIZE, arrays_in_memory, bind
from ptxgen.kernels.launching.views import DTYPES, View, aligned_zeros, outline
from ptxgen.kernels.products.epilogue import Beta, Bias, Epilogue, Residual, operand_names
from ptxgen.testing.formats import stored_as

Loaded = Mapping[str, NDArray[Any]]
COPIES = 6
ELEMENT_OF: dict[Any, Element] = {DTYPES[element]: element for element in (f16, bf16, f32, f64)}


def read_files(options: MatmulOptions) -> dict[str, NDArray[Any]]:
    """The arrays that files give, by name. Unusable names the file that is missing or no array."""
    return {name: _read(path) for name, path in options.files.items()}


def _read(path: Path) -> NDArray[Any]:
    try:
        found = np.load(path, allow_pickle=False)
    except OSError as error:
        raise Unusable(f"{path} cannot be read: {error.strerror or error}") from None
    except (ValueError, EOFError):
        raise Unusable(f"{path} is no .npy file of numbers") from None
    if not isinstance(found, np.ndarray):
        raise Unusable(f"{path} holds several arrays; a .npy file with one is wanted")
    if found.dtype.kind not in "biufV" or found.dtype.names:
        raise Unusable(f"{path} is no .npy file of numbers")
    return _aligned(found.view(f"u{found.itemsize}") if found.dtype.type is np.void else found)


def typed_epilogue(epilogue: Epilogue, loaded: Loaded) -> Epilogue:
    """The epilogue with each operand's type as its file has it. Unusable names a type that none may have."""
    pieces = []
    for piece, name in zip(epilogue, operand_names(epilogue), strict=True):
        if isinstance(piece, (Bias, Residual, Beta)) and name is not None and name in loaded:
            dtype = loaded[name].dtype
            if dtype not in ELEMENT_OF:
                raise Unusable(f"{name} must be {', '.join(map(str, ELEMENT_OF))}, got {dtype}")
            piece = evolve(piece, element=ELEMENT_OF[dtype])
        pieces.append(piece)
    return tuple(pieces)


def check_used(options: MatmulOptions, compute: Compute) -> None:
    """Unusable where a file or number is given that the product does not use."""
    arrays, scalars = {a.name for a in compute.arrays}, {s.name for s in compute.scalars}
    for name, option in FILES.items():
        if name in options.files and name not in arrays:
            raise Unusable(f"--{option.replace('_', '-')} is given, but the epilogue does not read it")
    for name in options.scalars:
        if name not in scalars:
            raise Unusable(f"--{name} is given, but the epilogue does not use it")
    if options.second_out and "E" not in arrays:
        raise Unusable("--second-out is given, but the epilogue keeps nothing")


def inputs_of(options: MatmulOptions, compute: Compute, loaded: Loaded) -> dict[str, NDArray[Any] | View]:
    """Every input by name: files as they are, the rest random (standard normal, by the seed, in the compute's order),
    or only outlined where nothing runs. All begin at aligned addresses, so equal sizes lead to equal kernels.

    Unusable where a size is told by nothing, or a run with its copies (float64 among them) exceeds the memory there is;
    LaunchError where files and sizes contradict each other.
    """
    wanted = [array for array in arrays_in_memory(compute) if array.kind is ArrayKind.INPUT]
    given = [array for array in wanted if array.name in loaded]
    for name, size in options.sizes.items():
        if size > LARGEST_SIZE:
            raise Unusable(f"--{SIZES[name]} must be at most {LARGEST_SIZE}, got {size}")
    sizes = bind(given, {array.name: loaded[array.name] for array in given}, options.sizes).sizes
    needed = {name for array in wanted for extent in array.extents for name in extent.names}
    for name in SIZES:
        if name in needed and name not in sizes:
            raise Unusable(f"the size {name} is not known: give --{SIZES[name]}, or a file that tells it")
    if options.run == "none":
        return {array.name: loaded.get(array.name, _outlined(array, sizes)) for array in wanted}
    _check_memory(COPIES * sum(_outlined(array, sizes).byte_count for array in arrays_in_memory(compute)))
    chance = np.random.default_rng(options.seed)
    return {array.name: loaded[array.name] if array in given else _random(array, sizes, chance) for array in wanted}


def _outlined(array: Array, sizes: Mapping[str, int]) -> View:
    return outline(DTYPES[array.element], tuple(extent.evaluate(sizes) for extent in array.extents))


def _check_memory(wanted: int) -> None:
    try:
        there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        there = 2**48
    if wanted > there:
        takes = f"a run with these arrays takes some {wanted / 2**30:.0f} GiB"
        raise Unusable(f"{takes}, this machine has {there / 2**30:.0f}; --run none needs none")


def _random(array: Array, sizes: Mapping[str, int], chance: np.random.Generator) -> NDArray[Any]:
    shape = [extent.evaluate(sizes) for extent in array.extents]
    if array.element.is_integer:
        limits = np.iinfo(DTYPES[array.element])
        return _aligned(chance.integers(limits.min, limits.max, shape, endpoint=True).astype(DTYPES[array.element]))
    return _aligned(random_floats(chance.standard_normal(shape, np.float32), array.element))


def random_floats(values: NDArray[np.float32], element: Element) -> NDArray[Any]:
    """Numbers as an array of an element, of its bits where nothing here knows the type."""
    if DTYPES[element].kind == "u":
        return stored_as(values.astype(np.float64), element)
    return values.astype(DTYPES[element])


def _aligned(array: NDArray[Any]) -> NDArray[Any]:
    placed = aligned_zeros(array.dtype, array.shape)
    placed[...] = array
    return placed


def scalars_of(options: MatmulOptions, compute: Compute) -> dict[str, float]:
    """Every number that the launch takes."""
    return {scalar.name: options.scalars.get(scalar.name, SCALARS[scalar.name]) for scalar in compute.scalars}
