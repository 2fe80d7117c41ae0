"""The classifiers of examples/image_classification, and the scoring table."""

import importlib.util
import json
import logging
import math
import sys
import types
from pathlib import Path

import numpy as np
import pytest

import mxcy as mx
from benchmarks.score.board import chosen
from benchmarks.score.contenders import OURS, Cell, Result
from benchmarks.score.graph import read_graph
from benchmarks.score.material import Material
from benchmarks.score.report import INT8_DEMANDS, lines, ratios
from examples.image_classification.symbols import NETWORKS, get_network, image_shape, resnet, vgg

EXAMPLE = Path(__file__).parents[2] / "examples" / "image_classification" / "benchmark_score.py"

# Numbers of weights that real MXNet 1.9.1 infers for these symbols.
WEIGHTS = {
    "alexnet": 50_844_008,
    "vgg-16": 138_357_544,
    "inception-bn": 11_295_240,
    "inception-v3": 23_834_568,
    "resnet-50": 25_549_486,
    "resnet-152": 60_185_262,
    "mobilenet-v2": 3_504_872,
    "resnet18_v1": 11_689_512,
}


@pytest.mark.parametrize("name", WEIGHTS)
def test_networks_have_the_size_of_the_originals(name):
    symbol = get_network(name)
    arguments, outputs, _ = symbol.infer_shape(data=(2, *image_shape(name)))
    assert outputs == [(2, 1000)]
    assert len(set(symbol.list_arguments())) == len(arguments)
    sizes = dict(zip(symbol.list_arguments(), map(math.prod, arguments), strict=True))
    del sizes["data"], sizes["softmax_label"]
    assert sum(sizes.values()) == WEIGHTS[name]


def test_small_images_have_networks_of_their_own():
    symbol = resnet.get_symbol(10, num_layers=20, image_shape="3,28,28")
    assert symbol.infer_shape(data=(1, 3, 28, 28))[1] == [(1, 10)]
    assert sum("_conv" in name for name in symbol.list_arguments()) == 18
    with pytest.raises(ValueError, match="32 rows cannot have 21 layers"):
        resnet.get_symbol(10, num_layers=21, image_shape=(3, 32, 32))


def test_numbers_of_layers_are_checked():
    with pytest.raises(ValueError, match="not 51"):
        resnet.get_symbol(num_layers=51)
    with pytest.raises(ValueError, match=r"VGG has \[11, 13, 16, 19\] layers, not 12"):
        vgg.get_symbol(num_layers=12)
    with pytest.raises(ValueError, match="Model lenet is not supported"):
        get_network("lenet")


def test_command_line(tmp_path, monkeypatch, caplog):
    monkeypatch.syspath_prepend(str(EXAMPLE.parent))
    spec = importlib.util.spec_from_file_location("benchmark_score", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "image_shape", lambda name: (3, 32, 32))
    path = tmp_path / "score.json"
    options = ["--network", "resnet18_v1", "--batch-size", "2", "--num-batches", "1"]
    with caplog.at_level(logging.INFO):
        module.main([*options, "--json", str(path)])
    assert "network: resnet18_v1" in caplog.text
    assert "batch size  2, dtype float32, images/sec: " in caplog.text
    report = json.loads(path.read_text())
    assert report["threads"] == mx.env.omp_threads() and report["wall_seconds"] > 0
    assert report["cells"][0]["images_per_second"] > 0
    for name in [name for name in sys.modules if name.split(".")[0] == "symbols"]:
        del sys.modules[name]


# --- the scoring table


@pytest.fixture
def material(tmp_path, monkeypatch):
    """Files of a small ResNet."""
    small = resnet.get_symbol(10, num_layers=8, image_shape=(3, 16, 16))
    monkeypatch.setattr("benchmarks.score.material.get_network", lambda name: small)
    monkeypatch.setattr("benchmarks.score.material.image_shape", lambda name: (3, 16, 16))
    return Material("small", tmp_path)


def run(material, batch):
    """mxcy's outputs for the files."""
    from benchmarks.score.with_mxcy import Contender

    contender = Contender(material.folder, 1)
    images = np.load(material.images)[:batch]
    contender.bind(images)
    contender.run()
    return images, contender.output()


def test_data_is_generated_once_and_separates_networks(material):
    _, probabilities = run(material, 4)
    assert probabilities.shape == (4, 10)
    assert probabilities.max() > 3 * probabilities.min()
    assert np.abs(probabilities[0] - probabilities[1]).max() > 1e-3
    stamp = material.images.stat().st_mtime_ns
    assert Material("small", material.folder.parent).images.stat().st_mtime_ns == stamp


def test_arithmetic_is_counted(material):
    nodes = read_graph(material.folder)
    assert [node.op for node in nodes if node.op != "null"][-2:] == [
        "FullyConnected",
        "SoftmaxOutput",
    ]
    # 3x3 convolutions: the stem, then two a stage; 1x1 shortcuts; the dense layer
    stem = 9 * 3 * 16 * 256
    stages = 9 * 256 * (16 * 16 * 2) + 9 * 64 * (16 * 32 + 32 * 32) + 9 * 16 * (32 * 64 + 64 * 64)
    shortcuts = 256 * 16 * 16 + 64 * 16 * 32 + 16 * 32 * 64
    assert material.gflop() == pytest.approx(2e-9 * (stem + stages + shortcuts + 64 * 10))


def test_onnx_file_computes_the_same(material, tmp_path):
    pytest.importorskip("onnx", reason="onnx is not installed; the scoring table also checks this")
    from onnx.reference import ReferenceEvaluator

    from benchmarks.score.onnx_graph import write_onnx

    write_onnx(material.folder, tmp_path / "network.onnx")
    images, expected = run(material, 1)
    actual = ReferenceEvaluator(str(tmp_path / "network.onnx")).run(None, {"data": images})[0]
    assert np.abs(actual - expected).max() <= 1e-4 * np.abs(expected).max()


def test_report_prints_ratios_and_targets():
    cells = [
        Cell("vgg-16", batch, {OURS: Result([0.1 * batch]), "OpenVINO": Result([0.2 * batch])})
        for batch in (1, 2)
    ]
    cells[0].results["ONNX Runtime"] = Result([0.15, 0.4])
    assert ratios(cells, "runtimes") == pytest.approx([1.5, 2.0])
    assert ratios(cells, "runtimes", "resnet-50") == [] == ratios(cells, "MXNet")
    text = "\n".join(lines(cells, {"vgg-16": 31}, 400))
    assert "10.0" in text and "5.0 [ 2.00]" in text and "6.7 [ 1.50]" in text
    assert "78%" in text
    assert "vgg-16          1.75  (asked: 1.80, MISSED)" in text
    assert "all             1.73  (asked: 1.60, reached)" in text
    last = list(lines(cells, {"vgg-16": 31}, 400, INT8_DEMANDS))[-2]
    assert " or OpenVINO all             1.73  (asked: 1.10, reached)" in last


def test_values_of_options_are_checked():
    config = types.SimpleNamespace(getoption={"--network": "gru,grru"}.get)
    with pytest.raises(pytest.UsageError, match="--network: there is no grru, only gru, lstm"):
        chosen(config, "--network", ("gru", "lstm"))
    assert chosen(config, "--network", ("gru", "lstm"), others=True) == ["gru", "grru"]


def test_networks_of_the_table():
    assert list(NETWORKS) == [name for name in WEIGHTS if name != "resnet18_v1"]
