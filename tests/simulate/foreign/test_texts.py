"""Every text is there with its source, and some test runs it; at least 30 of nvcc and 15 of Triton."""

import re

from tests.simulate.foreign.texts import HERE


def test_every_kernel_has_a_source_and_a_test():
    tests = "".join(path.read_text(encoding="utf-8") for path in HERE.glob("test_*.py"))
    sources, texts = ({path.stem for path in (HERE / "cuda").glob(f"*.{ending}")} for ending in ("cu", "ptx"))
    assert sources == texts == set(re.findall(r'\bcuda\(\s*"(\w+)"', tests))
    assert len(texts) >= 30
    compiled = {path.stem for path in (HERE / "triton").glob("*.ptx")}
    kernels = set(
        re.findall(r"@triton\.jit\ndef (\w+)\(", (HERE / "triton" / "kernels.py").read_text(encoding="utf-8"))
    )
    assert compiled == set(re.findall(r'\btriton\(\s*"(\w+)"', tests))
    assert kernels <= compiled
    assert len(compiled) >= 15
