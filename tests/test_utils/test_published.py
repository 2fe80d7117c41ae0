"""Models, data and tools that MXNet's examples use."""

import zipfile

import numpy as np
import pytest

import mxcy as mx

utils = mx.test_utils


def test_models(tmp_path):
    source = str(tmp_path / "source")
    symbol = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc")
    mx.model.save_checkpoint(source, 7, symbol, {"fc_weight": mx.nd.ones((2, 3))}, {})
    files = {"symbol": f"file://{source}-symbol.json", "params": f"file://{source}-0007.params"}
    folder = tmp_path / "models"
    prefix, epoch = utils.download_model("small", str(folder), {"small": files})
    assert (prefix, epoch) == (str(folder / "small"), 0)
    loaded, arguments, _ = mx.model.load_checkpoint(prefix, epoch)
    assert loaded.tojson() == symbol.tojson() and list(arguments) == ["fc_weight"]
    assert utils.download_model("large", str(folder)) == (None, 0)
    with pytest.raises(mx.MXNetError, match="no address of params of small"):
        utils.download_model("small", str(folder), {"small": {"symbol": files["symbol"]}})


def test_addresses_of_published_models():
    models = utils.published._published()
    assert models["imagenet1k-resnet-18"]["params"] == (
        "http://data.mxnet.io/models/imagenet/resnet/18-layers/resnet-18-0000.params"
    )
    assert models["imagenet1k-inception-bn"]["params"].endswith("Inception-BN-0126.params")


def test_data_sets_are_fetched_once(tmp_path, monkeypatch):
    archive = tmp_path / "cifar10.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        for name in ("train.rec", "test.rec", "train.lst", "test.lst"):
            packed.writestr(f"cifar/{name}", name)
    (tmp_path / "mnist.pkl.gz").write_bytes(b"pickled")
    asked = []
    fetch = mx.gluon.utils.download

    def from_folder(url, **settings):
        asked.append(url)
        return fetch(f"file://{tmp_path}/{url.split('/')[-1]}", **settings)

    monkeypatch.setattr(mx.gluon.utils, "download", from_folder)
    for _ in range(2):
        utils.get_cifar10(str(tmp_path / "data"))
        utils.get_mnist_pkl(str(tmp_path / "data"))
    assert (tmp_path / "data" / "cifar" / "test.lst").read_text() == "test.lst"
    assert (tmp_path / "data" / "mnist.pkl.gz").exists()
    assert asked == [
        "http://data.mxnet.io/mxnet/data/cifar10.zip",
        "http://deeplearning.net/data/mnist/mnist.pkl.gz",
    ]


def test_path_of_the_packing_program(tmp_path, monkeypatch):
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "im2rec.py").touch()
    monkeypatch.setenv("SOME_HOME", str(tmp_path))
    assert utils.get_im2rec_path("SOME_HOME") == str(tmp_path / "tools" / "im2rec.py")
    monkeypatch.setattr(utils.published, "__file__", str(tmp_path / "mxcy" / "a" / "b.py"))
    monkeypatch.delenv("SOME_HOME")
    assert utils.get_im2rec_path("SOME_HOME") == str(tmp_path / "tools" / "im2rec.py")
    (tmp_path / "tools" / "im2rec.py").unlink()
    with pytest.raises(OSError, match="tools/im2rec.py"):
        utils.get_im2rec_path("SOME_HOME")


def test_optimizers_that_draw():
    one, other = (mx.optimizer.SGLD(learning_rate=0.1) for _ in range(2))
    utils.compare_optimizer_noise_seeded(one, other, [(3, 4), (2,)], np.float32, noise_seed=3)
    other = mx.optimizer.SGLD(learning_rate=0.2)
    with pytest.raises(AssertionError):
        utils.compare_optimizer_noise_seeded(one, other, [(3, 4)], np.float32, noise_seed=3)


def test_names_of_mxnet_2():
    before = utils.default_device()
    utils.set_default_device(mx.cpu(1))
    assert utils.default_device() == utils.default_context() == mx.cpu(1)
    utils.set_default_device(before)
    assert utils.use_np_default_dtype is mx.util.use_np_default_dtype
