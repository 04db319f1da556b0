"""A few scalar instructions run one after another with Python's integers: what structured flow means."""

from collections.abc import Callable

from ptxgen.ir import Function, Instruction, Int, Label, Operand, Register, walk

COMPARE: dict[str, Callable[[int, int], bool]] = {
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
}


def run(function: Function, arguments: dict[str, int], steps: int = 10_000) -> list[int]:
    """The values that `st` stored, in order. Knows mov, add, mul, setp, ld.param, st, bra and ret."""
    assert function.body is not None
    nodes = [node for node in walk(function.body) if isinstance(node, Instruction | Label)]
    places = {node.name: index for index, node in enumerate(nodes) if isinstance(node, Label)}
    registers: dict[Register, int] = {}
    stored: list[int] = []

    def value(operand: Operand) -> int:
        if isinstance(operand, Int):
            return operand.value
        assert isinstance(operand, Register), operand
        return registers[operand]

    at = 0
    for _ in range(steps):
        node = nodes[at]
        at += 1
        if isinstance(node, Label):
            continue
        if node.guard is not None and bool(registers[node.guard.register]) is node.guard.negated:
            continue
        opcode, operands = node.form.opcode, node.operands
        if opcode == "ret":
            return stored
        if opcode == "bra":
            at = places[operands[0]]  # type: ignore[index]
        elif opcode == "st":
            stored.append(value(operands[1]))
        elif opcode == "ld":
            registers[operands[0]] = arguments[operands[1].base.name]  # type: ignore[union-attr,index]
        else:
            sources = [value(operand) for operand in operands[1:]]
            registers[operands[0]] = calculated(node, sources)  # type: ignore[index]
    raise AssertionError("does not end")


def calculated(node: Instruction, sources: list[int]) -> int:
    match node.form.opcode:
        case "mov":
            return sources[0]
        case "add":
            return sources[0] + sources[1]
        case "mul":
            return sources[0] * sources[1]
        case "setp":
            return int(COMPARE[node.form.words["cmp"]](*sources))
        case opcode:
            raise AssertionError(f"the interpreter does not know {opcode}")
