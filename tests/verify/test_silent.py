"""What ptxas takes without a word and `verify` finds, each fault on its line; and the like of it that is right."""

from pathlib import Path

import pytest

from isa.targets import target
from ptxgen.parse import parse
from ptxgen.verify import CODES, verify
from tests.oracles.ptxas import verdict

HEAD = """.version 8.0
.target sm_90a
.address_size 64
.extern .shared .align 16 .b8 dynamic[];
.const .align 4 .b32 weights[16];
.global .align 8 .b8 plain[64];
.visible .entry k(.param .u64 n, .param .align 16 .b8 big[32], .param .f32 x){DIRECTIVES}
{{
.reg .b16 %h<9>; .reg .b32 %r<99>; .reg .b64 %rd<99>; .reg .f32 %f<9>; .reg .pred %p<9>;
.shared .align 16 .b8 tile[1024];
.shared .align 8 .b64 full; .shared .align 8 .b64 empty[4];
.local .align 4 .b8 stack[64];
mov.u32 %r0, %tid.x; mov.u32 %r1, 1; mov.u32 %r2, 2; mov.u32 %r3, 3; mov.u64 %rd0, 0; ld.param.u64 %rd1, [n];
mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0; setp.eq.u64 %p0, %rd1, 0;
"""
MARK = "// !"
WGMMA = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd0, %rd0, %p0, 1, 1, 0, 0;"
FENCE, COMMIT, WAIT = (f"wgmma.{word}.sync.aligned" for word in ("fence", "commit_group", "wait_group"))
BULK = "cp.async.bulk.global.shared::cta.bulk_group"
COMMITTED = "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;"

