"""How the accesses of an instruction happen: through which proxy, issued by whom, complete when."""

from __future__ import annotations

from enum import Enum

from attrs import frozen

from isa.forms import Form


class Proxy(Enum):
    """The path of an access to memory; accesses through different proxies are ordered by a proxy fence only."""

    GENERIC = "generic"
    ASYNC = "async"
    FABRIC = "fabric"

    __hash__ = object.__hash__


class IssuedBy(Enum):
    """Who issues one instance. WARP and WARPGROUP are collective: done only after every member has issued."""

    LANE = "lane"
    ELECTED = "elected"
    WARP = "warp"
    WARPGROUP = "warpgroup"

    __hash__ = object.__hash__


class GroupKind(Enum):
    """The groups that a commit closes and a wait retires."""

    CP_ASYNC = "cp.async"
    BULK = "cp.async.bulk"
    WGMMA = "wgmma"

    __hash__ = object.__hash__


@frozen
class AtIssue:
    """Complete when issued: program order suffices for the issuing unit."""


@frozen
class Group:
    """Complete when the group it was committed to is retired, seen by the owner of the group alone.

    `read_wait`: a separate wait tells that the sources were read.
    """

    kind: GroupKind
    owner: IssuedBy
    read_wait: bool = False


@frozen
class Transaction:
    """Complete when the mbarrier where the data lands has counted its bytes; seen by a wait on the phase."""


@frozen
class Committed:
    """Complete when the mbarrier that a later commit of the issuing lane names has its arrival."""


class Drain(Enum):
    """What a wait of the tensor memory waits for."""

    LOADS = "tcgen05.wait::ld"
    STORES = "tcgen05.wait::st"

    __hash__ = object.__hash__


@frozen
class Drained:
    """Complete when the issuing warp has waited for all that it issued of this sort."""

    wait: Drain


Completion = AtIssue | Group | Transaction | Committed | Drained


@frozen
class Mechanism:
    """`reads` and `writes` are the proxies of sources and destination, None for registers and tensor memory only."""

    reads: Proxy | None
    writes: Proxy | None
    issued_by: IssuedBy
    completes: Completion


_GENERIC, _ASYNC = Proxy.GENERIC, Proxy.ASYNC
AT_ISSUE = AtIssue()
REGISTERS = Mechanism(None, None, IssuedBy.LANE, AT_ISSUE)
LOAD = Mechanism(_GENERIC, None, IssuedBy.LANE, AT_ISSUE)
STORE = Mechanism(None, _GENERIC, IssuedBy.LANE, AT_ISSUE)
ATOMIC = Mechanism(_GENERIC, _GENERIC, IssuedBy.LANE, AT_ISSUE)
WARP_LOAD = Mechanism(_GENERIC, None, IssuedBy.WARP, AT_ISSUE)
WARP_STORE = Mechanism(None, _GENERIC, IssuedBy.WARP, AT_ISSUE)
WARP_REGISTERS = Mechanism(None, None, IssuedBy.WARP, AT_ISSUE)
LANE_COPY = Mechanism(_GENERIC, _GENERIC, IssuedBy.LANE, Group(GroupKind.CP_ASYNC, IssuedBy.LANE))
BULK_LOAD = Mechanism(_ASYNC, _ASYNC, IssuedBy.ELECTED, Transaction())
BULK_STORE = Mechanism(_ASYNC, _ASYNC, IssuedBy.ELECTED, Group(GroupKind.BULK, IssuedBy.LANE, read_wait=True))
WARPGROUP_MULTIPLY = Mechanism(_ASYNC, None, IssuedBy.WARPGROUP, Group(GroupKind.WGMMA, IssuedBy.WARPGROUP))

REMOTE_STORE = Mechanism(None, _GENERIC, IssuedBy.LANE, Transaction())
REMOTE_ATOMIC = Mechanism(_GENERIC, _GENERIC, IssuedBy.LANE, Transaction())
WARP_COPY = Mechanism(_GENERIC, _GENERIC, IssuedBy.WARP, AT_ISSUE)

