"""What a kernel's calls become, with ptxas as the judge of the text."""

import inspect
import operator
import os
import struct
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from isa.forms import continuations, families
from isa.special import SPECIAL_REGISTERS
from isa.targets import target
from isa.types import Type, b8, b16, b32, b64, bf16, f16, f16x2, f32, f64, pred, s8, s32, u8, u16, u32, u64
from ptxgen.build import Kernel, Module, array, pointer, sink
from ptxgen.build.chain import attribute_of, word_of
from ptxgen.build.immediates import float_immediate, half_bits
from ptxgen.emit import emit
from ptxgen.errors import KernelError
from ptxgen.ir import Float, Function, Instruction, Int, Origin, Registers
from tests.oracles.ptxas import verdict


def written(write, target_name: str = "sm_70", version: str | None = None, **parameters: object):
    """The module of one kernel and its instructions as text, `ret` left out."""
    module = Module(target_name, version=version)
    with module.kernel("k", **parameters) as k:
        write(k)
    built = module.build()
    return built, [str(each) for each in built.function("k").instructions()][:-1]


def everything(k: Kernel) -> None:
    k.maxntid(256)
    k.minnctapersm(2)
    i = k.mad.lo.u32(k.ctaid.x, k.ntid.x, k.tid.x)
    tile = k.shared(f16, (16, 8), align=16)
    dynamic = k.dynamic_shared()
    with k.when(k.setp.lt.u32(i, k.args.n)):
        at = k.add.u64(k.args.x, k.mul.wide.u32(i, 4))
        k.st.global_.f32(at + 4, k.fma.rn.f32(k.args.a, k.ld.global_.cg.f32(at - 4), -0.5))
    with k.otherwise():
        k.comment("nothing to do\nhere")
        k.st.shared.v2.b32(k.mov.u32(tile), (1, 2))
        k.st.shared.b16(dynamic + 6, k.args.h)
    lanes = k.shfl.sync.bfly.b32(i, 1, 31, -1)
    lanes, inside = k.shfl.sync.bfly.b32(lanes, 1, 31, -1, into=(None, None))
    low, high = k.mov.b64(k.args.x, into=(None, None))
    k.mov.b64((high, low))
    k.setp.eq.and_.u32(lanes, 3, ~inside, into=(None, sink))
    packed = k.register(f16x2, 1.0)
    k.fma.rn.f16x2(packed, packed, packed)
    clock = k.mov.u64(k.special("clock64"))
    k.st.global_.u64(k.args.x, clock)
    fragment = (k.register(b32, 0), k.register(b32, 0))
    sums = tuple(k.register(f32, 0.0) for _ in range(8))
    k.mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32(fragment, fragment, sums, into=sums)
    k.ld.param.b32(k.args.map + 4)
    k.register(pred, True)
    k.register(u8, 255)
    k.register(f64, 0.1)
    with k.scope():
        inner = k.label("inner")
        k.shared(f32, 4)
        with k.guard(inside):
            k.bra(inner)
        inner.place()
    k.bar.sync(0)


PARAMETERS: dict[str, Any] = {
    "x": pointer(f32, align=16),
    "n": u32,
    "a": f32,
    "h": f16,
    "map": array(b8, 128, align=64),
}


@pytest.mark.parametrize("target_name", ["sm_70", "sm_90a"])
def test_ptxas_takes_what_the_builder_writes(target_name: str) -> None:
    built, _ = written(everything, target_name, **PARAMETERS)
    judged = verdict(str(emit(built)), target(target_name))
    assert judged.ok, judged.messages


def test_the_same_program_gives_the_same_bytes_in_every_process() -> None:
    code = "from tests.build.test_kernel import *; print(emit(written(everything, **PARAMETERS)[0]), end='')"
    texts = {str(emit(written(everything, **PARAMETERS)[0]))}
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)}
        root = Path(__file__).parents[2]
        texts.add(subprocess.check_output([sys.executable, "-c", code], cwd=root, env=environment, text=True))
    assert len(texts) == 1


