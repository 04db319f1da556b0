"""Candidates that are bad on purpose: forty-odd kinds, each with the stage at which the gate must refuse it.

Synchronisation of a derived product is changed and given to the checker; its PTX is edited and simulated; a good kernel
is wrapped in one that cheats; and clocks tell what cannot be.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache, cached_property
from typing import Any

import numpy as np
from attrs import define, evolve, field, frozen

from isa.mechanisms import IssuedBy
from ptxgen.compute import f16
from ptxgen.derive import Derivation, derive
from ptxgen.errors import AssemblerError
from ptxgen.kernels import Layout, MatmulSpec, MatmulTiling, matmul_compute, matmul_plan
from ptxgen.kernels.choosing.menu import Sizes
from ptxgen.kernels.choosing.processors import Processor, processor_named
from ptxgen.kernels.launching.launch import prepare
from ptxgen.kernels.products.epilogue import Activate, Activation, Bias
from ptxgen.order.atoms import Advance, Arrive, Commit, Expect, Fence, Join, Retire, Side, Wait
from ptxgen.order.synchronisation import Synchronisation, Synchronised
from ptxgen.order.threads import Threads
from ptxgen.parse import parse
from ptxgen.plan import Fact, aligned, multiple, sms
from ptxgen.prove.proof import check_meetings
from ptxgen.simulate import Simulator, simulator
from ptxgen.tune.gate import Built, Sample, Stage, Subject, Timing
from ptxgen.tune.making import Made, Wanted, make
from ptxgen.tune.subjects import OnSimulator, built_of

TARGET = "sm_90a"
SPEC = MatmulSpec(Layout.NT, epilogue=(Bias(element=f16), Activate(Activation.RELU)))
DIRECT = MatmulTiling(i=64, j=16, k=16, warps=4, depth=3, isolate=False)
STAYING = evolve(DIRECT, workers=sms, drain=16)
WIDE = MatmulTiling(i=128, j=64, k=64, warps=8, depth=3, isolate=False)
SIZES = (Sizes(71, 8, 56),)
FACTS: tuple[Fact, ...] = (
    *(multiple(name, 8) for name in ("N", "K", "lda", "ldb", "ldd")),
    *aligned("A", "B", "D", "bias", bytes=16),
)
THREADS = {"math": Threads(1, 128), "load": Threads(1, 1)}
LARGE = Sizes(4096, 4096, 4096)
Arrays = Mapping[str, Any]


def device() -> Processor:
    row = processor_named("H200")
    assert row is not None
    return row


@cache
def good(tiling: MatmulTiling) -> Made:
    return make(Wanted(SPEC, TARGET, tiling, FACTS))


@frozen
class Kind:
    """A way to be bad, the stage that sees it, and whether that needs an assembler."""

    name: str
    stage: Stage
    make: Callable[[], Subject]
    needs_ptxas: bool = False

    def __str__(self) -> str:
        return self.name


@define
class Doubtful(OnSimulator):
    """A candidate whose synchronisation is another than the derived one."""

    findings: tuple[str, ...] = ()

    def proof(self) -> tuple[str, ...]:
        return self.findings


@define(slots=False)
class Edited:
    """A kernel as text."""

    made: Made
    text: str
    assembled: bool = False

    @cached_property
    def decoded(self) -> Simulator:
        return simulator(parse(self.text))

    def proof(self) -> tuple[str, ...]:
        return ()

    def build(self) -> Built:
        return built_of(self.text) if self.assembled else Built()

    def launch(self, arrays: Arrays, scalars: Mapping[str, float]) -> None:
        assert self.made.kept is not None
        launch = prepare(self.made.kept.entry, arrays, scalars)
        self.decoded.run(
            grid=launch.blocks, block=launch.threads, args=launch.arguments, shared_bytes=launch.shared_bytes
        ).raise_findings()

    def timed(self) -> Timing | None:
        return None


@define
class Cheat(OnSimulator):
    """A good kernel whose launches go through `how`, which knows how many there were before."""

    how: Callable[[Cheat, Arrays, Mapping[str, float]], None] = lambda self, arrays, scalars: None
    count: int = 0
    seen: dict[Any, Any] = field(factory=dict)

    def honest(self, arrays: Arrays, scalars: Mapping[str, float]) -> None:
        OnSimulator.launch(self, arrays, scalars)

    def launch(self, arrays: Arrays, scalars: Mapping[str, float]) -> None:
        self.how(self, arrays, scalars)
        self.count += 1


# Synchronisation, judged by the checker.


@cache
def derivation(tiling: MatmulTiling) -> Derivation:
    return derive(matmul_plan(matmul_compute(SPEC), SPEC, FACTS, tiling, TARGET))


def unproved(
    of: Any,
    change: Callable[[Any], Synchronisation | None],
    where: Callable[[Any], bool] = lambda atom: True,
) -> Callable[[], Subject]:
    """The staying product with the first such atom changed, or left out."""

    def made() -> Subject:
        (part,) = derivation(STAYING).parts
        held = part.synchronised
        chosen = next(each for each in held.atoms if isinstance(each.atom, of) and where(each.atom))
        other = change(chosen)
        kept = tuple(other if each is chosen else each for each in held.atoms)
        spoilt: Synchronised = evolve(held, atoms=tuple(each for each in kept if each is not None))
        verdict = check_meetings(spoilt, part.requirements, threads=THREADS)
        return Doubtful(good(STAYING), findings=tuple(map(str, verdict.findings)))

    return made


def nothing(atom: Synchronisation) -> None:
    return None


def underivable(tiling: MatmulTiling) -> Callable[[], Subject]:
    return lambda: OnSimulator(make(Wanted(SPEC, TARGET, tiling, FACTS)))


def full(atom: Any) -> bool:
    return getattr(atom, "side", None) is Side.FULL


def empty(atom: Any) -> bool:
    return getattr(atom, "side", None) is Side.EMPTY


def of_math(atom: Any) -> bool:
    return isinstance(atom, Retire)


PROOFS = (
    ("a wait for a filled slot is missing", unproved(Wait, nothing, full)),
    ("a wait for a free slot is missing", unproved(Wait, nothing, empty)),
    ("a release is missing", unproved(Arrive, nothing, empty)),
    ("a release by every warp", unproved(
        Arrive, lambda each: evolve(each, atom=evolve(each.atom, by=IssuedBy.WARP)), empty)),
    ("products are not waited for", unproved(Retire, nothing)),
    ("a wait leaves one group more", unproved(
        Retire, lambda each: evolve(each, atom=evolve(each.atom, pending=each.atom.pending + 1)), of_math)),
    ("fewer bytes are expected", unproved(
        Expect, lambda each: evolve(each, atom=evolve(each.atom, byte_count=each.atom.byte_count - 16)))),
    ("a slot is waited for under another number", unproved(
        Wait, lambda each: evolve(each, rank=each.rank + 1), full)),
    ("a fence is missing", unproved(Fence, nothing)),
    ("a commit is missing", unproved(Commit, nothing)),
    ("a meeting is missing", unproved(Join, nothing)),
    ("a count of tiles does not go on", unproved(Advance, nothing)),
    ("rings larger than shared memory", underivable(evolve(WIDE, j=256, depth=8))),
    ("a cluster of sixteen blocks", underivable(evolve(DIRECT, cluster=(4, 4)))),
)  # fmt: skip


# PTX, edited.


def edited(tiling: MatmulTiling, *edits: tuple[str, str, int], assembled: bool = False) -> Callable[[], Subject]:
    """The text with each pattern replaced so often (0: everywhere; below: counted from the end)."""

    def made() -> Subject:
        kept = good(tiling).kept
        assert kept is not None
        text = kept.text
        for pattern, other, count in edits:
            found = list(re.finditer(pattern, text))
            assert found, f"nothing to spoil: {pattern}"
            chosen = found if count == 0 else found[:count] if count > 0 else found[count:]
            for each in reversed(chosen):
                text = text[: each.start()] + each.expand(other) + text[each.end() :]
        assert text != kept.text
        return Edited(good(tiling), text, assembled)

    return made


WAITING = r"\$loop\d+:\n    mbarrier\.try_wait[^\n]*\n    @!%p\d+ bra[^\n]*\n"
ODD_BLOCKS_RETURN = r"""\1
    .reg .pred %q;
    .reg .b32 %odd;
    and.b32 %odd, \2, 1;
    setp.ne.b32 %q, %odd, 0;
    @%q ret;"""
BEGIN = r"(mov\.u32 (%u\d+), %ctaid\.x;)"

BUILDS = (
    ("registers cannot be counted", edited(WIDE, (r"\.(reqntid|minnctapersm)[^\n]*\n", "", 0), assembled=True)),
    ("products are ordered by the assembler", edited(WIDE, (r"    wgmma\.fence[^\n]*\n", "", 0), assembled=True)),
    ("registers spill", edited(
        evolve(WIDE, i=64, warps=4, j=128), (r"(\.reqntid[^\n]*\n)", r"\1.maxnreg 40\n", 1), assembled=True)),
    ("text that no assembler takes", edited(DIRECT, (r"bar\.sync 0;", "bar.sync 0, 31;", 1), assembled=True)),
)  # fmt: skip

FAULTS = (
    ("the first wait is left out", edited(DIRECT, (WAITING, "", 1))),
    ("the first wait has the other parity", edited(DIRECT, (r"(mbarrier\.try_wait[^\n]*), 0;", r"\1, 1;", 1))),
    ("releases are left out", edited(DIRECT, (r"    @%p\d+ mbarrier\.arrive\.shared[^\n]*\n", "", 0))),
    ("more bytes expected than come", edited(DIRECT, (r"(expect_tx[^\n]*), 2560;", r"\1, 2576;", 1))),
    ("a barrier counts one arrival too many", edited(DIRECT, (r"(mbarrier\.init[^\n]*), 1;", r"\1, 2;", 1))),
    ("a barrier is not initialised", edited(DIRECT, (r"    mbarrier\.init[^\n]*\n", "", 1))),
    ("nobody waits for the barriers' beginning", edited(DIRECT, (r"    bar\.sync 0;\n", "", 1))),
    ("sums are read while products run", edited(DIRECT, (r"    wgmma\.wait_group\.sync\.aligned 0;\n", "", 0))),
    ("pieces are stored before they are all there", edited(STAYING, (r"    bar\.sync 0, 128;\n", "", -1))),
    ("a row beyond the last one is written", edited(DIRECT, (r"(setp\.gt\.s32 %p\d+, %s\d+), 8;", r"\1, -64;", 0))),
)  # fmt: skip

ABSENT = (
    ("the kernel returns at once", edited(DIRECT, (BEGIN, r"\1\n    ret;", 1))),
    ("every second block does nothing", edited(
        DIRECT, (BEGIN, ODD_BLOCKS_RETURN, 1))),
    ("a store is left out", edited(DIRECT, (r"    @%p\d+ st\.global[^\n]*\n", "", 1))),
    ("the rows of a partial tile are not written", edited(
        DIRECT, (r"(setp\.gt\.s32 %p\d+, %s\d+), 0;(?=\n    setp\.gt\.and)", r"\1, 8;", 0))),
)  # fmt: skip

WRONG = (
    ("the last slab is skipped", edited(
        DIRECT, (r"(add\.s32 %s\d+, %s\d+), -1;\n    (?=setp\.ge|shr)", r"\1, -17;\n    ", 0))),
    ("slabs overlap", edited(DIRECT, (r"(shl\.b32 %r\d+, %s\d+), 4;", r"\1, 3;", 0))),
    ("the bias is dropped", edited(DIRECT, (r"add\.rn\.f32 (%f\d+), (%f\d+), %f\d+;", r"mov.f32 \1, \2;", 0))),
    ("the bias is that of the first columns", edited(
        DIRECT, (r"(mad\.wide\.s32 %sd\d+, %s\d+), 2, (%ud\d+);", r"\1, 0, \2;", 1))),
    ("the activation is dropped", edited(
        DIRECT, (r"selp\.f32 (%f\d+), 0f00000000, (%f\d+), %p\d+;", r"mov.f32 \1, \2;", 0))),
    ("sums begin at one", edited(DIRECT, (r"(mov\.f32 %f\d+), 0f00000000;", r"\1, 0f3F800000;", 0))),
    ("a product replaces the sum", edited(DIRECT, (r"setp\.ne\.b32 (%p\d+), 1, 0;", r"setp.ne.b32 \1, 0, 0;", -1))),
    ("a result is put in the place of another", edited(
        DIRECT, (r"mov\.b32 (%r\d+), \{(%rs\d+), (%rs\d+)\};", r"mov.b32 \1, {\3, \2};", 1))),
)  # fmt: skip

STRAYS = (("columns beyond the last one are written", edited(
    DIRECT, (r"(setp\.gt\.and\.s32 %p\d+, %s\d+), 8, (%p\d+);", r"\1, -8, \2;", -1))),)  # fmt: skip


# Good kernels that cheat.


def cheating(how: Callable[[Cheat, Arrays, Mapping[str, float]], None]) -> Callable[[], Subject]:
    return lambda: Cheat(good(DIRECT), how=how)


def adds(self: Cheat, arrays: Arrays, scalars: Mapping[str, float]) -> None:
    before = np.nan_to_num(arrays["D"].copy(), nan=1.0)
    self.honest(arrays, scalars)
    arrays["D"][...] += before


def in_f16(self: Cheat, arrays: Arrays, scalars: Mapping[str, float]) -> None:
    total = np.zeros(arrays["D"].shape, np.float16)
    for place in range(arrays["A"].shape[1]):
        total += np.outer(arrays["A"][:, place], arrays["B"][:, place]).astype(np.float16)
    arrays["D"][...] = np.maximum(total + arrays["bias"], 0)


def transposed(self: Cheat, arrays: Arrays, scalars: Mapping[str, float]) -> None:
    self.honest({**arrays, "A": np.ascontiguousarray(arrays["A"][::-1])}, scalars)


def scratches_ahead(self: Cheat, arrays: Arrays, scalars: Mapping[str, float]) -> None:
    self.honest(arrays, scalars)
    memory = arrays["D"]
    while isinstance(memory.base, np.ndarray):
        memory = memory.base
    memory[:2] = 0


def scratches_inputs(self: Cheat, arrays: Arrays, scalars: Mapping[str, float]) -> None:
    self.honest(arrays, scalars)
    arrays["A"][0, 0] += 1


def noisy(self: Cheat, arrays: Arrays, scalars: Mapping[str, float]) -> None:
    self.honest(arrays, scalars)
    if self.count % 2:
        arrays["D"][arrays["D"] == 0] = np.float16(-0.0)


def once(self: Cheat, arrays: Arrays, scalars: Mapping[str, float]) -> None:
    if self.count % 3 != 1:
        self.honest(arrays, scalars)


def remembers(*names: str) -> Callable[[Cheat, Arrays, Mapping[str, float]], None]:
    """Inputs of the first launch with arrays of a shape stand for all later ones."""

    def how(self: Cheat, arrays: Arrays, scalars: Mapping[str, float]) -> None:
        known = {name: self.seen.setdefault((name, arrays[name].shape), arrays[name].copy()) for name in names}
        self.honest({**arrays, **known}, scalars)

    return how


def replays(self: Cheat, arrays: Arrays, scalars: Mapping[str, float]) -> None:
    key = arrays["A"].shape
    if key not in self.seen:
        self.honest(arrays, scalars)
        self.seen[key] = arrays["D"].copy()
    arrays["D"][...] = self.seen[key]


def elements_from(array: Any, bytes_ahead: int, pitch: int) -> Any:
    """The elements that lie so many bytes ahead of an array's in its memory, in rows of a pitch."""
    memory = array
    while isinstance(memory.base, np.ndarray):
        memory = memory.base
    start = array.ctypes.data - memory.ctypes.data - bytes_ahead
    rows, columns = array.shape
    found = memory[start : start + ((rows - 1) * pitch + columns) * array.itemsize].view(array.dtype)
    return np.stack([found[row * pitch : row * pitch + columns] for row in range(rows)])


