"""What an H200 gave where another rule had been thought right: `hardware_bits.txt`, a line for each example.

A line has the instruction, the bits of its operands, and after `=` those of the result; as many digits as the registers
have.
"""

from itertools import groupby
from pathlib import Path

import numpy as np
import pytest

from tests.simulate.elementwise import run

EXAMPLES = [line.split() for line in Path(__file__).with_name("hardware_bits.txt").read_text().splitlines()]
OPCODES = sorted({name.partition(".")[0] for name, *_ in EXAMPLES})


@pytest.mark.parametrize("opcode", OPCODES)
def test_bits_of_an_h200(opcode: str):
    chosen = [example for example in EXAMPLES if example[0].partition(".")[0] == opcode]
    for name, group in groupby(chosen, key=lambda example: example[0]):
        *operands, _, wanted = zip(*(example[1:] for example in group), strict=True)
        arrays = [np.array([int(each, 16) for each in column], f"u{len(column[0]) // 2}") for column in operands]
        found = run(name, arrays, f"b{4 * len(wanted[0])}", target="sm_90")
        assert [f"{each:0{len(wanted[0])}x}" for each in found.tolist()] == list(wanted), name
