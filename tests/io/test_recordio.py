"""`mx.recordio`: bytes, indices, processes, damage."""

import multiprocessing
import pickle
import random
import struct
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import mxcy as mx
from mxcy import recordio
from mxcy._files.record_stream import LIMIT, framed, next_record

MAGIC = bytes.fromhex("0a23d7ce")


def word(part, length):
    return MAGIC + struct.pack("<I", part << 29 | length)


# The bytes that real MXNet 1.9.1 and 2.0 write.
@pytest.mark.parametrize(
    ("payload", "written"),
    [
        (b"", word(0, 0)),
        (b"abcde", word(0, 5) + b"abcde\0\0\0"),
        (b"abcd" + MAGIC + b"efgh", word(1, 4) + b"abcd" + word(3, 4) + b"efgh"),
        (MAGIC, word(1, 0) + word(3, 0)),
        (b"ab" + MAGIC + b"cd", word(0, 8) + b"ab" + MAGIC + b"cd"),
        (MAGIC * 2 + b"x", word(1, 0) + word(2, 0) + word(3, 1) + b"x\0\0\0"),
    ],
)
def test_bytes_of_a_record(tmp_path, payload, written):
    path = str(tmp_path / "a.rec")
    writer = recordio.MXRecordIO(path, "w")
    writer.write(payload)
    writer.close()
    assert (tmp_path / "a.rec").read_bytes() == written
    reader = recordio.MXRecordIO(path, "r")
    assert reader.read() == payload and reader.read() is None


def payloads(count=200):
    draw = random.Random(1)
    for _ in range(count):
        pieces = draw.choices([MAGIC, MAGIC[:3], b"\0", b"abc", b"12345678"], k=draw.randint(0, 9))
        yield b"".join(pieces)


@pytest.fixture
def indexed(tmp_path):
    """A file of records full of magic numbers, with an index; and what is in it."""
    paths = str(tmp_path / "a.idx"), str(tmp_path / "a.rec")
    writer = recordio.MXIndexedRecordIO(*paths, "w")
    for key, payload in enumerate(payloads()):
        writer.write_idx(3 * key, payload)
    writer.close()
    return paths, list(payloads())


def test_records_are_read_in_order_and_by_key(indexed):
    paths, expected = indexed
    reader = recordio.MXIndexedRecordIO(*paths, "r")
    assert [reader.read() for _ in expected] == expected and reader.read() is None
    assert reader.keys == [3 * key for key in range(len(expected))]
    for key in (5, 0, 199):
        assert reader.read_idx(3 * key) == expected[key]
    with pytest.raises(KeyError):
        reader.read_idx(1)
    reader.reset()
    assert reader.read() == expected[0]
    with pytest.raises(AssertionError, match="for reading only"):
        reader.write(b"")


