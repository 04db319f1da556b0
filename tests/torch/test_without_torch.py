"""What is said where torch is not installed, and that ours does not stand in the way of theirs."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def in_a_fresh_python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    return (done.stdout + done.stderr).strip().splitlines()[-1]


def test_the_extra_is_named() -> None:
    said = in_a_fresh_python("import sys\nsys.modules['torch'] = None\nimport ptxgen.torch")
    assert said.startswith("ImportError: ptxgen.torch needs torch: pip install 'ptxgen[torch]'")


def test_inside_the_package_torch_is_the_library() -> None:
    stand_in = "import sys, types\ntheirs = sys.modules['torch'] = types.ModuleType('torch')\n"
    code = "import ptxgen.kernels\ntry:\n    import ptxgen.torch\nexcept AttributeError as error:\n    print(error)"
    assert "module 'torch' has no attribute" in in_a_fresh_python(stand_in + code)
