"""Faults that change nothing, case by case: which, how many, and why."""

from tests.simulate.faults.edits import Subject, Verb
from tests.simulate.faults.equivalents import Known

DROP, MOVE, WEAKEN = Verb.DROP, Verb.MOVE, Verb.WEAKEN
BARRIER, FENCE, WAIT, COMMIT = Subject.BARRIER, Subject.FENCE, Subject.WAIT, Subject.COMMIT
BOUND, GUARD, ARRIVAL = Subject.BOUND, Subject.GUARD, Subject.ARRIVAL

ELECTED = "another thread than the first is chosen for what any one may do"
OWN = "the load that it passes is of what the thread wrote itself"
APART = "the access to global memory that it passes is to words that no other thread touches"
LAST = "nothing behind it touches what another thread touched before"
PROXY = "a proxy fence orders wherever it stands on the way from the write to the copy, and all threads run it"
NO_GROUPS = "threads that copy nothing commit and await groups without copies"
UNTOUCHED = "nothing touches the accumulators between this product and the one before"
UNAWAITED = "nobody awaits the last arrival"
MET = "the barrier behind it orders the initialisations before all that uses them"


def elected(*places: int) -> tuple[Known, ...]:
    """The number of the thread that a comparison picks is one more."""
    return (Known(MOVE, BOUND, "+1", len(places), ELECTED, places=places),)


REASONS: dict[str, tuple[Known, ...]] = {
    "reduction": (
        Known(WEAKEN, BARRIER, "of the warp only", 6, "from 32 words on one warp touches all that is left",
              places=(24, 31, 38, 45, 52, 59)),
        Known(DROP, BARRIER, "dropped", 1, LAST, places=(59,)),
        Known(WEAKEN, BARRIER, "without a wait", 1, LAST, places=(59,)),
    ),
    "transpose": (
        Known(MOVE, BARRIER, "before st.global", 1, APART), Known(MOVE, BARRIER, "behind ld.global", 1, APART),
    ),
    "pipeline": (Known(MOVE, BARRIER, "before st.global", 1, APART),),
    "warps": (
        Known(DROP, GUARD, "dropped", 1, "the sum is stored by the lane elected alone", "add.u32"),
    ),
    "hand_over": (
        *elected(13),
        Known(WEAKEN, BARRIER, "of another number", 4, "all threads of the one block that comes there meet"),
        Known(MOVE, BOUND, "+1", 1, "the blocks take each other's parts", places=(14,)),
        Known(WEAKEN, BOUND, ".eq", 1, "the blocks take each other's parts", places=(14,)),
        Known(WEAKEN, GUARD, "negated", 1, "the blocks take each other's parts", places=(15,)),
        Known(WEAKEN, GUARD, "negated", 1, "all threads but one ask, and meet that one at a barrier", places=(31,)),
    ),
    "scan": (
        Known(DROP, BARRIER, "dropped", 1, LAST, places=(71,)),
        Known(WEAKEN, BARRIER, "of the warp only", 1, LAST, places=(71,)),
        Known(WEAKEN, BARRIER, "without a wait", 1, LAST, places=(71,)),
        Known(MOVE, BARRIER, "before st.shared", 1, LAST, places=(71,)),
        Known(MOVE, BARRIER, "behind ld.shared", 8, OWN),
    ),
    "histogram": (
        Known(MOVE, BOUND, "-1", 1, "a bin without counts adds nothing", "setp.eq.s32", (44,)),
    ),
    "last_block": elected(6),
    "phases": (
        *elected(5),
        Known(WEAKEN, FENCE, "relaxed access", 1, "nothing is handed on by the counter", "atom.acq_rel"),
        Known(WEAKEN, GUARD, "negated", 2, "how often a wait asks before it pauses", places=(53, 91)),
    ),
    "ring": elected(6, 21),
    "stores": (
        *elected(8),
        Known(DROP, GUARD, "dropped", 3, NO_GROUPS, "cp.async.bulk", (11, 22, 27)),
        Known(MOVE, FENCE, "behind bar.sync", 1, PROXY), Known(MOVE, BARRIER, "before fence.proxy", 1, PROXY),
    ),
    "exchange": (
        *elected(8),
        Known(MOVE, Subject.CLUSTER_BARRIER, "before st.global", 1, APART),
    ),
    "lanes": (
        *elected(8),
        Known(DROP, WAIT, "dropped", 1, "the other warp has awaited the arrivals of all copies", "wait_all"),
        Known(WEAKEN, WAIT, "for all but one", 1, "the other warp has awaited the arrivals of all copies", "wait_all"),
    ),
    "groups": (
        Known(MOVE, FENCE, "behind bar.sync", 1, PROXY), Known(MOVE, BARRIER, "before fence.proxy", 1, PROXY),
    ),
    "hopper_derived": (
        Known(MOVE, BOUND, "+1", 4, ELECTED, "setp.eq."),
        Known(DROP, FENCE, "dropped", 1, MET, "mbarrier_init"), Known(MOVE, FENCE, "before mbarrier.init", 1, MET),
        Known(DROP, FENCE, "dropped", 1, UNTOUCHED, "wgmma"), Known(MOVE, FENCE, "behind wgmma", 1, UNTOUCHED),
        Known(MOVE, BOUND, "-1", 1, "of the role only the first warp works", "setp.lt.u32"),
        Known(MOVE, BOUND, "-1", 1, UNAWAITED, "setp.eq.s32"),
        Known(MOVE, BOUND, "+1", 1, UNAWAITED, "setp.ge.s32"), Known(WEAKEN, BOUND, ".gt", 1, UNAWAITED, "setp.ge.s32"),
        Known(WEAKEN, GUARD, "negated", 1, UNAWAITED, "bra"),
    ),
    "hopper_written": (
        *elected(7, 22, 80),
        Known(DROP, FENCE, "dropped", 1, MET, "mbarrier_init"),
        Known(MOVE, FENCE, "before mbarrier.init", 1, MET),
        Known(MOVE, FENCE, "behind barrier.sync", 1, PROXY), Known(MOVE, BARRIER, "before fence.proxy", 1, PROXY),
        Known(WEAKEN, Subject.CLUSTER_BARRIER, "relaxed", 1, "the fence before it makes the barriers seen"),
    ),
    "triton_matmul": (
        Known(DROP, WAIT, "dropped", 3, "another wait for as many groups stands beside it", places=(147, 200, 201)),
        Known(WEAKEN, WAIT, "for one", 3, "another wait for as many groups stands beside it", places=(147, 200, 201)),
        Known(MOVE, WAIT, "behind bar.sync", 3, "another wait for as many groups stands beside it",
              places=(147, 200, 201)),
        Known(DROP, BARRIER, "dropped", 1, "another barrier stands behind the wait beside it", places=(148,)),
        Known(WEAKEN, BARRIER, "of the warp only", 1, "as where it is dropped", places=(148,)),
        Known(MOVE, BARRIER, "", 2, "as where it is dropped", places=(148,)),
        Known(MOVE, BARRIER, "before cp.async.wait_group", 1, "two such waits stand there", places=(202,)),
        Known(DROP, COMMIT, "dropped", 1, "both copies of the first stage are awaited together", places=(34,)),
        Known(MOVE, COMMIT, "before cp.async", 3, "both copies of a stage are awaited together"),
        Known(WEAKEN, BOUND, ".le", 1, "one round more multiplies what copies of no bytes have filled with zeros",
              places=(226,)),
    ),
    "ampere": (
        Known(MOVE, BOUND, "-1", 1, "a group without copies more lets waits only be longer", "setp.ge.s32"),
    ),
}  # fmt: skip
