"""Matrices in the registers of a warp or a warpgroup, written down from the manual's pictures.

Matrices are stacked: [n, rows, k] of A, [n, columns, k] of B, [n, rows, columns] of the accumulators, each the bits of
its elements. Registers are [n, registers, threads].
"""

import numpy as np

LANE = np.arange(32)
GROUP, THREAD = LANE >> 2, LANE & 3
WIDTHS = {"f16": 16, "bf16": 16, "tf32": 32, "f32": 32, "s32": 32, "f64": 64, "e4m3": 8, "e5m2": 8, "s8": 8, "u8": 8,
          "s4": 4, "u4": 4, "b1": 1}  # fmt: skip


def words(elements: np.ndarray, width: int) -> np.ndarray:
    """Elements [..., per register], the low one first, as registers [...]."""
    if width >= 8:
        unsigned = np.ascontiguousarray(elements).astype(f"u{width // 8}")
        return unsigned.view(np.uint64 if width == 64 else np.uint32)[..., 0]
    shifts = np.arange(elements.shape[-1], dtype=np.uint32) * np.uint32(width)
    return np.ascontiguousarray((elements.astype(np.uint32) << shifts).sum(axis=-1, dtype=np.uint32))


def elements(registers: np.ndarray, width: int) -> np.ndarray:
    """The inverse for elements of 8 bits and more."""
    return np.ascontiguousarray(registers)[..., None].view(f"u{width // 8}")


def operand_places(rows: int, depth: int, width: int, *, is_a: bool) -> tuple[np.ndarray, np.ndarray]:
    """Row (column of B) and k of each element, [registers, 32, elements in a register], of m16n8 and m8n8."""
    packed = max(1, 32 // width)
    halves = rows // 8 if is_a else 1
    register = np.arange(rows * depth // 32 // packed)[:, None, None]
    place = np.arange(packed)[None, None]
    row = GROUP[None, :, None] + 8 * (register % halves) + 0 * place
    k = THREAD[None, :, None] * packed + place + 4 * packed * (register // halves)
    return row, k


def operand_registers(bits: np.ndarray, element: str, *, is_a: bool) -> np.ndarray:
    """A or B in registers."""
    row, k = operand_places(bits.shape[1], bits.shape[2], WIDTHS[element], is_a=is_a)
    return words(bits[:, row, k], WIDTHS[element])


ORDERED = {2: (0b0100, 0b1110), 4: (4, 8, 9, 12, 13, 14), 8: (4, 8, 9, 12, 13, 14)}
UNORDERED = {2: ORDERED[2], 4: (*ORDERED[4], 1, 2, 6, 3, 7, 11), 8: (*ORDERED[8], 1, 2, 6, 3, 7, 11)}


def chunk_of(element: str) -> int:
    """Elements of a row of a sparse A that four bits of metadata tell of."""
    return {32: 2, 16: 4, 8: 4, 4: 8}[WIDTHS[element]]


def metadata_registers(rng: np.random.Generator, bits: np.ndarray, element: str, selector: int) -> np.ndarray:
    """Four bits for each chunk of each row, [n, rows, chunks], as registers [n, 1, threads]; lanes that the selector
    does not choose hold anything.
    """
    count, rows, chunks = bits.shape
    threads = 128 if rows == 64 else 32
    made = rng.integers(0, 1 << 32, (count, 1, threads), np.uint32)
    lanes = chunks // 4
    for thread in range(threads):
        part = thread % 4 - lanes * selector
        row = 16 * (thread // 32) + thread % 32 // 4
        if not 0 <= part < lanes:
            continue
        if WIDTHS[element] >= 16:
            low, high = (bits[:, row + below, 4 * part : 4 * part + 4] for below in (0, 8))
            whole = np.concatenate([low, high], axis=1)
        else:
            whole = bits[:, row + 8 * (part % 2), 8 * (part // 2) : 8 * (part // 2) + 8]
        made[:, 0, thread] = words(whole, 4)
    return made


def kept_columns(bits: np.ndarray, element: str) -> np.ndarray:
    """The columns of the elements that a sparse A keeps, [n, rows, kept]."""
    chunk = chunk_of(element)
    start = chunk * np.arange(bits.shape[2])
    first, second = bits & 3, bits >> 2
    if chunk == 2:
        return (start + first // 2).reshape(*bits.shape[:2], -1)
    if chunk == 4:
        return np.stack([start + first, start + second], axis=-1).reshape(*bits.shape[:2], -1)
    pairs = [start + 2 * first, start + 2 * first + 1, start + 2 * second, start + 2 * second + 1]
    return np.stack(pairs, axis=-1).reshape(*bits.shape[:2], -1)


def sum_places(rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Row and column of each value of an accumulator, [values, threads]; 64 rows are those of a warpgroup."""
    thread = np.arange(128 if rows == 64 else 32)
    value = np.arange(rows * columns // len(thread))[:, None]
    row = 16 * (thread // 32) + thread % 32 // 4 + 8 * (value >> 1 & 1)
    return row, 8 * (value >> 2) + 2 * (thread % 4) + (value & 1)


def sum_registers(bits: np.ndarray, element: str) -> np.ndarray:
    """Accumulators in registers; two halves share one."""
    taken = bits[:, *sum_places(bits.shape[1], bits.shape[2])]
    per = max(1, 32 // WIDTHS[element])
    split = taken.reshape(len(bits), -1, per, taken.shape[-1]).transpose(0, 1, 3, 2)
    return words(split, WIDTHS[element])


def sums(registers: np.ndarray, element: str, rows: int, columns: int) -> np.ndarray:
    """The accumulators [n, rows, columns] that registers hold."""
    values = elements(registers, WIDTHS[element]).transpose(0, 1, 3, 2)
    made = np.zeros((len(registers), rows, columns), values.dtype)
    row, column = sum_places(rows, columns)
    made[:, row, column] = values.reshape(len(registers), -1, values.shape[-1])
    return made
