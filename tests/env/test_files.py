"""Variables that decide where files come from and where they are kept."""

import functools
import hashlib
import http.server
import os
import threading
import zipfile

import pytest

import mxcy as mx
from mxcy.gluon.model_zoo import model_store
from tests.env.run import python


@pytest.fixture
def mirror(tmp_path, monkeypatch):
    """A folder with the published file of a small network, under the name of a real one."""
    folder = tmp_path / "mirror" / "gluon" / "models"
    folder.mkdir(parents=True)
    net = mx.gluon.nn.HybridSequential(prefix="tiny_")
    with net.name_scope():
        net.add(mx.gluon.nn.Dense(2, in_units=3))
    net.initialize(mx.init.One())
    plain = tmp_path / "tiny.params"
    net.save_parameters(str(plain))
    sha1 = hashlib.sha1(plain.read_bytes()).hexdigest()
    with zipfile.ZipFile(folder / f"tiny-{sha1[:8]}.zip", "w") as archive:
        archive.write(plain, f"tiny-{sha1[:8]}.params")
    monkeypatch.setitem(model_store._model_sha1, "tiny", sha1)
    monkeypatch.setenv("MXNET_HOME", str(tmp_path / "home"))
    return tmp_path / "mirror"


@pytest.fixture
def address(mirror):
    """The mirror behind a web server; its requests are counted."""
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(mirror))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def fetched():
    return model_store.get_model_file("tiny")


@pytest.mark.parametrize("ending", ["", "/"])
def test_gluon_repo(address, monkeypatch, tmp_path, ending, capfd):
    """Pretrained parameters come from the address, and their checksum is compared."""
    monkeypatch.setenv("MXNET_GLUON_REPO", address + ending)
    path = fetched()
    assert os.path.dirname(path) == str(tmp_path / "home" / "models")
    net = mx.gluon.nn.Dense(2, in_units=3)
    assert {array.shape for array in mx.nd.load(path).values()} == {
        net.weight.shape, net.bias.shape,
    }  # fmt: skip
    asked = capfd.readouterr().err
    assert asked.count("GET /gluon/models/tiny-") == 1
    assert fetched() == path and "GET" not in capfd.readouterr().err  # it is kept
    monkeypatch.setitem(
        model_store._model_sha1, "tiny", model_store._model_sha1["tiny"][:8] + "0" * 32
    )
    with pytest.raises(mx.MXNetError, match="has not the expected SHA-1"):
        fetched()
    assert not os.path.exists(path)


@pytest.mark.parametrize("scheme", ["", "file://"])
def test_gluon_repo_may_be_a_folder(mirror, monkeypatch, scheme):
    monkeypatch.setenv("MXNET_GLUON_REPO", f"{scheme}{mirror}")
    assert os.path.isfile(fetched())


def test_a_repo_that_does_not_answer(mirror, monkeypatch, tmp_path):
    monkeypatch.setenv("MXNET_GLUON_REPO", str(tmp_path / "empty"))
    with pytest.raises(mx.MXNetError) as caught:
        fetched()
    for part in ("tiny", model_store._model_sha1["tiny"], "empty/gluon/models", "MXNET_GLUON_REPO"):
        assert part in str(caught.value)


def test_home(tmp_path):
    """The folder of all that is kept; ``~`` is expanded, and later changes count."""
    code = (
        "import json, mxcy as mx\n"
        "found = [mx.base.data_dir()]\n"
        "mx.util.setenv('MXNET_HOME', '~/there')\n"
        "print(json.dumps([*found, mx.base.data_dir(), mx.base.data_dir_default()]))\n"
    )
    home = str(tmp_path)
    first = python(code, MXNET_HOME="/data/mx", HOME=home).value
    assert first == ["/data/mx", f"{home}/there", f"{home}/.mxnet"]
    assert python(code, MXNET_HOME=None, HOME=home).value[0] == f"{home}/.mxnet"


def test_a_home_that_cannot_be_written(mirror, monkeypatch, tmp_path):
    blocked = tmp_path / "file"
    blocked.touch()
    monkeypatch.setenv("MXNET_HOME", str(blocked))
    monkeypatch.setenv("MXNET_GLUON_REPO", str(mirror))
    with pytest.raises(mx.MXNetError, match=f"{blocked}/models"):
        fetched()
