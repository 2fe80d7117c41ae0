"""Files of arrays: every version of MXNet's format, NumPy's files, and damaged ones."""

import io
import struct
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import mxcy as mx
from mxcy._base.dtypes import DTYPES, bfloat16, is_complex, name_of
from mxcy.base import MXNetError
from mxcy.ndarray._files import serialization
from mxcy.ndarray._files.blocks import Block

DATA = Path(__file__).parent.parent / "data" / "params"
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


# --- files of the real wheels ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("file", "format"),
    [
        ("csr_19", None),
        ("rsp_19", None),
        ("dense_dict_19", None),
        ("dense_list_19", "v1x"),
        ("dtypes_19", None),
        ("empty_19", None),
        ("g_19", None),
        ("g_19-0003", None),
        ("np0", None),
        ("dense_dict_20", "np"),
        ("dense_list_20", "np"),
        ("dtypes_20", "np"),
        ("empty_20", "np"),
        ("g_20", "npz"),
        ("g_20-0003", "npz"),
    ],
)
def test_real_files_are_recreated_byte_by_byte(file, format):
    path = DATA / f"{file}.params"
    blocks, names = serialization.load(path)
    assert serialization.dumps(blocks, names, format) == path.read_bytes()


def test_worked_example():
    block = Block(np.array([[1, 2, 3], [4, 5, 6]], np.float32))
    assert serialization.dumps([block]) == (DATA / "dense_list_19.params").read_bytes()
    (loaded,), names = serialization.load(DATA / "dense_list_20.params")
    assert names is None
    assert_same(loaded, block)


def test_named_arrays():
    blocks, names = serialization.load(DATA / "dense_dict_19.params")
    assert names == ["arg:w", "aux:m"]
    assert_same(blocks[0], Block(np.array([1, 2], np.float16)))
    assert_same(blocks[1], Block(np.array([7], np.int64)))


def test_sparse_arrays_of_real_files():
    for file, name, block in [("csr_19", "c", CSR), ("rsp_19", "r", ROWS)]:
        (loaded,), (given,) = serialization.load(DATA / f"{file}.params")
        assert given == name
        assert_same(loaded, block)


@pytest.mark.parametrize("version", ["19", "20"])
def test_every_element_type(version):
    blocks, names = serialization.load(DATA / f"dtypes_{version}.params")
    assert len(names) == {"19": 9, "20": 13}[version]
    for name, block in zip(names, blocks, strict=True):
        assert name_of(block.dtype_code) == name
        if name == "bfloat16":
            assert block.data.view(np.uint16).tolist() == [0x3F80, 0xC000]
        else:
            assert block.data.tolist() == [[0, 1, 0], [1, 1, 0]]


def test_numpy_archive_named_params():
    blocks, names = serialization.load(DATA / "g_20-0003.params")
    assert names == ["arg:0.weight", "arg:0.bias", "arg:1.weight", "arg:1.bias"]
    assert [block.shape for block in blocks] == [(3, 4), (3,), (2, 3), (2,)]
    with np.load(DATA / "g_20.params") as archive:
        for block, name in zip(blocks, names, strict=True):
            np.testing.assert_array_equal(block.data, archive[name.removeprefix("arg:")])


def test_sparse_arrays_of_a_numpy_archive():
    blocks, names = serialization.load(DATA / "sparse_20.params")
    assert names == ["r", "c", "d"]
    for block, expected in zip(blocks, [ROWS, CSR, Block(np.ones(2, np.float32))], strict=True):
        assert_same(block, expected)


def test_no_array_in_the_oldest_format():
    assert serialization.load(DATA / "leg.params") == ([None], ["k"])


@pytest.mark.parametrize("file", ["csr_20", "rsp_20"])
def test_refused_saves_of_the_real_wheel(file):
    with pytest.raises(MXNetError, match=rf"{file}.params: at byte 24: 1 arrays cannot follow"):
        serialization.load(DATA / f"{file}.params")


# --- versions by hand -----------------------------------------------------------------------------

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


def test_what_the_original_tolerates():
    body = pack("Iiiq3i", V2, 0, 1, 2, 1, 0, 0) + VALUES
    content = pack("3Q", 0x112, 7, 1) + body + pack("Q", 0) + b"more"
    (block,), _ = serialization.loads(content)
    assert block.data.tolist() == [5, 6]
    _, names = serialization.loads(list_file(body * 2, 2, [b"a", b"a"]))
    assert names == ["a", "a"]