FAULTS = {
    "past the end": (
        "memory.bounds",
        "ld.shared.u32 %r4, [tile+1024]; // ! accesses 4 bytes byte 1024 tile has 1024",
    ),
    "across the end": ("memory.bounds", "ld.shared.v2.u32 {%r4, %r5}, [tile+1020]; // ! accesses 8 bytes"),
    "before the start": ("memory.bounds", "st.global.u32 [plain+-4], %r1; // ! byte -4 of plain"),
    "parameters end": ("memory.bounds", "ld.param.u32 %r4, [x+4]; // ! byte 4 of x, which has 4"),
    "constants end": ("memory.bounds", "ld.const.u32 %r4, [weights+64]; // ! which has 64"),
    "through a register": (
        "memory.bounds",
        "mov.u32 %r4, tile;\nadd.u32 %r5, %r4, 1000;\nld.shared.u32 %r6, [%r5+24]; // ! byte 1024 of tile",
    ),
    "atomics too": ("memory.bounds", "atom.shared.add.u32 %r4, [tile+2000], 1; // ! byte 2000 of tile"),
    "misaligned": ("memory.alignment", "ld.shared.u32 %r4, [tile+2]; // ! aligned to 4 bytes byte 2 of tile"),
    "misaligned vector": (
        "memory.alignment",
        "ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [tile+8]; // ! aligned to 16",
    ),
    "misaligned row": (
        "memory.alignment",
        "mov.u32 %r4, tile;\nldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r5}, [%r4+8]; // ! aligned to 16 bytes",
    ),
    "misaligned barrier": (
        "memory.alignment",
        "mov.u32 %r4, tile;\nmbarrier.init.shared.b64 [%r4+4], 1; // ! aligned to 8 bytes",
    ),
    "alignment not declared": (
        "memory.alignment",
        "ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [plain]; // ! 16 bytes declared with 8",
    ),
    "shared as generic": (
        "memory.space",
        "mov.u64 %rd4, tile;\nld.u32 %r4, [%rd4]; // ! .shared, not a generic one",
    ),
    "shared as global": (
        "memory.space",
        "mov.u64 %rd4, tile;\nld.global.u32 %r4, [%rd4]; // ! .global; tile .shared",
    ),
    "generic as shared": (
        "memory.space",
        (
            "mov.u64 %rd4, tile;\ncvta.shared.u64 %rd5, %rd4;\n"
            "ld.shared.u32 %r4, [%rd5]; // ! generic address .shared tile"
        ),
    ),
    "local as shared": (
        "memory.space",
        "mov.u32 %r4, stack;\nst.shared.u32 [%r4], %r1; // ! .shared; stack is in .local",
    ),
    "shuffle of nobody": ("mask.empty", "shfl.sync.idx.b32 %r4, %r1, 0, 31, 0; // ! membermask is empty"),
    "vote of nobody": ("mask.empty", "vote.sync.ballot.b32 %r4, %p0, 0; // ! membermask is empty"),
    "match of nobody": ("mask.empty", "match.any.sync.b32 %r4, %r1, 0; // ! membermask is empty"),
    "sum of nobody": (
        "mask.empty",
        "mov.u32 %r5, 0;\nredux.sync.add.s32 %r4, %r1, %r5; // ! membermask is empty",
    ),
    "barrier of nobody": ("mask.empty", "bar.warp.sync 0; // ! membermask is empty"),
    "no such lane": ("lane.range", "shfl.sync.idx.b32 %r4, %r1, 32, 31, -1; // ! b is 32 lanes 0 to 31"),
    "no such segment": ("lane.range", "shfl.sync.bfly.b32 %r4, %r1, 1, 32, -1; // ! c is 32 bits 0-4"),
    "shift too far": ("shift.count", "shl.b32 %r4, %r1, 33; // ! b is 33 the value has 32 bits"),
    "shift by less than nothing": ("shift.count", "shr.u32 %r4, %r1, -1; // ! b is -1"),
    "funnel too far": ("shift.count", "shf.l.clamp.b32 %r4, %r1, %r2, 40; // ! c is 40"),
    "selector too wide": ("immediate.unused", "prmt.b32 %r4, %r1, %r2, 0x10000; // ! only 16 bits"),
    "divided by nothing": ("divisor.zero", "div.u32 %r4, %r1, 0; // ! b is 0"),
    "rest of nothing": ("divisor.zero", "rem.s32 %r4, %r1, 0; // ! b is 0"),
    "too long a sleep": ("sleep.range", "nanosleep.u32 2000000; // ! longer than 1000000"),
    "mov of too much": ("immediate.range", "mov.u32 %r4, 0x1ffffffff; // ! needs more bits"),
    "add of too much": ("immediate.range", "add.u16 %h1, %h0, 70000; // ! needs more bits ;; read before"),
    "read before written": (
        "uninitialised.register",
        "add.u32 %r4, %r9, 1; // ! %r9 is read before it is written",
    ),
    "written twice": ("register.repeated", "ld.shared.v2.u32 {%r4, %r4}, [tile]; // ! writes %r4 twice"),
    "barrier under a lane": (
        "convergence.guard",
        "setp.eq.u32 %p1, %r0, 0;\n@%p1 bar.sync 0; // ! bar.sync stands under @%p1 number of the lane",
    ),
    "barrier in a branch": (
        "convergence.guard",
        "setp.lt.u32 %p1, %r0, 16;\n@%p1 bra L;\nbar.sync 0; // ! is reached by a branch on @%p1\nL:",
    ),
    "matrix under a lane": (
        "convergence.guard",
        (
            "and.b32 %r4, %r0, 1;\nsetp.ne.u32 %p1, %r4, 0;\n"
            "@%p1 mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3}, "
            "{%r1,%r2}, {%r3}, {%f0,%f1,%f2,%f3}; // ! under @%p1"
        ),
    ),
    "registers under election": (
        "convergence.guard",
        "elect.sync %r4|%p1, -1;\n@%p1 setmaxnreg.inc.sync.aligned.u32 232; // ! because of elect.sync",
    ),
    "multiply under a lane": (
        "convergence.guard",
        (
            f"mov.u32 %r4, %laneid;\nsetp.gt.u32 %p1, %r4, 3;\n{FENCE};\n@%p1 {WGMMA} // ! under @%p1\n{COMMIT};\n"
            f"{WAIT} 0;"
        ),
    ),
    "whole warp in half of it": (
        "convergence.guard",
        "setp.lt.u32 %p1, %r0, 16;\n@%p1 shfl.sync.idx.b32 %r4, %r1, 0, 31, -1; // ! under @%p1",
    ),
    "loop of a lane": (
        "convergence.guard",
        (
            "mov.u32 %r4, %r0;\nL:\nbar.sync 0; // ! by a branch on @%p1\nadd.u32 %r4, %r4, 128;\n"
            "setp.lt.u32 %p1, %r4, %r1;\n@%p1 bra L;"
        ),
    ),
    "multiply without fence": (
        "wgmma.fence",
        f"{WGMMA} // ! without wgmma.fence since the entry\n{COMMIT};\n{WAIT} 0;",
    ),
    "accumulator changed": (
        "wgmma.fence",
        (
            f"{FENCE};\n{WGMMA}\n{COMMIT};\n{WAIT} 0;\nadd.f32 %f1, %f1, %f2;\n{WGMMA} // ! since %f1 was written\n"
            f"{COMMIT};\n{WAIT} 0;"
        ),
    ),
    "multiply not waited for": (
        "group.wait",
        f"{FENCE};\n{WGMMA}\n{COMMIT};\nst.shared.f32 [tile], %f0; // ! no wgmma.wait_group",
    ),
    "multiply not committed": (
        "group.commit",
        f"{FENCE};\n{WGMMA}\n{WAIT} 0;\nst.shared.f32 [tile], %f0; // ! no wgmma.commit_group",
    ),
    "copy not waited for": (
        "group.wait",
        "cp.async.ca.shared.global [tile], [%rd1], 4; // ! nothing in the function waits",
    ),
    "copy not committed": (
        "group.commit",
        "cp.async.ca.shared.global [tile], [%rd1], 4; // ! no cp.async.commit_group\ncp.async.wait_group 0;",
    ),
    "bulk copy not committed": (
        "group.commit",
        f"{BULK} [%rd1], [tile], 16; // ! no cp.async.bulk.commit_group\ncp.async.bulk.wait_group 0;",
    ),
    "bulk copy not waited for": (
        "group.wait",
        f"{BULK} [%rd1], [tile], 16; // ! nothing in the function waits\ncp.async.bulk.commit_group;",
    ),
    "bulk copy of fresh stores": (
        "proxy.fence",
        (
            "st.shared.u32 [tile], %r1;\nbar.sync 0;\n"
            f"{BULK} [%rd1], [tile], 16; // ! no fence.proxy.async behind\n{COMMITTED}"
        ),
    ),
    "multiply of fresh stores": (
        "proxy.fence",
        f"st.shared.u32 [tile], %r1;\n{FENCE};\n{WGMMA} // ! no fence.proxy.async\n{COMMIT};\n{WAIT} 0;",
    ),
    "barrier never made": (
        "mbarrier.init",
        "mbarrier.arrive.shared.b64 %rd4, [full]; // ! no mbarrier.init precedes it for [full]",
    ),
    "other barrier made": (
        "mbarrier.init",
        "mbarrier.init.shared.b64 [empty], 1;\nmbarrier.arrive.shared.b64 %rd4, [empty+8]; // ! no mbarrier.init",
    ),
    "barrier made later": (
        "mbarrier.init",
        "mbarrier.arrive.shared.b64 %rd4, [full]; // ! no mbarrier.init\nmbarrier.init.shared.b64 [full], 1;",
    ),
    "bulk copy misaligned": (
        "memory.alignment",
        f"{BULK} [%rd1], [tile+8], 16; // ! aligned to 16 bytes\n{COMMITTED}",
    ),
    "bulk copy past the end": (
        "memory.bounds",
        f"{BULK} [%rd1], [tile+512], 528; // ! accesses 528 bytes\n{COMMITTED}",
    ),
}
LOUD = {
    "field too far": ("immediate.domain", "bfe.u32 %r4, %r1, 256, 1; // ! wanted 0 to 255"),
    "parity of three": (
        "parity.range",
        (
            "mbarrier.init.shared.b64 [full], 1;\n"
            "mbarrier.try_wait.parity.shared.b64 %p1, [full], 3; // ! a phase is 0 or 1"
        ),
    ),
}
LIKE = {
    "last word": "ld.shared.u32 %r4, [tile+1020];",
    "dynamic memory": "ld.shared.u32 %r4, [dynamic+4096];",
    "generic by cvta": "mov.u64 %rd4, tile;\ncvta.shared.u64 %rd5, %rd4;\nld.u32 %r4, [%rd5];",
    "parts of a parameter": "ld.param.v4.u32 {%r4, %r5, %r6, %r7}, [big+16];",
    "shift to nothing": "shl.b32 %r4, %r1, 32;",
    "barrier under a warp": "setp.lt.u32 %p1, %r0, 64;\n@%p1 bar.sync 1, 64;",
    "barrier under a warp's number": "shr.u32 %r4, %r0, 5;\nsetp.eq.u32 %p1, %r4, 1;\n@%p1 bar.sync 1, 32;",
    "barrier under an even warp": "and.b32 %r4, %r0, 32;\nsetp.eq.u32 %p1, %r4, 0;\n@%p1 bar.warp.sync -1;",
    "barrier under a broadcast": (
        "shfl.sync.idx.b32 %r4, %r0, 0, 31, -1;\nsetp.eq.u32 %p1, %r4, 0;\n@%p1 bar.warp.sync -1;"
    ),
    "loop of pointers": (
        "mul.wide.u32 %rd4, %r0, 4;\nadd.u64 %rd5, %rd1, %rd4;\nadd.u64 %rd6, %rd5, 4096;\nL:\nbar.sync 0;\n"
        "add.u64 %rd5, %rd5, 64;\nsetp.ne.u64 %p1, %rd5, %rd6;\n@%p1 bra L;"
    ),
    "loop of a parameter": (
        "mov.u64 %rd4, 0;\nL:\nbar.sync 0;\nadd.u64 %rd4, %rd4, 1;\nsetp.lt.u64 %p1, %rd4, %rd1;\n@%p1 bra L;"
    ),
    "a pair below the mask": "setp.lt.u32 %p1, %r0, 16;\n@%p1 shfl.sync.idx.b32 %r4, %r1, 0, 31, 0xffff;",
    "multiplies in a loop": (
        f"mov.u64 %rd4, 0;\nL:\n{FENCE};\n{WGMMA}\n{WGMMA}\n{COMMIT};\n{WAIT} 1;\nadd.u64 %rd4, %rd4, 1;\n"
        f"setp.lt.u64 %p1, %rd4, %rd1;\n@%p1 bra L;\n{WAIT} 0;\nst.shared.f32 [tile], %f0;"
    ),
    "stores behind a fence": (
        "st.shared.u32 [tile], %r1;\nfence.proxy.async.shared::cta;\nbar.sync 0;\n"
        f"{BULK} [%rd1], [tile], 16;\n{COMMITTED}"
    ),
    "stores elsewhere": (f"mov.u32 %r4, tile;\nst.shared.u32 [empty], %r1;\n{BULK} [%rd1], [%r4], 16;\n{COMMITTED}"),
    "barrier of one thread": (
        "setp.eq.u32 %p1, %r0, 0;\n@%p1 mbarrier.init.shared.b64 [full], 1;\nbar.sync 0;\n"
        "mbarrier.arrive.shared.b64 %rd4, [full];"
    ),
    "copies in groups": (
        "cp.async.ca.shared.global [tile], [%rd1], 4;\ncp.async.commit_group;\ncp.async.wait_group 0;"
    ),
}
COMPILED = sorted((Path(__file__).parents[1] / "parse" / "data").glob("*.ptx"))
BUDGETS = {
    "registers.budget": (".maxnreg 256 .maxntid 128, 1, 1", "has at most 255 registers"),
    "threads.budget": (".maxntid 1024, 1, 1 .minnctapersm 3", "3 CTAs of 1024 threads has at most 2048 threads"),
}


