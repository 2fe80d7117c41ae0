"""Helpers: splitting, clipping, downloads, hooks."""

import contextlib
import hashlib
import math
import pickle
import sys
import types
from collections import OrderedDict

import numpy as np
import pytest

import mxcy as mx
from mxcy.gluon import utils


@pytest.mark.parametrize(
    ("size", "slices", "sizes"),
    [(6, 3, [2, 2, 2]), (7, 3, [3, 2, 2]), (8, 3, [3, 3, 2]), (1, 2, [1, 0])],
)
def test_split_data(size, slices, sizes):
    parts = utils.split_data(mx.nd.arange(size), slices, even_split=False)
    assert [part.shape[0] for part in parts] == sizes
    assert np.concatenate([part.asnumpy() for part in parts]).tolist() == list(range(size))


def test_split_data_along_another_axis():
    left, right = utils.split_data(mx.nd.array([[1, 2], [3, 4]]), 2, batch_axis=1)
    assert left.asnumpy().tolist() == [[1], [3]] and right.asnumpy().tolist() == [[2], [4]]


def test_split_data_refuses():
    with pytest.raises(ValueError, match="cannot be evenly split into 2"):
        utils.split_data(mx.nd.arange(3), 2)


def test_split_and_load():
    parts = utils.split_and_load([1, 2, 3, 4], [mx.cpu(0), mx.cpu(1)])
    assert [part.context for part in parts] == [mx.cpu(0), mx.cpu(1)]
    assert parts[1].asnumpy().tolist() == [3, 4]
    assert utils.split_and_load(np.ones(3), [mx.cpu(2)])[0].context == mx.cpu(2)
    assert [part.shape for part in utils.split_and_load(mx.nd.ones(3), "cpu(1)")] == [(3,)]


def test_clip_global_norm():
    def arrays():
        return [mx.nd.ones((2, 2)), mx.nd.ones(3) * 2]

    clipped = arrays()
    assert utils.clip_global_norm(clipped, 1) == 4
    assert clipped[0].asnumpy().tolist() == [[0.25] * 2] * 2
    small = arrays()
    utils.clip_global_norm(small, 10)
    assert small[1].asnumpy().tolist() == [2, 2, 2]
    lazily = arrays()
    norm = utils.clip_global_norm(lazily, 1, check_isfinite=False)
    assert norm.shape == (1,) and norm.asscalar() == 4
    assert lazily[1].asnumpy().tolist() == [0.5] * 3


def test_clip_global_norm_warns_about_nan():
    with pytest.warns(UserWarning, match="nan or inf"):
        assert math.isnan(utils.clip_global_norm([mx.nd.array([float("nan")])], 1))


def test_download(tmp_path):
    source = tmp_path / "source.bin"
    source.write_bytes(b"hello")
    sha1 = hashlib.sha1(b"hello").hexdigest()
    folder = tmp_path / "folder"
    folder.mkdir()
    target = utils.download(source.as_uri(), path=str(folder), sha1_hash=sha1)
    assert target == str(folder / "source.bin")
    assert utils.check_sha1(target, sha1) and not utils.check_sha1(target, sha1[:10])
    source.write_bytes(b"other")
    assert utils.download(source.as_uri(), path=str(folder)) == target
    assert (folder / "source.bin").read_bytes() == b"hello"
    utils.download(source.as_uri(), path=str(folder), overwrite=True)
    assert (folder / "source.bin").read_bytes() == b"other"
    assert [path.name for path in folder.iterdir()] == ["source.bin"]


def test_download_retries_and_leaves_no_partial_file(tmp_path):
    target = tmp_path / "new" / "file"
    with pytest.warns(UserWarning, match="1 attempts left"), pytest.raises(OSError):
        utils.download((tmp_path / "missing").as_uri(), path=str(target), retries=1)
    source = tmp_path / "source"
    source.write_bytes(b"hello")
    with pytest.raises(OSError, match="the SHA-1 of the file from"):
        utils.download(source.as_uri(), path=str(target), sha1_hash="00", retries=0)
    assert list(target.parent.iterdir()) == []
    with pytest.raises(ValueError, match="file-name"):
        utils.download("file:///")


def test_shape_is_known():
    known = [utils.shape_is_known(shape) for shape in (None, (1, 2), (0, 2), (-1, 2), ())]
    assert known == [False, True, False, False, True]


def test_hook_handles():
    hooks = OrderedDict()
    with utils.HookHandle() as handle:
        handle.attach(hooks, print)
        assert list(hooks.values()) == [print]
        with pytest.raises(AssertionError, match="attached twice"):
            handle.attach(hooks, print)
    assert not hooks
    handle.detach()
    assert isinstance(pickle.loads(pickle.dumps(handle)), utils.HookHandle)


def serve(monkeypatch, answer):
    """Replace ``requests.get`` by a function, whether that package is installed or not."""
    module = types.ModuleType("requests")
    module.get = answer
    monkeypatch.setitem(sys.modules, "requests", module)


class Response:
    """The return value of ``requests.get``."""

    content = b"three parts"

    def __init__(self, status_code=200):
        self.status_code = status_code

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def iter_content(self, size):
        return iter([self.content[:5], self.content[5:6], self.content[6:]])


@pytest.mark.parametrize("verify", [True, False])
def test_requests_fetches_from_the_net(monkeypatch, tmp_path, verify):
    calls = []

    def get(url, **options):
        calls.append((url, options))
        return Response()

    serve(monkeypatch, get)
    url, target = "https://example.org/file.bin", tmp_path / "file.bin"
    told = contextlib.nullcontext() if verify else pytest.warns(UserWarning, match="Unverified")
    with told:
        assert utils.download(url, path=str(tmp_path), verify_ssl=verify) == str(target)
    assert calls == [(url, {"stream": True, "verify": verify})]
    assert target.read_bytes() == Response.content


def test_http_errors_are_failures(monkeypatch, tmp_path):
    serve(monkeypatch, lambda url, **options: Response(404))
    target = tmp_path / "file.bin"
    with pytest.raises(OSError, match="status 404"):
        utils.download("http://example.org/file.bin", path=str(target), retries=0)
    assert list(tmp_path.iterdir()) == []