def test_booleans_are_zero_or_one():
    (block,), _ = serialization.loads(array_file(pack("Iiiq3i", V2, 0, 1, 3, 1, 0, 7), b"\0\1\7"))
    assert block.data.view(np.uint8).tolist() == [0, 1, 1]


# --- round trips ----------------------------------------------------------------------------------


@pytest.mark.parametrize("format", [None, "v1x", "np", "npz"])
@pytest.mark.parametrize("code", [code for code in sorted(DTYPES) if not is_complex(code)])
def test_round_trip_of_element_types(code, format):
    dtype = DTYPES[code]
    bits = np.arange(24, dtype=np.uint8) % 2 if dtype == np.bool_ else np.arange(48, dtype=np.uint8)
    data = bits.view(dtype)
    data = data[: data.size // 6 * 6].reshape(2, 3, -1)
    (block,), names = round_trip([Block(data)], ["é/x"], format)
    assert names == ["é/x"]
    assert_same(block, Block(data))


@pytest.mark.parametrize("format", [None, "np", "npz", "npy"])
@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (1,) * 32])
def test_round_trip_of_shapes(shape, format):
    data = np.arange(np.prod(shape, dtype=int), dtype=np.int32).reshape(shape)
    (block,), _ = round_trip([Block(data)], None, format)
    assert_same(block, Block(data))


@pytest.mark.parametrize("format", [None, "v1x", "npz"])
def test_round_trip_of_sparse_arrays(format):
    empty_ids = np.zeros(0, np.int64)
    zero_rows = Block(np.zeros((0, 3), np.float16), (2, 3), "row_sparse", (empty_ids,))
    zero_csr = Block(np.zeros(0, np.float16), (2, 3), "csr", (empty_ids, empty_ids))
    blocks = [CSR, ROWS, zero_rows, zero_csr]
    loaded, names = round_trip(blocks, list("abcd"), format)
    assert names == list("abcd")
    for block, expected in zip(loaded, blocks, strict=True):
        assert_same(block, expected)


@pytest.mark.parametrize("format", [None, "v1x"])
def test_round_trip_without_array(format):
    loaded, names = round_trip([None, CSR], ["x", "y"], format)
    assert loaded[0] is None
    assert names == ["x", "y"]


@pytest.mark.parametrize("format", [None, "npz"])
def test_round_trip_of_nothing(format):
    assert round_trip([], None, format) == ([], None)


@pytest.mark.parametrize("format", [None, "np", "npz", "npy"])
def test_strided_data(format):
    data = np.arange(24, dtype=np.float64).reshape(4, 6).T[::2]
    (block,), _ = round_trip([Block(data)], None, format)
    assert_same(block, Block(data))
    assert block.data.flags.c_contiguous


def test_one_shape_of_zero_makes_all_arrays_numpy_shaped():
    plain = Block(np.ones(2, np.float32))
    scalar = Block(np.float32(1).reshape(()))
    assert serialization.dumps([plain])[24:28] == pack("I", V2)
    content = serialization.dumps([plain, scalar, ROWS])
    assert content[24:28] == pack("I", V3)
    assert content.count(pack("I", V3)) == 2
    assert content.count(pack("I", V2)) == 1


def test_v1x_takes_zero_size_but_no_scalar():
    content = serialization.dumps([Block(np.zeros((0, 3)))], format="v1x")
    assert content[24:28] == pack("I", V2)
    with pytest.raises(MXNetError, match="'v1x' cannot hold an array without dimensions"):
        serialization.dumps([Block(np.zeros(()))], format="v1x")


@pytest.mark.parametrize(
    ("blocks", "format", "message"),
    [
        ([CSR], "np", "'np' cannot hold a csr array"),
        ([None], "np", "'np' cannot hold no array"),
        ([None], "npz", "'npz' cannot hold 'arr_0'"),
        ([CSR], "npy", "exactly one dense array"),
        ([ROWS, ROWS], "npy", "exactly one dense array"),
        ([Block(np.zeros(2, np.complex64))], None, "complex64"),
    ],
)
def test_what_formats_cannot_hold(blocks, format, message):
    with pytest.raises(MXNetError, match=message):
        serialization.dumps(blocks, format=format)


