"""Every version of MXNet's format, written byte by byte."""

import struct

import numpy as np
import pytest

from mxcy.ndarray._files import serialization
from mxcy.ndarray._files.blocks import Block
from tests.ndarray.files.form import V1, V2, V3, array_file, assert_same, list_file, pack

VALUES = pack("2f", 5, 6)


@pytest.mark.parametrize(
    "parts",
    [
        [pack("2I", 1, 2), pack("3i", 1, 0, 0)],
        [pack("Iiq", V1, 1, 2), pack("3i", 1, 0, 0)],
        [pack("Iiiq", V2, 0, 1, 2), pack("3i", 1, 0, 0)],
        [pack("Iiiq", V2, 0, 1, 2), pack("3i", 2, 3, 0)],
        [pack("Iiiq", V2, 0, 1, 2), pack("3i", 9, 0, 0)],
        [pack("Iiiq", V3, 0, 1, 2), pack("3i", 3, 1, 0)],
    ],
    ids=["legacy", "V1", "V2", "gpu", "unknown device", "V3"],
)
def test_versions(parts):
    (block,), _ = serialization.loads(array_file(*parts, VALUES))
    assert_same(block, Block(np.array([5, 6], np.float32)))
    assert block.device == struct.unpack("<2i", parts[1][:8])


@pytest.mark.parametrize(
    "head",
    [
        pack("I", 0),
        pack("Ii", V1, 0),
        pack("Iii", V2, 0, 0),
        pack("Iii", V2, 0, -1),
        pack("Iii", V2, -1, 0),
        pack("Iii", V3, 0, -1),
    ],
)
def test_no_array(head):
    two = list_file(head + pack("Iiiq3i", V2, 0, 1, 2, 1, 0, 0) + VALUES, 2)
    (none, block), _ = serialization.loads(two)
    assert none is None
    assert block.data.tolist() == [5, 6]


def test_scalar():
    (block,), _ = serialization.loads(array_file(pack("Iii3if", V3, 0, 0, 1, 0, 0, 5)))
    assert block.shape == ()
    assert block.data[()] == 5


def test_deviations_that_mxnet_tolerates():
    body = pack("Iiiq3i", V2, 0, 1, 2, 1, 0, 0) + VALUES
    content = pack("3Q", 0x112, 7, 1) + body + pack("Q", 0) + b"more"
    (block,), _ = serialization.loads(content)
    assert block.data.tolist() == [5, 6]
    _, names = serialization.loads(list_file(body * 2, 2, [b"a", b"a"]))
    assert names == ["a", "a"]


def test_booleans_are_zero_or_one():
    (block,), _ = serialization.loads(array_file(pack("Iiiq3i", V2, 0, 1, 3, 1, 0, 7), b"\0\1\7"))
    assert block.data.view(np.uint8).tolist() == [0, 1, 1]