def test_registers_are_declared_in_the_order_of_the_types_whatever_came_first() -> None:
    built, _ = written(lambda k: (k.register(f64, 0.0), k.register(b32, 0), k.register(pred, True), k.register(u16, 0)))
    body = built.function("k").body
    assert body is not None
    assert [each.type for each in body.statements if isinstance(each, Registers)] == [pred, b32, u16, f64]


def test_both_spellings_write_the_same() -> None:
    def chain(k: Kernel) -> None:
        a = k.mad.lo.u32(k.args.n, 3, k.args.n)
        k.st.global_.v2.u32(k.args.x, (a, a))
        k.add.u32(a, 1, into=a)

    def text(k: Kernel) -> None:
        a = k.emit("mad.lo.u32", k.args.n, 3, k.args.n)
        k.emit("st.global.v2.u32", k.args.x, (a, a))
        k.emit("add.u32", a, 1, into=a)

    parameters: dict[str, Any] = {"x": pointer(u32), "n": u32}
    assert written(chain, **parameters) == written(text, **parameters)


def test_parameters_and_special_registers_are_filled_once_in_the_entry_block() -> None:
    def write(k: Kernel) -> None:
        with k.when(k.setp.lt.u32(k.tid.x, k.args.n)):
            k.add.u32(k.tid.x, k.args.n)

    _, lines = written(write, n=u32, unused=u64)
    assert lines[:2] == ["mov.u32 %u0, %tid.x;", "ld.param.u32 %u1, [n];"]
    assert sum("tid" in line or "param" in line for line in lines) == 2


def test_an_instruction_stands_on_the_line_that_wrote_it() -> None:
    def write(k: Kernel) -> None:
        k.add.u32(k.args.n, 1)
        k.setp.lt.u32(k.args.n, 2, into=(None, None))
        k.emit("add.u32", k.args.n, 3)
        k.register(f32, 1.0)
        with k.attributed(Origin("plan.py", 7, "plan")):
            k.add.u32(k.args.n, 4)

    built, _ = written(write, n=u32)
    first = inspect.getsourcelines(write)[1]
    origins = [each.origin for each in built.function("k").instructions()]
    assert [origin.line - first for origin in origins[1:5] if origin] == [1, 2, 3, 4]
    assert {origin.file for origin in origins[:5] if origin} == {__file__}
    assert origins[5] == Origin("plan.py", 7, "plan")
    assert origins[1] is not None
    assert Path(origins[1].file).name == "test_kernel.py"
    assert origins[1].function.endswith("write")


@pytest.mark.parametrize(
    "given, type_, text",
    [
        (0.1, f32, "0f3DCCCCCD"),
        (-0.0, f32, "0f80000000"),
        (1, f32, "0f3F800000"),
        (float("inf"), f32, "0f7F800000"),
        (0.1, f64, "0d3FB999999999999A"),
        (0xFFFFFFFF, b32, "4294967295"),
        (1.0, b32, "0f3F800000"),
        (-1, s32, "-1"),
        (1.0, f16, "15360"),
        (1.5, bf16, "16320"),
        (-2.0, f16x2, "3221274624"),
        (2.0, b64, "0d4000000000000000"),
    ],
)
def test_immediates_are_exact(given: float, type_, text: str) -> None:
    _, lines = written(lambda k: k.register(type_, given))
    assert lines[0].endswith(f", {text};")
    built, _ = written(lambda k: k.register(type_, given))
    assert verdict(str(emit(built)), target("sm_70")).ok


def test_bf16_is_rounded_once() -> None:
    just_above_half = struct.unpack("<d", struct.pack("<Q", struct.unpack("<Q", struct.pack("<d", 1 + 2**-8))[0] + 1))[
        0
    ]
    assert half_bits(1 + 2**-8, bf16) == 0x3F80
    assert half_bits(just_above_half, bf16) == 0x3F81
    assert float_immediate(1.0, f32) == Float(0x3F800000, f32)


def test_negative_and_positive_zero_are_told_apart_however_often() -> None:
    def write(k: Kernel) -> None:
        for number in (0.0, -0.0, 0.0, 1.0, 1, True):
            k.mov.f32(number)

    _, lines = written(write)
    assert [line.split()[-1] for line in lines] == [
        "0f00000000;", "0f80000000;", "0f00000000;", "0f3F800000;", "0f3F800000;", "0f3F800000;"
    ]  # fmt: skip


