"""Variables for the source and location of files."""

import functools
import hashlib
import http.server
import os
import struct
import threading
import zipfile
import zlib

import numpy as np
import pytest

import mxcy as mx
from mxcy._library.image_size import pixel_size
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
    """The mirror behind a web server that counts requests."""
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
        net.weight.shape,
        net.bias.shape,
    }
    asked = capfd.readouterr().err
    assert asked.count("GET /gluon/models/tiny-") == 1
    assert fetched() == path and "GET" not in capfd.readouterr().err  # it is cached
    monkeypatch.setitem(
        model_store._model_sha1, "tiny", model_store._model_sha1["tiny"][:8] + "0" * 32
    )
    with pytest.raises(mx.MXNetError, match="the SHA-1 of the file from .* is not"):
        fetched()
    assert not os.path.exists(path)


@pytest.mark.parametrize("scheme", ["", "file://"])
def test_gluon_repo_may_be_a_folder(mirror, monkeypatch, scheme):
    monkeypatch.setenv("MXNET_GLUON_REPO", f"{scheme}{mirror}")
    assert os.path.isfile(fetched())


def test_unreachable_repository(mirror, monkeypatch, tmp_path):
    monkeypatch.setenv("MXNET_GLUON_REPO", str(tmp_path / "empty"))
    with pytest.raises(mx.MXNetError) as caught:
        fetched()
    for part in ("tiny", model_store._model_sha1["tiny"], "empty/gluon/models", "MXNET_GLUON_REPO"):
        assert part in str(caught.value)


def test_home(tmp_path):
    """The folder of all cached files; ``~`` is expanded, and later changes count."""
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


# --- limits on announced sizes --------------------------------------------------------------------


def png(width, height, pixels=b""):
    """A PNG image that claims a size, with other content."""

    def chunk(kind, content):
        head = struct.pack(">I", len(content)) + kind + content
        return head + struct.pack(">I", zlib.crc32(kind + content))

    head = struct.pack(">2I5B", width, height, 8, 0, 0, 0, 0)
    body = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(pixels)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


def test_max_image_pixels(monkeypatch):
    content = png(30000, 20000)
    with pytest.raises(
        mx.MXNetError, match="30000 x 20000 pixels exceeds MXCY_MAX_IMAGE_PIXELS=100000000"
    ):
        mx.image.imdecode(content)
    with pytest.raises(mx.MXNetError, match=r"\d+ bytes cannot hold an image of 9000 x 9000"):
        mx.image.imdecode(png(9000, 9000))
    good = png(4, 3, b"\0abcd" * 3)
    assert mx.image.imdecode(good).shape == (3, 4, 3)
    monkeypatch.setenv("MXCY_MAX_IMAGE_PIXELS", "11")
    for decode in (mx.image.imdecode, mx.nd.imdecode, lambda c: mx.recordio.unpack_img(record(c))):
        with pytest.raises(mx.MXNetError, match="4 x 3 pixels exceeds MXCY_MAX_IMAGE_PIXELS=11"):
            decode(good)


def record(content):
    return mx.recordio.pack(mx.recordio.IRHeader(0, 1.0, 1, 0), content)


@pytest.mark.parametrize("ending", [".jpg", ".png", ".bmp", ".webp", ".gif"])
@pytest.mark.parametrize("colours", [1, 3])
def test_sizes_of_images(ending, colours):
    cv2 = pytest.importorskip("cv2")
    pixels = np.zeros((5, 300, colours), np.uint8)
    if not cv2.haveImageWriter("x" + ending) or (ending, colours) == (".gif", 1):
        pytest.skip(f"OpenCV does not write {ending} of {colours} colours")
    assert pixel_size(cv2.imencode(ending, pixels)[1].tobytes()) == (300, 5)


def test_max_announced_bytes(monkeypatch):
    """132 bytes that claim to hold 2 GB."""
    head = struct.pack("<3QIi", 0x112, 0, 1, 0xF993FAC9, 2)
    shapes = struct.pack("<iq", 1, 0) + struct.pack("<i2q", 2, 250_000_000, 10)
    rest = struct.pack("<3i", 1, 0, 0) + 2 * struct.pack("<iiq", 6, 1, 0) + struct.pack("<Q", 0)
    content = head + shapes + rest
    with pytest.raises(mx.MXNetError, match="needs 2000000008 bytes .*ANNOUNCED_BYTES=268435456"):
        mx.nd.load_frombuffer(content)
    small = content.replace(struct.pack("<q", 250_000_000), struct.pack("<q", 5))
    assert mx.nd.load_frombuffer(small)[0].shape == (5, 10)
    monkeypatch.setenv("MXCY_MAX_ANNOUNCED_BYTES", "47")
    with pytest.raises(mx.MXNetError, match="needs 48 bytes"):
        mx.nd.load_frombuffer(small)
