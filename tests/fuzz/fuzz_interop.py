"""Damaged files of other frameworks: safetensors, and PyTorch's checkpoints of both formats."""

import os
import tempfile

import numpy as np

from mxcy.interop import load_safetensors, load_torch, save_safetensors
from tests.fuzz.damage import damaged, generator
from tests.fuzz.harness import expected
from tests.interop.torch_writer import write, write_old

COUNT = 400
_files = []


def prepare():
    """Write a file of each format."""
    arrays = {"a": np.ones((2, 3), np.float32), "b": np.arange(4)}
    path = os.path.join(tempfile.mkdtemp(), "x")
    for writer, reader in ((save_safetensors, load_safetensors), (write, load_torch)):
        writer(path, arrays)
        with open(path, "rb") as file:
            _files.append((reader, file.read()))
    write_old(path, arrays)
    with open(path, "rb") as file:
        _files.append((load_torch, file.read()))
    _files.append(path)


def case(seed):
    """Load a file and read its content."""
    rng = generator(seed)
    reader, content = rng.choice(_files[:-1])
    with open(_files[-1], "wb") as file:
        file.write(damaged(content, rng))
    with expected():
        reader(_files[-1])
