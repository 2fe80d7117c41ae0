"""`quantize_net`: Gluon networks in int8."""

import json
import warnings

import numpy as np
import pytest

import mxcy as mx
from mxcy._library import onednn
from mxcy.contrib.quantization import quantize_net
from mxcy.gluon import nn


@pytest.fixture
def network():
    """A small network whose variables declare the shapes and types of its parameters."""
    mx.random.seed(3)
    net = nn.HybridSequential()
    net.add(
        nn.Conv2D(8, 3, padding=1, in_channels=3), nn.BatchNorm(), nn.Activation("relu"),
        nn.MaxPool2D(), nn.Flatten(), nn.Dense(16, in_units=8 * 4 * 4),
    )  # fmt: skip
    net.initialize(mx.init.Xavier())
    return net


@pytest.mark.parametrize("calibration", ["none", "naive", "entropy"])
@pytest.mark.parametrize("dtype", ["int8", "auto"])
def test_quantized_networks_answer_about_the_same(network, tmp_path, calibration, dtype):
    data = mx.nd.array(np.random.RandomState(5).rand(32, 3, 8, 8))
    expected = network(data).asnumpy()
    loader = mx.gluon.data.DataLoader(mx.gluon.data.ArrayDataset(data), batch_size=8)
    quantized = quantize_net(
        network, calib_data=loader, calib_mode=calibration, quantized_dtype=dtype
    )
    # entropy clips outliers, a large share of few examples
    allowed = {"none": 0.03, "naive": 0.03, "entropy": 0.2}[calibration]
    error = np.abs(quantized(data).asnumpy() - expected).max()
    assert error <= allowed * np.abs(expected).max()
    assert np.array_equal(network(data).asnumpy(), expected)  # the network itself is unchanged

    quantized.export(str(tmp_path / "net"))
    again = mx.gluon.SymbolBlock.imports(
        str(tmp_path / "net-symbol.json"), ["data"], str(tmp_path / "net-0000.params")
    )
    assert np.array_equal(again(data).asnumpy(), quantized(data).asnumpy())


@pytest.mark.parametrize("layer", ["convolution", "dense"])
def test_layers_before_final_moves_return_floats(layer):
    """MXNet rounds the scores of such a network to 8 bits in mode full."""
    mx.random.seed(3)
    net = nn.HybridSequential()
    net.add(nn.Conv2D(8, 3, in_channels=3) if layer == "convolution" else nn.Dense(8))
    net.add(nn.Flatten(), nn.HybridLambda(lambda F, x: F.reshape(x, shape=(0, 4, -1))))
    net.initialize(mx.init.Xavier())
    data = mx.nd.array(np.random.RandomState(5).rand(32, 3, 8, 8))
    expected = net(data).asnumpy()
    loader = mx.gluon.data.DataLoader(mx.gluon.data.ArrayDataset(data), batch_size=8)
    results = {}
    for mode in ("full", "smart"):
        quantized = quantize_net(net, calib_data=loader, calib_mode="naive", quantize_mode=mode)
        results[mode] = quantized(data).asnumpy()
        symbol, _ = quantized.export(None)
        names = [node["op"] for node in json.loads(symbol.tojson())["nodes"]]
        assert "_contrib_dequantize" not in names and names[-2:] == ["Flatten", "Reshape"]
        ranged = [name for name, kept in symbol.attr_dict().items() if "min_calib_range" in kept]
        assert any(name.startswith("quantized_") for name in ranged) == (mode == "full")
    assert np.array_equal(results["full"], results["smart"])
    assert np.abs(results["full"] - expected).max() < 0.02 * np.abs(expected).max()


@pytest.mark.parametrize("batch", [1, 4, 8])
def test_blocks_of_filters_may_depend_on_threads(batch):
    """With AMX, oneDNN takes other layouts of these weights for one thread than for two."""
    mx.random.seed(4)
    net = nn.HybridSequential()
    net.add(
        nn.Conv2D(256, 3, strides=2, padding=1, in_channels=64, activation="relu"),
        nn.Conv2D(512, 3, strides=2, padding=1, in_channels=256, activation="relu"),
    )
    net.initialize(mx.init.Xavier())
    data = mx.nd.array(np.random.RandomState(5).rand(batch, 64, 28, 28))
    expected = net(data).asnumpy()
    loader = mx.gluon.data.DataLoader(mx.gluon.data.ArrayDataset(data), batch_size=batch)
    got = quantize_net(net, calib_data=loader, calib_mode="naive")(data).asnumpy()
    assert np.abs(got - expected).max() <= 0.03 * np.abs(expected).max()