TENSOR_MULTIPLY = Mechanism(_ASYNC, None, IssuedBy.ELECTED, Committed())
TENSOR_SHIFT = Mechanism(None, None, IssuedBy.ELECTED, Committed())
TENSOR_LOAD = Mechanism(None, None, IssuedBy.WARP, Drained(Drain.LOADS))
TENSOR_STORE = Mechanism(None, None, IssuedBy.WARP, Drained(Drain.STORES))
TENSOR_ALLOCATION = Mechanism(None, _GENERIC, IssuedBy.WARP, AT_ISSUE)
FABRIC_GET = Mechanism(Proxy.FABRIC, _ASYNC, IssuedBy.LANE, Transaction())
FABRIC_PUT = Mechanism(_ASYNC, Proxy.FABRIC, IssuedBy.LANE, Transaction())
FABRIC_PULL = Mechanism(Proxy.FABRIC, _ASYNC, IssuedBy.WARP, Transaction())
ASYNC_ANSWER = Mechanism(None, _ASYNC, IssuedBy.ELECTED, Transaction())

# The longest prefix of an instruction's name decides.
_BY_PREFIX: dict[str, Mechanism] = {
    "ld": LOAD,
    "ldu": LOAD,
    "st": STORE,
    "st.async": REMOTE_STORE,
    "st.async.mmio": STORE,
    "st.async.release": STORE,
    "atom": ATOMIC,
    "red": ATOMIC,
    "red.async": REMOTE_ATOMIC,
    "red.async.mmio": ATOMIC,
    "red.async.release": ATOMIC,
    "multimem.ld_reduce": LOAD,
    "multimem.st": STORE,
    "multimem.red": ATOMIC,
    "tensormap.replace": ATOMIC,
    "tensormap.cp_fenceproxy": WARP_COPY,
    "ldmatrix": WARP_LOAD,
    "stmatrix": WARP_STORE,
    "movmatrix": WARP_REGISTERS,
    "mma": WARP_REGISTERS,
    "wmma.mma": WARP_REGISTERS,
    "wmma.load": WARP_LOAD,
    "wmma.store": WARP_STORE,
    "shfl": WARP_REGISTERS,
    "vote": WARP_REGISTERS,
    "match": WARP_REGISTERS,
    "redux": WARP_REGISTERS,
    "elect": WARP_REGISTERS,
    "cp.async.ca": LANE_COPY,
    "cp.async.cg": LANE_COPY,
    "cp.async.bulk.shared::cluster.global": BULK_LOAD,
    "cp.async.bulk.shared::cta.global": BULK_LOAD,
    "cp.async.bulk.shared::cluster.shared::cta": BULK_LOAD,
    "cp.async.bulk.global.shared::cta": BULK_STORE,
    "cp.reduce.async.bulk.shared::cluster": BULK_LOAD,
    "cp.reduce.async.bulk.global": BULK_STORE,
    "cp.reduce.async.bulk.tensor": BULK_STORE,
    "multimem.cp.async.bulk": BULK_STORE,
    "multimem.cp.reduce.async.bulk": BULK_STORE,
    "wgmma.mma_async": WARPGROUP_MULTIPLY,
    "tcgen05.mma": TENSOR_MULTIPLY,
    "tcgen05.cp": TENSOR_MULTIPLY,
    "tcgen05.shift": TENSOR_SHIFT,
    "tcgen05.ld": TENSOR_LOAD,
    "tcgen05.st": TENSOR_STORE,
    "tcgen05.alloc": TENSOR_ALLOCATION,
    "fabric.try_get": FABRIC_GET,
    "fabric.try_put": FABRIC_PUT,
    "fabric.try_red": FABRIC_PUT,
    "fabric.try_pullred": FABRIC_PULL,
    "fabric.try_atom": FABRIC_PUT,
    "clusterlaunchcontrol.try_cancel": ASYNC_ANSWER,
}
_TENSOR_COPY = ("cp", "async", "bulk", "tensor")
_ORDERS = frozenset({"weak", "relaxed", "cta", "cluster", "gpu", "sys"})


def mechanism(name: str) -> Mechanism:
    """The mechanism of an instruction by its dotted name; what touches no memory is REGISTERS."""
    words = tuple(name.split("."))
    if words[0] == "cp":
        words = tuple(word for word in words if word not in _ORDERS)
    if words[:4] == _TENSOR_COPY:
        return BULK_STORE if words[5:6] == ("global",) else BULK_LOAD
    for length in range(len(words), 0, -1):
        found = _BY_PREFIX.get(".".join(words[:length]))
        if found is not None:
            return found
    return REGISTERS


def mechanism_of(form: Form) -> Mechanism:
    """The mechanism of a resolved form."""
    return mechanism(form.name)