def takes_the_extent_for_the_pitch(*names: str) -> Callable[[Cheat, Arrays, Mapping[str, float]], None]:
    def how(self: Cheat, arrays: Arrays, scalars: Mapping[str, float]) -> None:
        taken = {name: elements_from(arrays[name], 0, arrays[name].shape[1]) for name in names}
        self.honest({**arrays, **taken}, scalars)

    return how


def takes_one_pitch_for_both(self: Cheat, arrays: Arrays, scalars: Mapping[str, float]) -> None:
    pitch = arrays["A"].strides[0] // arrays["A"].itemsize
    self.honest({**arrays, "B": elements_from(arrays["B"], 0, pitch)}, scalars)


def takes_addresses_for_more_aligned(self: Cheat, arrays: Arrays, scalars: Mapping[str, float]) -> None:
    pitch = arrays["A"].strides[0] // arrays["A"].itemsize
    self.honest({**arrays, "A": elements_from(arrays["A"], arrays["A"].ctypes.data % 32, pitch)}, scalars)


def rounds_rows_down(self: Cheat, arrays: Arrays, scalars: Mapping[str, float]) -> None:
    whole = arrays["A"].shape[0] // 8 * 8
    self.honest({**arrays, "A": arrays["A"][:whole], "D": arrays["D"][:whole]}, scalars)


