"""NVRTC, if it is installed, and sources that must not spill registers."""

import re

import pytest

from mxcy.gpu.compile import Nvrtc, compiler
from mxcy.ops.core.infer import Spec

__all__ = ["ARCHITECTURES", "SPEC", "compiles_without_spills", "needs_nvrtc"]

SPEC = {0: Spec((1000,), 0), 1: Spec((1000,), 1), 2: Spec((1000,), 2), 6: Spec((1000,), 6)}

_installed = isinstance(compiler(), Nvrtc)
needs_nvrtc = pytest.mark.skipif(
    not _installed, reason="NVRTC is not installed; pip install nvidia-cuda-nvrtc"
)

#: CUDA 13 dropped Volta
OLDEST = (70,) if _installed and compiler().version.startswith("nvrtc 12") else ()
ARCHITECTURES = (*OLDEST, 75, 80, 90, 100)


def compiles_without_spills(text, architecture):
    """Compile a source and check that its kernels spill no registers."""
    image, _, log = compiler().compile(text, architecture, ["-Xptxas=-v"])
    assert image.startswith(b"\x7fELF")
    kernels = re.findall(r"properties for (\S+)\n.*?(\d+) bytes spill stores, (\d+) bytes", log)
    assert kernels
    assert [kernel for kernel in kernels if kernel[1:] != ("0", "0")] == [], text
