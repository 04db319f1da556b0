"""Tensor copies against element-by-element models in plain Python: every rank, swizzle, stride, edge and direction."""

import itertools

import numpy as np
import pytest

from isa.descriptors import InvalidDescriptor, Swizzle
from isa.targets import target
from isa.tensor_maps import ELEMENTS, Im2col, TensorMap, decode, tiled
from ptxgen.parse import parse
from ptxgen.simulate import simulate
from tests.oracles.ptxas import verdict

SM_90A = target("sm_90a")
LOAD = "cp.async.bulk.tensor.{rank}d.shared::cluster.global.{mode}.mbarrier::complete_tx::bytes"
STORE = "cp.async.bulk.tensor.{rank}d.global.shared::cta.{mode}.bulk_group"
REDUCE = "cp.reduce.async.bulk.tensor.{rank}d.global.shared::cta.{op}.{mode}.bulk_group"
HEAD = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry one(.param .align 64 .b8 map[128], .param .u64 bytes, .param .align 4 .b8 c[20],
                    .param .align 2 .b8 o[6], .param .u32 words)
.reqntid 128, 1, 1
{{
.reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<8>; .reg .b16 %h<3>;
.shared .align 1024 .b8 tile[65536];
.shared .align 8 .b64 bar;
mov.u32 %r1, %tid.x;
mov.u32 %r2, tile;
mov.b64 %rd1, map;
cvta.param.u64 %rd1, %rd1;
ld.param.u64 %rd2, [bytes];
ld.param.u32 %r15, [words];
{coordinates}
{offsets}
"""
LOADING = """
setp.ne.u32 %p1, %r1, 0;
@%p1 bra READY;
mbarrier.init.shared::cta.b64 [bar], 1;
fence.proxy.async;
mul.lo.u32 %r14, %r15, 4;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], %r14;
{name} [%r2], [%rd1, {{{c}}}], [bar]{o};
READY:
bar.sync 0;
WAIT:
mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
@!%p2 bra WAIT;
mov.u32 %r3, %r1;
COPY:
setp.ge.u32 %p1, %r3, %r15; @%p1 bra DONE;
mad.lo.u32 %r4, %r3, 4, %r2; ld.shared.u32 %r5, [%r4]; mad.wide.u32 %rd3, %r3, 4, %rd2; st.global.u32 [%rd3], %r5;
add.u32 %r3, %r3, 128; bra COPY;
DONE:
ret;
}}
"""
STORING = """
mov.u32 %r3, %r1;
COPY:
setp.ge.u32 %p1, %r3, %r15; @%p1 bra DONE;
mad.wide.u32 %rd3, %r3, 4, %rd2; ld.global.u32 %r5, [%rd3]; mad.lo.u32 %r4, %r3, 4, %r2; st.shared.u32 [%r4], %r5;
add.u32 %r3, %r3, 128; bra COPY;
DONE:
fence.proxy.async.shared::cta;
bar.sync 0;
setp.ne.u32 %p1, %r1, 0;
@%p1 bra END;
{name} [%rd1, {{{c}}}], [%r2];
cp.async.bulk.commit_group;
cp.async.bulk.wait_group.read 0;
END:
ret;
}}
"""


def module(body, name, rank, mode, offsets=0, on=SM_90A, **words):
    """The text of a kernel that moves one box, `rank` coordinates."""
    coordinates = "\n".join(f"ld.param.s32 %r{8 + each}, [c+{4 * each}];" for each in range(rank))
    read = "\n".join(f"ld.param.u16 %h{each}, [o+{2 * each}];" for each in range(offsets))
    c = ", ".join(f"%r{8 + each}" for each in range(rank))
    o = ", {" + ", ".join(f"%h{each}" for each in range(offsets)) + "}" if offsets else ""
    text = (HEAD + body).format(name=name.format(rank=rank, mode=mode, **words), coordinates=coordinates, offsets=read,
                                c=c, o=o)  # fmt: skip
    text = text.replace(".target sm_90a", f".target {on.name}")
    judged = verdict(text, on)
    assert judged.ok, judged.messages
    return parse(text)


def launch(made, described, tensor, content, start, offsets=()):
    """Run it on a tensor and the content of shared memory (written, or read)."""
    c = np.array([*start, *[0] * (5 - len(start))], np.int32).tobytes()
    o = np.array([*offsets, *[0] * (3 - len(offsets))], np.uint16).tobytes()
    args = [(tensor, described), content, c, o, content.nbytes // 4]
    return simulate(made, grid=1, block=128, args=args)


def strided(tensor, described):
    """The tensor's bytes as elements of a numpy array, and the byte of each of its elements."""
    element = described.element_bytes

    def at(index):
        if any(not 0 <= each < extent for each, extent in zip(index, described.dims, strict=True)):
            return None
        byte = index[0] * element + sum(a * b for a, b in zip(index[1:], described.strides, strict=True))
        return tensor.view(np.uint8).reshape(-1)[byte : byte + element]

    return at


