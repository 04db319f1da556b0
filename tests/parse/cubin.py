"""What ptxas makes of a text."""

import struct
import subprocess
from pathlib import Path

from isa.targets import target as target_named
from tests.oracles.ptxas import find_ptxas

KEPT = (".text.", ".nv.info", ".nv.constant", ".nv.global.init", ".nv.callgraph", ".rel.text", ".rela.text")


def sections(image: bytes) -> dict[str, bytes]:
    """The sections of an ELF image of 64 bits by name, code and data alone: names and line information left out."""
    (offset,) = struct.unpack_from("<Q", image, 40)
    size, count, names = struct.unpack_from("<HHH", image, 58)
    heads = [struct.unpack_from("<IIQQQQIIQQ", image, offset + index * size) for index in range(count)]
    found: dict[str, bytes] = {}
    for head in heads:
        start = heads[names][4] + head[0]
        name = image[start : image.index(b"\0", start)].decode()
        if name.startswith(KEPT):
            found[name] = image[head[4] : head[4] + head[5]]
    return found


def machine_code(text: str, folder: Path, target: str) -> dict[str, bytes]:
    """What ptxas makes of a text, to be linked where it can be (functions without the ABI cannot): sections by name."""
    source, out = folder / "module.ptx", folder / "module.cubin"
    source.write_text(text)
    command = [str(find_ptxas(target_named(target))), f"-arch={target}", str(source), "-o", str(out)]
    done = subprocess.run([*command, "-c"], capture_output=True, text=True, check=False)
    if "requires ABI" in done.stderr:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return sections(out.read_bytes())
