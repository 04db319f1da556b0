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
from polyhedral.cost import Control, Weights, control, leaves
from polyhedral.counting import CountPiece, Polynomial, count, counted
from polyhedral.dependences import Access, Dependence, Kind, Reduction, ScheduledStatement, dependences, primed
from polyhedral.difference import negations
from polyhedral.emptiness import TooManyRows
from polyhedral.extent import at_least, at_most
from polyhedral.extrema import PiecewisePoint, first_images, first_points, last_images, last_points
from polyhedral.isl_lexer import NotationError
from polyhedral.isl_parser import parse, parse_many, parse_map, parse_members, parse_set
from polyhedral.layouts import affine_of_bits, bits_of_affine
from polyhedral.legality import (
    Entry,
    QuotientDim,
    Schedules,
    Times,
    is_parallel,
    is_permutable,
    legal,
    parallelism_violation,
    permutability_violation,
    violations,
)
from polyhedral.maps import Map
from polyhedral.ordering import Violation
from polyhedral.parametric_minimum import TooManyRegions
from polyhedral.placement import Unit, divergence, known_of_units, placed, uniform
from polyhedral.python_text import payloads_of, to_python
from polyhedral.scan import scan
from polyhedral.schedule_legality import band_violation, schedule_violation
from polyhedral.schedule_scan import known_of_parameters, scan_map, scan_schedule, statements_of_schedule
from polyhedral.schedule_steps import fissioned, fused, interchanged, skewed, split_index_set, tiled
from polyhedral.schedule_text import parse_schedule, schedule_text
from polyhedral.schedule_tree import (
    Band,
    Context,
    Domain,
    Expansion,
    Extension,
    Filter,
    Mark,
    OptionRange,
    ScheduleNode,
    Sequence,
    Unordered,
)
from polyhedral.sets import Set
from polyhedral.spaces import Space, UnionMap, UnionSet
from polyhedral.statement import Option, Statement
from polyhedral.system import System
from polyhedral.tiling import full_tiles, isolated, tile
from polyhedral.tree import Block, Bound, Guard, Leaf, Let, Loop, Node, Term, execute, pseudo_c

OWNER = "ptxgen"

__all__ = [
    "Access",
    "Affine",
    "Band",
    "BitMatrix",
    "Block",
    "Bound",
    "Condition",
    "Congruence",
    "Constraint",
    "Context",
    "Control",
    "CountPiece",
    "Dependence",
    "Domain",
    "Entry",
    "Expansion",
    "Extension",
    "Filter",
    "FloorDiv",
    "Guard",
    "Kind",
    "Leaf",
    "Let",
    "Loop",
    "Map",
    "Mark",
    "Node",
    "NotationError",
    "Option",
    "OptionRange",
    "PiecewisePoint",
    "Polynomial",
    "QuotientDim",
    "Reduction",
    "Remainder",
    "ScheduleNode",
    "ScheduledStatement",
    "Schedules",
    "Sequence",
    "Set",
    "Space",
    "Statement",
    "System",
    "Term",
    "Times",
    "TooManyRegions",
    "TooManyRows",
    "UnionMap",
    "UnionSet",
    "Unit",
    "Unordered",
    "Violation",
    "Weights",
    "affine_of_bits",
    "as_affine",
    "at_least",
    "at_most",
    "band_violation",
    "bank_conflict_degree",
    "bits_of_affine",
    "congruent",
    "const",
    "control",
    "count",
    "counted",
    "dependences",
    "divergence",
    "execute",
    "first_images",
    "first_points",
    "fissioned",
    "full_tiles",
    "fused",
    "interchanged",
    "is_parallel",
    "is_permutable",
    "isolated",
    "known_of_parameters",
    "known_of_units",
    "last_images",
    "last_points",
    "leaves",
    "legal",
    "negations",
    "parallelism_violation",
    "parse",
    "parse_many",
    "parse_map",
    "parse_members",
    "parse_schedule",
    "parse_set",
    "payloads_of",
    "permutability_violation",
    "placed",
    "primed",
    "pseudo_c",
    "scan",
    "scan_map",
    "scan_schedule",
    "schedule_text",
    "schedule_violation",
    "skewed",
    "split_index_set",
    "statements_of_schedule",
    "tile",
    "tiled",
    "to_python",
    "uniform",
    "var",
    "violations",
]
