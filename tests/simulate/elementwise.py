"""Run one instruction on arrays: element i of each input goes to thread i, which stores the result."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from isa.types import bits_type, type_named, u32
from ptxgen.build import Module, pointer
from ptxgen.ir import Module as Built
from ptxgen.simulate import simulate

THREADS = 128


def run(name: str, inputs: Sequence[Any], out: str, *, target: str = "sm_70", immediates: Sequence[int] = ()) -> Any:
    """The instruction `name` on the inputs (numpy arrays; bool ones become predicates), its result as PTX type `out`.

    `out` "pred" gives bool. The result comes back as unsigned bits, or bool.
    """
    return _launched(_on_cpu, name, inputs, out, target, immediates)


def run_on_gpu(name: str, inputs: Sequence[Any], out: str) -> Any:
    """As `run`, on GPU 0."""
    return _launched(_on_gpu, name, inputs, out, "sm_70", ())


def _on_cpu(module: Built, blocks: int, args: tuple[Any, ...]) -> None:
    simulate(module, grid=blocks, block=THREADS, args=args).raise_findings()


def _on_gpu(module: Built, blocks: int, args: tuple[Any, ...]) -> None:
    from ptxgen.runtime import load

    load(module)["one"](*args, grid=blocks, block=THREADS)


def _launched(
    launch: Callable[[Built, int, tuple[Any, ...]], None],
    name: str,
    inputs: Sequence[Any],
    out: str,
    target: str,
    immediates: Sequence[int],
) -> Any:
    count = max(len(each) for each in inputs)
    arrays = [each.astype(np.uint32) if each.dtype == bool else each.view(f"u{each.itemsize}") for each in inputs]
    width = 32 if out == "pred" else type_named(out).bits
    result = np.zeros(count, f"u{width // 8}")
    truths = [each.dtype == bool for each in inputs]
    module = _kernel(name, arrays, truths, out, width, target, immediates)
    launch(module, -(-count // THREADS), (*arrays, result, count))
    return result.astype(bool) if out == "pred" else result


def _kernel(
    name: str, arrays: list[Any], truths: list[bool], out: str, width: int, target: str, immediates: Sequence[int]
) -> Built:
    parameters = {f"in{index}": pointer(bits_type(array.itemsize * 8)) for index, array in enumerate(arrays)}
    module = Module(target)
    with module.kernel("one", **parameters, out=pointer(bits_type(width)), n=u32) as k:
        thread = k.mad.lo.u32(k.ctaid.x, k.ntid.x, k.tid.x)
        inside = k.setp.lt.u32(thread, k.args.n)
        with k.when(inside):
            sources = []
            for index, (array, truth) in enumerate(zip(arrays, truths, strict=True)):
                offset = k.mul.wide.u32(thread, array.itemsize)
                address = k.add.s64(getattr(k.args, f"in{index}"), offset)
                value = k.emit(f"ld.global.b{array.itemsize * 8}", address)
                sources.append(k.setp.ne.u32(value, 0) if truth else value)
            made = k.emit(name, *sources, *immediates)
            if out == "pred":
                made = k.selp.u32(1, 0, made)
            place = k.add.s64(k.args.out, k.mul.wide.u32(thread, width // 8))
            k.emit(f"st.global.b{width}", place, made)
    return module.build()
