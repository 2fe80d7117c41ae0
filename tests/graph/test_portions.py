"""Batches in portions: leading layers that run for a few samples at a time."""

import numpy as np
import pytest

import mxcy as mx
from mxcy.gluon import nn
from mxcy.graph.evaluate import evaluate
from mxcy.graph.passes import portions
from mxcy.graph.target import Target
from mxcy.graph.verify import verify
from tests.graph.graphs import Library, values_for
from tests.graph.test_channels import Net
from tests.ops.fused.fused_conv import BLOCK


@pytest.fixture
def small(monkeypatch):
    """Caches that hold one kilobyte of a layer's arrays, for one thread."""
    monkeypatch.setattr(portions, "_MOST", 1000)
    monkeypatch.setattr(portions, "_PORTION", 600)


def divided(net, *outputs, threads=1):
    """Run the pass and check results; returns the number of nodes of each operator afterwards."""
    graph = verify(net.builder.finish([value.entry for value in outputs]))
    target = Target(Library.has_kernel, None, None, 8, {}, {}, threads=threads)
    after = verify(portions.run(graph, target))
    values = values_for(graph)
    results = evaluate(after, values)[0], evaluate(graph, values)[0]
    for actual, expected in zip(*results, strict=True):
        np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-5)
    return after.count_ops() if after is not graph else {}


def test_layers_run_per_portion_up_to_the_last_large_one(small):
    net = Net()
    x = net.conv(net.variable(4, 2, 6, 6), 3, 3)  # 4 samples of 288 + 432 bytes
    x = net.F.Pooling(x, kernel=(6, 6), pool_type="max")  # 4 samples of 444
    count = divided(net, net.conv(x, 1))  # 4 samples of 16
    assert count == {"slice_axis": 4, "_sg_onednn_conv": 5, "Pooling": 4, "Concat": 1}


def test_casts_between_layers_belong_to_the_portions(small):
    net = Net()
    x = net.F.Pooling(net.variable(4, 2, 4, 4, dtype="float64"), kernel=(1, 1), pool_type="max")
    x = net.F.Cast(x, dtype="float32")  # 4 samples of 256 + 128 bytes
    weight = net.F.Cast(net.variable(4, 2, 1, 1, dtype="float64"), dtype="float32")
    attrs = {"kernel": (1, 1), "num_filter": 4, "no_bias": True}
    count = divided(net, net.conv(net.F._sg_onednn_conv(x, weight, **attrs), 1))
    assert count == {"slice_axis": 4, "Pooling": 4, "Cast": 5, "_sg_onednn_conv": 8, "Concat": 1}


@pytest.mark.parametrize(("batch", "parts"), [(8, 4), (6, 3), (7, 7), (1, 0)])
def test_portions_have_equal_sizes(batch, parts, monkeypatch):
    monkeypatch.setattr(portions, "_MOST", 64)  # a sample of 2 x 8 numbers
    monkeypatch.setattr(portions, "_PORTION", 2 * 64)
    net = Net()
    assert divided(net, net.conv(net.variable(batch, 1, 2, 4), 1)).get("slice_axis", 0) == parts


def test_portions_grow_as_arrays_become_smaller(small):
    net = Net()
    x = net.conv(net.variable(8, 2, 6, 6), 2, 3)  # 8 samples of 288 + 288 bytes
    x = net.F.Pooling(x, kernel=(2, 2), stride=(2, 2), pool_type="max")  # of 288 + 72
    x = net.conv(net.conv(x, 2), 2)  # of 72 + 72
    count = divided(net, x)
    assert count["Pooling"] == 8 and count["_sg_onednn_conv"] == 8 + 2 * 2
    assert count["Concat"] == 2 + 1  # arrays of four samples; the results


def test_portions_keep_their_size_until_channels_are_concatenated(small):
    net = Net()
    x = net.conv(net.variable(4, 2, 6, 6), 2, 3)
    x = net.F.Pooling(x, kernel=(2, 2), stride=(2, 2), pool_type="max")
    both = net.F.Concat(x, net.conv(x, 2), dim=1)  # 4 samples of 72 + 72 + 144 bytes
    assert divided(net, net.conv(both, 4))["_sg_onednn_conv"] == 4 + 4 + 2


def test_more_threads_have_more_caches(small):
    net = Net()
    x = net.conv(net.variable(4, 2, 6, 6), 3, 3)  # 4 samples of 288 + 432 bytes
    assert [divided(net, x, threads=n).get("slice_axis", 0) for n in (1, 2, 3)] == [4, 4, 0]


def test_layers_whose_results_are_returned_stay_whole(small):
    net = Net()
    x = net.conv(net.variable(4, 2, 6, 6), 3, 3)
    y = net.conv(x, 3, 3)
    assert divided(net, x, y, net.conv(y, 3, 3)) == {}


def test_small_arrays_stay_whole():
    net = Net()
    assert divided(net, net.conv(net.variable(4, 2, 6, 6), 3)) == {}


