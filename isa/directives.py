"""Where directives and other things besides instructions exist, as far as that matters from sm_50 on."""

from __future__ import annotations

from isa.availability import ALWAYS, Availability, since

_CLUSTER = since("7.8", 90)
DIRECTIVES: dict[str, Availability] = {
    "maxntid": ALWAYS,
    "reqntid": ALWAYS,
    "minnctapersm": ALWAYS,
    "maxnctapersm": ALWAYS,
    "maxnreg": ALWAYS,
    "noreturn": since("6.4", 30),
    "reqnctapercluster": _CLUSTER,
    "explicitcluster": _CLUSTER,
    "maxclusterrank": _CLUSTER,
    "blocksareclusters": since("9.0", 90),
    "abi_preserve": since("9.0", 80),
    "abi_preserve_control": since("9.0", 80),
    "minperctamemory": since("9.4", 80),
}
PRAGMAS: dict[str, Availability] = {
    "nounroll": ALWAYS,
    "used_bytes_mask": since("8.3"),
    "enable_smem_spilling": since("8.7"),
    "frequency": since("9.0"),
}
ALIAS = since("6.3", 30)
COMMON = since("5.0")
MASKED_ADDRESS = since("7.1")
INLINED_AT = since("7.2")
UNIFIED_ATTRIBUTE = since("8.0", 90)
B128 = since("8.3", 70)
