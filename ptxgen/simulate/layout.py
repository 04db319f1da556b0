"""Where the variables of a kernel lie, and what its accesses have in common."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping

from attrs import define, evolve, field

from ptxgen.errors import UnsupportedError
from ptxgen.ir import Float, Function, Instruction, Int, Module, Space, SymbolAddress, Variable, walk
from ptxgen.simulate.functions import STACK_BYTES, Body, stack_bytes
from ptxgen.simulate.heap import HEAP_BYTES, HEAP_FUNCTIONS
from ptxgen.simulate.memory import FIRST_BYTE, GLOBAL_BASE

_MEMORY_OPCODES = frozenset({"ld", "ldu", "st", "atom", "red"})
_ROWS_OF_MATRICES = frozenset({"ldmatrix", "stmatrix"})
_ROW_BYTES = 16
_SYNCHRONISING = frozenset({"acquire", "release", "acq_rel"})
_WORD_GRAIN = 16
_OF_THE_STACK = frozenset({"alloca", "stacksave", "stackrestore"})
_STACK_ALIGNMENT = 128
_IN_BULK = ("cp.async.bulk", "cp.reduce", "wgmma", "tensormap")
_PROXIES = frozenset({"proxy", "mbarrier_init"})
_BESIDE = ("mbarrier", "cp.async.bulk", "cp.reduce", "wgmma", "st.async", "red.async", "barrier.cluster", "tensormap")


@define(eq=False)
class Layout:
    """Sizes in bytes and addresses. `symbols` gives addresses within shared, local and const memory, and parameters'
    places.

    `globals` maps a name to its offset behind the arguments and its initial bytes; `shared_spans` are (start, size) of
    the shared variables, the starts counted from `shared_base`, the lowest address of one.
    `engines` tells that work may go on beside the threads.
    `fences` tells that threads may order their accesses through memory, `fences_across` that those of different CTAs
    may.
    """

    symbols: dict[str, int] = field(factory=dict)
    globals: dict[str, tuple[int, bytes]] = field(factory=dict)
    global_bytes: int = 0
    shared_base: int = 0
    shared_bytes: int = 0
    shared_spans: list[tuple[int, int]] = field(factory=list)
    dynamic_start: int = 0
    dynamic_bytes: int = 0
    parameter_bytes: int = 0
    local_bytes: int = 0
    const_bytes: bytes = b""
    heap_bytes: int = 0
    grows: bool = False
    fences: bool = False
    fences_across: bool = False
    writes_global: bool = False
    engines: bool = False
    shared_names: list[str] = field(factory=list)
    grains: dict[Space, int] = field(factory=dict)

    def with_dynamic(self, dynamic_bytes: int) -> Layout:
        """The layout with so many bytes of dynamic shared memory behind the variables."""
        if not dynamic_bytes:
            return self
        start = self.dynamic_start
        spans = [*self.shared_spans, (start, dynamic_bytes)]
        return evolve(self, shared_spans=spans, shared_bytes=start + dynamic_bytes, dynamic_bytes=dynamic_bytes)

    def grain(self, space: Space) -> int:
        """The bytes of the narrowest access of the kernel to a space, at most 16."""
        return self.grains.get(space, 4)


def layout_of(
    module: Module, kernel: Body, functions: dict[str, Body], addresses: dict[str, int], *, shared_base: int = 0
) -> Layout:
    """The layout of a kernel's variables and of those of the functions that it calls; the module's included.

    Parameters get their offsets in the parameter block, variables of the kernel in local memory theirs in its frame.
    `addresses` are those of functions; shared variables begin at `shared_base`. UnsupportedError for initial values
    that are no number and no address.
    """
    function = kernel.function
    made = Layout(symbols=dict(addresses), local_bytes=stack_bytes(kernel.frame, functions), shared_base=shared_base)
    made.symbols |= kernel.frame.offsets
    made.grows = any(_grows(body.function) for body in (kernel, *functions.values()))
    if made.grows:
        made.local_bytes = _aligned(made.local_bytes, _STACK_ALIGNMENT) + STACK_BYTES
    made.heap_bytes = HEAP_BYTES if any(_allocates(body) for body in (kernel, *functions.values())) else 0
    unsized: list[Variable] = []
    initialised: list[Variable] = []
    everything = (function, *(body.function for body in functions.values()))
    for variable in _variables(module, everything):
        match variable.space:
            case Space.SHARED if variable.size_bytes == 0:
                unsized.append(variable)
            case Space.SHARED:
                address = _aligned(shared_base + made.shared_bytes, _alignment(variable))
                start = address - shared_base
                made.symbols[variable.name] = address
                made.shared_names.append(variable.name)
                made.shared_spans.append((start, variable.size_bytes))
                made.shared_bytes = start + variable.size_bytes
            case Space.LOCAL | Space.PARAM:
                continue
            case Space.GLOBAL:
                start = _aligned(made.global_bytes, max(_alignment(variable), 16))
                initialised.append(variable)
                made.symbols[variable.name] = GLOBAL_BASE + FIRST_BYTE + start
                made.global_bytes = start + variable.size_bytes
            case Space.CONST:
                start = _aligned(len(made.const_bytes), _alignment(variable))
                made.symbols[variable.name] = start
                made.const_bytes = made.const_bytes.ljust(start, b"\0") + _initial_bytes(variable, made.symbols)
            case _:
                raise UnsupportedError(f"variable {variable.name} in .{variable.space.value} memory")
    for variable in initialised:
        start = made.symbols[variable.name] - GLOBAL_BASE - FIRST_BYTE
        made.globals[variable.name] = (start, _initial_bytes(variable, made.symbols))
    _dynamic(made, unsized)
    _parameters(made, function)
    for each in everything:
        _accesses(made, each)
    return made


def _grows(function: Function) -> bool:
    return any(instruction.form.opcode in _OF_THE_STACK for instruction in function.instructions())


def _allocates(body: Body) -> bool:
    targets = (call.target for call in body.calls.values())
    return any(isinstance(target, SymbolAddress) and target.name in HEAP_FUNCTIONS for target in targets)


def _variables(module: Module, functions: tuple[Function, ...]) -> Iterator[Variable]:
    yield from (item for item in module.items if isinstance(item, Variable))
    for function in functions:
        if function.body is not None:
            yield from (node for node in walk(function.body) if isinstance(node, Variable))


def _dynamic(made: Layout, unsized: list[Variable]) -> None:
    end = made.shared_base + made.shared_bytes
    start = max([end, *(_aligned(end, max(_alignment(variable), 16)) for variable in unsized)])
    made.dynamic_start = start - made.shared_base
    for variable in unsized:
        made.symbols[variable.name] = start
        made.shared_names.append(variable.name)


def _parameters(made: Layout, function: Function) -> None:
    offsets = parameter_offsets(function)
    for name, start in offsets.items():
        made.symbols.setdefault(name, start)
    made.parameter_bytes = max((offsets[each.name] + each.size_bytes for each in function.parameters), default=0)


def parameter_offsets(function: Function) -> dict[str, int]:
    """The byte offset of each parameter in the parameter block, by name."""
    offsets: dict[str, int] = {}
    cursor = 0
    for parameter in function.parameters:
        cursor = _aligned(cursor, parameter.align_bytes)
        offsets[parameter.name] = cursor
        cursor += parameter.size_bytes
    return offsets


def _aligned(value: int, alignment: int) -> int:
    return -(-value // alignment) * alignment


def _alignment(variable: Variable) -> int:
    return variable.align or variable.type.bits // 8 * variable.vector


def _initial_bytes(variable: Variable, symbols: dict[str, int]) -> bytes:
    written = b"" if variable.initial is None else _encoded(variable, variable.initial, symbols)
    return written.ljust(variable.size_bytes, b"\0")


def _encoded(variable: Variable, value: object, symbols: dict[str, int]) -> bytes:
    match value:
        case tuple():
            return b"".join(_encoded(variable, each, symbols) for each in value)
        case SymbolAddress(name=name, offset=offset) if name in symbols:
            return (symbols[name] + offset).to_bytes(variable.type.bits // 8, "little")
        case Int(value=number):
            size = variable.type.bits // 8
            return (number & ((1 << 8 * size) - 1)).to_bytes(size, "little")
        case Float(bits=bits, type=of) if of.bits == variable.type.bits:
            return bits.to_bytes(of.bits // 8, "little")
        case Float(bits=bits, type=of) if of.bits == 64:
            return struct.pack("<f", struct.unpack("<d", bits.to_bytes(8, "little"))[0])
        case SymbolAddress(name=name):
            raise UnsupportedError(f"variable {variable.name} starts with the address of {name}")
        case _:
            raise UnsupportedError(f"initial value of variable {variable.name}")


def _accesses(made: Layout, function: Function) -> None:
    for instruction in function.instructions():
        opcode, words = instruction.form.opcode, instruction.form.words
        made.engines |= works_beside(instruction)
        if _orders(opcode, words):
            made.fences = True
            made.fences_across |= "cta" not in (words.get("level"), words.get("scope"))
        if opcode in _MEMORY_OPCODES:
            _note_access(made, instruction)
        elif opcode in ("st.async", "red.async"):
            _narrow(made, Space.SHARED, access_bytes(instruction))
        elif opcode.startswith(_IN_BULK):
            _narrow(made, Space.SHARED, _ROW_BYTES)
            made.writes_global |= words.get("destination") == "global"
        elif opcode in _ROWS_OF_MATRICES:
            _narrow(made, Space.SHARED, _ROW_BYTES)
        elif opcode == "cp.async" and len(instruction.operands) > 2:
            for space in (Space.GLOBAL, Space.SHARED):
                _narrow(made, space, int(getattr(instruction.operands[2], "value", 4)))


def _orders(opcode: str, words: Mapping[str, str]) -> bool:
    """Whether threads may order their accesses through memory by it; proxies, mbarriers and clusters do not."""
    if opcode in ("fence", "membar"):
        return not _PROXIES & set(words.values())
    return opcode in _MEMORY_OPCODES and bool(_SYNCHRONISING & set(words.values()))


def works_beside(instruction: Instruction) -> bool:
    """Whether an instruction starts or awaits work that goes on beside the threads, or orders it."""
    opcode, words = instruction.form.opcode, instruction.form.words
    if opcode in ("fence", "membar"):
        return bool(_PROXIES & set(words.values()))
    if opcode == "cp.async":
        return "mbarrier" in instruction.form.name
    return opcode.startswith(_BESIDE)


def _narrow(made: Layout, space: Space, width_bytes: int) -> None:
    made.grains[space] = min(made.grains.get(space, _WORD_GRAIN), width_bytes)


def _note_access(made: Layout, instruction: Instruction) -> None:
    space = (instruction.form.words.get("space") or "").partition("::")[0]
    width = access_bytes(instruction)
    spaces = (Space.GLOBAL, Space.SHARED) if not space else (Space(space),)
    for each in spaces:
        _narrow(made, each, width)
    if instruction.form.opcode not in ("ld", "ldu") and Space.GLOBAL in spaces:
        made.writes_global = True


def access_bytes(instruction: Instruction) -> int:
    """The bytes that one lane of a load, store or atomic moves."""
    words = instruction.form.words
    count = int(words["vec"][1:]) if "vec" in words and instruction.form.opcode not in ("atom", "red") else 1
    return instruction.form.type_of().bytes * count