def box_of(described, start):
    """The indices of a box in the order in which it stands in shared memory; the first element stride is ignored."""
    ranges = [
        [first + step * each for each in range(-(-extent // step))]
        for first, step, extent in zip(start, (1, *described.element_strides[1:]), described.box, strict=True)
    ]
    return [tuple(index[::-1]) for index in itertools.product(*ranges[::-1])]


def in_shared(described, indices, at, fill):
    """What shared memory is to hold after a load."""
    content = np.zeros(len(indices) * described.element_bytes, np.uint8)
    for number, index in enumerate(indices):
        there = at(index)
        place = number * described.element_bytes
        content[place : place + described.element_bytes] = fill if there is None else there
    return shuffled(content, described.swizzle)


def shuffled(content, swizzle):
    """Bytes in the order of a swizzle, at an address that is a multiple of 1024."""
    result = np.zeros_like(content)
    for byte in range(len(content)):
        result[swizzle.place(byte)] = content[byte]
    return result


TILES = [
    (tiled("u8", (40, 48), (16, 32)), (16, 5)),
    (tiled("u8", (1000,), (256,)), (896,)),
    (tiled("f16", (30, 72), (16, 64), swizzle=Swizzle.BYTES_128), (24, 20)),
    (tiled("f16", (30, 72), (16, 32), swizzle=Swizzle.BYTES_64), (-8, -3)),
    (tiled("f32", (20, 12), (8, 8), swizzle=Swizzle.BYTES_32), (4, 15)),
    (tiled("bf16", (9, 11, 24), (3, 4, 16), nan_fill=True), (16, 9, 7)),
    (tiled("f64", (5, 6, 7, 4), (2, 3, 2, 4)), (2, 6, 4, 3)),
    (tiled("u16", (3, 4, 5, 6, 16), (2, 2, 2, 3, 8)), (8, 4, 3, 2, 1)),
    (TensorMap("f32", (64, 40), (256,), (32, 16), (2, 3)), (4, 3)),
    (TensorMap("u32", (30, 9), (128,), (16, 4)), (20, 7)),
    (tiled("f16", (64, 64), (64, 64), swizzle=Swizzle.BYTES_128_BY_32), (0, 0)),
    (tiled("u8", (20, 128), (20, 128), swizzle=Swizzle.BYTES_128_BY_32_FLIPPED), (0, 0)),
    (tiled("f32", (9, 64), (16, 32), swizzle=Swizzle.BYTES_128_BY_64), (32, 0)),
]


@pytest.mark.parametrize("described, start", TILES)
def test_boxes_arrive_as_the_map_says(described, start):
    rng = np.random.default_rng(5)
    size = max([described.dims[0] * described.element_bytes, *(
        extent * stride for extent, stride in zip(described.dims[1:], described.strides, strict=True))])  # fmt: skip
    tensor = rng.integers(0, 256, size).astype(np.uint8)
    content = np.zeros(described.box_bytes // 4, np.uint32)
    rank = described.rank
    report = launch(module(LOADING, LOAD, rank, "tile"), described, tensor, content, start)
    report.raise_findings()
    fill = np.frombuffer(b"\xf7\x7f", np.uint8) if described.nan_fill else 0
    wanted = in_shared(described, box_of(described, start), strided(tensor, described), fill)
    assert np.array_equal(content.view(np.uint8), wanted)


STORED = [each for each in TILES if not each[0].nan_fill and min(each[1]) >= 0]


@pytest.mark.parametrize("described, start", STORED)
def test_boxes_are_stored_inside_the_tensor_only(described, start):
    """But 16 bytes that begin inside are written whole."""
    rng = np.random.default_rng(6)
    size = max([-(-described.dims[0] * described.element_bytes // 16) * 16, *(
        extent * stride for extent, stride in zip(described.dims[1:], described.strides, strict=True))])  # fmt: skip
    tensor = np.zeros(size, np.uint8)
    content = rng.integers(0, 256, described.box_bytes).astype(np.uint8)
    launch(module(STORING, STORE, described.rank, "tile"), described, tensor, content.view(np.uint32), start
           ).raise_findings()  # fmt: skip
    wanted = np.zeros_like(tensor)
    at = strided(wanted, described)
    plain = np.array([content[described.swizzle.place(byte)] for byte in range(len(content))], np.uint8)
    unit = 16 // described.element_bytes
    for number, index in enumerate(box_of(described, start)[::unit]):
        there = at(index)
        if there is not None:
            first = there.ctypes.data - wanted.ctypes.data
            wanted[first : first + 16] = plain[16 * number :][:16]
    assert np.array_equal(tensor, wanted)


SQUARE = tiled("f16", (32, 64), (16, 32))


@pytest.mark.parametrize("start, words", [
    ((4, 0), "begins at coordinate 4, byte 8 of a row, which is no multiple of 16"),
    ((-4, 0), "begins at coordinate -4, byte -8 of a row"),
])  # fmt: skip
@pytest.mark.parametrize("body, name", [(LOADING, LOAD), (STORING, STORE)])
def test_boxes_begin_at_multiples_of_16_bytes(body, name, start, words):
    content = np.zeros(SQUARE.box_bytes // 4, np.uint32)
    report = launch(module(body, name, 2, "tile"), SQUARE, np.zeros((32, 64), np.float16), content, start)
    assert {each.code for each in report.findings} >= {"tensor.box"}
    assert any(words in each.message for each in report.findings)


@pytest.mark.parametrize("start", [(-8, 0), (0, -1)])
def test_stores_begin_inside(start):
    content = np.zeros(SQUARE.box_bytes // 4, np.uint32)
    tensor = np.zeros((32, 64), np.float16)
    report = launch(module(STORING, STORE, 2, "tile"), SQUARE, tensor, content, start)
    assert [each.code for each in report.findings] == ["tensor.box"]
    assert "no coordinate of a store may be negative" in report.findings[0].message
    launch(module(LOADING, LOAD, 2, "tile"), SQUARE, tensor, content, start).raise_findings()


def test_boxes_of_two_ctas_at_one_place_are_told():
    described = tiled("f32", (8, 8), (8, 8))
    made = module(STORING, STORE, 2, "tile")
    tensor, content = np.zeros((8, 8), np.float32), np.ones(64, np.uint32)
    c, o = np.zeros(5, np.int32).tobytes(), bytes(6)
    report = simulate(made, grid=2, block=128, args=[(tensor, described), content, c, o, 64])
    assert {each.code for each in report.findings} == {"async.global", "race.global"}


OPERATIONS = {
    "add": (np.add, ("u32", "s32", "u64", "f32", "f16")), "min": (np.minimum, ("u32", "s32", "u64", "s64", "f16")),
    "max": (np.maximum, ("u32", "s32")), "and": (np.bitwise_and, ("u32", "u64")), "or": (np.bitwise_or, ("u32",)),
    "xor": (np.bitwise_xor, ("u64",)),
}  # fmt: skip


@pytest.mark.parametrize("op, element", [(op, each) for op, (_, types) in OPERATIONS.items() for each in types])
def test_boxes_are_combined_with_the_tensor(op, element):
    rng = np.random.default_rng(8)
    dtype = {"u": "u", "s": "i", "f": "f"}[element[0]] + str(int(element[1:]) // 8)
    described = tiled(element, (12, 16), (8, 8), swizzle=Swizzle.NONE)
    tensor = rng.integers(0, 50, (12, 16)).astype(dtype)
    before, content = tensor.copy(), rng.integers(0, 50, (8, 8)).astype(dtype)
    name = REDUCE.replace("{op}", op)
    launch(module(STORING, name, 2, "tile"), described, tensor, content.view(np.uint32).reshape(-1), (8, 6)
           ).raise_findings()  # fmt: skip
    before[6:12, 8:16] = OPERATIONS[op][0](before[6:12, 8:16], content[:6])
    assert np.array_equal(tensor, before)


IMAGES = [
    (TensorMap("f16", (24, 7, 6, 3), (48, 336, 2016), (16,), im2col=Im2col((-1, -1), (-1, -1), 40)),
     (8, -1, 2, 0), (2, 1)),
    (TensorMap("f16", (64, 9, 8, 2), (128, 1152, 9216), (64,), (1, 2, 2, 1), swizzle=Swizzle.BYTES_128,
               im2col=Im2col((0, 0), (-2, -2), 32)), (0, 2, 0, 0), (1, 2)),
    (TensorMap("f32", (8, 20, 4), (32, 640), (8,), im2col=Im2col((-2,), (1,), 50)), (0, -2, 0), (3,)),
    (TensorMap("u8", (32, 5, 4, 3, 2), (32, 160, 640, 1920), (16,), im2col=Im2col((-1, 0, -1), (0, 0, 0), 70)),
     (16, 0, 1, -1, 0), (1, 0, 1)),
]  # fmt: skip


def pixels_of(described, start):
    """The positions of the pixels that a copy takes, by counting through the bounding box."""
    form, spatial = described.im2col, described.rank - 2
    ranges = [
        range(form.lower[axis], described.dims[axis + 1] + form.upper[axis], described.element_strides[axis + 1])
        for axis in range(spatial)
    ]
    everything = [
        (*spot[::-1], image) for image in range(described.dims[-1] + 9) for spot in itertools.product(*ranges[::-1])
    ]
    first = everything.index(tuple(start[1:]))
    return everything[first : first + form.pixels]


@pytest.mark.parametrize("described, start, offsets", IMAGES)
def test_pixels_arrive_as_columns(described, start, offsets):
    rng = np.random.default_rng(9)
    tensor = rng.integers(0, 256, described.dims[-1] * described.strides[-1]).astype(np.uint8)
    content = np.zeros(described.box_bytes // 4, np.uint32)
    made = module(LOADING, LOAD, described.rank, "im2col", offsets=described.rank - 2)
    launch(made, described, tensor, content, start, offsets).raise_findings()
    indices = [
        (start[0] + channel, *(a + b for a, b in zip(spot, (*offsets, 0), strict=True)))
        for spot in pixels_of(described, start) for channel in range(described.box[0])
    ]  # fmt: skip
    wanted = in_shared(described, indices, strided(tensor, described), 0)
    assert np.array_equal(content.view(np.uint8), wanted)


def test_pixels_are_stored():
    described, start, _ = IMAGES[0]
    rng = np.random.default_rng(10)
    tensor = np.zeros(described.dims[-1] * described.strides[-1], np.uint8)
    content = rng.integers(0, 256, described.box_bytes).astype(np.uint8)
    made = module(STORING, STORE, described.rank, "im2col_no_offs")
    launch(made, described, tensor, content.view(np.uint32), start).raise_findings()
    wanted = np.zeros_like(tensor)
    at = strided(wanted, described)
    places = [(start[0] + channel, *spot) for spot in pixels_of(described, start) for channel in range(16)]
    for number, index in enumerate(places):
        there = at(index)
        if there is not None:
            there[...] = content[2 * number : 2 * number + 2]
    assert np.array_equal(tensor, wanted)


@pytest.mark.parametrize("swizzle", [Swizzle.NONE, Swizzle.BYTES_64])
def test_rows_are_gathered_and_scattered(swizzle):
    """Four rows of a matrix, one of them outside."""
    described, start = TensorMap("u32", (32, 10), (128,), (16, 1), swizzle=swizzle), (24, 3, 12, 0, 9)
    rng = np.random.default_rng(12)
    tensor = rng.integers(0, 256, 1280).astype(np.uint8)
    indices = [(start[0] + column, row) for row in start[1:] for column in range(16)]
    content = np.zeros(64, np.uint32)
    on = target("sm_100a")
    made = module(LOADING, LOAD.replace("{rank}d", "2d"), 5, "tile::gather4", on=on)
    launch(made, described, tensor, content, start).raise_findings()
    assert np.array_equal(content.view(np.uint8), in_shared(described, indices, strided(tensor, described), 0))
    other = np.zeros_like(tensor)
    launch(module(STORING, STORE.replace("{rank}d", "2d"), 5, "tile::scatter4", on=on), described, other, content, start
           ).raise_findings()  # fmt: skip
    wanted = np.zeros_like(tensor)
    for index in indices:
        there = strided(wanted, described)(index)
        if there is not None:
            there[...] = strided(tensor, described)(index)
    assert np.array_equal(other, wanted)


@pytest.mark.parametrize("described", [each[0] for each in (*TILES, *IMAGES)])
def test_maps_come_back_from_their_bytes(described):
    content = described.encode(0x7F12_3456_7890)
    assert len(content) == 128
    assert decode(content) == (described, 0x7F12_3456_7890)


@pytest.mark.parametrize("change, words", [
    (lambda: tiled("f8", (8, 8), (8, 8)), "element type"),
    (lambda: tiled("f16", (8, 8), (8, 4)), "multiple of 16 bytes"),
    (lambda: tiled("f16", (8, 12), (8, 8)), "a stride must be from 0 to 1099511627775 and a multiple of 16"),
    (lambda: tiled("f16", (512, 64), (512, 64)), "an extent of the box must be from 1 to 256"),
    (lambda: tiled("f16", (64, 64), (64, 64), swizzle=Swizzle.BYTES_64), "fit the 64 bytes of the swizzle"),
    (lambda: tiled("u8", (1, 1, 1, 1, 16, 16), (1, 1, 1, 1, 16, 16)), "1 to 5 dimensions"),
    (lambda: tiled("u32", (8, 8), (8, 8), nan_fill=True), "only floats"),
    (lambda: tiled("b4x16", (8, 33), (8, 32)), "the first dimension of b4x16 must be a multiple of 2"),
    (lambda: tiled("b4x16_p64", (8, 128), (8, 64)), "wants rows of 128"),
    (lambda: tiled("u32", (8, 8), (8, 8)).encode(8), "starts at a multiple of 16"),
    (lambda: decode(tiled("u32", (8, 8), (8, 8)).encode(0)[:127] + b"\x01"), "no known meaning in the bytes 0x7f"),
])  # fmt: skip
def test_maps_that_are_none_are_refused(change, words):
    with pytest.raises(InvalidDescriptor, match=words):
        change()


def test_element_numbers_are_those_of_the_manual_and_the_driver():
    numbers = {name: (each.number, each.driver) for name, each in ELEMENTS.items()}
    assert numbers["f64"] == (9, 8)
    assert numbers["bf16"] == (10, 9)
    assert numbers["f32.ftz"] == (8, 10)
    assert numbers["tf32"] == (11, 11)


@pytest.mark.parametrize("element, size", [("b4x16", 64 * 8), ("b4x16_p64", 128 * 8), ("b6x16_p32", 128 * 8)])
def test_boxes_of_packed_elements_take_their_gaps_in_shared_memory(element, size):
    described = tiled(element, (16, 256), (8, 128), pitch_bytes=(256,))
    assert described.box_bytes == size
    assert decode(described.encode(64)) == (described, 64)