def test_samples_that_do_not_fit_stay_whole(small):
    net = Net()
    assert divided(net, net.conv(net.variable(4, 2, 9, 9), 3)) == {}  # 648 + 972 bytes


def test_branches_sums_and_factors_are_divided(small):
    net = Net()
    F = net.F
    x = F.relu(net.conv(net.variable(2, 2, 6, 6), 2, 3))
    weights = net.conv(F.Pooling(x, global_pool=True, pool_type="avg"), 2, act="sigmoid")
    x = net.conv(F.broadcast_mul(x, weights), 2, 3, other=x)
    both = F.Concat(x, net.conv(x, 1), dim=1)
    count = divided(net, both, F.sum(x))  # results that are read in two places
    assert count["_sg_onednn_conv"] == 8 and count["broadcast_mul"] == 2
    assert count["Concat"] == 2 + 2  # channels, and batches of both results


def test_layers_that_mix_samples_stay_whole(small):
    net = Net()
    F = net.F
    x = net.conv(net.variable(2, 2, 6, 6), 2, 3)
    mixed = F.Concat(F.slice_axis(x, axis=0, begin=1, end=2), x, dim=0)
    count = divided(net, net.conv(mixed, 2, 3), net.conv(F.softmax(x, axis=0), 2))
    assert count["_sg_onednn_conv"] == 2 + 2


@pytest.mark.parametrize(("train", "parts"), [(False, 2), (True, 1)])
def test_normalisations_by_running_statistics_are_divided(train, parts, small):
    net = Net()
    F, net.builder.train = net.F, train
    x = net.conv(net.variable(2, 2, 6, 6), 2, 3)
    statistics = [net.variable(2) for _ in range(4)]
    x = F.relu(F.BatchNorm(x, *statistics))
    count = divided(net, net.conv(F.Concat(x, net.conv(x, 1), dim=1), 2, 3))
    assert count["BatchNorm"] == parts


def test_weights_that_depend_on_data_stay_whole(small):
    net = Net()
    F = net.F
    x = net.conv(net.variable(2, 2, 6, 6), 2, 3)
    attrs = {"kernel": (6, 6), "num_filter": 2, "no_bias": True}
    count = divided(net, F._sg_onednn_conv(net.variable(2, 2, 6, 6), F.tanh(x), **attrs))
    assert count["_sg_onednn_conv"] == 2 + 1


def test_operands_with_fewer_samples_stay_whole(small):
    net = Net()
    x = net.conv(net.variable(2, 2, 6, 6), 2, 3)
    count = divided(net, net.F.broadcast_add(x, net.variable(1, 2, 1, 1)))
    assert count["_sg_onednn_conv"] == 2 and count["broadcast_add"] == 1


def test_variables_that_are_written_keep_the_order(small):
    net = Net()
    x = net.conv(net.variable(2, 2, 6, 6), 2, 3)
    written = net.F.sgd_mom_update(*(net.variable(3) for _ in range(3)), lr=0.1)
    assert divided(net, x, written) == {}


def network():
    net = nn.HybridSequential()
    net.add(nn.Conv2D(16, 3, padding=1, strides=2, activation="relu"), nn.BatchNorm())
    net.add(nn.Conv2D(32, 1, activation="relu"), nn.Conv2D(32, 3, padding=1, groups=32))
    net.add(nn.MaxPool2D(2), nn.Conv2D(24, 1), nn.Conv2D(32, 3), nn.GlobalAvgPool2D())
    net.add(nn.Flatten(), nn.Dense(10))
    return net


@pytest.mark.parametrize("most", [12_000, 40_000])
@pytest.mark.parametrize("batch", [1, 3, 4])
def test_networks_give_the_same_bits(batch, most, monkeypatch):
    monkeypatch.setenv("MXNET_CUDNN_AUTOTUNE_DEFAULT", "0")  # the same kernels for all batches
    data = mx.nd.random.normal(shape=(batch, 3, 20, 18))
    net = network()
    net.initialize(mx.init.Normal(0.3))
    net(data)

    def result():
        net.hybridize(static_alloc=True, static_shape=True)
        return net(data).asnumpy()

    whole = result()
    monkeypatch.setattr(portions, "_MOST", most)
    monkeypatch.setattr(portions, "_PORTION", most)
    np.testing.assert_array_equal(result(), whole)


def test_parts_are_joined_in_place_and_share_weights():
    symbol = mx.gluon.model_zoo.vision.squeezenet1_0()(mx.sym.var("data"))

    def plan(batch):
        return symbol.simple_bind(mx.cpu(), "null", data=(batch, 3, 224, 224)).plan(False)

    few, many = (plan(batch) for batch in (4, 8))
    names = [step.call.op.name for step in many.steps]
    classes = int(1000 % BLOCK > 0)  # cut off from the last layer's blocks
    assert names.count("slice_axis") == 8 + classes  # of samples, and of classes
    assert names.count("Concat") <= 8  # one per fire module
    assert len(many.once) == len(few.once)
    assert many.arena < 1.5 * few.arena
