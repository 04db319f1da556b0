"""Every scalar instruction runs, and what the device test compares is what ptxas takes."""

import numpy as np
import pytest

from isa.targets import target
from ptxgen.parse import parse
from ptxgen.simulate import simulate, unsupported
from tests.oracles.ptxas import verdict
from tests.simulate.scalars import ALL, COUNT, OPCODES, THREADS, cases, groups, inputs_of, kinds_of, sequences, text_of

TARGET, VERSION = target("sm_90"), "8.8"


def check(at_most: int, size: int) -> None:
    found = list(cases(TARGET, at_most))
    assert {each.name.split(".")[0] for each in found} == {each.partition(".")[0] for each in OPCODES}
    for group in groups([*found, *sequences()], size):
        text = text_of(group, TARGET, VERSION)
        module = parse(text)
        assert unsupported(module) == ()
        assert verdict(text, TARGET).ok, verdict(text, TARGET)


def test_a_sample_runs_and_assembles():
    check(6, 100)


@pytest.mark.slow
def test_all_run_and_assemble():
    check(ALL, 100)


def test_inputs_are_exhaustive_where_they_can_be_and_have_all_tuples_of_edges():
    group = [each for each in cases(TARGET, ALL, {"cvt", "add", "fma"})
             if each.name in ("cvt.f32.f16", "add.rn.f32", "fma.rn.f64")]  # fmt: skip
    kinds = {each[:1] + each[2:]: inputs_of(each) for case in group for each in case.sources}
    names = {(of.name, place): values for (of, place), values in kinds.items()}
    assert len(np.unique(names["f16", 0])) == 1 << 16
    one, infinity, tiny = 0x3F800000, 0xFF800000, 1
    pairs = set(zip(names["f32", 0].tolist(), names["f32", 1].tolist(), strict=True))
    assert {(one, infinity), (infinity, one), (tiny, tiny), (one | 1 << 31, tiny)} <= pairs
    wide = [names["f64", place] for place in range(3)]
    triples = set(zip(*(each.tolist() for each in wide), strict=True))
    assert (0x3FF0000000000000, 0x7FF0000000000000, 1) in triples


def test_a_few_cases_give_what_numpy_gives():
    wanted = {"add.rn.f32": np.add, "mul.rn.f64": np.multiply, "sub.s64": np.subtract, "xor.b32": np.bitwise_xor}
    group = [each for each in cases(TARGET, ALL, {"add", "mul", "sub", "xor"}) if each.name in wanted]
    assert {each.name for each in group} == set(wanted)
    arrays = [inputs_of(each) for each in kinds_of(group)]
    given = dict(zip(kinds_of(group), arrays, strict=True))
    out = np.zeros((len(group), COUNT), np.uint64)
    module = parse(text_of(group, TARGET, VERSION))
    simulate(module, grid=COUNT // THREADS, block=THREADS, args=(*arrays, out)).raise_findings()
    for case, row in zip(group, out, strict=True):
        of = case.sources[0][0]
        a, b = (given[each].view(f"{'f' if of.kind.name == 'FLOAT' else 'i'}{of.bits // 8}") for each in case.sources)
        with np.errstate(all="ignore"):
            exact = wanted[case.name](a, b)
        number = ~np.isnan(exact) if exact.dtype.kind == "f" else np.ones(COUNT, bool)
        assert (row.astype(f"u{of.bits // 8}")[number] == exact.view(f"u{of.bits // 8}")[number]).all(), case.name
