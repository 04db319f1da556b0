"""What one multiprocessor and one CTA of each compute capability may hold (programming guide, technical tables)."""

from __future__ import annotations

from attrs import frozen

from isa.targets import Target

KIB = 1024


@frozen
class Limits:
    """Bytes, registers and threads. `shared_static_bytes` may be declared in PTX, `shared_bytes_per_cta` asked
    for at launch. The values that do not vary have defaults.
    """

    shared_bytes_per_sm: int
    shared_bytes_per_cta: int
    warps_per_sm: int
    ctas_per_sm: int
    shared_static_bytes: int = 48 * KIB
    registers_per_sm: int = 64 * KIB
    registers_per_cta: int = 64 * KIB
    registers_per_thread: int = 255
    threads_per_cta: int = 1024
    lanes_per_warp: int = 32
    named_barriers: int = 16
    shared_banks: int = 32
    bank_bytes: int = 4
    sector_bytes: int = 32

    @property
    def threads_per_sm(self) -> int:
        """Threads resident on one multiprocessor at most."""
        return self.warps_per_sm * self.lanes_per_warp


_VOLTA = Limits(96 * KIB, 96 * KIB, 64, 32)
_BIG = Limits(164 * KIB, 163 * KIB, 64, 32)
_SMALL = Limits(100 * KIB, 99 * KIB, 48, 16)
_HUGE = Limits(228 * KIB, 227 * KIB, 64, 32)
_BY_NUMBER: dict[int, Limits] = {
    50: Limits(64 * KIB, 48 * KIB, 64, 32),
    52: Limits(96 * KIB, 48 * KIB, 64, 32),
    53: Limits(64 * KIB, 48 * KIB, 64, 32, registers_per_cta=32 * KIB),
    60: Limits(64 * KIB, 48 * KIB, 64, 32),
    61: Limits(96 * KIB, 48 * KIB, 64, 32),
    62: Limits(64 * KIB, 48 * KIB, 64, 32, registers_per_cta=32 * KIB),
    70: _VOLTA,
    72: _VOLTA,
    75: Limits(64 * KIB, 64 * KIB, 32, 16),
    80: _BIG,
    86: _SMALL,
    87: Limits(164 * KIB, 163 * KIB, 48, 16),
    89: Limits(100 * KIB, 99 * KIB, 48, 24),
    90: _HUGE,
    100: _HUGE,
    101: _HUGE,
    103: _HUGE,
    110: Limits(228 * KIB, 227 * KIB, 48, 24),
    120: Limits(100 * KIB, 99 * KIB, 48, 24),
    121: Limits(100 * KIB, 99 * KIB, 48, 24),
}


def shared_base(of: Target) -> int:
    """The shared address where the variables of a CTA begin: 1024 from sm_90 on, 0 before (the cubins of ptxas)."""
    return KIB if of.number >= 90 else 0


def limits(of: Target) -> Limits:
    """The limits of a target; LookupError where no published table has it."""
    found = _BY_NUMBER.get(of.number)
    if found is None:
        raise LookupError(f"no table of limits for {of.name}; known: {', '.join(f'sm_{n}' for n in _BY_NUMBER)}")
    return found