def test_bad_arguments():
    with pytest.raises(ValueError, match="format must be None or one of v1x, np, npz, npy"):
        serialization.dumps([], format="v2")
    with pytest.raises(ValueError, match="1 arrays need as many names, got 2"):
        serialization.dumps([CSR], ["a", "b"])
    with pytest.raises(MXNetError, match="a name cannot be written"):
        serialization.dumps([CSR], ["\udc80"])
    with pytest.raises(MXNetError, match="name of 70009 bytes"):
        serialization.dumps([CSR], ["x" * 70000], "npz")


def test_single_arrays():
    for block in (CSR, ROWS, None, Block(np.ones((2, 2), np.float32)), Block(np.zeros(()))):
        packed = serialization.pack_array(block)
        assert_same(serialization.unpack_array(packed), block)
    with pytest.raises(MXNetError, match="<buffer>: at byte 0"):
        serialization.unpack_array(b"")


# --- NumPy ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("data", [np.arange(6.0).reshape(2, 3), np.array(True), np.zeros((0, 2))])
def test_numpy_reads_our_npy(data):
    content = serialization.dumps([Block(data)], format="npy")
    loaded = np.load(io.BytesIO(content))
    assert loaded.dtype == data.dtype
    np.testing.assert_array_equal(loaded, data, strict=True)


@pytest.mark.parametrize(
    "data",
    [
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.arange(6, dtype=">i4").reshape(3, 2),
        np.asfortranarray(np.arange(6, dtype=">f2").reshape(3, 2)),
        np.array([1], bfloat16),
        np.float32(3).reshape(()),
    ],
)
def test_npy_of_numpy(data):
    file = io.BytesIO()
    np.save(file, data)
    file.seek(0)
    (block,), names = serialization.load(file)
    assert names is None
    native = data.astype(data.dtype.newbyteorder("="))
    assert_same(block, Block(native))
    assert block.data.flags.c_contiguous


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_npz_of_numpy(save):
    file = io.BytesIO()
    save(file, np.arange(3), w=np.zeros((100, 100), np.float32))
    file.seek(0)
    blocks, names = serialization.load(file)
    assert dict(zip(names, [block.shape for block in blocks], strict=True)) == {
        "w": (100, 100),
        "arr_0": (3,),
    }


def test_numpy_reads_our_npz():
    content = serialization.dumps([CSR, Block(np.ones((2, 2)))], ["c", "d"], "npz")
    with np.load(io.BytesIO(content)) as archive:
        np.testing.assert_array_equal(archive["d"], np.ones((2, 2)))
        np.testing.assert_array_equal(archive["c/data"], [1, 2, 3])
        np.testing.assert_array_equal(archive["c/shape"], [2, 3])
        assert archive["c/format"] == b"csr"


def test_large_archives_use_64_bit_fields(monkeypatch):
    monkeypatch.setattr("mxcy.ndarray._files.npz._ZipWriter._LIMIT", 200)
    blocks = [Block(np.full(count, count, np.float32)) for count in (1, 200, 2, 300)]
    content = serialization.dumps(blocks, list("abcd"), "npz")
    with np.load(io.BytesIO(content)) as archive:
        for name, block in zip("abcd", blocks, strict=True):
            np.testing.assert_array_equal(archive[name], block.data)
    loaded, names = serialization.loads(content)
    assert names == list("abcd")
    for block, expected in zip(loaded, blocks, strict=True):
        assert_same(block, expected)


@pytest.mark.parametrize("stype", ["coo", "dia", ""])
def test_sparse_formats_that_mxcy_has_not(stype):
    content = serialization.dumps([CSR], ["c"], "npz")
    with np.load(io.BytesIO(content)) as archive:
        members = dict(archive)
    members["c/format"] = np.array(stype.encode())
    file = io.BytesIO()
    np.savez(file, **members)
    with pytest.raises(MXNetError, match=r"\[c/format\].*is not supported, only row_sparse, csr"):
        serialization.loads(file.getvalue())