@pytest.mark.parametrize(
    "target_name, name, version", [("sm_70", "bar", "6.0"), ("sm_70", "mma", "6.4"), ("sm_90", "bar", "7.8")]
)
def test_the_least_version_that_covers_the_module(target_name: str, name: str, version: str) -> None:
    def write(k: Kernel) -> None:
        if name == "mma":
            a, c = (k.register(b32, 0),) * 2, (k.register(f32, 0),) * 8
            k.mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32(a, a, c)
        else:
            k.bar.sync(0)

    built, _ = written(write, target_name)
    assert str(built.version) == version
    assert verdict(str(emit(built)), target(target_name)).ok


def test_a_fixed_version_refuses_what_it_lacks_with_both_named() -> None:
    module = Module("sm_70", version="6.3")
    with module.kernel("k") as k, pytest.raises(KernelError, match=r"6\.4 on sm_70.*sm_70 with PTX 6\.3"):
        k.mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32((), (), ())
    with pytest.raises(KernelError, match=r"PTX 5\.0 does not know sm_70"):
        Module("sm_70", version="5.0")
    with pytest.raises(KernelError, match=r"unknown target 'sm_71'; known:.*sm_70"):
        Module("sm_71")


def test_dir_lists_what_may_follow() -> None:
    with Module("sm_70").kernel("k") as k:
        assert {"global_", "shared", "v2", "f32", "shared__cta"} <= set(dir(k.ld))
        assert dir(k.mad.lo) == sorted(attribute_of(word) for word in continuations(("mad", "lo")) if word)
        assert {"mad", "and_", "tid", "args", "when"} <= set(dir(k))
        assert not hasattr(k.mad, "low")
        assert hasattr(k.mad, "lo")


@pytest.mark.parametrize(
    "name, said",
    [
        ("st.globl", "'globl' cannot follow st; perhaps: global_, local"),
        ("tidd", "a kernel has nothing called 'tidd'; perhaps: tid, ntid"),
        ("lop", "a kernel has nothing called 'lop'; perhaps: lop3, loop"),
        ("mma.zzz", "'zzz' cannot follow mma; possible: sp, sp__ordered_metadata, sync"),
        ("qqqqq", "a kernel has nothing called 'qqqqq'; possible: abs, activemask, add"),
    ],
)
def test_a_word_that_there_is_not_is_told_with_the_nearest(name: str, said: str) -> None:
    with Module("sm_80").kernel("k") as k, pytest.raises(KernelError) as caught:
        operator.attrgetter(name)(k)
    assert said in str(caught.value)
    assert len(str(caught.value)) < 600


def test_words_and_attributes_are_inverse() -> None:
    words = {word for family in families() for line in family.lines for slot in line.slots for word in slot.choices}
    assert len(words) > 150
    assert all(word_of(attribute_of(word)) == word and attribute_of(word).isidentifier() for word in words)


OWN_NAMES = {
    "args", "attributed", "as_written", "comment", "directive", "dynamic_shared", "emit", "function", "guard", "label",
    "loop", "maxnreg", "maxntid", "minnctapersm", "otherwise", "ptx", "range", "register", "registers", "reqntid",
    "scope", "shared", "special", "symbol", "when",
}  # fmt: skip


def test_dir_lists_instructions_special_registers_and_the_public_names_only() -> None:
    opcodes = {attribute_of(word) for word in continuations(())}
    specials = {each.name.partition(".")[0] for each in SPECIAL_REGISTERS if not each.volatile}
    with Module("sm_70").kernel("k", n=u32) as k:
        k.add.u32(k.args.n, k.tid.x)
        assert dir(k) == sorted(opcodes | specials | OWN_NAMES)
        public = {name for name in {**Kernel.__dict__, **k.__dict__} if not name.startswith("_")}
    assert public == OWN_NAMES | {"add", "tid"}


