"""Build arrays and array files byte by byte, for the tests of files."""

import struct
from pathlib import Path

import numpy as np

from mxcy.ndarray._files import serialization
from mxcy.ndarray._files.blocks import Block

DATA = Path(__file__).parents[2] / "data" / "params"
V1, V2, V3 = 0xF993FAC8, 0xF993FAC9, 0xF993FACA

CSR = Block(
    np.array([1, 2, 3], np.float32), (2, 3), "csr", (np.array([0, 2, 3]), np.array([0, 2, 1]))
)
ROWS = Block(np.array([[1, 2], [3, 4]], np.float32), (5, 2), "row_sparse", (np.array([0, 3]),))


def pack(form, *values):
    return struct.pack("<" + form, *values)


def list_file(body, count=1, names=()):
    named = b"".join(pack("Q", len(name)) + name for name in names)
    return pack("3Q", 0x112, 0, count) + body + pack("Q", len(names)) + named


def array_file(*parts):
    return list_file(b"".join(parts))


def assert_same(ours, expected):
    if expected is None:
        assert ours is None
        return
    assert (ours.stype, ours.shape) == (expected.stype, expected.shape)
    pairs = [(ours.data, expected.data), *zip(ours.aux, expected.aux, strict=True)]
    for got, want in pairs:
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)


def round_trip(blocks, names=None, format=None):
    return serialization.loads(serialization.dumps(blocks, names, format))
