"""Where the PTX manual speaks of what, by the titles of its sections; their numbers change between versions."""

from __future__ import annotations

from attrs import frozen

from isa.availability import ALWAYS, Availability, since
from isa.directives import ALIAS, COMMON, DIRECTIVES
from isa.instructions import comparison, floating, half, integer, logic, mixed, texture, video
from isa.rows import Family
from isa.types import Type

_INTEGER, _FLOAT = "Integer Arithmetic Instructions", "Floating-Point Instructions"
_MOVEMENT, _PARALLEL = (
    "Data Movement and Conversion Instructions",
    "Parallel Synchronization and Communication Instructions",
)
_MISCELLANEOUS = "Miscellaneous Instructions"
_CHAPTERS: tuple[tuple[tuple[Family, ...], str], ...] = (
    (integer.FAMILIES, _INTEGER),
    (floating.FAMILIES, _FLOAT),
    (half.FAMILIES, "Half Precision Floating-Point Instructions"),
    (mixed.FAMILIES, "Mixed Precision Floating-Point Instructions"),
    (comparison.FAMILIES, "Comparison and Selection Instructions"),
    (logic.FAMILIES, "Logic and Shift Instructions"),
    (texture.FAMILIES, "Texture Instructions"),
    (video.FAMILIES, "Video Instructions"),
)
_BY_OPCODE: dict[str, str] = {
    "Extended-Precision Integer Arithmetic Instructions": "addc subc madc",
    _MOVEMENT: "mov shfl prmt ld ldu st prefetch prefetchu applypriority discard createpolicy isspacep cvta cvt mapa "
    "getctarank cp multimem tensormap",
    "Surface Instructions": "suld sust sured suq",
    "Control Flow Instructions": "bra brx call ret exit",
    _PARALLEL: "bar barrier membar fence atom red vote match activemask redux griddepcontrol elect mbarrier "
    "clusterlaunchcontrol",
    "Warp Level Matrix Multiply-Accumulate Instructions": "mma wmma ldmatrix stmatrix movmatrix",
    "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions": "wgmma",
    "TensorCore 5th Generation Family Instructions": "tcgen05",
    "Stack Manipulation Instructions": "stacksave stackrestore alloca",
    _MISCELLANEOUS: "brkpt nanosleep pmevent trap setmaxnreg",
    "Fabric Instructions": "fabric",
}
_TITLES = {opcode: title for title, opcodes in _BY_OPCODE.items() for opcode in opcodes.split()}


def section(family: Family) -> str:
    """The chapter of the manual's instruction set that has a family."""
    first = family.opcode.partition(".")[0]
    title = _TITLES.get(first) or next((title for chapter, title in _CHAPTERS if family in chapter), "Instruction Set")
    return _PARALLEL if family.opcode == "tensormap.cp_fenceproxy" else title


@frozen
class DottedWord:
    """A word that begins with a dot and is no instruction: what it does, how it is written, its section."""

    name: str
    about: str
    syntax: str
    section: str
    availability: Availability = ALWAYS


_MODULE, _FUNCTIONS = "PTX Module Directives", "Specifying Kernel Entry Points and Functions"
_FLOW, _TUNING, _DEBUGGING = "Control Flow Directives", "Performance-Tuning Directives", "Debugging Directives"
_LINKING, _CLUSTER, _OTHER = "Linking Directives", "Cluster Dimension Directives", "Miscellaneous Directives"
_LABELS = since("2.1")
_DECLARATIONS, _ATTRIBUTES, _SPACES = (
    "Variables",
    "Variable and Function Attribute Directive: .attribute",
    "State Spaces",
)


def _directive(name: str, syntax: str, about: str, title: str, where: Availability = ALWAYS) -> DottedWord:
    return DottedWord(name, about, syntax, f"{title}: .{name}", DIRECTIVES.get(name, where))


