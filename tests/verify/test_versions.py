"""The least version: ptxas takes the module at it and refuses it one version below."""

import pytest
from attrs import evolve

from isa.drivers import RELEASES, first_driver, newest_ptx
from isa.targets import VERSIONS, version
from ptxgen.build import Module as Builder
from ptxgen.emit import emit
from ptxgen.ir import Module
from ptxgen.parse import parse
from ptxgen.verify import least_version, verify
from tests.oracles.ptxas import verdict

USES = [
    ("sm_70", "", "", "fence.proxy.alias;", "7.5", "fence.proxy.alias"),
    ("sm_75", "", "", "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r1, %r2}, {%r1, %r2}, {%r3}, {%r1, %r2};",
     "6.5", "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16"),
    ("sm_80", "", "", "cp.async.ca.shared.global [%rd1], [%rd2], 16;", "7.0", "cp.async.ca.shared.global"),
    ("sm_75", "", ".noreturn", "", "6.4", ".noreturn"),
    ("sm_90", "", ".maxclusterrank 4", "", "7.8", ".maxclusterrank"),
    ("sm_90", "", ".blocksareclusters", "", "9.0", ".blocksareclusters"),
    ("sm_75", ".common .global .u32 x;", "", "", None, None),
    ("sm_52", ".common .global .u32 x;", "", "", "5.0", ".common"),
    ("sm_75", ".global .u8 q[8] = {1, 0xff00(q)};", "", "", "7.1", "a byte of an address as initial value"),
    ("sm_75", "", "", ".reg .b128 x;", "8.3", "the type .b128"),
    ("sm_75", "", "", '.pragma "enable_smem_spilling";', "8.7", '.pragma "enable_smem_spilling"'),
    ("sm_90", "", "", "mov.u32 %r1, %aggr_smem_size;", "8.1", "%aggr_smem_size"),
]  # fmt: skip


def module(target: str, item: str, directive: str, statement: str) -> Module:
    kind = ".func" if directive == ".noreturn" else ".visible .entry"
    if directive == ".blocksareclusters":
        directive = ".reqntid 32\n.reqnctapercluster 2\n.blocksareclusters"
    registers = ".reg .b32 %r<9>; .reg .b64 %rd<9>;"
    body = f"{{ {registers}\n{statement}\nret; }}"
    return parse(f".version 1.0\n.target {target}\n{item}\n{kind} k()\n{directive}\n{body}\n", file="user.ptx")


@pytest.mark.parametrize(
    "target, item, directive, statement, needed, why", USES, ids=[f"{use[0]} {''.join(use[1:4])}" for use in USES]
)
def test_the_least_version_is_what_ptxas_says(
    target: str, item: str, directive: str, statement: str, needed: str | None, why: str | None
) -> None:
    given = module(target, item, directive, statement)
    report = least_version(given)
    assert report.possible
    assert report.version == (given.target.first_version if needed is None else version(needed))
    assert [reason.use.what for reason in report.reasons][:1] == ([] if why is None else [why])
    assert verdict(str(emit(evolve(given, version=report.version))), given.target).ok
    below = max(each for each in VERSIONS if each < report.version)
    assert not verdict(str(emit(evolve(given, version=below))), given.target).ok
    codes = [finding.code for finding in verify(evolve(given, version=below))]
    assert "target.unsupported" in codes


def test_the_reason_names_the_line() -> None:
    report = least_version(module("sm_75", "", "", "nanosleep.u32 1;\nmov.u32 %r1, 2;\nfence.proxy.alias;"))
    assert str(report) == (
        "PTX 7.5 for sm_75\n    fence.proxy.alias needs PTX 7.5 and sm_70: user.ptx:9\n"
        "    nanosleep.u32 needs PTX 6.3 and sm_70: user.ptx:7"
    )


def test_what_came_with_the_target_is_a_reason() -> None:
    multiply = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
    fragments = "{f, f, f, f}, {%r1, %r1, %r1, %r1}, {%r1, %r1}, {f, f, f, f}"
    given = module("sm_80", "", "", f".reg .f32 f;\n{multiply} {fragments};")
    assert str(least_version(given)) == f"PTX 7.0 for sm_80\n    {multiply} needs PTX 7.0 and sm_80: user.ptx:8"
    assert str(least_version(module("sm_80", "", "", "membar.cta;"))) == "PTX 7.0 for sm_80, which exists since PTX 7.0"


def test_the_line_of_the_builder_is_named() -> None:
    builder = Builder("sm_70")
    with builder.kernel("k") as k:
        k.nanosleep.u32(3)
    built = builder.build()
    report = least_version(built)
    assert built.version == report.version == version("6.3")
    assert "test_versions.py:" in str(report)


def test_what_a_target_never_has() -> None:
    report = least_version(module("sm_70", "", "", "cp.async.wait_all;"))
    assert not report.possible
    wanted = "cp.async.wait_all is not for sm_70, it exists since PTX 7.0 on sm_80 and later: user.ptx:7"
    assert wanted in str(report)


def test_a_driver_caps_it() -> None:
    given = module("sm_90", "", ".blocksareclusters", "")
    old = least_version(given, driver=12040)
    assert not old.possible
    assert "the driver of CUDA 12.4 takes PTX up to 8.4; a driver of CUDA 13.0 is needed" in str(old)
    assert least_version(given, driver=(13, 1)).possible
    assert least_version(module("sm_70", "", "", ""), driver=(12, 4)).possible


def test_the_table_of_drivers() -> None:
    assert newest_ptx((12, 4)) == version("8.4")
    assert newest_ptx((12, 6)) == version("8.5")
    assert newest_ptx((99, 0)) == RELEASES[-1][0]
    assert newest_ptx((13, 5)) == version("9.5")
    assert first_driver(version("7.0")) == (11, 0)
    assert first_driver(version("99.0")) is None
    assert [ptx for ptx, _ in RELEASES] == sorted(ptx for ptx, _ in RELEASES)
    assert [cuda for _, cuda in RELEASES] == sorted(cuda for _, cuda in RELEASES)
    with pytest.raises(LookupError, match="older than the table"):
        newest_ptx((5, 0))