@pytest.mark.parametrize("hybridized", [False, True])
def test_networks_read_from_files(network, tmp_path, hybridized):
    data = mx.nd.array(np.random.RandomState(5).rand(8, 3, 8, 8))
    network.hybridize()
    expected = network(data).asnumpy()
    network.export(str(tmp_path / "net"))
    read = mx.gluon.SymbolBlock.imports(
        str(tmp_path / "net-symbol.json"), ["data"], str(tmp_path / "net-0000.params")
    )
    if hybridized:
        read.hybridize()
    loader = mx.gluon.data.DataLoader(mx.gluon.data.ArrayDataset(data), batch_size=4)
    quantized = quantize_net(read, calib_data=loader, calib_mode="naive")
    assert any(name.endswith("_quantize") for name in quantized.collect_params())
    assert np.abs(quantized(data).asnumpy() - expected).max() <= 0.03 * np.abs(expected).max()
    assert np.array_equal(read(data).asnumpy(), expected)


def test_parameters_of_8_bits_say_so(network):
    quantized = quantize_net(network, data_shapes=[(1, 3, 8, 8)], calib_mode="none")
    kinds = {
        name: np.dtype(parameter.dtype)
        for name, parameter in quantized.collect_params().items()
        if name.endswith("_quantize")
    }
    assert kinds
    assert set(kinds.values()) == {np.dtype(np.int8)}


@pytest.mark.parametrize("channels, kernel", [(512, 1), (64, 3)])
def test_layers_for_which_some_teams_have_no_kernel(channels, kernel):
    net = nn.HybridSequential()
    net.add(nn.Conv2D(channels, kernel, padding=kernel // 2, in_channels=channels), nn.Dense(4))
    net.initialize()
    image = mx.nd.random.uniform(shape=(1, channels, 1, 1))
    expected = net(image).asnumpy()
    loader = mx.gluon.data.DataLoader(mx.gluon.data.ArrayDataset(image), batch_size=1)
    actual = quantize_net(net, calib_data=loader, calib_mode="naive")(image).asnumpy()
    assert np.abs(actual - expected).max() <= 0.05 * np.abs(expected).max()


@pytest.mark.skipif(onednn.version() is None, reason="oneDNN is not installed")
def test_single_images_stay_in_8_bits(monkeypatch, capfd):
    net = nn.HybridSequential()
    net.add(nn.Conv2D(576, 1, in_channels=96, activation="relu"), nn.Conv2D(96, 1))
    net.initialize()
    image = mx.nd.random.uniform(shape=(1, 96, 14, 14))
    loader = mx.gluon.data.DataLoader(mx.gluon.data.ArrayDataset(image), batch_size=1)
    narrow = quantize_net(net, calib_data=loader, calib_mode="naive")
    monkeypatch.setenv("MXCY_VERBOSE", "passes")
    narrow(image).wait_to_read()
    (line,) = [text for text in capfd.readouterr().out.splitlines() if "pass int8" in text]
    assert "_int8_conv 0 -> 2" in line


def test_invalid_arguments_are_named():
    plain = mx.gluon.nn.Sequential()
    with pytest.raises(ValueError, match="network must be a HybridBlock"):
        mx.contrib.quantization.quantize_net_v2(plain, data_shapes=[(2, 3)], calib_mode="none")
    symbol = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=3, name="fc")
    parameters = {"fc_weight": mx.nd.ones((3, 4)), "fc_bias": mx.nd.ones(3)}
    with pytest.raises(mx.MXNetError, match=r"no values for data; .*\(other\)"):
        mx.contrib.quantization.quantize_model(
            symbol,
            parameters,
            {},
            data_names=("other",),
            ctx=mx.cpu(),
            calib_mode="naive",
            calib_data=mx.io.NDArrayIter(mx.nd.ones((4, 4)), batch_size=2),
        )


def test_unknown_excluded_names_are_pointed_out(network):
    data = mx.nd.ones((2, 3, 8, 8))
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="excluded")
        quantize_net(network, calib_data=[data], calib_mode="naive", exclude_layers_match=["conv"])
    with pytest.warns(UserWarning, match=r"network does not have: \['hybridsequential9_conv0_fwd'"):
        quantize_net(
            network, data_shapes=[(2, 3, 8, 8)], exclude_layers=["hybridsequential9_conv0_fwd"]
        )
    with pytest.warns(UserWarning, match=r"do not exist: \['Convolutoin'\].*Convolution"):
        quantize_net(network, data_shapes=[(2, 3, 8, 8)], exclude_operators=["Convolutoin"])


def test_datasets_need_a_loader(network):
    images = mx.gluon.data.ArrayDataset(mx.nd.ones((2, 3, 8, 8)))
    with pytest.raises(ValueError, match=r"got ArrayDataset; pass DataLoader\(dataset"):
        quantize_net(network, calib_data=images, calib_mode="naive")
