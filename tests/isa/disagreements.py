"""Where ptxas is known to differ from the rows, and why the rows stay as they are."""

from __future__ import annotations

import re
from enum import Enum

from attrs import frozen


class Question(Enum):
    """What was asked of ptxas."""

    LEGAL = "legal where claimed"
    REFUSED = "refused outside"
    EXCLUDED = "refused, since a table or rule excludes it"
    ACCEPTS = "takes this register type"
    TYPES_OUTSIDE = "refuses this register type"
    BEYOND = "refused, since the immediate lies beyond its domain"
    UNKNOWN = "refused, since no row has it"


@frozen
class Disagreement:
    """Statements that match `pattern` (behind the PTX version and target) are judged differently by ptxas."""

    question: Question
    pattern: str
    reason: str


@frozen
class Group:
    """What belongs to one section of the manual."""

    section: str
    members: tuple[Disagreement, ...]


GROUPS: tuple[Group, ...] = (
    Group(
        "State spaces and addresses",
        (
            Disagreement(Question.LEGAL, r"cvta\.\S*u32", "the judge refuses 32-bit addressing of every kind"),
            Disagreement(Question.ACCEPTS, r"cvta\.\S*u32", "the judge refuses 32-bit addressing of every kind"),
        ),
    ),
    Group(
        "Parameter state space",
        (
            Disagreement(
                Question.LEGAL, r"param::func", "legal only between a declaration of a call argument and the call"
            ),
            Disagreement(
                Question.ACCEPTS, r"param::func", "legal only between a declaration of a call argument and the call"
            ),
        ),
    ),
    Group(
        "Release notes",
        (
            Disagreement(
                Question.REFUSED, r"^5\.1 .*(\.sync|barrier|fns|neg|brx)", "5.1 was never published: read as 6.0"
            ),
            Disagreement(
                Question.REFUSED, r"^4\.2 \S+ (addc|subc|madc)\.", "carry in without carry out is not dated by ptxas"
            ),
            Disagreement(
                Question.REFUSED, r"^7\.7 \S+ cp\.async\.c[ag]\.shared::cta", "the sub-qualifier came with 7.8"
            ),
            Disagreement(Question.REFUSED, r"^6\.2 \S+ nanosleep", "the manual says 6.3"),
        ),
    ),
    Group(
        "Texture and surface instructions",
        (
            Disagreement(
                Question.LEGAL,
                r"^4\.[0-2] \S+ (tex|tld4)\..*%b64_38",
                "names may stand there, handles in registers from 4.3 on",
            ),
            Disagreement(
                Question.TYPES_OUTSIDE, r" (tex|tld4)\.", "only the width is checked of coordinates and results"
            ),
            Disagreement(
                Question.ACCEPTS, r" (tex|tld4)\..*%(f32|f16x2)_2", "the index is an integer, the rest as named"
            ),
            Disagreement(Question.TYPES_OUTSIDE, r" (txq|suq)\..*%f32_2", "the manual has integers for what is asked"),
            Disagreement(Question.UNKNOWN, r"sust\.p\.", "the manual has cache operators for .b only"),
            Disagreement(Question.UNKNOWN, r" suld\.b\.\S*b\d+\S* \{", "a vector passes where no size is given"),
        ),
    ),
    Group(
        "ld, st and ld.global.nc",
        (
            Disagreement(
                Question.EXCLUDED,
                r" (ld|st)\.\S*v8\.[bus](8|16) ",
                "emits several stores; the manual has v8 of 32 bits",
            ),
            Disagreement(Question.EXCLUDED, r" (ld|st)\.\S*(v8|v4)\.", "the manual has 256 bits for .global only"),
            Disagreement(
                Question.UNKNOWN, r"(ld|st)\.\S*(v8|v4|L2::evict)", "emits several accesses, or drops the priority"
            ),
            Disagreement(
                Question.UNKNOWN, r"ld\.\S*(nc\S*proxy|proxy\S*nc)", "the manual has the read-only proxy without .nc"
            ),
        ),
    ),
    Group(
        "Warp-level matrix instructions: wmma",
        (
            Disagreement(
                Question.EXCLUDED, r" wmma\.\S*m8n8k(32|128)\S*\.f32 ", "the manual has s32 accumulators only"
            ),
            Disagreement(
                Question.TYPES_OUTSIDE, r" wmma\.\S*f64 .*%[us]64_2", "integers pass for the accumulators of f64"
            ),
        ),
    ),
    Group(
        "cvt",
        (
            Disagreement(
                Question.UNKNOWN, r"^cvt\.\S*(s2f6x2|pzo)", "the manual rounds to nearest here; other roundings pass"
            ),
        ),
    ),
    Group(
        "Operand type checking",
        (
            Disagreement(
                Question.TYPES_OUTSIDE, r" (mma|wgmma|\w+matrix)\..*%pred_2", "predicates pass for words of bits here"
            ),
            Disagreement(
                Question.TYPES_OUTSIDE,
                r" cvt\.\S*e2m1x2\.bf16x2",
                "any register of 32 bits passes for the pair of bf16",
            ),
            Disagreement(
                Question.TYPES_OUTSIDE, r" cvt\.\S*s2f6x2", "any register of 16 bits passes for the fixed-point pair"
            ),
            Disagreement(Question.TYPES_OUTSIDE, r" (cvt\.pack|sured)\.\S* .*%\w64_2", "wider registers pass here too"),
            Disagreement(
                Question.TYPES_OUTSIDE, r"%f16x2_2", "f16x2 registers pass as 32-bit integers and even predicates"
            ),
            Disagreement(Question.TYPES_OUTSIDE, r"%b128_2", "no wider register than 64 bits is of use"),
            Disagreement(Question.TYPES_OUTSIDE, r"isspacep", "32-bit addresses pass here"),
            Disagreement(Question.TYPES_OUTSIDE, r"fns", "not checked for the offset"),
            Disagreement(
                Question.TYPES_OUTSIDE,
                r"(ldu?|st|atom|red|multimem)\.\S*v\d\.b?f(16|32|64)(x2)? .*%[us]",
                "not checked inside float vectors",
            ),
            Disagreement(
                Question.TYPES_OUTSIDE, r" tcgen05\.mma\S* .*%pred_\d+, %pred_\d+", "predicates pass for lanes"
            ),
            Disagreement(Question.UNKNOWN, r" setp\.\S*16x2 %pred_\d+, ", "the manual has a predicate for each half"),
        ),
    ),
    Group(
        "multimem",
        (
            Disagreement(Question.TYPES_OUTSIDE, r"multimem\.\S*e[45]m[23]", "not checked for elements of 8 bits"),
            Disagreement(
                Question.TYPES_OUTSIDE, r"multimem\.st\.async", "a conversion is inserted for other registers"
            ),
            Disagreement(Question.UNKNOWN, r"multimem\.red\.\S*(min|max)\.", "the manual has sums of floats only"),
        ),
    ),
    Group(
        "tensormap.replace",
        (
            Disagreement(Question.TYPES_OUTSIDE, r"tensormap\.replace", "not checked for some of the fields"),
            Disagreement(Question.BEYOND, r"global_stride", "a tensor of rank 5 has four strides"),
        ),
    ),
    Group(
        "lop3",
        (Disagreement(Question.BEYOND, r" lop3\.", "tables above 255 pass"),),
    ),
    Group(
        "bar and barrier",
        (Disagreement(Question.BEYOND, r" (bar|barrier)\.\S*sync ", "numbers of threads are not checked"),),
    ),
    Group(
        "mbarrier",
        (
            Disagreement(
                Question.BEYOND, r" mbarrier\.(expect|complete|arrive)", "the manual bounds the counts of an object"
            ),
            Disagreement(
                Question.UNKNOWN,
                r" mbarrier\.\w+_wait\S* %pred_\d+, %b8",
                "the manual reports a predicate before the value",
            ),
        ),
    ),
    Group(
        "cp.async.wait_group",
        (Disagreement(Question.BEYOND, r" cp\.async\.(bulk\.)?wait_group", "any number passes"),),
    ),
    Group(
        "st.async and red.async",
        (
            Disagreement(
                Question.UNKNOWN, r"st\.async\.(global\.)?(sys|gpu)", "the manual asks for .release with a wide scope"
            ),
            Disagreement(Question.UNKNOWN, r"red\.async\.", "the manual has fewer types and scopes"),
            Disagreement(
                Question.UNKNOWN, r" st\.async\.\S*v[24]\S* \[\S+\], %", "a single register passes for a vector"
            ),
            Disagreement(
                Question.UNKNOWN, r" st\.async\.\S*complete_tx\S* \[\S+\], \S+;$", "the manual names the mbarrier"
            ),
        ),
    ),
    Group(
        "prefetch",
        (
            Disagreement(
                Question.UNKNOWN,
                r"prefetch\.\S*(L2::evict|valid_addr)",
                "the manual has the priority with .global only",
            ),
        ),
    ),
    Group(
        "Bulk and tensor copies",
        (
            Disagreement(Question.UNKNOWN, r"cp\.async\.bulk\S*b128\.\S", "the type may stand anywhere"),
            Disagreement(Question.UNKNOWN, r"cp\.async\.bulk\.tensor\S*report\S*", "reports pass where none is made"),
        ),
    ),
    Group(
        "membar and fence",
        (
            Disagreement(Question.LEGAL, r" membar\.proxy\.async", "12.9 knows the proxies in the new spelling only"),
            Disagreement(
                Question.REFUSED, r"^8\.5 \S+ fence\.(acquire|release)", "12.9 takes these earlier than they are dated"
            ),
            Disagreement(
                Question.UNKNOWN,
                r"fence\.\S*(acq_rel|async|fabric|alias|restrict)",
                "words without a meaning here pass",
            ),
        ),
    ),
    Group(
        "Floating-point instructions",
        (
            Disagreement(Question.UNKNOWN, r"testp\.f", "the manual asks for a class"),
            Disagreement(Question.UNKNOWN, r"(rcp|rsqrt)\.\S*ftz", "f64 has no flush but with .approx"),
            Disagreement(Question.UNKNOWN, r"fma\.\S*oob", "the manual has no .sat here"),
        ),
    ),
    Group(
        "tcgen05.mma",
        (
            Disagreement(
                Question.LEGAL,
                r"^8\.6 .*block_scale( |\.collector)",
                "12.9 reads .block32 where no size is given, and so asks for its version",
            ),
        ),
    ),
    Group(
        "Fabric instructions",
        (
            Disagreement(Question.UNKNOWN, r"fabric\.try_\S*\.sys", "the manual gives every operation .relaxed.sys"),
            Disagreement(Question.BEYOND, r" fabric\.try_", "the manual wants multiples of 16 bytes"),
            Disagreement(Question.EXCLUDED, r"try_pullred\S*acc::f32\.e[45]m[23]", "the manual sums bytes in f16 only"),
            Disagreement(
                Question.UNKNOWN, r"createpolicy\.\S*(fabric\S*global|global\S*fabric)", "the manual has one of them"
            ),
        ),
    ),
    Group(
        "tcgen05.ld and tcgen05.st",
        (Disagreement(Question.UNKNOWN, r"tcgen05\.\S*b\d+x16", "formats pass where nothing is converted"),),
    ),
    Group(
        "tcgen05.alloc",
        (
            Disagreement(Question.BEYOND, r" tcgen05\.(de)?alloc\.exclusive", "no target has more than 576 columns"),
            Disagreement(Question.UNKNOWN, r"tcgen05\.(de)?alloc\S*\.b2", "a word of the sparse loads passes"),
        ),
    ),
    Group(
        "Instruction statements",
        (Disagreement(Question.UNKNOWN, r"\.(\w+)(\.\S+)?\.\1[ .;]", "a word may be said twice"),),
    ),
)


def section_of(question: Question, asked: str) -> str:
    """The section that explains what was asked (`"8.8 sm_70 add.u32 ..."`), empty where none does."""
    for group in GROUPS:
        if any(each.question is question and re.search(each.pattern, asked) for each in group.members):
            return group.section
    return ""


def known(question: Question, asked: str) -> bool:
    """True if the table has it."""
    return bool(section_of(question, asked))
