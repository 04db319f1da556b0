"""Special registers and limits are asked of ptxas; mechanisms and numerics are looked up as their users do."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

import pytest

from isa.directives import DIRECTIVES
from isa.forms import resolve
from isa.fragments import fragment
from isa.limits import limits, shared_base
from isa.mechanisms import (
    AT_ISSUE,
    Committed,
    Drain,
    Drained,
    Group,
    GroupKind,
    IssuedBy,
    Proxy,
    Transaction,
    mechanism,
    mechanism_of,
)
from isa.numerics import Rounding, UnsettledNumerics, numerics
from isa.special import SPECIAL_REGISTERS, UnknownSpecialRegister, special
from isa.targets import TARGETS, VERSIONS, PtxVersion, Target, named_in, target, version
from tests.oracles.ptxas import find_ptxas, refused, verdict

PER_CTA = ("perctamemoryoffset", "perctamemorysize")
SM_70, SM_80, SM_90A = target("sm_70"), target("sm_80"), target("sm_90a")


def read(name: str) -> str:
    register = special(name)
    if register.type.name == "pred":
        return f"mov.pred %pred_0, %{name};"
    return f"mov.{register.type} %{register.type}_0, %{name};"


def test_special_registers_are_read_with_their_type():
    by_point: dict[tuple[PtxVersion, Target], list[str]] = {}
    for register in (each for each in SPECIAL_REGISTERS if each.name not in PER_CTA):
        on = SM_90A if register.availability.holds(version("8.1"), SM_90A) else SM_70
        least = register.availability.least_version(on)
        assert least is not None
        by_point.setdefault((least, on), []).append(register.name)
    for (least, on), group in by_point.items():
        said = refused([read(name) for name in group], least, on)
        assert {group[index]: words for index, words in said.items()} == {}


@pytest.mark.parametrize("name", PER_CTA)
def test_memory_of_a_cta_is_read_where_it_is_asked_for(name: str):
    register = special(name)
    text = (
        ".version {}\n.target {}\n.address_size 64\n.visible .entry k() .minperctamemory 2048\n"
        f"{{{{ .reg .{register.type} %a; mov.{register.type} %a, {register}; ret; }}}}\n"
    )
    assert DIRECTIVES["minperctamemory"] is register.availability
    assert verdict(text.format("9.4", SM_80), SM_80).ok
    assert not verdict(text.format("9.3", SM_80), SM_80).ok
    assert not verdict(text.format("9.4", "sm_75"), target("sm_75")).ok


def test_newer_special_registers_are_refused_on_older_targets():
    newer = [each.name for each in SPECIAL_REGISTERS if not each.availability.targets & SM_80.bit]
    assert len(refused([read(name) for name in newer], VERSIONS[-1], SM_80)) == len(newer) > 10


def test_unknown_special_register_lists_the_known():
    with pytest.raises(UnknownSpecialRegister, match=r"tid\.v.*tid\.x"):
        special("tid.v")
    assert special("%tid.x") is special("tid.x")
    assert special("clock64").volatile
    assert not special("ctaid.y").volatile


@pytest.mark.parametrize("name", ["sm_70", "sm_80", "sm_90", "sm_100"])
def test_static_shared_bytes_are_those_that_ptxas_takes(name: str):
    on = target(name)
    text = (
        ".version {}\n.target {}\n.address_size 64\n.visible .entry k()\n{{ .shared .b8 s[{}]; .reg .b32 %r; "
        "mov.u32 %r, s; st.shared.u32 [%r], %r; ret; }}\n"
    )
    most = limits(on).shared_static_bytes
    assert verdict(text.format(on.first_version, name, most), on).ok
    assert not verdict(text.format(on.first_version, name, most + 16), on).ok


def end_of_shared_memory(image: bytes) -> int:
    """The size of the section of a cubin that holds the shared variables, what lies below them included."""
    (offset,) = struct.unpack_from("<Q", image, 40)
    size, count, names = struct.unpack_from("<HHH", image, 58)
    heads = [struct.unpack_from("<IIQQQQ", image, offset + index * size) for index in range(count)]
    found = {image[heads[names][4] + head[0] :].partition(b"\0")[0]: head[5] for head in heads}
    return int(found[b".nv.shared.k"])


@pytest.mark.parametrize("name", ["sm_70", "sm_80", "sm_89", "sm_90", "sm_90a", "sm_100", "sm_110", "sm_120"])
def test_shared_variables_begin_where_ptxas_puts_them(name: str, tmp_path: Path):
    on = target(name)
    source, cubin = tmp_path / "k.ptx", tmp_path / "k.cubin"
    source.write_text(
        f".version {on.first_version}\n.target {name}\n.address_size 64\n.visible .entry k()\n"
        "{ .shared .b8 s[256]; .reg .b32 %r; mov.u32 %r, s; st.shared.u32 [%r], %r; ret; }\n"
    )
    subprocess.run([find_ptxas(on), f"-arch={name}", source, "-o", cubin], check=True, timeout=300)
    assert end_of_shared_memory(cubin.read_bytes()) == shared_base(on) + 256


def test_limits_of_volta_and_of_the_unknown():
    assert (limits(SM_70).shared_bytes_per_cta, limits(SM_70).threads_per_sm) == (98304, 2048)
    assert limits(SM_90A).shared_bytes_per_cta == 232448
    with pytest.raises(LookupError, match="sm_107"):
        limits(target("sm_107"))


def test_mechanisms_by_name():
    assert mechanism_of(resolve("ld.global.f32")[0]).completes is AT_ISSUE
    assert mechanism("cp.async.cg.shared.global").completes == Group(GroupKind.CP_ASYNC, IssuedBy.LANE)
    assert mechanism("cp.async.wait_all").reads is None
    load = mechanism("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes")
    assert (load.writes, load.completes) == (Proxy.ASYNC, Transaction())
    store = mechanism("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group")
    assert store.completes == Group(GroupKind.BULK, IssuedBy.LANE, read_wait=True)
    assert mechanism("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16").issued_by is IssuedBy.WARPGROUP
    for order in ("", "weak.", "relaxed.gpu."):
        assert mechanism(f"cp.async.bulk.{order}global.shared::cta.bulk_group").completes == store.completes
    assert mechanism("cp.async.bulk.prefetch.tensor.2d.L2.global.tile").writes is None
    remote = mechanism("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32")
    assert (remote.writes, remote.completes) == (Proxy.GENERIC, Transaction())
    assert mechanism("red.async.release.gpu.global.add.u32").completes is AT_ISSUE
    multiply = mechanism("tcgen05.mma.ws.sp.cta_group::1.kind::f16")
    assert (multiply.reads, multiply.writes, multiply.completes) == (Proxy.ASYNC, None, Committed())
    assert mechanism("tcgen05.cp.cta_group::1.128x256b").completes == Committed()
    assert mechanism("tcgen05.ld.sync.aligned.32x32b.x1.b32").completes == Drained(Drain.LOADS)
    assert mechanism("tcgen05.st.sync.aligned.32x32b.x1.b32").completes == Drained(Drain.STORES)
    assert mechanism("tcgen05.wait::ld.sync.aligned").completes is AT_ISSUE
    assert mechanism("fabric.try_put.async.shared::cta").writes is Proxy.FABRIC
    assert mechanism("fabric.submit").writes is None
    assert mechanism("add.u32").reads is None
    assert mechanism("add.u32").writes is None
    assert mechanism("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32").issued_by is IssuedBy.WARP


def test_numerics_by_target():
    volta = numerics(SM_70, "mma", "m8n8k4", "f16")
    assert (volta.block, volta.fraction_bits) == (4, 23)
    assert (volta.f32, volta.f16) == (Rounding.TOWARDS_ZERO, Rounding.NEAREST_EVEN)
    assert volta.block == fragment("m8n8k4", "a", "f16", "row").columns
    assert numerics(SM_90A, "wgmma", "m64n64k32", "e4m3").block == 32
    for name, shape, reason in (
        ("sm_75", "m16n8k8", "8 or 4"),
        ("sm_80", "m8n8k4", "ordinary"),
        ("sm_60", "m8n8k4", "no"),
    ):
        with pytest.raises(UnsettledNumerics, match=reason):
            numerics(target(name), "mma", shape, "f16")


def test_masks_name_their_targets_in_order():
    assert named_in(SM_90A.bit | SM_70.bit) == (SM_70, SM_90A)
    assert [each.bit for each in TARGETS] == [1 << place for place in range(len(TARGETS))]
