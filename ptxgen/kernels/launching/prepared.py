"""Launches made again and again, with the arrays that they were prepared for or with others like them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import field, frozen

from ptxgen.errors import LaunchError
from ptxgen.tile import ParameterKind

if TYPE_CHECKING:
    from ptxgen.kernels.launching.entry import Entry
    from ptxgen.runtime import Launch

MAPPED_ALIGNMENT = 16
"""Bytes of which the address in a tensor map is a multiple (CUDA Driver API, cuTensorMapEncodeTiled)."""


@frozen
class Place:
    """A word of a launch's arguments that holds an address: that of array number `array`, whose low bits in `mask` are
    zero."""

    word: int
    array: int
    mask: int


@frozen(eq=False)
class PreparedLaunch:
    """A launch on its stream with its arguments packed, as many times as one likes, without waiting or checking again.

    `names` are the arrays in the order in which `at` takes their addresses. No `launch` where there is nothing to do.
    One thread at a time may use it; whoever captures it in a graph gives the graph the addresses of that moment.
    """

    names: tuple[str, ...]
    launch: Launch | None = field(repr=False)
    places: tuple[Place, ...] = field(default=(), repr=False)

    def __call__(self) -> None:
        """Launches it with the arrays that it has."""
        if self.launch is not None:
            self.launch()

    def at(self, *addresses: int) -> None:
        """Launches it with arrays at these addresses, a few microseconds of the host's time, and keeps them.

        Their types, extents and strides are those of the arrays that it was prepared for, and as then none that is
        written may share memory with another one; nobody looks. LaunchError for as many addresses as there are no
        arrays, and for one that is less aligned than the kernel was made for: nothing is launched, and what it had
        stays.
        """
        if len(addresses) != len(self.names):
            raise LaunchError(f"addresses are wanted of {', '.join(self.names)}, in this order, got {len(addresses)}")
        if self.launch is None:
            return
        for place in self.places:
            if addresses[place.array] & place.mask:
                name, address = self.names[place.array], addresses[place.array]
                raise LaunchError(f"the kernel wants {name} aligned to {place.mask + 1} bytes, got {address:#x}")
        words = self.launch.arguments.words
        for place in self.places:
            words[place.word] = addresses[place.array]
        self.launch()


def places_of(entry: Entry, launch: Launch, names: tuple[str, ...]) -> tuple[Place, ...]:
    """Where the addresses of these arrays stand in a launch: in their parameters and in tensor maps."""
    parameters = entry.parameters
    found = [
        Place(launch.word(number), names.index(each.name), each.alignment - 1)
        for number, each in enumerate(parameters)
        if each.kind is ParameterKind.POINTER and each.name in names
    ]
    found += [
        Place(launch.word(len(parameters) + number), names.index(box.array), MAPPED_ALIGNMENT - 1)
        for number, box in enumerate(entry.boxes)
        if box.array in names
    ]
    return tuple(found)