def text(body: str, directives: str = "") -> str:
    return HEAD.replace("{DIRECTIVES}", directives).replace("{{", "{") + body + "\nret;\n}\n"


@pytest.mark.parametrize("code, body", [*FAULTS.values(), *LOUD.values()], ids=[*FAULTS, *LOUD])
def test_the_fault_is_found_on_its_line(code: str, body: str) -> None:
    whole = text(body)
    lines = whole.split("\n")
    (line,) = (number for number, each in enumerate(lines, 1) if MARK in each)
    wanted = lines[line - 1].split(MARK)[1].split(";;")
    found = verify(parse(whole, file="k.ptx"))
    assert [each.origin.line for each in found if each.origin is not None] == [line] * len(wanted), found
    assert code in {each.code for each in found}
    for words, finding in zip(wanted, found, strict=True):
        rest = finding.message
        for word in words.split():
            assert word in rest, finding.message
            rest = rest.split(word, 1)[1]


@pytest.mark.parametrize("code, body", FAULTS.values(), ids=list(FAULTS))
def test_ptxas_takes_the_fault(code: str, body: str) -> None:
    said = verdict(text(body), target("sm_90a"))
    assert said.ok, said.messages


@pytest.mark.parametrize("code, body", LOUD.values(), ids=list(LOUD))
def test_ptxas_refuses_these(code: str, body: str) -> None:
    assert not verdict(text(body), target("sm_90a")).ok


@pytest.mark.parametrize("body", LIKE.values(), ids=list(LIKE))
def test_the_like_of_it_is_no_fault(body: str) -> None:
    assert verify(parse(text(body), file="k.ptx")) == ()
    assert verdict(text(body), target("sm_90a")).ok


@pytest.mark.parametrize("code", BUDGETS)
def test_directives_that_ask_for_too_much(code: str) -> None:
    directives, words = BUDGETS[code]
    (finding,) = verify(parse(text("", directives)))
    assert finding.code == code
    assert all(word in finding.message for word in words.split())
    assert verdict(text("", directives), target("sm_90a")).ok


def test_many_kinds_are_found() -> None:
    kinds = {code for code, _ in FAULTS.values()} | BUDGETS.keys()
    assert len(FAULTS) > 50
    assert len(kinds) >= 20
    assert kinds <= CODES.keys()


@pytest.mark.parametrize("path", COMPILED, ids=lambda path: path.stem)
def test_nothing_is_wrong_with_what_compilers_write(path: Path) -> None:
    assert verify(parse(path.read_text())) == ()
