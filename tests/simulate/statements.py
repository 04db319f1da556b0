"""Statements of PTX run on arrays: each thread loads its own a, b and c, and stores what each statement leaves in d."""

from collections.abc import Sequence

import numpy as np

from ptxgen.parse import parse
from ptxgen.simulate import simulate

_HEAD = """.version 8.7
.target {target}
.address_size 64
.visible .entry main(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d, .param .u32 n)
{{
    .reg .{kind} %a, %b, %c, %d; .reg .b32 %t, %n, %x; .reg .b64 %p<8>; .reg .pred %q;
    ld.param.u64 %p1, [a]; ld.param.u64 %p2, [b]; ld.param.u64 %p3, [c]; ld.param.u64 %p4, [d]; ld.param.u32 %n, [n];
    mov.u32 %t, %tid.x; mov.u32 %x, %ctaid.x; mad.lo.u32 %t, %x, 128, %t;
    setp.ge.u32 %q, %t, %n; @%q ret;
    mul.wide.u32 %p5, %t, {width};
    add.s64 %p1, %p1, %p5; add.s64 %p2, %p2, %p5; add.s64 %p3, %p3, %p5; add.s64 %p4, %p4, %p5;
    ld.global.{kind} %a, [%p1]; ld.global.{kind} %b, [%p2]; ld.global.{kind} %c, [%p3];
"""


def results(
    statements: Sequence[str], a: np.ndarray, b: np.ndarray, c: np.ndarray, *, kind: str = "b32", target: str = "sm_90"
) -> np.ndarray:
    """What each statement leaves in `%d` from `%a`, `%b` and `%c`, registers of a type: [statements, elements].

    `%d` starts as 0 for each. The arrays have the type's width in bytes.
    """
    count, width = len(a), a.itemsize
    text = _HEAD.format(target=target, kind=kind, width=width)
    for place, statement in enumerate(statements):
        text += f"    mov.{kind} %d, 0;\n    {statement}\n    mul.wide.u32 %p6, %n, {place * width};\n"
        text += f"    add.s64 %p7, %p4, %p6; st.global.{kind} [%p7], %d;\n"
    out = np.zeros((len(statements), count), a.dtype)
    simulate(
        parse(text + "    ret;\n}\n"), grid=-(-count // 128), block=128, args=(a, b, c, out, count)
    ).raise_findings()
    return out