def test_opcodes_special_registers_and_the_kernels_own_names_are_apart() -> None:
    opcodes = {attribute_of(word) for word in continuations(())}
    specials = {each.name.partition(".")[0] for each in SPECIAL_REGISTERS}
    assert not OWN_NAMES & opcodes
    assert not OWN_NAMES & specials
    assert not opcodes & specials


def test_fresh_registers_have_the_destinations_type() -> None:
    with Module("sm_70").kernel("k", x=pointer(f32), n=u32) as k:
        assert k.args.x.type is u64
        assert k.ld.global_.u8(k.args.x).type is u32
        assert k.ld.global_.u16(k.args.x).type is u16
        assert k.cvt.rn.f16.f32(1.0).type is f16
        assert k.register(bf16).type is b16
        assert [value.type for value in k.ld.global_.v2.f64(k.args.x)] == [f64, f64]
        assert k.setp.lt.u32(k.args.n, 1).type is pred


def eight_bits(k: Kernel) -> None:
    byte, signed = k.register(b8, 255), k.register(s8, -128)
    index = k.register(u8, k.tid.x)
    k.st.async_.release.gpu.global_.b8(k.args.x, byte)
    four = k.cvt.rn.satfinite.e2m1x2.f32(k.register(f32, 1.0), k.register(f32, 2.0))
    k.cvt.rn.f16x2.e2m1x2(four)
    k.mov.b16((k.register(u8, index), four))
    k.mov.b32(k.register(b32, 7), into=(None, None, None, signed))
    k.st.global_.b8(k.args.x + 1, signed)
    k.add.u32(k.ld.global_.u8(k.args.x), k.args.n)


def test_registers_of_eight_bits_where_the_instruction_or_the_user_wants_them() -> None:
    built, lines = written(eight_bits, "sm_100a", x=pointer(u8), n=u8)
    assert {
        "cvt.u8.u32 %rc0, 255;", "cvt.s8.s32 %sc0, -128;", "cvt.u8.u32 %uc0, %u0;", "cvt.u8.u8 %uc1, %uc0;",
        "cvt.rn.satfinite.e2m1x2.f32 %rc1, %f0, %f1;", "mov.b32 {%rc2, %rc3, %rc4, %sc0}, %r0;",
    } <= set(lines)  # fmt: skip
    judged = verdict(str(emit(built)), target("sm_100a"))
    assert judged.ok, judged.messages


@pytest.mark.parametrize("type_, value", [(u8, 256), (s8, -129), (b8, 1000)])
def test_a_number_that_eight_bits_cannot_hold_is_refused(type_: Type, value: int) -> None:
    with pytest.raises(KernelError, match=f"{value} does not fit in 8 bits"):
        written(lambda k: k.register(type_, value))


def test_addresses_keep_their_offsets() -> None:
    def write(k: Kernel) -> None:
        tile = k.shared(f32, 64, name="tile")
        k.ld.shared.f32(tile + 4 + 8)
        k.ld.shared.f32(8 + tile)
        k.ld.global_.f32(k.args.x + 4 - 8)
        k.mov.u32(tile + 12)
        k.ld.local.f32(16)

    _, lines = written(write, x=pointer(f32))
    texts = [line.split(", ", 1)[1] for line in lines[1:]]
    assert texts == ["[tile+12];", "[tile+8];", "[%ud0+-4];", "tile+12;", "[16];"]


def test_module_variables_and_their_initial_values() -> None:
    module = Module("sm_70")
    table = module.variable("table", f32, (2, 2), space="const", init=[[1, 0.5], [0.25, 2]], align=16)
    module.variable("counter", u32, space="global", init=7, linkage="visible")
    with module.kernel("k") as k:
        k.ld.const.f32(table + 4)
    text = str(emit(module.build()))
    assert ".const .align 16 .f32 table[2][2] = {{0f3F800000, 0f3F000000}, {0f3E800000, 0f40000000}};" in text
    assert ".visible .global .u32 counter = 7;" in text
    assert verdict(text, target("sm_70")).ok


def names_of(module: Module) -> list[str]:
    return [item.name for item in module.build().items if isinstance(item, Function)]