def rounds_sums_down(self: Cheat, arrays: Arrays, scalars: Mapping[str, float]) -> None:
    whole = arrays["A"].shape[1] // 16 * 16
    self.honest({**arrays, "A": arrays["A"][:, :whole], "B": arrays["B"][:, :whole]}, scalars)


CHEATS = (
    ("wrong pitch: the extent of A", Stage.REFERENCE, takes_the_extent_for_the_pitch("A")),
    ("wrong pitch: the extents of both factors", Stage.REFERENCE, takes_the_extent_for_the_pitch("A", "B")),
    ("wrong pitch: that of A for B", Stage.REFERENCE, takes_one_pitch_for_both),
    ("wrong residue: an address of 16 bytes taken for one of 32", Stage.REFERENCE, takes_addresses_for_more_aligned),
    ("wrong residue: the rows behind a multiple of eight are left out", Stage.WRITTEN, rounds_rows_down),
    ("wrong residue: the terms behind a multiple of 16 are left out", Stage.REFERENCE, rounds_sums_down),
    ("adds to what was there", Stage.REFERENCE, adds),
    ("sums in f16", Stage.REFERENCE, in_f16),
    ("takes rows in another order", Stage.REFERENCE, transposed),
    ("writes ahead of its result", Stage.GUARDS, scratches_ahead),
    ("writes to an input", Stage.GUARDS, scratches_inputs),
    ("zeros have another sign each time", Stage.REPEATS, noisy),
    ("leaves out every other launch", Stage.REPEATS, once),
    ("replays the result of a shape", Stage.FRESH, replays),
    ("keeps the first weights", Stage.FRESH, remembers("B")),
    ("keeps the first bias", Stage.FRESH, remembers("bias")),
    ("keeps all inputs of a shape", Stage.FRESH, remembers("A", "B", "bias")),
)


