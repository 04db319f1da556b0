"""What a PTX module is: frozen nodes, and what follows from them (`ptxgen.ir.flow`, `ptxgen.ir.liveness`)."""

from ptxgen.ir.access import accesses, joined_slots, reads, signature_of, signatures_of_length, stands, writes
from ptxgen.ir.nodes import (
    Comment,
    Directive,
    DirectiveKind,
    Function,
    FunctionKind,
    Initial,
    Instruction,
    Label,
    Linkage,
    Module,
    Parameter,
    PointerFacts,
    Pragma,
    Registers,
    Scope,
    Space,
    Statement,
    Variable,
    walk,
)
from ptxgen.ir.operands import (
    Address,
    Component,
    Float,
    Guard,
    Int,
    LabelName,
    Negated,
    Operand,
    Register,
    Scalar,
    Sink,
    Special,
    SymbolAddress,
    TensorCoordinate,
    operand_text,
    registers_of,
)
from ptxgen.ir.origin import Origin

__all__ = [
    "Address", "Comment", "Component", "Directive", "DirectiveKind", "Float", "Function", "FunctionKind", "Guard",
    "Initial", "Instruction", "Int", "Label", "LabelName", "Linkage", "Module", "Negated", "Operand", "Origin",
    "Parameter", "PointerFacts", "Pragma", "Register", "Registers", "Scalar", "Scope", "Sink", "Space", "Special",
    "Statement", "SymbolAddress", "TensorCoordinate", "Variable", "accesses", "joined_slots", "operand_text", "reads",
    "registers_of", "signature_of", "signatures_of_length", "stands", "walk", "writes",
]  # fmt: skip
