"""What a PTX module is: frozen nodes, and what follows from them (`ptxgen.ir.flow`, `ptxgen.ir.liveness`)."""

from ptxgen.ir.access import (
    accesses,
    form_of,
    joined_slots,
    joins,
    reads,
    roles_of,
    signature_of,
    signatures_of_length,
    stands,
    writes,
)
from ptxgen.ir.calls import BranchTargets, Call, CallTargets, Prototype
from ptxgen.ir.debug import DebugData, DebugEntry, DebugLabel, DebugSection, Difference, DwarfLine, File, Loc, Position
from ptxgen.ir.directives import Directive, DirectiveKind
from ptxgen.ir.nodes import (
    Alias,
    Comment,
    Function,
    FunctionKind,
    Instruction,
    Item,
    Label,
    Module,
    Pragma,
    Scope,
    Statement,
    TargetOption,
    besides_instructions,
    walk,
)
from ptxgen.ir.operands import (
    Address,
    Bracket,
    Component,
    Constant,
    Float,
    Guard,
    Int,
    LabelName,
    Minus,
    Negated,
    Operand,
    Register,
    Scalar,
    Sink,
    Special,
    SymbolAddress,
    TensorCoordinate,
    VectorRegister,
    operand_text,
    registers_of,
    vector_text,
)
from ptxgen.ir.origin import Origin
from ptxgen.ir.variables import (
    Attribute,
    AttributeKind,
    Fields,
    GenericAddress,
    Initial,
    Linkage,
    MaskedAddress,
    Parameter,
    PointerFacts,
    Registers,
    Space,
    Variable,
)

__all__ = [
    "Address", "Alias", "Attribute", "AttributeKind", "Bracket", "BranchTargets", "Call", "CallTargets", "Comment",
    "Component", "Constant", "DebugData", "DebugEntry", "DebugLabel", "DebugSection", "Difference", "Directive",
    "DirectiveKind", "DwarfLine", "Fields", "File", "Float", "Function", "FunctionKind", "GenericAddress", "Guard",
    "Initial", "Instruction", "Int", "Item", "Label", "LabelName", "Linkage", "Loc", "MaskedAddress", "Minus", "Module",
    "Negated", "Operand", "Origin", "Parameter", "PointerFacts", "Position", "Pragma", "Prototype", "Register",
    "Registers", "Scalar", "Scope", "Sink", "Space", "Special", "Statement", "SymbolAddress", "TargetOption",
    "TensorCoordinate", "Variable", "VectorRegister", "accesses", "form_of", "joined_slots", "joins", "operand_text",
    "reads", "registers_of", "roles_of", "signature_of", "signatures_of_length", "stands", "vector_text", "walk",
    "besides_instructions",
    "writes",
]  # fmt: skip