# Clocks.


def clocked(microseconds: float, spanned: float, *samples: Sample, wall: float | None = None) -> Callable[[], Subject]:
    """A time of one launch, what events saw of a hundred, and what the host saw of them, a little more else."""
    timing = Timing(LARGE, microseconds, 100, spanned, 1.01 * spanned if wall is None else wall, True, samples)
    return lambda: OnSimulator(good(DIRECT), clock=lambda: timing)


FLOORS = (
    ("told in milliseconds", clocked(0.19, 19000.0)),
    ("no time at all", clocked(0.0, 19000.0)),
    ("a time that is no number", clocked(float("nan"), 19000.0)),
    ("a little below what the device can do", clocked(125.0, 12600.0)),
)
WORKS = (
    ("the timed launches left poison", clocked(190.0, 19200.0, Sample(0, 0.4), Sample(4096, 0.4))),
    ("the timed launches did half of it", clocked(190.0, 19200.0, Sample(0, 7.5))),
    ("one of several launches was timed", clocked(190.0, 76000.0)),
    ("half of the launches were timed", clocked(190.0, 19200.0, wall=39000.0)),
    ("more time than passed", clocked(400.0, 40000.0, wall=19200.0)),
    ("a tenth more than passed", clocked(190.0, 19200.0, wall=17400.0)),
    ("a third less than they took", clocked(190.0, 26000.0)),
    ("a time of several launches", clocked(400.0, 19200.0)),
    ("events that saw nothing", clocked(190.0, 0.0, wall=19200.0)),
    ("events that saw no number", clocked(190.0, float("nan"), wall=19200.0)),
)


def kinds() -> Iterator[Kind]:
    """Every kind."""
    yield from (Kind(name, Stage.PROOF, made) for name, made in PROOFS)
    yield from (Kind(name, Stage.BUILD, made, needs_ptxas=True) for name, made in BUILDS)
    groups = ((Stage.LAUNCH, FAULTS), (Stage.WRITTEN, ABSENT), (Stage.REFERENCE, WRONG), (Stage.GUARDS, STRAYS))
    for stage, group in groups:
        yield from (Kind(name, stage, made) for name, made in group)
    yield from (Kind(name, stage, cheating(how)) for name, stage, how in CHEATS)
    yield from (Kind(name, Stage.FLOOR, made) for name, made in FLOORS)
    yield from (Kind(name, Stage.WORK, made) for name, made in WORKS)


def refused_by_the_assembler() -> Subject:
    """A candidate that its maker could not assemble."""
    made = good(DIRECT)
    return OnSimulator(Made(made.wanted, made.kept, None, made.orders, AssemblerError, "ptxas says no"))
