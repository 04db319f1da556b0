"""Importing the runtime, and assembling with it, imports nothing of CUDA."""

import subprocess
import sys
from pathlib import Path

CODE = """
import sys
import ptxgen.runtime
ptxgen.runtime.assembler.read_headers(".version 6.4\\n.target sm_70\\n")
loaded = [name for name in sys.modules if name.split(".")[0] in ("cuda", "torch", "cupy")]
assert not loaded, loaded
"""


def test_the_driver_is_not_imported_before_it_is_used() -> None:
    checkout = Path(__file__).resolve().parents[2]
    done = subprocess.run([sys.executable, "-c", CODE], cwd=checkout, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
