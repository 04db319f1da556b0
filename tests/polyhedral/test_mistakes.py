"""Mistakes of callers: each error names the thing, what was wanted and what came; nothing is a wrong answer."""

from collections.abc import Callable

import pytest

from polyhedral import (
    Access,
    BitMatrix,
    NotationError,
    ScheduledStatement,
    Set,
    bank_conflict_degree,
    const,
    dependences,
    execute,
    first_points,
    parse,
    parse_schedule,
    scan_schedule,
    var,
)

X, Y, N = var("i"), var("j"), var("N")
TRIANGLE = Set.of(("i", "j"), X >= 0, X < N, Y >= 0, Y <= X)
BAND = 'domain: "{ S[i] : 0 <= i < 4 }"\nchild:\n  schedule: "[{ S[i] -> [(i)] }]"\n'


def captured() -> object:
    writes = ScheduledStatement("S", Set.of(("i",), X >= 0, X < 9), (), (Access("A", (X,)),), (const(0), X))
    reads = ScheduledStatement("T", Set.of(("j",), Y >= 0, Y < 9), (Access("A", (Y + X,)),), (), (const(1), Y))
    return dependences([writes, reads])


MISTAKES: dict[str, tuple[Callable[[], object], type[Exception], str]] = {
    "point": (lambda: TRIANGLE.contains({"i": 1, "j": 0}), ValueError, "wants a value for N"),
    "lexmin": (lambda: TRIANGLE.lexmin({"M": 1}), ValueError, "want a value for the parameter N"),
    "first": (lambda: first_points(TRIANGLE).at({}), ValueError, "wants a value for the parameter N"),
    "divisor": (lambda: X // Y, TypeError, "a divisor is a positive integer, not the Affine j"),  # type: ignore[operator]
    "modulus": (lambda: X % 2.0, TypeError, "a divisor is a positive integer, not the float 2.0"),  # type: ignore[operator]
    "empty name": (lambda: var(""), ValueError, "not by ''"),
    "number as name": (lambda: var(3), ValueError, "not by 3"),
    "depth": (lambda: parse("{ [i] : " + "(" * 9999 + "i > 0" + ")" * 9999 + " }"), NotationError, "too deeply at"),
    "minus signs": (lambda: parse("{ [i] : " + "-" * 9999 + "i > 0 }"), NotationError, "too deeply at"),
    "captured": (captured, ValueError, "i is a parameter of T and a dimension of S"),
    "output bit": (lambda: BitMatrix.identity(3).select([-1]), ValueError, "no output bit -1: the matrix has 3"),
    "input bit": (lambda: BitMatrix.identity(3).restrict([3]), ValueError, "no input bit 3: the matrix has 3"),
    "lanes": (lambda: bank_conflict_degree(BitMatrix.identity(3), 5, range(2)), ValueError, "no input bit 3"),
    "isolate": (
        lambda: scan_schedule(parse_schedule(BAND + '  options: "{ isolate[[a] -> [x]] : x > 2 }"')),
        ValueError,
        r"\{ \[a, x\] : x >= 3 \} has 2 dimensions, where 1 are due",
    ),
    "extension": (
        lambda: scan_schedule(parse_schedule(BAND + '  child:\n    extension: "{ [] -> T[k] : 0 <= k < 3 }"')),
        ValueError,
        "has 1 dimensions, where 2 are due",
    ),
}

MISTAKES["no time"] = (
    lambda: scan_schedule(parse_schedule(BAND.replace("S[i] ->", "T[i] ->"))),
    ValueError,
    r"a band gives S\[i\] no time",
)
TWICE = '"[N] -> [{ S[i] -> [(i)] }, { S[i] -> [(2i)] : i < 3 or N > 5 }]"'
MISTAKES |= {
    "some times": (
        lambda: scan_schedule(parse_schedule(BAND.replace("(i)] }", "(i)] : i < 2 or i = 3 }"))),
        ValueError,
        r"a band gives S\[2\] no time: each member is due for all of S\[i\], but one is .* S\[i\]",
    ),
    "some times of a parameter": (
        lambda: scan_schedule(parse_schedule(BAND.replace('"[{ S[i] -> [(i)] }]"', TWICE))),
        ValueError,
        r"a band gives S\[3\] at N = -?\d+ no time",
    ),
    "no dimension to project": (
        lambda: TRIANGLE.project_out("j", "zz"),
        ValueError,
        r"cannot project out 'zz': the set has the dimensions \('i', 'j'\) and the parameters \('N',\)",
    ),
    "no name to bound": (lambda: TRIANGLE.bounds("zz"), ValueError, "cannot bound 'zz': the set has the dimensions"),
    "a parameter twice": (
        lambda: parse("[N, M, N] -> { [i] : 0 <= i < N }"),
        NotationError,
        r"the parameter 'N' is named twice in \['N', 'M'\] at 7",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_the_error_names_what_is_wrong(name: str) -> None:
    call, kind, text = MISTAKES[name]
    with pytest.raises(kind, match=text):
        call()


@pytest.mark.parametrize(
    ("context", "member"), [("N <= 4", "i < 4"), ("N >= 9", "N > 8"), ("0 < N < 3", "i < 2 or i > 2")]
)
def test_a_band_may_leave_out_what_the_context_excludes(context: str, member: str) -> None:
    text = BAND.replace("{ S[i] : 0 <= i < 4", "[N] -> { S[i] : 0 <= i < N and i < 12").replace("child:\n", "", 1)
    head, _, band = text.partition("\n")
    band = band.replace("[{ S[i] -> [(i)]", f"[N] -> [{{ S[i] -> [(i)] : {member}").replace(
        "  schedule", "    schedule"
    )
    tree = f'{head}\nchild:\n  context: "[N] -> {{ [] : {context} }}"\n  child:\n{band}'
    value = {"N <= 4": 4, "N >= 9": 9, "0 < N < 3": 2}[context]
    found = list(execute(scan_schedule(parse_schedule(tree)), {"N": value}))
    assert [dims["i"] for _, dims in found] == list(range(value))


def test_first_and_last_points_where_the_other_side_is_open() -> None:
    below = Set.of(("i", "j"), X >= 3, Y >= -X)
    assert below.lexmin() == (3, -3)
    assert Set.of(("i", "j"), X <= 2 * N, Y <= X + 1).lexmax({"N": 2}) == (4, 5)
    with pytest.raises(ValueError, match="not bounded"):
        below.lexmax()
