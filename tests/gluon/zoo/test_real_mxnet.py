"""The model zoos of mxcy and MXNet: each loads the other's parameters and computes the same.

Runs where the environment names originals; see tests/originals.py.
"""

import sys
from pathlib import Path

import numpy as np
import pytest

import mxcy as mx
from mxcy.gluon.model_zoo import vision
from tests import originals

GOLDEN = Path(__file__).parents[1] / "golden"
sys.path.insert(0, str(GOLDEN))
from zoo import filled, images  # noqa: E402

sys.path.remove(str(GOLDEN))
originals.skip_without_any()
pytestmark = pytest.mark.needs_real_mxnet
SCRIPT = Path(__file__).parent / "real_zoo.py"
real = originals.fixture_for(SCRIPT)
#: image heights: small ones for networks without pooling of a fixed size
HEIGHTS = {"alexnet": 67, "inceptionv3": 299, "densenet": 224, "squeezenet": 224}
NAMES = sorted(vision._models())


def height_of(name):
    (actual, *_) = [h for family, h in HEIGHTS.items() if name.startswith(family)] or [32]
    return actual


def close(actual, expected):
    expected = np.array(expected)
    return np.abs(actual - expected).max() <= 1e-4 * np.abs(expected).max()


@pytest.mark.parametrize("name", NAMES)
def test_parameters_go_both_ways(name, real, tmp_path):
    height = height_of(name)
    batch = mx.nd.array(images(height))
    net = vision.get_model(name, classes=10)
    net.initialize(mx.init.Zero())
    net.infer_shape(batch)
    filled(mx, net)
    ours = net(batch).asnumpy()
    sent, received = tmp_path / "ours.params", tmp_path / "theirs.params"
    net.save_parameters(str(sent))
    of_ours, of_theirs = real(name, height)
    net.load_parameters(str(received))
    assert close(ours, of_ours)
    assert close(net(batch).asnumpy(), of_theirs)
    sent.unlink()
    received.unlink()  # hundreds of megabytes


def test_recurrent_layers_load(real, tmp_path):
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.rnn.LSTM(3, 2, bidirectional=True), mx.gluon.nn.Dense(2))
    net.initialize(mx.init.Normal(0.5))
    batch = mx.nd.array(images(4)[0])
    ours = net(batch).asnumpy()
    net.save_parameters(str(tmp_path / "ours.params"))
    *of_ours, of_theirs = real("recurrent", 0)
    assert all(close(ours, each) for each in of_ours)
    net.load_parameters(str(tmp_path / "theirs.params"))
    assert close(net(batch).asnumpy(), of_theirs)
