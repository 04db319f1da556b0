"""Integer sets, maps, loops and dependences: exact, pure Python, named dimensions."""

from polyhedral.affine import (
    Affine,
    Condition,
    Congruence,
    Constraint,
    FloorDiv,
    Remainder,
    as_affine,
    congruent,
    const,
    var,
)
from polyhedral.scan import Statement, scan
from polyhedral.sets import Set
from polyhedral.system import System
from polyhedral.tree import Block, Bound, Guard, Leaf, Let, Loop, Node, Term, execute, pseudo_c

__all__ = [
    "Affine",
    "Block",
    "Bound",
    "Condition",
    "Congruence",
    "Constraint",
    "FloorDiv",
    "Guard",
    "Leaf",
    "Let",
    "Loop",
    "Node",
    "Remainder",
    "Set",
    "Statement",
    "System",
    "Term",
    "as_affine",
    "congruent",
    "const",
    "execute",
    "pseudo_c",
    "scan",
    "var",
]
