"""parse(str(emit(module))) == module: for modules drawn at random, for the rows' forms, for kernels of the project."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from isa.forms import Form, families, resolve
from isa.targets import TARGETS, PtxVersion, Target
from isa.types import b8, f32, s32
from ptxgen.build import Module as Builder
from ptxgen.build import array, pointer, python
from ptxgen.emit import emit
from ptxgen.ir import Module
from ptxgen.parse import parse
from tests.isa.synthesis import CONSTANTS, PLAIN, names, statement
from tests.oracles.ptxas import module as judged_module
from tests.parse.drawn import drawn


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.binary(min_size=100, max_size=1500))
def test_modules_drawn_at_random(given: bytes) -> None:
    module = drawn(given)
    assert parse(str(emit(module))) == module


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.binary(min_size=50, max_size=800))
def test_programs_of_modules_drawn_at_random(given: bytes) -> None:
    assert_program_builds(drawn(given, legal=True))


@pytest.mark.slow
@settings(max_examples=1500, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.binary(min_size=200, max_size=2500))
def test_many_modules_drawn_at_random(given: bytes) -> None:
    module = drawn(given)
    assert parse(str(emit(module))) == module
    assert_program_builds(drawn(given, legal=True))


def assert_program_builds(module: Module) -> None:
    """The builder program of a module builds an equal one."""
    named: dict[str, Any] = {}
    exec(compile(python(module), "program.py", "exec"), named)
    assert named["module"] == module


def where(form: Form) -> tuple[PtxVersion, Target] | None:
    """A version and a target that have the form."""
    found = ((form.availability.least_version(each), each) for each in TARGETS)
    return next(((at, on) for at, on in found if at is not None), None)


def spelled(opcode: str, at_most: int) -> list[tuple[Form, str, PtxVersion, Target]]:
    """Statements of a family, each of its signatures with registers and with constants."""
    made = []
    for name in names(next(each for each in families() if each.opcode == opcode), at_most):
        for form in resolve(name):
            place = where(form)
            if place is not None:
                made += [(form, statement(form, each, kind), *place)
                         for each in form.signatures for kind in (PLAIN, CONSTANTS)]  # fmt: skip
    return made


def check_family(opcode: str, at_most: int) -> None:
    for form, text, at, on in spelled(opcode, at_most):
        module = parse(judged_module([text], at, on)[0])
        assert parse(str(emit(module))) == module, text
        read = [each.form for each in module.function("judged").instructions()][:-1]
        assert opcode == "call" or read == [form], text


OPCODES = sorted({family.opcode for family in families()})


@pytest.mark.parametrize("opcode", OPCODES)
def test_the_forms_of_a_family_come_back(opcode: str) -> None:
    check_family(opcode, 1)


@pytest.mark.slow
@pytest.mark.parametrize("opcode", OPCODES)
def test_many_forms_of_a_family_come_back(opcode: str) -> None:
    check_family(opcode, 60)


def flow() -> Module:
    """A kernel with every structured statement of the builder."""
    module = Builder("sm_80", version="7.4")
    module.variable("weights", f32, (4,), space="const", init=(1.0, -0.5, 1e-30, 3))
    with module.kernel("k", x=pointer(f32, align=16), n=s32, map=array(b8, 128, align=64)) as k:
        k.maxntid(128)
        k.comment("a comment")
        tile = k.shared(f32, (32, 4), align=16)
        total = k.register(f32, 0.0, name="total")
        k.st.shared.f32(tile + 4, total)
        with k.range(0, k.args.n) as index:
            with k.when(k.setp.lt.s32(index, 7)), k.scope():
                k.add.f32(total, k.ld.shared.f32(tile + 4), into=total)
            with k.otherwise():
                k.add.f32(total, 0.1, into=total)
        with k.guard(~k.setp.eq.u32(k.tid.x, 0)):
            k.st.global_.v2.f32(k.args.x + 8, (total, 2.5))
        k.bar.sync(0)
        k.mov.u64(k.special("clock64"))
    return module.build()


def test_a_kernel_of_the_builder_comes_back() -> None:
    module = flow()
    assert parse(str(emit(module))) == module
    assert_program_builds(module)
