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
from polyhedral.bits import BitMatrix, bank_conflict_degree
from polyhedral.dependences import Access, Dependence, Kind, Reduction, ScheduledStatement, dependences, primed
from polyhedral.difference import negations
from polyhedral.isl_lexer import NotationError
from polyhedral.isl_parser import parse, parse_map, parse_members, parse_set
from polyhedral.legality import (
    Entry,
    QuotientDim,
    Schedules,
    Times,
    Violation,
    is_parallel,
    is_permutable,
    legal,
    parallelism_violation,
    permutability_violation,
    violations,
)
from polyhedral.maps import Map
from polyhedral.python_text import payloads_of, to_python
from polyhedral.scan import Statement, scan
from polyhedral.sets import Set
from polyhedral.spaces import Space, UnionMap, UnionSet
from polyhedral.system import System
from polyhedral.tiling import full_tiles, isolated, tile
from polyhedral.tree import Block, Bound, Guard, Leaf, Let, Loop, Node, Term, execute, pseudo_c

OWNER = "ptxgen"

__all__ = [
    "Access",
    "Affine",
    "BitMatrix",
    "Block",
    "Bound",
    "Condition",
    "Congruence",
    "Constraint",
    "Dependence",
    "Entry",
    "FloorDiv",
    "Guard",
    "Kind",
    "Leaf",
    "Let",
    "Loop",
    "Map",
    "Node",
    "NotationError",
    "QuotientDim",
    "Reduction",
    "Remainder",
    "ScheduledStatement",
    "Schedules",
    "Set",
    "Space",
    "Statement",
    "System",
    "Term",
    "Times",
    "UnionMap",
    "UnionSet",
    "Violation",
    "as_affine",
    "bank_conflict_degree",
    "congruent",
    "const",
    "dependences",
    "execute",
    "full_tiles",
    "is_parallel",
    "is_permutable",
    "isolated",
    "legal",
    "negations",
    "parallelism_violation",
    "parse",
    "parse_map",
    "parse_members",
    "parse_set",
    "payloads_of",
    "permutability_violation",
    "primed",
    "pseudo_c",
    "scan",
    "tile",
    "to_python",
    "var",
    "violations",
]
