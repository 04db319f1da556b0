"""Operands and instructions drawn at random, of the right sorts; with `legal`, of the right values too."""

from collections.abc import Callable
from typing import Any

from isa.forms import resolve
from isa.types import Type, b32, b64, f32, f64, pred, s8, u16
from ptxgen.ir import (
    Address,
    Component,
    Float,
    Guard,
    Instruction,
    Int,
    Minus,
    Negated,
    Register,
    Registers,
    Sink,
    Special,
    SymbolAddress,
    TensorCoordinate,
    VectorRegister,
)
from tests.parse.choices import Choices

FAMILIES = {
    "r": ("%r", b32), "R": ("%rd", b64), "f": ("%f", f32), "d": ("%fd", f64), "p": ("%p", pred), "h": ("%h", u16),
    "c": ("%c", s8),
}  # fmt: skip
VECTOR = VectorRegister("quad", f32, 0, 4)
DECLARED = (*(Registers(type_, stem, 10) for stem, type_ in FAMILIES.values()), Registers(f32, "quad", None, 4))
SYMBOLS = ("table", "other")
# How each operand is drawn: by one of its letters, which `Operands` explains.
INSTRUCTIONS = {
    "add.u32": "r r ri", "mad.lo.s32": "r ri ri ri", "fma.rn.f32": "f f fF fF", "add.f64": "d d dD", "mov.u32": "r riS",
    "mov.u64": "R Ry", "mov.b32": "r ri", "mov.u16": "h h", "ld.global.f32": "f A", "ld.global.u64": "R A",
    "ld.global.v2.b32": "v A", "ld.global.v4.f32": "q A", "st.shared.v4.b32": "A w", "st.global.f32": "A fF",
    "setp.lt.and.s32": "p p r ri pn", "setp.lt.s32": "p r ri", "selp.b32": "r ri ri p", "exit": "",
    "shfl.sync.bfly.b32": "r p r j j m", "cp.async.bulk.prefetch.tensor.2d.L2.global": "T", "bar.sync": "j",
    "cvt.u8.u32": "c r", "atom.global.add.u32": "r_ A ri", "vmad.s32.s32.s32": "r x x -", "lop3.b32": "r r r r j",
    "mov.f32": "fQ fFQ", "bar.warp.sync": "m",
}  # fmt: skip
FORMS = {name: resolve(name)[0] for name in INSTRUCTIONS}


class Operands:
    """Draws instructions of a body that declares `DECLARED`, in a module that has `SYMBOLS`."""

    def __init__(self, choices: Choices, *, legal: bool) -> None:
        self.choices, self.legal = choices, legal
        self._ways: dict[str, Callable[[], Any]] = {
            "i": self.integer, "j": lambda: Int(choices.below(16)), "m": lambda: Int(-1 - choices.below(2)),
            "F": lambda: self.float_(f32), "D": lambda: self.float_(f64), "_": Sink, "S": lambda: Special("tid.x"),
            "n": lambda: Negated(self.register("p")), "y": self.symbol, "A": self.address,
            "v": lambda: (choices.pick((self.register("r"), Sink())), self.register("r")),
            "w": lambda: choices.several(lambda: self.operand("ri"), 4, 4),
            "q": lambda: choices.pick((VECTOR, tuple(Register(f"%f{index}", f32) for index in range(4)))),
            "Q": lambda: Component(VECTOR, choices.pick("xyzw")),
            "x": lambda: Component(self.register("r"), choices.pick(("h0", "b3"))),
            "-": lambda: choices.pick((self.register("r"), Minus(self.register("r")))),
            "T": lambda: TensorCoordinate(self.register("R"), (self.register("r"), self.operand("ri"))),
        }  # fmt: skip

    def instruction(self) -> Instruction:
        """An instruction, perhaps with a guard."""
        name = self.choices.pick(tuple(INSTRUCTIONS))
        operands = tuple(self.operand(each) for each in INSTRUCTIONS[name].split())
        return Instruction(FORMS[name], operands, self.choices.maybe(self.guard))

    def operand(self, letters: str) -> Any:
        """An operand of one of the sorts that the letters stand for."""
        letter = self.choices.pick(letters)
        return self.register(letter) if letter in FAMILIES else self._ways[letter]()

    def register(self, letter: str) -> Register:
        """A register of a family."""
        stem, type_ = FAMILIES[letter]
        return Register(f"{stem}{self.choices.below(10)}", type_)

    def guard(self) -> Guard:
        """A guard, negated or not."""
        return Guard(self.register("p"), bool(self.choices.below(2)))

    def integer(self) -> Int:
        """A small integer, or one of up to 64 bits, of 31 where it must be legal."""
        below = self.choices.below
        wide = below(1 << 31) if self.legal else (1 << 64) - 1 - below(3 << 63)
        return Int(self.choices.pick((below(10), -below(300), wide)))

    def float_(self, type_: Type) -> Float:
        """A float by its bits."""
        return Float(self.choices.below(1 << type_.bits), type_)

    def symbol(self) -> SymbolAddress:
        """A place in a variable."""
        return SymbolAddress(self.choices.pick(SYMBOLS), self._offset())

    def address(self) -> Address:
        """An address of every sort."""
        bases: tuple[Any, ...] = (self.register("R"), SymbolAddress(self.choices.pick(SYMBOLS)))
        base = self.choices.pick(bases)
        return Address(base, self._offset()) if self.legal or self.choices.below(4) else Address(self.integer())

    def _offset(self) -> int:
        below = self.choices.below
        far = 0 if self.legal else below(1 << 31)
        return self.choices.pick((0, 16 * below(4), far, -far))