DIRECTIVE_WORDS: tuple[DottedWord, ...] = (
    _directive("version", ".version major.minor", "the PTX that the text is written in; the first statement", _MODULE),
    _directive("target", ".target sm_90a", "the GPU generation that the text is for, with options", _MODULE),
    _directive("address_size", ".address_size 64", "bits of an address", _MODULE, since("2.3")),
    _directive("entry", ".entry name(.param .u64 a, ...) {...}", "a kernel", _FUNCTIONS),
    _directive("func", ".func (.reg .b32 r) name(.reg .b32 a, ...) {...}", "a function", _FUNCTIONS),
    _directive("alias", ".alias name, function;", "another name of a function", _FUNCTIONS, ALIAS),
    _directive("branchtargets", "name: .branchtargets a, b, ...;", "the labels of a brx.idx", _FLOW, _LABELS),
    _directive("calltargets", "name: .calltargets f, g, ...;", "what an indirect call may call", _FLOW, _LABELS),
    _directive("callprototype", "name: .callprototype (...) _ (...);", "how an indirect call looks", _FLOW, _LABELS),
    _directive("maxnreg", ".maxnreg n", "at most n registers a thread", _TUNING),
    _directive("maxntid", ".maxntid x, y, z", "at most so many threads in a CTA", _TUNING),
    _directive("reqntid", ".reqntid x, y, z", "exactly so many threads in a CTA", _TUNING, _LABELS),
    _directive("minnctapersm", ".minnctapersm n", "at least n CTAs on a multiprocessor", _TUNING, since("2.0")),
    _directive("maxnctapersm", ".maxnctapersm n", "the same as .minnctapersm, the old spelling", _TUNING),
    _directive("noreturn", ".noreturn", "the function never comes back", _TUNING),
    _directive("pragma", '.pragma "nounroll";', "a word for the compiler", _TUNING, since("2.0")),
    _directive("abi_preserve", ".abi_preserve n", "so many registers that a call leaves alone", _TUNING),
    _directive("abi_preserve_control", ".abi_preserve_control n", "the same for control registers", _TUNING),
    _directive("section", ".section .debug_info {...}", "a section of debugging data", _DEBUGGING),
    _directive("file", '.file 1 "kernel.cu"', "a source file by its number", _DEBUGGING),
    _directive("loc", ".loc 1 12 5", "file, line and column of what follows", _DEBUGGING),
    _directive("extern", ".extern .shared .align 16 .b8 name[];", "defined elsewhere", _LINKING),
    _directive("visible", ".visible .entry name(...)", "seen by other modules and by the host", _LINKING),
    _directive("weak", ".weak .func name(...)", "gives way to another definition of the name", _LINKING, since("3.1")),
    _directive("common", ".common .global .b32 name;", "defined here unless elsewhere", _LINKING, COMMON),
    _directive("reqnctapercluster", ".reqnctapercluster x, y, z", "so many CTAs in a cluster", _CLUSTER),
    _directive("explicitcluster", ".explicitcluster", "the launch must name the extent of the cluster", _CLUSTER),
    _directive("maxclusterrank", ".maxclusterrank n", "at most n CTAs in a cluster", _CLUSTER),
    _directive("blocksareclusters", ".blocksareclusters", "the grid is counted in clusters", _OTHER),
    _directive("align", ".align 16", "where a variable lies: at a multiple of so many bytes", _DECLARATIONS),
    _directive("ptr", ".param .u64 .ptr .global .align 16 a", "what a parameter that is an address points to",
        "Kernel Parameter Attribute", since("2.2")),
    _directive("attribute", ".attribute(.managed)", "a variable in managed memory", _ATTRIBUTES, since("4.0")),
)  # fmt: skip


def _space(name: str, syntax: str, about: str, where: Availability = ALWAYS) -> DottedWord:
    return DottedWord(name, about, syntax, f"{_SPACES}: .{name}", where)


SPACE_WORDS: tuple[DottedWord, ...] = (
    _space("reg", ".reg .f32 %f<4>;", "registers, of one thread"),
    _space("sreg", "mov.u32 a, %tid.x;", "special registers, read only"),
    _space("const", ".const .f32 name = 0f3F800000;", "64 KiB of constants, read only, the same for the grid"),
    _space("global", ".global .b8 name[64];", "memory of the device, for all threads of all grids"),
    _space("local", ".local .align 8 .b8 name[64];", "memory of one thread"),
    _space("param", ".param .u64 name", "parameters of kernels and functions"),
    _space("shared", ".shared .align 16 .b8 name[1024];", "memory of a CTA, and of its cluster"),
    _space("shared::cta", "ld.shared::cta.u32 d, [a];", "the window of the own CTA", since("7.8", 30)),
    _space(
        "shared::cluster", "ld.shared::cluster.u32 d, [a];", "the windows of all CTAs of the cluster", since("7.8", 90)
    ),
    _space("param::entry", "ld.param::entry.u32 d, [a];", "parameters of the kernel, named as such", since("8.3")),
    _space("param::func", "ld.param::func.u32 d, [a];", "parameters of the function, named as such", since("8.3")),
    _space("tex", ".tex .u32 name;", "textures, the old spelling of .global .texref"),
)


def section_of_type(type_: Type) -> str:
    """The section that has a type."""
    if type_.lanes > 1:
        return "Packed Data Types"
    return "Fundamental Types" if type_.register else "Alternate Floating-Point Data Formats"
