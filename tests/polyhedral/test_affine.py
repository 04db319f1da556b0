import pytest

from polyhedral import Affine, FloorDiv, congruent, const, var

i, j = var("i"), var("j")


def test_spelling_is_canonical() -> None:
    assert 2 * i + j - 1 == j - 1 + i + i
    assert str(2 * i + j - 1) == "2*i + j - 1"
    assert str(-i) == "-i"
    assert str(i - i) == "0"
    assert (i - i) == const(0)
    assert str(3 - i * 2) == "-2*i + 3"


def test_comparisons_hold_at_integers() -> None:
    for a in range(-2, 3):
        for b in range(-2, 3):
            values = {"i": a, "j": b}
            assert (i <= j).holds(values) == (a <= b)
            assert (i < j).holds(values) == (a < b)
            assert (i > j).holds(values) == (a > b)
            assert (i >= 0).holds(values) == (a >= 0)
            assert i.equals(j).holds(values) == (a == b)
            assert (i < j).negated().holds(values) == (a >= b)
            assert (i % 3 == 1).holds(values) == (a % 3 == 1)
            assert congruent(i + j, 2).holds(values) == ((a + b) % 2 == 0)
            assert (i // 2).evaluate(values) == a // 2


def test_conditions_have_no_truth_value() -> None:
    with pytest.raises(TypeError, match=r"written \(0 <= i\) & \(i < n\)"):
        bool(0 <= i < 5)
    with pytest.raises(TypeError, match="no truth value"):
        bool(congruent(i, 2))


def test_substitution_is_simultaneous() -> None:
    assert (i + 2 * j).substitute({"i": j, "j": i}) == j + 2 * i
    assert (i + 2 * j).substitute({"i": 3}) == 2 * j + 3


def test_wrong_operands_are_named() -> None:
    with pytest.raises(TypeError, match="by an integer"):
        i * j  # type: ignore[operator]
    with pytest.raises(ValueError, match="positive integer"):
        FloorDiv(i, 0)
    with pytest.raises(ValueError, match="two inequalities"):
        i.equals(0).negated()
    with pytest.raises(KeyError, match="j"):
        (i + j).evaluate({"i": 1})
    assert Affine.of({"i": 0}) == const(0)
