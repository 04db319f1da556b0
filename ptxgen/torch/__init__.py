"""Products on tensor cores as operators of torch, for compiled programs and with gradients (see README.md)."""

try:
    import torch as torch
except ImportError as error:
    raise ImportError(f"ptxgen.torch needs torch: pip install 'ptxgen[torch]' ({error})") from error

from ptxgen.torch.gradients import matmul

__all__ = ["matmul"]