# --- damaged files --------------------------------------------------------------------------------

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
    """A damaged file is refused or read as something else; it never takes much memory."""
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
        (pack("3Q", 0x112, 0, HUGE), f"{HUGE} arrays cannot follow in 0 bytes"),
        (array_file(pack("I", 33)), "at byte 24: expected an array's magic number.* found 0x21"),
        (array_file(pack("Iii", V2, 3, 0)), "at byte 28: storage type 3 in version 2"),
        (array_file(pack("Iii", V3, 2, 0)), "storage type 2 in version 3"),
        (array_file(pack("Iiiq", V2, -1, 1, 1)), "without storage type"),
        (array_file(pack("Iii", V2, 0, 33)), "at byte 32: expected 0 to 32 dimensions, found 33"),
        (array_file(pack("Iii", V2, 0, -2)), "expected 0 to 32 dimensions, found -2"),
        (array_file(pack("Iiiq3i", V2, 0, 1, 1, 1, 0, 15)), "element type from 0 to 12, found 15"),
        (array_file(pack("Iiiq3i", V2, 0, 1, 1, 1, 0, 13)), "complex numbers, which only .npy"),
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
        (Block(CSR.data, (2, 2), "csr", CSR.aux), "column ids outside of 0 to 1"),
        (Block(CSR.data, (3, 3), "csr", CSR.aux), "row pointers that do not fit"),
        (Block(CSR.data[:2], (2, 3), "csr", CSR.aux), "csr data of shape"),
        (Block(CSR.data, (6,), "csr", CSR.aux), "csr data of shape"),
        (Block(CSR.data, (2, 3), "csr", (np.array([0, 4, 3]), CSR.aux[1])), "outside|descend"),
        (Block(CSR.data, (2, 3), "csr", (np.array([1, 2, 3]), CSR.aux[1])), "do not fit"),
        (Block(ROWS.data, (3, 2), "row_sparse", ROWS.aux), "row ids outside of 0 to 2"),
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
    with pytest.raises(MXNetError, match="cannot come of"):
        serialization.loads(grown)


# --- files on disk --------------------------------------------------------------------------------


def test_save_and_load(tmp_path):
    path = tmp_path / "a.params"
    serialization.save(path, [CSR], ["c"])
    (block,), names = serialization.load(str(path))
    assert names == ["c"]
    assert_same(block, CSR)
    (block,), _ = serialization.load(f"file://{path}")
    assert_same(block, CSR)


def test_file_objects_are_used_from_their_position():
    for format in (None, "npz", "npy"):
        dense = Block(np.arange(5.0))
        file = io.BytesIO()
        file.write(b"head")
        serialization.save(file, [dense], format=format)
        file.seek(4)
        (block,), _ = serialization.load(file)
        assert_same(block, dense)


def test_files_that_cannot_be_opened(tmp_path):
    with pytest.raises(MXNetError, match=r"none\.params: cannot be read: No such file"):
        serialization.load(tmp_path / "none.params")
    with pytest.raises(MXNetError, match="Is a directory"):
        serialization.load(tmp_path)
    with pytest.raises(MXNetError, match="cannot be written: No such file"):
        serialization.save(tmp_path / "none" / "x.params", [])
    for use in (serialization.load, lambda name: serialization.save(name, [])):
        with pytest.raises(MXNetError, match="only local files"):
            use("s3://bucket/x.params")


def test_a_failed_save_leaves_the_old_file(tmp_path):
    path = tmp_path / "a.params"
    serialization.save(path, [CSR])
    old = path.read_bytes()
    with pytest.raises(MXNetError, match="cannot hold"):
        serialization.save(path, [Block(np.ones(3)), None], format="np")
    assert path.read_bytes() == old
    assert list(tmp_path.iterdir()) == [path]


def test_only_programs_write_to_loaded_arrays(tmp_path):
    """So plans may keep what they made of loaded weights."""
    mx.nd.save(str(tmp_path / "x.params"), [mx.nd.ones((3, 4))])
    (loaded,) = mx.nd.load(str(tmp_path / "x.params"))
    version = loaded.version
    assert loaded.version == version
    loaded[:] = 2
    assert loaded.version != version


def test_files_of_scipy(tmp_path):
    sparse = pytest.importorskip("scipy.sparse")
    matrix = sparse.csr_matrix(np.array([[0.0, 2, 0], [0, 0, 0], [1, 0, 3]], np.float32))
    sparse.save_npz(tmp_path / "a.npz", matrix)
    found = mx.nd.load(str(tmp_path / "a.npz"))
    assert list(found) == [""] and found[""].stype == "csr"
    np.testing.assert_array_equal(found[""].asnumpy(), matrix.toarray())
    np.savez(tmp_path / "b.npz", data=np.ones(2), shape=np.ones(1))
    assert sorted(mx.nd.load(str(tmp_path / "b.npz"))) == ["data", "shape"]
