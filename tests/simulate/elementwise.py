"""Run one instruction on arrays: element i of each input goes to thread i, which stores the result."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from isa.types import bits_type, type_named, u32
from ptxgen.build import Module, pointer
from ptxgen.simulate import simulate

THREADS = 128


def run(name: str, inputs: Sequence[Any], out: str, *, target: str = "sm_70", immediates: Sequence[int] = ()) -> Any:
    """The instruction `name` on the inputs (numpy arrays; bool ones become predicates), its result as PTX type `out`.

    `out` "pred" gives bool. The result comes back as unsigned bits, or bool.
    """
    count = max(len(each) for each in inputs)
    arrays = [each.astype(np.uint32) if each.dtype == bool else each for each in inputs]
    width = 32 if out == "pred" else type_named(out).bits
    result = np.zeros(count, f"u{width // 8}")
    parameters = {f"in{index}": pointer(bits_type(array.itemsize * 8)) for index, array in enumerate(arrays)}
    module = Module(target)
    with module.kernel("one", **parameters, out=pointer(bits_type(width)), n=u32) as k:
        thread = k.mad.lo.u32(k.ctaid.x, k.ntid.x, k.tid.x)
        inside = k.setp.lt.u32(thread, k.args.n)
        with k.when(inside):
            sources = []
            for index, (array, given) in enumerate(zip(arrays, inputs, strict=True)):
                offset = k.mul.wide.u32(thread, array.itemsize)
                address = k.add.s64(getattr(k.args, f"in{index}"), offset)
                value = k.emit(f"ld.global.b{array.itemsize * 8}", address)
                sources.append(k.setp.ne.u32(value, 0) if given.dtype == bool else value)
            made = k.emit(name, *sources, *immediates)
            if out == "pred":
                made = k.selp.u32(1, 0, made)
            place = k.add.s64(k.args.out, k.mul.wide.u32(thread, width // 8))
            k.emit(f"st.global.b{width}", place, made)
    simulate(module.build(), grid=-(-count // THREADS), block=THREADS, args=(*arrays, result, count)).raise_findings()
    return result.astype(bool) if out == "pred" else result
