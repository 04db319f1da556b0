"""A tile cut into pieces that leave one after the other: which bits of a coordinate number the pieces."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

from attrs import frozen

from ptxgen.tile import Coordinate, Distribution, SharedLayout, coordinate_bits


@frozen
class Pieces:
    """A tile of `shape`, of which one piece holds the coordinates whose bits are in `kept`, by dimension: those inside
    a piece of a warp's tile, and those that tell the warps' tiles apart. The other bits number the pieces.

    Coordinates stay those of the whole tile; `packed` ones count the kept bits alone.
    """

    shape: tuple[int, ...]
    kept: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, shape: tuple[int, ...], warp_extents: tuple[int, ...], sizes: Mapping[int, int]) -> Pieces:
        """The pieces of `sizes` (by dimension) of a tile whose warps have tiles of `warp_extents`."""
        kept: list[tuple[int, ...]] = []
        for place, (extent, own) in enumerate(zip(shape, warp_extents, strict=True)):
            low, high = coordinate_bits(sizes.get(place, own)), coordinate_bits(own)
            kept.append(tuple(bit for bit in range(coordinate_bits(extent)) if not low <= bit < high))
        return cls(shape, tuple(kept))

    @property
    def corners(self) -> tuple[Coordinate, ...]:
        """Where each piece starts in the tile, the last dimension fastest."""
        starts: list[list[int]] = []
        for extent, kept in zip(self.shape, self.kept, strict=True):
            along = [0]
            for bit in (bit for bit in range(coordinate_bits(extent)) if bit not in kept):
                along += [start | 1 << bit for start in along]
            starts.append([start for start in along if start < extent])
        return tuple(product(*starts))

    def within(self, held: Distribution) -> Distribution | None:
        """What each lane holds of a piece; None where lanes or warps hold other pieces than their neighbours."""
        if any(not self.keeps(image) for image in (*held.lanes, *held.warps)):
            return None
        values = tuple(image for image in held.values if self.keeps(image))
        mixed = any(self.keeps(image) is False and any(self._masked(image)) for image in held.values)
        return None if mixed else Distribution(held.shape, values, held.lanes, held.warps)

    def keeps(self, image: Coordinate) -> bool:
        """Whether a coordinate lies in the piece that starts at the tile's corner."""
        return self._masked(image) == image

    def _masked(self, image: Coordinate) -> Coordinate:
        masks = (sum(1 << bit for bit in kept) for kept in self.kept)
        return tuple(value & mask for value, mask in zip(image, masks, strict=True))

    @property
    def packed_shape(self) -> tuple[int, ...]:
        """The extents of one piece."""
        masks = [sum(1 << bit for bit in kept) for kept in self.kept]
        return tuple(
            sum(1 for c in range(extent) if c & mask == c) for extent, mask in zip(self.shape, masks, strict=True)
        )

    def packed(self, held: Distribution) -> Distribution:
        """A distribution of a piece in packed coordinates."""

        def pack(image: Coordinate) -> Coordinate:
            return tuple(
                sum(1 << place for place, bit in enumerate(kept) if value >> bit & 1)
                for value, kept in zip(image, self.kept, strict=True)
            )

        groups = (tuple(map(pack, images)) for images in (held.values, held.lanes, held.warps))
        return Distribution(self.packed_shape, *groups)

    def unpacked(self, held: Distribution) -> Distribution:
        """A distribution in packed coordinates, in those of the tile."""

        def unpack(image: Coordinate) -> Coordinate:
            return tuple(
                sum(1 << bit for place, bit in enumerate(kept) if value >> place & 1)
                for value, kept in zip(image, self.kept, strict=True)
            )

        groups = (tuple(map(unpack, images)) for images in (held.values, held.lanes, held.warps))
        return Distribution(self.shape, *groups)

    def laid_out(self, layout: SharedLayout) -> SharedLayout:
        """The layout of a tile that holds one piece at a time, from that of the packed piece."""
        offsets = [
            tuple(images[kept.index(bit)] if bit in kept else 0 for bit in range(coordinate_bits(extent)))
            for extent, kept, images in zip(self.shape, self.kept, layout.offsets, strict=True)
        ]
        return SharedLayout(self.shape, tuple(offsets))
