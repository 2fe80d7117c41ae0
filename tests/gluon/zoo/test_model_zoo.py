"""The model zoo: names and shapes of parameters, outputs, and files of pretrained parameters."""

import gzip
import hashlib
import json
import re
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

import mxcy as mx
from mxcy.gluon.model_zoo import model_store, vision

GOLDEN = Path(__file__).parents[1] / "golden"
sys.path.insert(0, str(GOLDEN))
from zoo import COMPUTED, NAMED, computed, internals  # noqa: E402

sys.path.remove(str(GOLDEN))
CONTENT = json.loads(gzip.decompress((GOLDEN / "zoo.json.gz").read_bytes()))


@pytest.mark.parametrize("name", CONTENT["parameters"])
def test_parameters_are_those_of_mxnet(name):
    net = vision.get_model(name)
    parameters = net.collect_params()
    paths = {p.name: path for path, p in net._collect_params_with_prefix().items()}
    actual = [[p.name[len(net.prefix) :], paths[p.name]] for p in parameters.values()]
    assert actual == [entry[:2] for entry in CONTENT["parameters"][name]]


@pytest.mark.parametrize("name", NAMED)
def test_shapes_are_those_of_mxnet(name):
    net = vision.get_model(name)
    height = 299 if name == "inceptionv3" else 224
    symbol = net(mx.sym.Variable("data"))
    arguments, outputs, auxiliary = symbol.infer_shape(data=(1, 3, height, height))
    shapes = dict(zip(symbol.list_arguments(), arguments, strict=True))
    shapes.update(zip(symbol.list_auxiliary_states(), auxiliary, strict=True))
    for own, _, shape in CONTENT["parameters"][name]:
        assert list(shapes[net.prefix + own]) == shape, own
    assert outputs == [(1, 1000)]


@pytest.mark.parametrize("name", NAMED)
def test_operators_are_named_as_in_mxnet(name):
    assert internals(mx, name) == CONTENT["internals"][name]


@pytest.mark.parametrize("name", COMPUTED)
def test_outputs_are_those_of_mxnet(name):
    expected = np.array(CONTENT["outputs"][name])
    actual = computed(mx, name, *COMPUTED[name])
    assert np.abs(actual - expected).max() <= 1e-4 * np.abs(expected).max()


def test_parameters_travel_through_files(tmp_path):
    images = mx.nd.array(np.random.RandomState(0).rand(1, 3, 32, 32))
    first, second = (vision.resnet18_v1(classes=5, thumbnail=True) for _ in range(2))
    first.initialize(mx.init.Xavier())
    expected = first(images).asnumpy()
    first.save_parameters(str(tmp_path / "net.params"))
    second.load_parameters(str(tmp_path / "net.params"))
    np.testing.assert_array_equal(second(images).asnumpy(), expected)


def test_model_is_found_by_name():
    assert isinstance(vision.get_model("ResNet18_V2", classes=7), vision.ResNetV2)
    assert mx.gluon.model_zoo.get_model is vision.get_model
    with pytest.raises(ValueError, match="Model foo is not supported(.|\n)*inceptionv3"):
        vision.get_model("foo")
    assert isinstance(vision.get_model("MobileNetV2_0.5", classes=7), vision.MobileNetV2)
    with pytest.raises(AssertionError, match="SqueezeNet version 1.2"):
        vision.SqueezeNet("1.2")
    with pytest.raises(AssertionError, match="Invalid number of layers: 19"):
        vision.get_resnet(1, 19)
    with pytest.raises(AssertionError, match="Invalid resnet version: 3"):
        vision.get_resnet(3, 18)
    with pytest.raises(ValueError, match="3 channel counts, got 2"):
        vision.ResNetV1(vision.BasicBlockV1, [1, 1], [8, 8])


class Published:
    """A mirror with one small "model", and a folder for downloads."""

    def __init__(self, folder):
        self.mirror, self.root = folder / "mirror", folder / "models"
        archives = self.mirror / "gluon" / "models"
        archives.mkdir(parents=True)
        content = folder / "content.params"
        mx.nd.save(str(content), {"weight": mx.nd.arange(3)})
        self.sha1 = hashlib.sha1(content.read_bytes()).hexdigest()
        self.name = f"tiny-{self.sha1[:8]}.params"
        self.archive = archives / f"tiny-{self.sha1[:8]}.zip"
        with zipfile.ZipFile(self.archive, "w") as archive:
            archive.write(content, self.name)


@pytest.fixture
def published(tmp_path, monkeypatch):
    made = Published(tmp_path)
    monkeypatch.setitem(model_store._model_sha1, "tiny", made.sha1)
    return made


@pytest.mark.parametrize("as_address", [False, True])
def test_file_is_fetched_once(published, monkeypatch, as_address):
    mirror = published.mirror.as_uri() if as_address else str(published.mirror)
    monkeypatch.setenv("MXNET_GLUON_REPO", mirror)
    path = model_store.get_model_file("tiny", root=str(published.root))
    assert Path(path) == published.root / published.name
    assert mx.nd.load(path)["weight"].asnumpy().tolist() == [0, 1, 2]
    published.archive.unlink()
    assert model_store.get_model_file("tiny", root=str(published.root)) == path
    model_store.purge(root=str(published.root))
    assert not list(published.root.iterdir())


def test_home_is_where_files_are_kept(published, monkeypatch, tmp_path):
    monkeypatch.setenv("MXNET_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("MXNET_GLUON_REPO", str(published.mirror))
    assert Path(model_store.get_model_file("tiny")).parent == tmp_path / "home" / "models"


def test_damaged_file_is_fetched_again(published, monkeypatch, caplog):
    monkeypatch.setenv("MXNET_GLUON_REPO", str(published.mirror))
    published.root.mkdir()
    (published.root / published.name).write_bytes(b"half")
    path = model_store.get_model_file("tiny", root=str(published.root))
    assert "is damaged" in caplog.text
    assert mx.nd.load(path)["weight"].shape == (3,)


def test_wrong_content_is_refused(published, monkeypatch):
    monkeypatch.setenv("MXNET_GLUON_REPO", str(published.mirror))
    monkeypatch.setitem(model_store._model_sha1, "tiny", published.sha1[:8] + "0" * 32)
    with pytest.raises(mx.MXNetError, match="the SHA-1 of the file from .* is not"):
        model_store.get_model_file("tiny", root=str(published.root))
    assert not list(published.root.iterdir())


def test_missing_file_raises(tmp_path, monkeypatch):
    monkeypatch.setenv("MXNET_GLUON_REPO", str(tmp_path / "nowhere"))
    expected = f"{re.escape(str(tmp_path))}.*alexnet-44335d1f.params.*44335d1f.*MXNET_GLUON_REPO"
    with pytest.raises(mx.MXNetError, match=expected):
        vision.alexnet(pretrained=True, root=str(tmp_path))
    for make, file in (
        (vision.densenet121, "densenet121-f27dbf2d"),
        (vision.mobilenet0_5, "mobilenet0.5-8e9d539c"),
        (vision.mobilenet_v2_0_75, "mobilenetv2_0.75-e2be7b72"),
        (vision.squeezenet1_1, "squeezenet1.1-33ba0f93"),
    ):
        with pytest.raises(mx.MXNetError, match=f"{file}.params"):
            make(pretrained=True, root=str(tmp_path), device=mx.cpu())
    with pytest.raises(ValueError, match="Pretrained model for foo is not available"):
        model_store.get_model_file("foo", root=str(tmp_path))
