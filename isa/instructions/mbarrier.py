"""Barriers that are objects in shared memory, and the handing over of a cluster's work."""

from __future__ import annotations

from isa.availability import since
from isa.instructions.vocabulary import (
    ADDRESS,
    FAMILY,
    RUBIN,
    SPECIFIC,
    register,
    value,
    written,
    written_predicate,
)  # fmt: skip
from isa.operands import OperandKind, Range, Role
from isa.rows import Constraint, Family, Line, Operand, Slot, family, flag, line, rule, slot, word
from isa.types import b8, b32, b128, u32, u64

_7_0, _8_0, _9_3 = since("7.0", 80), since("8.0", 90), since("9.3", 90)
WHOLE = slot("type", "b64")
IN_CTA = slot("space", "shared shared::cta", shared__cta=since("7.8")).maybe
IN_CLUSTER = slot("space", "shared::cluster", shared__cluster=_8_0)
_SCOPE = slot("scope", "cta cluster", cta=since("8.0"), cluster=_8_0).maybe
_RELAXED = since("8.6", 90)
RELEASING = slot("sem", "release relaxed", release=since("8.0"), relaxed=_RELAXED).maybe
ACQUIRING = slot("sem", "acquire relaxed", acquire=since("8.0"), relaxed=_RELAXED).maybe
COUNTING = slot("sem", "relaxed").maybe
TOGETHER: tuple[Constraint, ...] = (
    rule(when={"sem": "*"}, only={"scope": "*"}),
    rule(when={"scope": "*"}, only={"sem": "*"}),
)
LAYOUT = slot("layout", "layout::v0 layout::v1", layout__v0=_9_3, layout__v1=_9_3)
MULTICAST = word("multicast::cluster::32b", RUBIN)

STATE = written("state", u64, sink=True)
NOTHING = Operand("nothing", Role.WRITE, OperandKind.SINK)
PHASE = value("state", u64)
PARITY = value("parity", u32)
COUNT = value("count", u32, Range(1, 2**20 - 1))
TRANSACTIONS = value("tx_count", u32, Range(0, 2**20 - 1))
CTAS = value("ctas", u32)
HINT = value("time_hint", u32).maybe
COMPLETE = written_predicate("complete")
REPORTED = written_predicate("reported", joined=True)
REPORT = written("report", b8)


def _transactions(opcode: str, about: str) -> Family:
    return family(
        opcode,
        line(COUNTING, _SCOPE, IN_CTA, WHOLE, operands=(ADDRESS, TRANSACTIONS)),
        line(COUNTING, _SCOPE, IN_CLUSTER, WHOLE, operands=(ADDRESS, TRANSACTIONS)),
        line(COUNTING, _SCOPE, IN_CLUSTER.maybe, MULTICAST, WHOLE, operands=(ADDRESS, TRANSACTIONS, CTAS)),
        rules=(*TOGETHER, rule(since=_8_0)),
        about=about,
    )


def _arrivals(opcode: str, about: str) -> Family:
    counted = since("7.8", 90)
    head = (RELEASING, _SCOPE)
    transfers = (word("expect_tx"), *head)
    unfinished = (word("noComplete"), slot("sem", "release", release=since("8.0")).maybe, _SCOPE.of("cta"))
    return family(
        opcode,
        line(*head, IN_CTA, WHOLE, operands=(STATE, ADDRESS)),
        line(*head, IN_CTA, WHOLE, operands=(STATE, ADDRESS, COUNT), since=counted),
        line(*head, IN_CLUSTER, WHOLE, operands=(NOTHING, ADDRESS, COUNT.maybe)),
        line(*head, IN_CLUSTER.maybe, MULTICAST, WHOLE, operands=(NOTHING, ADDRESS, COUNT.maybe, CTAS)),
        line(*transfers, IN_CTA, WHOLE, operands=(STATE, ADDRESS, TRANSACTIONS), since=_8_0),
        line(*transfers, IN_CLUSTER, WHOLE, operands=(NOTHING, ADDRESS, TRANSACTIONS), since=_8_0),
        line(*transfers, IN_CLUSTER.maybe, MULTICAST, WHOLE, operands=(NOTHING, ADDRESS, TRANSACTIONS, CTAS)),
        line(*unfinished, IN_CTA, WHOLE, operands=(STATE, ADDRESS, COUNT)),
        rules=(*TOGETHER, rule(since=_7_0)),
        about=about,
    )


