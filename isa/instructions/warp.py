"""Agreement within a warp: votes, matches, reductions, election."""

from __future__ import annotations

from isa.availability import since, until
from isa.instructions.vocabulary import MEMBERS, A, D, predicate, register, value, written, written_predicate
from isa.rows import family, flag, line, rule, slot, word
from isa.types import b32, f32, u32

WORD, PRED = slot("type", "b32"), slot("type", "pred")
MODE, BALLOT = slot("mode", "all any uni"), slot("mode", "ballot")
VOTER = predicate("a", negatable=True)
SYNC = word("sync")
_AGREED, _MASK = (written_predicate("d"), VOTER), (written("d", b32), VOTER)
MATCHED = slot("type", "b32 b64")
OUTCOME = written_predicate("p", joined=True, optional=True, sink=True)
_FLOATS = since("8.6", "sm_100a sm_100f sm_103a sm_103f sm_107a sm_107f")

FAMILIES = (
    family("activemask", line(WORD, operands=(D,), since=since("6.2", 30)), about="the lanes that run together now"),
    family(
        "vote",
        line(MODE, PRED, operands=_AGREED, since=until("6.3", 70)),
        line(BALLOT, WORD, operands=_MASK, since=until("6.3", 70)),
        line(SYNC, MODE, PRED, operands=(*_AGREED, MEMBERS), since=since("6.0", 30)),
        line(SYNC, BALLOT, WORD, operands=(*_MASK, MEMBERS), since=since("6.0", 30)),
        about="agree on a predicate within a warp",
    ),
    family(
        "match",
        line(slot("mode", "any"), SYNC, MATCHED, operands=(written("d", u32), A, MEMBERS)),
        line(slot("mode", "all"), SYNC, MATCHED, operands=(written("d", u32, sink=True), OUTCOME, A, MEMBERS)),
        rules=(rule(since=since("6.0", 70)),),
        about="which lanes hold the same value",
    ),
    family(
        "redux.sync",
        line(slot("op", "add min max"), slot("type", "u32 s32"), operands=(D, A, MEMBERS), since=since("7.0", 80)),
        line(slot("op", "and or xor"), WORD, operands=(written("d", u32), value("a", u32), MEMBERS),
             since=since("7.0", 80)),
        line(slot("op", "min max"), flag("abs"), flag("NaN"), slot("type", "f32"), since=_FLOATS,
             operands=(written("d", f32), register("a", f32), MEMBERS)),
        about="reduce over the lanes of a warp",
    ),
    family(
        "elect.sync",
        line(operands=(written("d", u32, sink=True), written_predicate("p", joined=True), MEMBERS),
             since=since("8.0", 90)),
        about="choose one lane of the warp",
    ),
)  # fmt: skip
