"""PyTorch checkpoints: both formats, without running code named in a file."""

import contextlib
import os
import pickle
import resource
from pathlib import Path

import numpy as np
import pytest

from mxcy.base import MXNetError
from mxcy.interop import load_torch
from tests.interop.torch_writer import Claimed, write, write_old


def state():
    rng = np.random.RandomState(0)
    weight = rng.randn(3, 4).astype(np.float32)
    return {
        "weight": weight,
        "turned": weight.T,
        "number": np.array(2.5),
        "none": np.zeros((0, 3), np.float32),
        "inner": {"epoch": 3, "list": [np.array([True, False]), "text"]},
    }


@pytest.mark.parametrize("writer", [write, write_old])
def test_both_formats(tmp_path, writer):
    path, given = tmp_path / "x.pth", state()
    writer(path, given)
    actual = load_torch(path)
    assert list(actual) == list(given)
    for name in ("weight", "turned", "number", "none"):
        assert actual[name].dtype == given[name].dtype
        np.testing.assert_array_equal(actual[name].asnumpy(), given[name])
    assert actual["inner"]["epoch"] == 3 and actual["inner"]["list"][1] == "text"
    assert actual["inner"]["list"][0].asnumpy().tolist() == [True, False]


class Evil:
    def __reduce__(self):
        return os.mkdir, ("made_by_a_checkpoint",)


def test_pickled_callables_are_not_called(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("x.pth", {}, {"data.pkl": pickle.dumps(Evil(), 2)})
    with pytest.raises(MXNetError, match="refers to posix.mkdir"):
        load_torch("x.pth")
    (tmp_path / "old.pth").write_bytes(pickle.dumps(Evil(), 2))
    with pytest.raises(MXNetError, match="refers to posix.mkdir"):
        load_torch("old.pth")
    assert not (tmp_path / "made_by_a_checkpoint").exists()


@pytest.mark.parametrize(
    "changes, text",
    [
        ({"data/0": None}, "storage archive/data/0 of 48 bytes is missing"),
        ({"data/0": b"1234"}, "storage archive/data/0 of 48 bytes is missing"),
        ({"byteorder": b"big"}, "big-endian"),
        ({"data.pkl": b"\x80\x02"}, "rejected"),
        ({"data.pkl": None}, "expected one data.pkl"),
    ],
)
def test_damaged_archives(tmp_path, changes, text):
    write(tmp_path / "x.pth", state(), changes)
    with pytest.raises(MXNetError, match=text):
        load_torch(tmp_path / "x.pth")


def test_truncated_files(tmp_path):
    path = tmp_path / "x.pth"
    for writer in (write, write_old):
        writer(path, state())
        data = path.read_bytes()
        for part in (0, 3, 30, len(data) // 2, len(data) - 1):
            path.write_bytes(data[:part])
            with pytest.raises(MXNetError, match="x.pth"):
                load_torch(path)


@pytest.mark.parametrize(
    "shape, strides, text",
    [
        ((9,), (1,), "more than the 8 elements"),
        ((2, 4), (5, 1), "more than the 8 elements"),
        ((1 << 20, 1 << 20), (0, 0), "repeats"),
        ((2, -4), (4, 1), "shape"),
        ((2, 4), (4,), "strides"),
    ],
)
def test_tensors_beyond_their_storage(tmp_path, shape, strides, text):
    for writer in (write, write_old):
        writer(tmp_path / "x.pth", {"x": Claimed(np.ones(8, np.float32), shape, strides)})
        with pytest.raises(MXNetError, match=f"'x': .*{text}"):
            load_torch(tmp_path / "x.pth")


@contextlib.contextmanager
def limited_memory(extra):
    """Limit this process to a number of additional bytes."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + extra, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def test_a_memo_cannot_ask_for_all_memory(tmp_path):
    """C's unpickler allocates a table as long as the largest index, here a four-byte one."""
    bomb = b"\x80\x02Nr\xf0\xff\xff\xffq\x000."
    write(tmp_path / "x.pth", {}, {"data.pkl": bomb})
    (tmp_path / "old.pth").write_bytes(bomb)
    for name in ("x.pth", "old.pth"):
        with limited_memory(1 << 30), pytest.raises(MXNetError, match=name):
            load_torch(tmp_path / name)
