"""Index arrays against the distribution's and the layout's own definition, element by element."""

from random import Random

import numpy as np
import pytest

from ptxgen.tile import Distribution, SharedLayout
from ptxgen.tile.machine.geometry import matrix_extent, points, register_index, shared_index
from tests.tile.programs import cooperative, fragments

DISTRIBUTIONS = [*fragments(64, 32, 8, (2, 2)), cooperative((32, 16), 0, 4, 2), cooperative((8, 8), 1, 1, 2)]


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_points_are_the_coordinates_of_lanes_and_values(distribution: Distribution) -> None:
    for warp in range(4):
        table = points(distribution, warp).reshape(32, distribution.value_count, -1)
        for lane in range(32):
            for value in range(distribution.value_count):
                assert tuple(table[lane, value]) == distribution.coordinate(warp, lane, value)


def test_the_places_in_a_shared_tile_are_the_offsets_of_its_layout() -> None:
    chance = Random(0)
    bits = [1 << bit for bit in range(9)]
    chance.shuffle(bits)
    layout = SharedLayout((32, 16), (tuple(bits[:5]), tuple(bit ^ bits[0] for bit in bits[5:])))
    distribution = cooperative((32, 16), 1, 2, 1)
    index = shared_index(layout, distribution, 1, (0, 1), (0, 0))
    assert [layout.offset(tuple(point)) for point in points(distribution, 1).tolist()] == index.tolist()


def test_the_places_in_a_register_tile_count_its_elements() -> None:
    distribution = cooperative((32, 16), 1, 2, 1)
    index = register_index(distribution, (32, 16), distribution, 0, (0, 1), (0, 0))
    assert np.array_equal(index, points(distribution, 0) @ np.array([16, 1]))


def test_a_warp_of_a_product_holds_rows_and_columns() -> None:
    _, _, c = fragments(64, 32, 8, (2, 2))
    rows, columns = matrix_extent(c, 3, 0, 1)
    assert rows == tuple(range(32, 64))
    assert columns == tuple(range(16, 32))