def _waits(hint: tuple[Operand, ...]) -> tuple[Line, ...]:
    both = slot("phase", "phase_type::primary phase_type::conditional")
    primary = both.of("phase_type::primary")
    parity, tail = word("parity", since("7.1")), (ACQUIRING, _SCOPE, IN_CTA, WHOLE)
    reporting = (COMPLETE, REPORTED, REPORT.maybe, ADDRESS)

    def plain(*head: Slot, phase: Operand) -> Line:
        return line(*head, *tail, operands=(COMPLETE, ADDRESS, phase, *hint))

    def dated(*head: Slot, phase: Operand) -> Line:
        return line(*head, *tail, operands=(COMPLETE, ADDRESS, phase, *hint), since=_9_3)

    def reports(*head: Slot, phase: Operand) -> Line:
        return line(*head, *tail, operands=(*reporting, phase, *hint), since=_9_3)

    return (
        plain(phase=PHASE), dated(primary, phase=PHASE), reports(primary, phase=PHASE),
        plain(parity, phase=PARITY), dated(parity, both, phase=PARITY), reports(parity, primary, phase=PARITY),
    )  # fmt: skip


CANCELLED = register("response", b128)
COMPLETION = word("mbarrier::complete_tx::bytes")
RESPONSE = slot("response", "b128")

FAMILIES = (
    family(
        "mbarrier.init",
        line(LAYOUT.maybe, IN_CTA, WHOLE, operands=(ADDRESS, COUNT), since=_7_0),
        about="make a barrier that awaits so many arrivals a phase",
    ),
    family("mbarrier.inval", line(IN_CTA, WHOLE, operands=(ADDRESS,), since=_7_0), about="end a barrier"),
    _transactions("mbarrier.expect_tx", "raise the bytes that the phase awaits"),
    _transactions("mbarrier.complete_tx", "lower the bytes that the phase awaits"),
    _arrivals("mbarrier.arrive", "arrive at a barrier; state tells the phase"),
    _arrivals("mbarrier.arrive_drop", "arrive at a barrier and take part no longer"),
    family(
        "mbarrier.test_wait", *_waits(()), rules=(*TOGETHER, rule(since=_7_0)), about="has the phase completed"
    ),
    family(
        "mbarrier.try_wait", *_waits((HINT,)), rules=(*TOGETHER, rule(since=since("7.8", 90))),
        about="wait a while for the phase to complete",
    ),
    family(
        "mbarrier.pending_count",
        line(LAYOUT.of("layout::v0").maybe, WHOLE, operands=(written("count", u32), PHASE), since=_7_0),
        about="the arrivals that a state still awaited",
    ),
    family(
        "mbarrier.check_layout",
        line(LAYOUT, IN_CTA, WHOLE, operands=(written_predicate("p"), ADDRESS)),
        about="does the barrier have the layout",
    ),
    family(
        "clusterlaunchcontrol.try_cancel",
        line(
            word("async"), slot("space", "shared::cta").maybe, COMPLETION,
            flag("multicast::cluster::all", since("8.6", SPECIFIC, FAMILY)), RESPONSE,
            operands=(ADDRESS, Operand("mbar", Role.READ, OperandKind.ADDRESS)), since=since("8.6", 100),
        ),
        about="take over a cluster that has not started",
    ),
    family(
        "clusterlaunchcontrol.query_cancel",
        line(word("is_canceled"), slot("type", "pred"), RESPONSE, operands=(written_predicate("p"), CANCELLED)),
        line(
            word("get_first_ctaid"), slot("vec", "v4"), slot("type", "b32"), RESPONSE,
            operands=(Operand("d", Role.WRITE, OperandKind.REGISTER, b32, 4, sink=True), CANCELLED),
        ),
        line(
            slot("axis", "get_first_ctaid::x get_first_ctaid::y get_first_ctaid::z"), slot("type", "b32"), RESPONSE,
            operands=(written("d", b32), CANCELLED),
        ),
        rules=(rule(since=since("8.6", 100)),),
        about="did it succeed, and which CTA comes first",
    ),
)  # fmt: skip