def test_threads_read_by_key_at_once(indexed):
    paths, expected = indexed
    reader = recordio.MXIndexedRecordIO(*paths, "r")
    keys = [3 * (i * 37 % len(expected)) for i in range(2000)]
    with ThreadPoolExecutor(8) as pool:
        actual = list(pool.map(reader.read_idx, keys))
    assert actual == [expected[key // 3] for key in keys]
    reader.read_idx(6)
    assert reader.read() == expected[3]


def test_keys_may_be_of_another_type(tmp_path):
    paths = str(tmp_path / "a.idx"), str(tmp_path / "a.rec")
    with pytest.raises(ValueError, match="Invalid flag"):
        recordio.MXIndexedRecordIO(*paths, "a")
    writer = recordio.MXIndexedRecordIO(*paths, "w", key_type=str)
    writer.write_idx("one", b"1")
    assert writer.tell() == 12
    writer.close()
    assert (tmp_path / "a.idx").read_text() == "one\t0\n"
    reader = recordio.MXIndexedRecordIO(*paths, "r", key_type=str)
    assert reader.read_idx("one") == b"1"
    with pytest.raises(mx.MXNetError, match="line 1 of .* is not key and offset"):
        recordio.MXIndexedRecordIO(*paths, "r")


def test_records_are_found_from_any_offset(indexed, tmp_path):
    paths, expected = indexed
    content = (tmp_path / "a.rec").read_bytes()
    starts = list(recordio.MXIndexedRecordIO(*paths, "r").idx.values()) + [len(content)]
    with open(paths[1], "rb") as file:
        for offset in range(0, len(content), 7):
            assert next_record(file, offset) == next(s for s in starts if s >= offset)


def test_readers_are_pickled_and_writers_not(indexed):
    paths, expected = indexed
    reader = recordio.MXIndexedRecordIO(*paths, "r")
    reader.read()
    again = pickle.loads(pickle.dumps(reader))
    assert again.read() == expected[0] and again.read_idx(6) == expected[2]
    assert reader.read() == expected[1]
    reader.close()
    assert not pickle.loads(pickle.dumps(reader)).is_open
    writer = recordio.MXRecordIO(paths[1], "w")
    with pytest.raises(RuntimeError, match="open for writing"):
        pickle.dumps(writer)


def _in_child(file, pipe):
    try:
        pipe.send(file.write(b"x") if file.writable else file.read())
    except RuntimeError as error:
        pipe.send(str(error))


def in_child(file):
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(target=_in_child, args=(file, theirs))
    process.start()
    answer = ours.recv()
    process.join()
    return answer


def test_a_forked_reader_begins_anew_and_a_writer_refuses(indexed):
    paths, expected = indexed
    reader = recordio.MXRecordIO(paths[1], "r")
    reader.read()
    reader.read()
    assert in_child(reader) == expected[0]
    assert reader.read() == expected[2]
    assert "Forbidden operation" in in_child(recordio.MXRecordIO(paths[1], "w"))


def test_damage_is_reported(tmp_path):
    path = tmp_path / "a.rec"
    record = b"".join(framed(b"abcde" * 3))
    first = b"".join(framed(b"first"))
    for length in (1, 7, 8, 15, len(record) - 1):
        path.write_bytes(first + record[:length])
        reader = recordio.MXRecordIO(str(path), "r")
        assert reader.read() == b"first"
        with pytest.raises(mx.MXNetError, match="is truncated"):
            reader.read()
    path.write_bytes(word(3, 0))
    with pytest.raises(mx.MXNetError, match="no record at offset 0"):
        recordio.MXRecordIO(str(path), "r").read()
    path.write_bytes(b"something else")
    reader = recordio.MXRecordIO(str(path), "r")
    with pytest.raises(mx.MXNetError, match="not a RecordIO file, or is damaged"):
        reader.read()
    reader.close()
    with pytest.raises(mx.MXNetError, match="is closed"):
        reader.read()
    with pytest.raises(mx.MXNetError, match="cannot open .*nothing.rec"):
        recordio.MXRecordIO(str(tmp_path / "nothing.rec"), "r")


def test_a_record_has_a_limit():
    with pytest.raises(mx.MXNetError, match="must have less than"):
        framed(bytearray(LIMIT))


def test_headers():
    packed = recordio.pack(recordio.IRHeader(0, 2.5, 7, 8), b"rest")
    assert packed == struct.pack("<IfQQ", 0, 2.5, 7, 8) + b"rest"
    assert recordio.unpack(packed) == (recordio.IRHeader(0, 2.5, 7, 8), b"rest")
    header, rest = recordio.unpack(recordio.pack((9, [1, 2, 3], 7, 8), b"rest"))
    assert header.flag == 3 and header.label.tolist() == [1, 2, 3] and rest == b"rest"
    assert header.label.dtype == np.float32
    for length in (10, 30):
        with pytest.raises(mx.MXNetError, match="unpack"):
            recordio.unpack(recordio.pack((0, [1, 2, 3], 7, 8), b"")[:length])


@pytest.mark.parametrize("ending", [".png", ".jpg", ".JPEG"])
def test_images_are_packed(ending):
    pytest.importorskip("cv2", reason="images need the extra 'image'")
    pixels = np.full((10, 10, 3), (20, 120, 220), np.uint8)
    header = recordio.IRHeader(0, [1.0, 2.0], 5, 0)
    quality = 9 if ending == ".png" else 95
    packed = recordio.pack_img(header, pixels, quality=quality, img_fmt=ending)
    header, actual = recordio.unpack_img(packed)
    assert header.label.tolist() == [1, 2] and actual.shape == pixels.shape
    np.testing.assert_allclose(actual, pixels, atol=0 if ending == ".png" else 3)
    assert recordio.unpack_img(packed, iscolor=0)[1].shape == (10, 10)
