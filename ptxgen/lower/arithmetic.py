"""Integer arithmetic on registers and known numbers: what is known is computed now, the rest becomes instructions."""

from __future__ import annotations

from typing import TypeAlias

from ptxgen.build import Kernel, Value

Number: TypeAlias = int | Value


class Arithmetic:
    """Sums, products and quotients of s32 or s64 numbers in a kernel; `bits` is 32 or 64."""

    def __init__(self, kernel: Kernel, bits: int) -> None:
        self._k = kernel
        self._type = f"s{bits}"
        self._bits = bits

    def _emit(self, opcode: str, *sources: Number) -> Value:
        result: Value = self._k.function(f"{opcode}.{self._type}")(*sources)
        return result

    def value(self, number: Number) -> Value:
        """The number in a register."""
        return self._emit("mov", number) if isinstance(number, int) else number

    def add(self, left: Number, right: Number) -> Number:
        """left + right."""
        if isinstance(left, int):
            left, right = right, left
        if isinstance(left, int):
            return left + right if isinstance(right, int) else right
        return left if isinstance(right, int) and right == 0 else self._emit("add", left, right)

    def subtract(self, left: Number, right: Number) -> Number:
        """left - right."""
        if isinstance(right, int):
            return self.add(left, -right)
        if isinstance(left, int):
            return self._emit("neg", right) if left == 0 else self._emit("sub", left, right)
        return self._emit("sub", left, right)

    def multiply(self, left: Number, right: Number) -> Number:
        """left * right, the low bits."""
        return self.multiply_add(left, right, 0)

    def multiply_add(self, left: Number, right: Number, addend: Number) -> Number:
        """left * right + addend, the low bits."""
        if isinstance(left, int):
            return self._scaled(right, left, addend)
        if isinstance(right, int):
            return self._scaled(left, right, addend)
        if isinstance(addend, int) and addend == 0:
            return self._emit("mul.lo", left, right)
        return self._emit("mad.lo", left, right, addend)

    def _scaled(self, value: Number, factor: int, addend: Number) -> Number:
        if isinstance(value, int):
            return self.add(value * factor, addend)
        if factor in (0, 1):
            return self.add(value, addend) if factor else addend
        if factor == -1:
            return self.subtract(addend, value)
        if isinstance(addend, int) and addend == 0:
            power = factor > 0 and factor & (factor - 1) == 0
            return self._shifted_left(value, factor.bit_length() - 1) if power else self._emit("mul.lo", value, factor)
        return self._emit("mad.lo", value, factor, addend)

    def _shifted_left(self, value: Value, count: int) -> Value:
        result: Value = self._k.function(f"shl.b{self._bits}")(value, count)
        return result

    def floor_quotient(self, numerator: Number, divisor: int) -> Number:
        """floor(numerator / divisor) for a positive divisor, exact for negative numerators too."""
        if isinstance(numerator, int):
            return numerator // divisor
        if divisor & (divisor - 1) == 0:
            count = divisor.bit_length() - 1
            return self._emit("shr", numerator, count) if count else numerator
        quotient = self._emit("div", numerator, divisor)
        remainder = self._emit("sub", numerator, self._emit("mul.lo", quotient, divisor))
        below: Value = self._k.function(f"setp.lt.{self._type}")(remainder, 0)
        correction: Value = self._k.function(f"selp.{self._type}")(-1, 0, below)
        return self._emit("add", quotient, correction)

    def remainder(self, numerator: Number, modulus: int) -> Number:
        """numerator modulo modulus, in 0..modulus-1, for any numerator."""
        if isinstance(numerator, int):
            return numerator % modulus
        if modulus & (modulus - 1) == 0:
            masked: Value = self._k.function(f"and.b{self._bits}")(numerator, modulus - 1)
            return masked if modulus > 1 else 0
        return self.subtract(numerator, self.multiply(self.floor_quotient(numerator, modulus), modulus))

    def minimum(self, left: Number, right: Number) -> Number:
        """The smaller number."""
        if isinstance(left, int) and isinstance(right, int):
            return min(left, right)
        return self._emit("min", left, right)

    def maximum(self, left: Number, right: Number) -> Number:
        """The larger number."""
        if isinstance(left, int) and isinstance(right, int):
            return max(left, right)
        return self._emit("max", left, right)
