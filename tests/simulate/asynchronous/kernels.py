"""PTX for sm_90a with the same head: thread number in %t, the address of the output word of the thread in %out."""

from isa.targets import target
from ptxgen.parse import parse
from ptxgen.simulate import simulate
from tests.oracles.ptxas import verdict

SM_90A = target("sm_90a")
HEAD = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry one({parameters}.param .u64 outputs)
{directives}
{{
.reg .pred %p<12>; .reg .b32 %r<40>; .reg .b64 %rd<40>; .reg .b16 %h<8>; .reg .b32 %t; .reg .b64 %out;
{variables}
mov.u32 %t, %tid.x;
ld.param.u64 %out, [outputs];
mov.u32 %r39, %ctaid.x; mov.u32 %r38, %ntid.x; mad.lo.u32 %r39, %r39, %r38, %t;
mad.wide.u32 %out, %r39, 4, %out;
{body}
ret;
}}
"""


def module(body, variables="", parameters=(), directives="", *, judged=True):
    """The module with this body, which ptxas takes."""
    named = "".join(f".param .u64 {each}, " for each in parameters)
    text = HEAD.format(body=body, variables=variables, parameters=named, directives=directives)
    if judged:
        found = verdict(text, SM_90A)
        assert found.ok, (found.messages, text)
    return parse(text)


def run(body, variables="", *, args=(), out, grid=1, block=32, cluster=None, parameters=None, seed=None, **more):
    """Run it; the report."""
    names = parameters if parameters is not None else [f"in{place}" for place in range(len(args))]
    made = module(body, variables, names, **more)
    return simulate(made, grid=grid, block=block, args=[*args, out], cluster=cluster, seed=seed, limit=100_000)


def codes(report):
    """The findings as (code, text of the instruction up to its operands)."""
    return [(each.code, each.text.split()[0] if not each.text.startswith("@") else each.text.split()[1])
            for each in report.findings]  # fmt: skip
