"""Damaged files of arrays."""

import contextlib
import math
from pathlib import Path

import mxcy as mx
from tests.fuzz.damage import damaged, generator
from tests.fuzz.harness import expected

COUNT = 1200
DATA = Path(__file__).resolve().parents[1] / "data"
_files = []


def prepare():
    """Read the files, and create those in NumPy's formats."""
    _files.extend(path.read_bytes() for path in sorted((DATA / "params").glob("*.params")))
    array = mx.nd.arange(12).reshape((3, 4))
    from mxcy.ndarray._files import serialization
    from mxcy.ndarray.state import block_of

    block = block_of(array)
    _files.append(serialization.dumps([block], ["a"], "npz"))
    _files.append(serialization.dumps([block], None, "npy"))


def case(seed):
    """Load a file and read its content."""
    rng = generator(seed)
    content = damaged(rng.choice(_files), rng)
    with expected():
        loaded = mx.nd.load_frombuffer(content)
        arrays = loaded.values() if isinstance(loaded, dict) else loaded
        for array in arrays:
            if array is not None and math.prod(array.shape) < 10**6:
                with contextlib.suppress(MemoryError):
                    array.asnumpy()
