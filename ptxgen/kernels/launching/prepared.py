"""Launches made again and again, with the arrays that they were prepared for or with others like them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import and_, or_
from typing import TYPE_CHECKING

from attrs import field, frozen

from ptxgen.errors import LaunchError
from ptxgen.tile import ParameterKind

if TYPE_CHECKING:
    from ptxgen.kernels.launching.entry import Entry
    from ptxgen.runtime import Launch

MAPPED_ALIGNMENT = 16
"""Bytes of which the address in a tensor map is a multiple (CUDA Driver API, cuTensorMapEncodeTiled)."""


@frozen(eq=False)
class PreparedLaunch:
    """A launch on its stream with its arguments packed, as many times as one likes, without waiting or checking again.

    `names` are the arrays in the order in which `at` takes their addresses, and `masks` the low bits that are zero in
    each; `places` tell of each word of the arguments that holds an address which array's it is. No `launch` where there
    is nothing to do. One thread at a time may use it; a graph that captures it keeps the addresses of that moment.
    """

    names: tuple[str, ...]
    launch: Launch | None = field(repr=False)
    masks: tuple[int, ...] = field(default=(), repr=False)
    places: tuple[tuple[int, int], ...] = field(default=(), repr=False)
    _mask: int = field(init=False, repr=False)

    @_mask.default
    def _any_of_the_masks(self) -> int:
        return reduce(or_, self.masks, 0)

    def __call__(self) -> None:
        """Launches it with the arrays that it has."""
        if self.launch is not None:
            self.launch()

    def at(self, addresses: Sequence[int]) -> None:
        """Launches it with arrays at these addresses, one for each name, in a few microseconds of the host's time, and
        keeps them.

        Their types, extents and strides are those of the arrays that it was prepared for, and as then none that is
        written may share memory with another one; nobody looks. LaunchError for as many addresses as there are no
        arrays, and for one that is less aligned than the kernel was made for: nothing is launched, and what it had
        stays.
        """
        if len(addresses) != len(self.names):
            raise LaunchError(f"addresses are wanted of {', '.join(self.names)}, in this order, got {len(addresses)}")
        low = 0
        for address in addresses:
            low |= address
        if low & self._mask and any(map(and_, addresses, self.masks)):
            raise self._misaligned(addresses)
        launch = self.launch
        if launch is None:
            return
        words = launch.arguments.words
        for word, array in self.places:
            words[word] = addresses[array]
        status = launch.direct.perform()
        if status:
            raise launch.refused(status)

    def _misaligned(self, addresses: Sequence[int]) -> LaunchError:
        wrong = (
            f"{name} aligned to {mask + 1} bytes, got {address:#x}"
            for name, mask, address in zip(self.names, self.masks, addresses, strict=True)
            if address & mask
        )
        return LaunchError(f"the kernel was made for {'; '.join(wrong)}")


def places_of(entry: Entry, launch: Launch, names: tuple[str, ...]) -> tuple[tuple[int, int], ...]:
    """The words of a launch's arguments that hold addresses of these arrays, in parameters and in tensor maps, each
    with the number of the array."""
    found = [(number, each.name) for number, each in enumerate(entry.parameters) if each.kind is ParameterKind.POINTER]
    found += [(len(entry.parameters) + number, box.array) for number, box in enumerate(entry.boxes)]
    return tuple((launch.word(number), names.index(name)) for number, name in found if name in names)


def masks_of(entry: Entry, names: tuple[str, ...]) -> tuple[int, ...]:
    """The low bits that a kernel wants to be zero in the addresses of these arrays."""
    aligned = dict.fromkeys(names, 1)
    for each in entry.parameters:
        if each.kind is ParameterKind.POINTER:
            aligned[each.name] = each.alignment
    for box in entry.boxes:
        aligned[box.array] = max(aligned[box.array], MAPPED_ALIGNMENT)
    return tuple(aligned[name] - 1 for name in names)
