"""Damaged files of arrays."""

import io
import tracemalloc

import numpy as np
import pytest

from mxcy.base import MXNetError
from mxcy.ndarray._files import serialization
from mxcy.ndarray._files.blocks import Block
from tests.ndarray.files.form import CSR, DATA, ROWS, V2, V3, array_file, list_file, pack

SMALL = ["csr_19", "rsp_19", "dense_dict_19", "dtypes_20", "leg", "np0", "g_20", "sparse_20"]


@pytest.mark.parametrize("file", SMALL)
def test_truncation_at_every_byte(file):
    content = (DATA / f"{file}.params").read_bytes()
    for length in range(len(content)):
        with pytest.raises(MXNetError, match="^cut"):
            serialization.loads(content[:length], "cut")


@pytest.mark.parametrize("value", [0x00, 0x80, 0xFF])
@pytest.mark.parametrize("file", SMALL)
def test_a_wrong_byte_anywhere(file, value):
    """A damaged file raises an error or reads as other values, without using much memory."""
    content = bytearray((DATA / f"{file}.params").read_bytes())
    tracemalloc.start()
    try:
        for position in range(0, len(content), 1 if len(content) < 1000 else 5):
            old, content[position] = content[position], value
            try:
                blocks, names = serialization.loads(content)
                assert names is None or len(names) == len(blocks)
            except MXNetError as error:
                assert str(error).startswith("<buffer>")
            content[position] = old
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()


HUGE = 2**62


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "at byte 0: expected .* found nothing"),
        (b"\x89PNG\r\n\x1a\n", "at byte 0: expected 12 01 00 .* found 89 50 4e 47"),
        (pack("2Q", 0x112, 0), "at byte 16: the number of arrays needs 8 bytes, .* only 0 left"),
        (pack("3Q", 0x112, 0, HUGE), f"{HUGE} arrays do not fit in 0 bytes"),
        (array_file(pack("I", 33)), "at byte 24: expected an array's magic number.* found 0x21"),
        (array_file(pack("Iii", V2, 3, 0)), "at byte 28: storage type 3 in version 2"),
        (array_file(pack("Iii", V3, 2, 0)), "storage type 2 in version 3"),
        (array_file(pack("Iiiq", V2, -1, 1, 1)), "without storage type"),
        (array_file(pack("Iii", V2, 0, 33)), "at byte 32: expected 0 to 32 dimensions, found 33"),
        (array_file(pack("Iii", V2, 0, -2)), "expected 0 to 32 dimensions, found -2"),
        (array_file(pack("Iiiq3i", V2, 0, 1, 1, 1, 0, 15)), "element type from 0 to 12, found 15"),
        (
            array_file(pack("Iiiq3i", V2, 0, 1, 1, 1, 0, 13)),
            "complex numbers are only supported in .npy",
        ),
        (array_file(pack("Iiiq3i", V2, 0, 1, -1, 1, 0, 0)), r"shape \(-1,\)"),
        (array_file(pack("Iii2q3i", V2, 0, 2, HUGE, HUGE, 1, 0, 0)), "only 8 left"),
        (array_file(pack("Iii2q3i", V2, 0, 2, HUGE, -HUGE, 1, 0, 0)), "dimensions >= 0"),
        (array_file(pack("Iii3q3i", V2, 0, 3, HUGE, 0, HUGE, 1, 0, 0)), "is too large"),
        (list_file(b"", 0, [b"a"]), "at byte 24: expected 0 or 0 names, found 1"),
        (list_file(pack("I", 0), 1, [b"\xff"]), "at byte 44: a name that is not UTF-8"),
        (list_file(pack("I", 0))[:-8] + pack("2Q", 1, HUGE), f"a name needs {HUGE} bytes"),
        (b"PK\x03\x04" + bytes(100), "not a valid .npz file"),
        (b"\x93NUMPY\x04\x00", "expected a .npy file of version 1 to 3"),
        (b"\x93NUMPY\x02\x00" + pack("I", 10**6), "at byte 8: a .npy header of 1000000 bytes"),
    ],
)
def test_errors_tell_position_and_expectation(content, message):
    with pytest.raises(MXNetError, match=message):
        serialization.loads(content)


@pytest.mark.parametrize(
    "header",
    [
        "",
        "[]",
        "{'descr': '<f4'}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': 3}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (True,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
        "{'descr': '|O', 'fortran_order': False, 'shape': ()}",
        "{'descr': '<c32', 'fortran_order': False, 'shape': ()}",
        "{'descr': {}, 'fortran_order': False, 'shape': ()}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904,)}",
        "((((" * 1000,
        "__import__('os').abort()",
    ],
)
def test_bad_npy_headers(header):
    content = b"\x93NUMPY\x01\x00" + pack("H", len(header)) + header.encode() + bytes(8)
    with pytest.raises(MXNetError, match="^x.npy: at byte"):
        serialization.loads(content, "x.npy")


@pytest.mark.parametrize(
    ("block", "message"),
    [
        (Block(CSR.data, (2, 2), "csr", CSR.aux), "column ids outside 0 to 1"),
        (Block(CSR.data, (3, 3), "csr", CSR.aux), "row pointers that do not fit"),
        (Block(CSR.data[:2], (2, 3), "csr", CSR.aux), "csr data of shape"),
        (Block(CSR.data, (6,), "csr", CSR.aux), "csr data of shape"),
        (Block(CSR.data, (2, 3), "csr", (np.array([0, 4, 3]), CSR.aux[1])), "outside|descending"),
        (Block(CSR.data, (2, 3), "csr", (np.array([1, 2, 3]), CSR.aux[1])), "do not fit"),
        (Block(ROWS.data, (3, 2), "row_sparse", ROWS.aux), "row ids outside 0 to 2"),
        (Block(ROWS.data, (5, 3), "row_sparse", ROWS.aux), "row_sparse data of shape"),
        (Block(ROWS.data, (5, 2), "row_sparse", (np.array([-1, 3]),)), "row ids outside"),
        (Block(ROWS.data, (-5, 2), "row_sparse", ROWS.aux), r"shape \(-5, 2\)"),
        (Block(ROWS.data, (5, 2), "row_sparse", (np.array([0.0, 3]),)), "indices|integers"),
        (Block(ROWS.data, (5, 2), "row_sparse", (np.array([[0, 3]]),)), "indices|integers"),
    ],
)
@pytest.mark.parametrize("format", [None, "npz"])
def test_sparse_arrays_that_do_not_fit_together(block, message, format):
    content = serialization.dumps([block], ["s"], format)
    with pytest.raises(MXNetError, match=message):
        serialization.loads(content)


def test_a_small_archive_cannot_claim_much():
    file = io.BytesIO()
    np.savez_compressed(file, np.zeros(10))
    content = file.getvalue()
    index = content.rindex(b"PK\x01\x02")
    grown = content[: index + 24] + pack("I", 2**31) + content[index + 28 :]
    with pytest.raises(MXNetError, match="cannot decompress to"):
        serialization.loads(grown)