def test_a_kernel_that_raises_leaves_the_module_without_it() -> None:
    module = Module("sm_70")
    with pytest.raises(ZeroDivisionError), module.kernel("broken"):
        _ = 1 / 0
    with module.kernel("good"):
        pass
    assert names_of(module) == ["good"]


def line_of_this() -> int:
    frame = inspect.currentframe()
    assert frame is not None
    assert frame.f_back is not None
    return frame.f_back.f_lineno


def test_a_module_is_built_behind_its_kernels() -> None:
    module = Module("sm_70")
    with module.kernel("outer"), module.kernel("inner"):
        opened = line_of_this() - 1
        with pytest.raises(KernelError) as raised:
            module.build()
        built = line_of_this() - 1
    assert [(each.code, each.origin and each.origin.line) for each in raised.value.findings] == [
        ("kernel.open", built)
    ] * 2
    for name, finding in zip(("outer", "inner"), raised.value.findings, strict=True):
        assert f"kernel {name} ({__file__}:{opened}) is still open" in finding.message
    assert names_of(module) == ["inner", "outer"]


def test_a_kernel_is_written_in_one_with_block() -> None:
    module = Module("sm_70")
    kernel = module.kernel("k")
    kernel.bar.sync(0)
    with pytest.raises(KernelError, match=r"kernel k \(.*\) was never entered"):
        module.build()
    with kernel:
        pass
    assert module.build().function("k").name == "k"
    with pytest.raises(KernelError, match="kernel k is written in one with-block"), kernel:
        pass


@pytest.mark.parametrize("seen_before", [False, True])
@pytest.mark.parametrize(
    "line, name",
    [
        ("k.bar.sync", "bar.sync"),
        ("k.membar.gl", "membar.gl"),
        ("k.ret", "ret"),
        ("here.k.fence.acq_rel.gpu", "fence.acq_rel.gpu"),
        ("k.mad.lo", None),
        ("k.tid.x", None),
        ("k.args.n", None),
        ("barrier = k.bar.sync; barrier(0)", None),
        ("k.membar.gl()", None),
        ("k.bra", "bra"),
    ],
)
def test_an_instruction_that_is_not_called_is_found(line: str, name: str | None, seen_before: bool) -> None:
    module = Module("sm_70")
    before = "k.mov.u32(2); k.bar.sync(0); k.membar.gl(); k.fence.acq_rel.gpu(); k.bra(k.label().place()); k.ret()"
    code = compile(f"{'k.mov.u32(1)' if seen_before else 'pass'}\nwith k.scope():\n    {line}\n", "written.py", "exec")

    def write() -> None:
        with module.kernel("k", n=u32) as k:
            if seen_before:
                exec(compile(before, "before.py", "exec"), {"k": k})
            exec(code, {"k": k, "here": SimpleNamespace(k=k)})

    if name is None:
        write()
        assert names_of(module) == ["k"]
        return
    with pytest.raises(KernelError, match="is named and not called") as raised:
        write()
    (finding,) = raised.value.findings
    assert finding.message.startswith(f"{name} ")
    assert finding.origin is not None
    assert (finding.code, finding.origin.file, finding.origin.line) == ("instruction.uncalled", "written.py", 3)
    assert names_of(module) == []


def test_a_chain_says_how_it_goes_on() -> None:
    with Module("sm_70").kernel("k") as k:
        assert repr(k.ret) == "<the instruction ret, not yet written; next: a call with its operands, .uni>"
        assert repr(k.cp).startswith("<the instruction cp, not yet written; next: .async_, ")
        assert "k.membar.gl" in repr(k.membar.gl)
        assert "k.bar.sync" in repr(k.bar.sync)


def test_instructions_compare_without_their_lines() -> None:
    def one(k: Kernel) -> None:
        k.mov.u32(1)

    def other(k: Kernel) -> None:
        k.mov.u32(1)

    (a, _), (b, _) = written(one), written(other)
    assert a == b
    instruction = next(a.function("k").instructions())
    assert isinstance(instruction, Instruction)
    assert instruction.operands[1] == Int(1)
