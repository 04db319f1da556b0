"""What a GPU can do in a second, and what it takes before it does anything: a row for each.

Rates come from the makers' data sheets and the published microbenchmarks named in each row; where `measured` is true,
those named in FITTED were fitted to launches timed on such a device (`ptxgen tune --calibrate`, `--fit`).
"""

from __future__ import annotations

from functools import cache

from attrs import evolve, frozen

from ptxgen.compute import Element
from ptxgen.errors import DriverError
from ptxgen.runtime import described

CLOCKS_PER_US, BYTES_PER_US = 1000.0, 1e6


@frozen
class Processor:
    """A GPU as the cost of a product sees it. All times are in microseconds, rates per clock are those of one
    multiprocessor.

    `name` is ours, `called` what drivers call such devices. From data sheets: `number` of its compute capability,
    `sms`, `flops_per_clock` of dense f16 products, the highest clock `top_ghz`, `pins_rate` of the memory in TB/s,
    `shared_bytes` that shared memory moves a clock, `l2_bytes` of the L2 cache. `sms_in_fours`: those that clusters of
    four blocks reach.

    Fitted where `measured`: the clock under load, `sustained` TFLOP/s that the power allows all together, `fill_bytes`
    a clock into one multiprocessor, `l2_rate` from the L2 cache to all of them and `memory_rate` of the memory, both in
    TB/s, `lines_cut` lines of the cache that are read for each of rows which begin within them, `longer` the power of
    its rows' count by which an operand's reads weigh there, since those of the shorter one meet more often, `saved` the
    power of the blocks of a cluster by which sharing an operand saves reads of whole lines (little: neighbours' reads
    meet in any case), `launch` of a kernel, `fetch` from the request of a slab to its arrival, `slab` lost at each slab
    and `cluster_slab` until one is there for all blocks of a cluster, `tile` at the end of each tile and `piece` at
    each piece of it, `out_bytes` a clock that leave through shared memory and `direct_bytes` from registers, `block` to
    begin a further block, `walk` to walk tiles, `cluster` for the meeting of a cluster; for sums in parts the `meeting`
    of those in a cluster and the `partial_bytes` of sums a clock there, `join` for each that is passed on through
    memory and the `passed_bytes` a clock of each warpgroup there; to finish results the clocks that a warpgroup spends
    on the `curve` of an element and the `in_bytes` a clock of matrices that are read; and of products of warps, whose
    slabs they copy themselves or have brought as boxes, the share of the tensor rate and what is lost at each slab.
    Measured by itself is `write_share`, the rate at which memory is written beside `memory_rate` (H200: 32 MiB are
    filled in 12.5 microseconds).
    """

    name: str
    number: int
    sms: int
    flops_per_clock: float
    l2_bytes: int
    ghz: float
    top_ghz: float
    pins_rate: float
    sustained: float
    memory_rate: float
    l2_rate: float
    source: str
    called: tuple[str, ...] = ()
    sms_in_fours: int = 0
    fill_bytes: float = 64.0
    shared_bytes: float = 128.0
    share_of_warps: float = 1.0
    share_of_boxed: float = 1.0
    write_share: float = 0.78
    lines_cut: float = 2.0
    longer: float = 0.1
    saved: float = 0.25
    launch: float = 3.0
    fetch: float = 1.0
    slab: float = 0.01
    warp_slab: float = 0.05
    boxed_slab: float = 0.03
    cluster_slab: float = 0.02
    tile: float = 0.7
    piece: float = 0.04
    out_bytes: float = 64.0
    direct_bytes: float = 32.0
    block: float = 0.5
    walk: float = 0.1
    cluster: float = 0.5
    meeting: float = 2.0
    join: float = 1.0
    partial_bytes: float = 100.0
    passed_bytes: float = 20.0
    curve: float = 0.2
    in_bytes: float = 11.0
    measured: bool = False

    def flops(self, element: Element) -> float:
        """The operations of one clock for products of a type."""
        return self.flops_per_clock * RATES[element]

    def floor(self, element: Element, flops: float, byte_count: float) -> float:
        """The microseconds below which nothing of so many operations and bytes of memory can stay."""
        rate = self.flops(element) * self.sms * self.top_ghz * CLOCKS_PER_US
        return max(flops / rate, byte_count / (self.pins_rate * BYTES_PER_US))

    @property
    def clocks(self) -> float:
        """Clocks of a microsecond."""
        return self.ghz * CLOCKS_PER_US


RATES: dict[Element, float] = {
    **dict.fromkeys((Element.F16, Element.BF16), 1.0),
    **dict.fromkeys((Element.E4M3, Element.E5M2, Element.S8, Element.U8), 2.0),
    Element.TF32: 0.5,
    Element.F64: 1 / 16,
}
"""The rate of each type beside f16's (NVIDIA H100 and A100 data sheets)."""

