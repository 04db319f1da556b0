"""Extension nodes: more instances at the times that the bands around reach, and at no other, as in isl's loops."""

import islpy as isl
import pytest

from polyhedral import execute, parse_schedule, scan_schedule
from tests.polyhedral.isl_loops import run

EXTENSION = """extension: "{ [t] -> T[k] : 0 <= k < 3 and 0 <= t < 18 }"
child:
  sequence:
  - filter: "{ S[i] }"
  - filter: "{ T[k] }"
"""
MOST = 1000


def below(head: str, inner: str) -> str:
    return f"{head}\n" + "\n".join(f"  {line}" for line in inner.split("\n"))


def banded(domain: str, inner: str) -> str:
    return f'domain: "{domain}"\n' + below("child:", below('schedule: "[{ S[i] -> [(i)] }]"\nchild:', inner))


TREES = {
    "shorter": banded("{ S[i] : 0 <= i < 4 }", EXTENSION),
    "gap": banded("{ S[i] : 0 <= i < 2 or 8 <= i < 10 }", EXTENSION),
    "stride": banded("{ S[i] : 0 <= i < 10 and i mod 2 = 0 }", EXTENSION),
    "longer": banded("{ S[i] : 0 <= i < 30 }", EXTENSION),
    "filtered": banded("{ S[i] : 0 <= i < 4 }", below('filter: "{ S[i] : i < 2 }"\nchild:', EXTENSION)),
    "nothing through": 'domain: "{ S[i] : false }"\nchild:\n  extension: "{ [] -> T[k] : 0 <= k < 3 }"',
    "without bands": 'domain: "{ S[i] : 0 <= i < 2 }"\nchild:\n  extension: "{ [] -> T[k] : 0 <= k < 3 }"',
}


@pytest.mark.parametrize("name", TREES)
def test_the_instances_of_isls_loops(name: str) -> None:
    text = TREES[name]
    node = isl.AstBuild.alloc(isl.DEFAULT_CONTEXT).node_from_schedule(isl.Schedule(text))
    theirs = run(node, {}, MOST).instances
    ours = [(str(payload), tuple(dims.values())) for payload, dims in execute(scan_schedule(parse_schedule(text)), {})]
    assert sorted(ours) == sorted(theirs)
    if name != "without bands":
        assert ours == list(theirs)
