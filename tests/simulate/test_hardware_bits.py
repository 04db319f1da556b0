"""Corners that the manual leaves open, with literal bits: NaNs, rounding to tf32, fields of 64-bit words.

An H200 gave them, or they follow from what it gave: the number of its differences from another rule, and the integer
instructions that ptxas makes of `.rna` and of 64-bit fields.
"""

from collections.abc import Sequence

import numpy as np
import pytest

from tests.simulate.elementwise import run

S, N, Q, M = 0x7FF0000000000001, 0xFFF0000000000001, 0xFFFFFFFFFFFFFFFF, 0xFFF8000000000001
QS = 0x7FF8000000000001
INFINITY, LOWEST, INVALID = 0x7FF0000000000000, 0xFFF0000000000000, 0xFFF8000000000000
ONE, LARGEST = 0x3FF0000000000000, 0x7FEFFFFFFFFFFFFF


def check(name: str, rows: Sequence[tuple[int, ...]], widths: tuple[int, ...], out: str, target: str = "sm_90") -> None:
    """Each row has the operands and then the result."""
    operands = [
        np.array(column, f"u{width // 8}") for column, width in zip(zip(*rows, strict=True), widths, strict=False)
    ]
    found = run(name, operands, out, target=target)
    assert [hex(each) for each in found] == [hex(row[-1]) for row in rows]


BOTH = [(S, N, M), (N, Q, Q), (Q, S, QS)]
FIRST = [(S, N, QS), (N, Q, M), (Q, S, Q)]


@pytest.mark.parametrize("mode", ["rn", "rz", "rm", "rp"])
@pytest.mark.parametrize(
    "name, rows",
    [
        ("add", [*BOTH, (INFINITY, LOWEST, INVALID), (0, S, QS), (N, 0, M)]),
        ("sub", [*BOTH, (INFINITY, INFINITY, INVALID), (0, S, QS), (N, 0, M)]),
        ("mul", [*BOTH, (0, INFINITY, INVALID), (ONE, S, QS), (N, ONE, M)]),
        ("div", [*FIRST, (0, 0, INVALID), (ONE, S, QS), (N, ONE, M)]),
    ],
)
def test_the_nan_of_two_doubles(name, rows, mode):
    """The second operand's comes through, of a quotient the first one's; a subtraction leaves its sign."""
    check(f"{name}.{mode}.f64", rows, (64, 64), "f64")


@pytest.mark.parametrize("mode", ["rn", "rz", "rm", "rp"])
def test_the_nan_of_three_doubles(mode):
    """b, then c, then a; and a finite product, however large, does not meet an infinite addend as an infinity."""
    rows = [(S, N, Q, M), (N, Q, INFINITY, Q), (0, Q, S, Q), (S, ONE, N, M), (S, ONE, ONE, QS), (0, INFINITY, S, QS),
            (0, INFINITY, ONE, INVALID), (LARGEST, LARGEST, LOWEST, LOWEST),
            (LARGEST, LARGEST | 1 << 63, INFINITY, INFINITY), (INFINITY, ONE, LOWEST, INVALID)]  # fmt: skip
    check(f"fma.{mode}.f64", rows, (64, 64, 64), "f64")


@pytest.mark.parametrize("name", ["min", "max"])
def test_extremes_of_doubles_that_are_nan(name):
    check(f"{name}.f64", [*BOTH, (S, S, QS), (S, ONE, ONE), (LOWEST, N, LOWEST)], (64, 64), "f64")


@pytest.mark.parametrize("mode", ["rn", "rz", "rm", "rp"])
def test_narrowing_keeps_sign_and_upper_bits_of_nan(mode):
    payload = 0xFFF5400000000000
    check(f"cvt.{mode}.f16.f64", [(S, 0x7E00), (N, 0xFE00), (Q, 0xFFFF), (payload, 0xFF50)], (64,), "f16")
    check(f"cvt.{mode}.bf16.f64", [(S, 0x7FC0), (N, 0xFFC0), (Q, 0xFFFF), (payload, 0xFFEA)], (64,), "bf16")
    check(f"cvt.{mode}.sat.f32.f64", [(S, 0), (N, 0), (Q, 0)], (64,), "f32")