FITTED = (
    "ghz", "sustained", "fill_bytes", "memory_rate", "l2_rate", "lines_cut", "longer", "saved", "launch", "fetch",
    "slab", "cluster_slab", "tile", "piece", "out_bytes", "direct_bytes", "block", "walk", "cluster", "meeting", "join",
    "partial_bytes", "passed_bytes", "curve", "in_bytes",
)  # fmt: skip
FITTED_OF_WARPS = ("share_of_warps", "warp_slab")
FITTED_OF_BOXED = ("share_of_boxed", "boxed_slab")

PROCESSORS: tuple[Processor, ...] = (
    Processor(
        "H200", 90, 132, 4096, 50 << 20, sms_in_fours=120, top_ghz=1.98, pins_rate=4.8, measured=True, ghz=1.6419,
        sustained=852.5, fill_bytes=113.9, memory_rate=3.766, l2_rate=17.00, lines_cut=1.972, longer=0.0347,
        saved=0.1125, launch=0.6818, fetch=0.7860, slab=0.00438, cluster_slab=0.01048, tile=0.6248,
        piece=0.1138, out_bytes=24.77, direct_bytes=7.410, block=1.0374, walk=0.0938, cluster=0.0404,
        meeting=1.863, join=0.9117, partial_bytes=119.2, passed_bytes=19.60, curve=0.1885, in_bytes=9.76,
        share_of_warps=0.4992, warp_slab=0.06549, share_of_boxed=0.6411, boxed_slab=0.08105,
        called=("NVIDIA H200",),
        source="H200 data sheet (989 TFLOP/s, 4.8 TB/s); H100 tuning guide (132 SMs, 50 MB); 4,000 launches timed",
    ),
    Processor(
        "H100", 90, 132, 4096, 50 << 20, sms_in_fours=120, top_ghz=1.98, pins_rate=3.35, ghz=1.69, sustained=700,
        memory_rate=2.7, l2_rate=15.5, share_of_warps=0.45,
        called=("NVIDIA H100 80GB HBM3",),
        source="H100 SXM data sheet (989 TFLOP/s, 3.35 TB/s); H100 tuning guide",
    ),
    Processor(
        "A100", 80, 108, 2048, 40 << 20, top_ghz=1.41, pins_rate=2.04, ghz=1.41, sustained=300, memory_rate=1.75,
        l2_rate=5.0,
        called=("NVIDIA A100-SXM4-80GB",),
        source="A100 white paper (312 TFLOP/s, 108 SMs, 5120 bytes a clock from L2); SXM 80 GB, 2.04 TB/s",
    ),
    Processor(
        "V100", 70, 80, 1024, 6 << 20, top_ghz=1.53, pins_rate=0.9, ghz=1.53, sustained=115, memory_rate=0.83,
        l2_rate=2.5,
        called=("Tesla V100-SXM2-16GB", "Tesla V100-SXM2-32GB",),
        source="V100 white paper (125 TFLOP/s, 80 SMs, 900 GB/s); Jia et al. 2018 (2155 GB/s from L2)",
    ),
)  # fmt: skip


def processor_named(name: str) -> Processor | None:
    """The row of that name, ours or a driver's, in whatever case; None where there is none."""
    return next((row for row in PROCESSORS if name.lower() in map(str.lower, (row.name, *row.called))), None)


def processor_of(name: str, sms: int) -> Processor | None:
    """The row of a device that its driver calls so and that has so many multiprocessors for this process; None where it
    is another device, or a slice of one."""
    return next((row for row in PROCESSORS if name in row.called and sms == row.sms), None)


def processor_for(number: int) -> Processor | None:
    """The first row of a compute capability, which a kernel is chosen for where no device is named."""
    return next((row for row in PROCESSORS if row.number == number), None)


@cache
def processor_here(number: int) -> Processor | None:
    """What kernels for a compute capability are chosen for in this process, asked of the driver once: the row of GPU 0
    where that was measured, else the first row of the capability, with as many multiprocessors as GPU 0 has if it is of
    that capability. None where there is no row."""
    row = processor_for(number)
    try:
        found = described()
    except DriverError:
        return row
    own = processor_of(found.name, found.multiprocessors)
    if row is None or found.number != number or own is row:
        return row
    return own if own is not None and own.measured else relative(row, found.name, found.multiprocessors)


def relative(row: Processor, name: str, sms: int) -> Processor:
    """A row for a device of the same capability that has another number of multiprocessors: what they do together
    follows it, the memory does not."""
    share = sms / row.sms
    return evolve(
        row, name=name, called=(name,), sms=sms, sms_in_fours=int(row.sms_in_fours * share) // 4 * 4,
        sustained=row.sustained * share, l2_rate=row.l2_rate * share,
    )  # fmt: skip