def test_widening_a_nan():
    check("cvt.ftz.f32.bf16", [(each, 0x7FFFFFFF) for each in (0x7F81, 0xFFFF, 0x7F9B)], (16,), "f32")
    check("cvt.f32.bf16", [(each, each << 16) for each in (0x7F81, 0xFFFF, 0x7F9B)], (16,), "f32")


@pytest.mark.parametrize("name", ["rn", "rz", "rn.relu", "rz.relu"])
def test_tf32_of_a_nan(name):
    rows = [(each, 0x7FFFE000) for each in (0x7FFFFFFF, 0xFF800001, 0x7F800001)]
    check(f"cvt.{name}.tf32.f32", rows, (32,), "b32")


def test_tf32_with_ties_away():
    """A NaN is only cut; what ends with the highest exponent goes one step down with `.satfinite`."""
    numbers = [(0x3F801000, 0x3F802000), (0x3F800FFF, 0x3F800000), (0xBF803000, 0xBF804000), (0x00001000, 0x00002000),
               (0x00000FFF, 0x00000000)]  # fmt: skip
    plain = [(0x7FFFFFFF, 0x7FFFE000), (0xFF800001, 0xFF800000), (0x7F800001, 0x7F800000), (0x7F7FFFFF, 0x7F800000)]
    check("cvt.rna.tf32.f32", [*numbers, *plain], (32,), "b32")
    finite = [(0x7FFFFFFF, 0x7FFFC000), (0xFF800001, 0xFF7FE000), (0x7F800001, 0x7F7FE000), (0x7F7FFFFF, 0x7F7FE000)]
    check("cvt.rna.satfinite.tf32.f32", [*numbers, *finite, (0xFF800000, 0xFF7FE000)], (32,), "b32")


def test_flushing_sees_the_rounding_with_any_exponent():
    """What comes from below to the least normal number is kept where 24 bits would have sufficed for the step."""
    least, minus = 0x00800000, 0x80800000
    for mode, rows in {
        "rn": [(least, 0x1FC00000, minus, minus), (least, 0x9FC00000, least, least)],
        "rm": [(least, 0x1FC00000, minus, minus), (least, 0x9FC00000, least, 0)],
        "rp": [(least, 0x1FC00000, minus, 0x80000000), (least, 0x9FC00000, least, least)],
        "rz": [(least, 0x1FC00000, minus, 0x80000000), (least, 0x9FC00000, least, 0)],
    }.items():
        check(f"fma.{mode}.ftz.f32", rows, (32, 32, 32), "f32")
    check("rcp.rp.ftz.f32", [(0x7E800001, 0), (0x7E800000, least), (0xFE800001, 0x80000000)], (32,), "f32")


def test_the_first_one_downwards_from_beyond_the_mask():
    check("fns.b32", [(0xFFFFFFFF, 32, 0xFFFFFFFF, 0xFFFFFFFF), (0xFFFFFFFF, 31, 0xFFFFFFFF, 31)], (32, 32, 32), "u32")


def test_fields_of_64_bits_take_whole_words():
    """Place and length beyond 255 are not taken modulo 256, but for 32-bit words they are."""
    rows = [(0x9125764454B2BFA5, 0x7573591A, 0x24, Q), (0xBDC30D9408A58723, 0x1B, 0x9C4ACE0C, 0xFFFFFFF7B861B281),
            (0x1, 0x452FB400, 0x4, 0x0), (0xBDC30D9408A58723, 1, 0xFFFFFFFF, 0xDEE186CA0452C391)]  # fmt: skip
    check("bfe.s64", rows, (64, 32, 32), "s64")
    check("bfe.u64", [(Q, 0x104, 8, 0), (Q, 4, 0x108, Q >> 4)], (64, 32, 32), "u64")
    inserted = [
        (0xF4CDEE49C1B9CD0E, 0xFFDF58921F3E787B, 0x0, 0x4426CE19, 0xF4CDEE49C1B9CD0E),
        (0x9B5CBC65F9C19D4B, 0xEECF6A20357343B2, 0x2D, 0x4B5A5A01, 0x33A96A20357343B2),
        (0xBDC30D9408A58723, 0x8C991F8E4048292C, 0x9C4ACE0C, 0x1C135ED4, 0x8C991F8E4048292C),
    ]
    check("bfi.b64", inserted, (64, 64, 32, 32), "b64")
    check("bfe.u32", [(0xFFFFFFFF, 0x104, 0x108, 0xFF)], (32, 32, 32), "u32")
