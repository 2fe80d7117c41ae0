"""Fused layers and blocked layouts: which nodes are fused, and unchanged results."""

import numpy as np
import pytest

import mxcy as mx
from mxcy import gluon
from mxcy._execute.planned import Planned
from mxcy._machine.tuning import ALL
from mxcy.graph.builder import Builder
from mxcy.graph.verify import verify
from mxcy.ops.core.infer import Spec

FLOAT = 0


class Net:
    """A graph under construction with random parameters."""

    def __init__(self, shape):
        self.builder, self.rng = Builder(), np.random.default_rng(1)
        self.arrays = {}
        self.data = self.variable("data", shape)

    def variable(self, name, shape, low=-1.0, high=1.0):
        values = self.rng.uniform(low, high, shape).astype(np.float32)
        self.arrays[name] = mx.nd.array(values)
        return self.builder.value(self.builder.variable(name, Spec(tuple(shape), FLOAT)))

    def conv(self, x, filters, kernel=3, bias=False, group=1, **attrs):
        name = f"w{len(self.arrays)}"
        channels = x.shape[1] // group
        weight = self.variable(name, (filters, channels, kernel, kernel), -0.3, 0.3)
        inputs = [x, weight]
        if bias:
            inputs.append(self.variable(f"{name}_bias", (filters,)))
        pad = attrs.pop("pad", (kernel // 2,) * 2)
        return self.builder.values.Convolution(
            *inputs,
            kernel=(kernel, kernel),
            num_filter=filters,
            num_group=group,
            pad=pad,
            no_bias=not bias,
            **attrs,
        )

    def norm(self, x, fix_gamma=False):
        name = f"n{len(self.arrays)}"
        channels = (x.shape[1],)
        states = [
            self.variable(f"{name}_gamma", channels, 0.5, 1.5),
            self.variable(f"{name}_beta", channels),
            self.variable(f"{name}_mean", channels),
            self.variable(f"{name}_var", channels, 0.5, 1.5),
        ]
        return self.builder.values.BatchNorm(x, *states, fix_gamma=fix_gamma, eps=1e-3)

    def planned(self, *outputs, optimized=True):
        graph = self.builder.finish([value.entry for value in outputs])
        return Planned(verify(graph), mx.cpu(), optimized)

    def run(self, planned):
        outputs = planned.new_outputs()
        planned.forward(
            [*(self.arrays[n] for n in planned.variables), *outputs], planned.new_arena()
        )
        return [output.asnumpy() for output in outputs]

    def check(self, *outputs):
        """Check that the optimized graph matches the plain one; returns its operators."""
        planned = self.planned(*outputs)
        plain = self.run(self.planned(*outputs, optimized=False))
        verify(planned.graph)
        for _ in range(2):  # the second run uses stored tensors
            for actual, expected in zip(self.run(planned), plain, strict=True):
                scale = np.abs(expected).max() + 1e-6
                np.testing.assert_allclose(actual / scale, expected / scale, atol=2e-5)
        return planned.graph.count_ops()


def test_conv_norm_relu_becomes_one_layer():
    net = Net((2, 3, 12, 12))
    x = net.builder.values.Activation(net.norm(net.conv(net.data, 32)), act_type="relu")
    ops = net.check(net.builder.values.Activation(net.norm(net.conv(x, 32)), act_type="relu"))
    assert ops["_sg_onednn_conv"] == 2
    assert not {"BatchNorm", "Activation", "Convolution"} & ops.keys()


def test_residual_sum_and_relu_join_the_last_convolution():
    net = Net((1, 32, 9, 9))
    F = net.builder.values
    x = F.relu(net.conv(net.data, 32, bias=True))
    ops = net.check(F.relu(net.norm(net.conv(x, 32)) + x), F.mean(x))
    assert ops["_sg_onednn_conv"] == 2
    assert not {"elemwise_add", "broadcast_add", "relu", "BatchNorm"} & ops.keys()


def test_a_branch_in_the_middle_ends_the_chain():
    net = Net((1, 16, 8, 8))
    F = net.builder.values
    x = net.conv(net.data, 16)
    ops = net.check(F.relu(x), F.tanh(x))
    assert ops["_sg_onednn_conv"] == 1 and ops["relu"] == 1 and ops["tanh"] == 1


@pytest.mark.parametrize("hard", [False, True])
@pytest.mark.parametrize("channels", [16, 24, 20])
def test_arguments_times_their_sigmoid_are_activations(hard, channels):
    def act(F, x):
        return x * (F.hard_sigmoid(x, alpha=0.25, beta=0.4) if hard else F.sigmoid(x))

    net = Net((2, 16, 8, 8))
    F = net.builder.values
    x = act(F, net.norm(net.conv(net.data, channels)))
    x = act(F, net.conv(x, channels, group=channels, bias=True))
    ops = net.check(act(F, net.conv(x, 16, 1) + net.data))
    assert ops["_sg_onednn_conv"] == 3
    assert not {"sigmoid", "hard_sigmoid", "elemwise_mul", "_fused_pointwise"} & ops.keys()


def test_sigmoids_that_others_read_are_computed():
    net = Net((1, 16, 8, 8))
    F = net.builder.values
    x = net.conv(net.data, 16)
    gate = F.sigmoid(x)
    ops = net.check(x * gate, F.mean(gate))
    assert "sigmoid" in ops or "_fused_pointwise" in ops
    x = net.conv(net.data, 16)
    net.check(x * F.sigmoid(x), F.mean(x))
    x = net.conv(net.data, 16)
    net.check(x * F.sigmoid(net.data), F.tanh(x))


@pytest.mark.parametrize("relu", [False, True])
def test_convolutions_of_pixels_normalise_what_they_read(relu):
    net = Net((2, 32, 9, 9))
    F = net.builder.values
    x = net.conv(net.data, 64)
    seen = net.norm(x)
    seen = F.relu(seen) if relu else seen
    wide = net.conv(seen, 32, 1, bias=True, stride=(2, 2))
    ops = net.check(net.conv(seen, 64, 1) + x, wide)
    assert ops["_sg_onednn_conv"] == 3 and not {"_blocked_scale_shift", "BatchNorm"} & ops.keys()


def test_a_normalisation_that_others_read_is_computed():
    net = Net((1, 32, 9, 9))
    F = net.builder.values
    seen = F.relu(net.norm(F.tanh(net.conv(net.data, 32))))
    ops = net.check(net.conv(seen, 32, 1), net.conv(seen, 32, 3))
    assert ops["_blocked_scale_shift"] == 1


@pytest.mark.parametrize(
    "act", ["relu", "sigmoid", "tanh", "softrelu", "leaky", "elu", "gelu", "gelu_tanh", "clip"]
)
def test_activations(act):
    net = Net((1, 16, 7, 6))
    F = net.builder.values
    x = net.conv(net.data, 16, bias=True)
    if act == "clip":
        y = F.clip(x, a_min=-0.5, a_max=0.7)
    elif act in ("leaky", "elu", "gelu", "gelu_tanh"):
        y = F.LeakyReLU(x, act_type=act, slope=0.3)
    else:
        y = F.Activation(x, act_type=act)
    assert net.check(y)["_sg_onednn_conv"] == 1


def test_odd_channels_groups_and_strides_stay_right():
    net = Net((2, 5, 11, 10))
    F = net.builder.values
    x = F.relu(net.conv(net.data, 20, kernel=5, stride=(2, 2), bias=True))
    x = net.norm(net.conv(x, 16, kernel=1))
    x = F.relu(net.conv(x, 32, group=2))
    x = net.conv(x, 32, group=32, dilate=(2, 2))
    net.check(F.Pooling(x, kernel=(3, 3), stride=(2, 2), pad=(1, 1), pool_type="max"))


def test_blocked_arrays_pass_through_pooling_concat_norm_and_sums():
    net = Net((2, 16, 14, 14))
    F = net.builder.values
    x = F.relu(net.conv(net.data, 32))
    y = F.Concat(
        net.conv(x, 16, kernel=1),
        F.Pooling(x, kernel=(3, 3), pad=(1, 1), pool_type="avg"),
        F.Pooling(net.conv(x, 32), kernel=(3, 3), pad=(1, 1), pool_type="max"),
        dim=1,
    )
    y = F.relu(net.norm(y, fix_gamma=True))
    y = net.conv(y, 32, kernel=1)
    pooled = F.Pooling(y, global_pool=True, kernel=(1, 1), pool_type="avg")
    weight = net.variable("fc", (10, 32))
    dense = F.FullyConnected(F.Flatten(pooled), weight, no_bias=True, num_hidden=10)
    ops = net.check(F.softmax(dense))
    assert ops.get("_to_blocked", 0) <= 1 and ops.get("_from_blocked", 0) == 0


def test_only_elementwise_operators_work_on_blocked_arrays():
    net = Net((2, 16, 6, 5))
    F = net.builder.values
    x = net.conv(net.data, 32, bias=True)
    ops = net.check(F.softmax(x, axis=1), F.exp(net.conv(x, 16)) * 2.0, F.flip(x, axis=(2,)))
    assert ops["_from_blocked"] == 2


def test_dense_layer_with_activation():
    net = Net((4, 24))
    F = net.builder.values
    weight, bias = net.variable("w", (12, 24)), net.variable("b", (12,))
    net.check(
        F.Activation(F.FullyConnected(net.data, weight, bias, num_hidden=12), act_type="tanh")
    )
    x = F.FullyConnected(net.data, weight, bias, num_hidden=12)
    net.check(x * F.sigmoid(x))
    x = F.FullyConnected(net.data, weight, bias, num_hidden=12)
    net.check(F.broadcast_mul(F.hard_sigmoid(x), x))


def test_written_parameters_are_packed_again():
    net = Net((1, 16, 8, 8))
    planned = net.planned(net.norm(net.conv(net.data, 16)))
    before = net.run(planned)[0]
    name = next(name for name in planned.variables if name.startswith("w"))
    net.arrays[name][:] = net.arrays[name] * 2
    after = net.run(planned)[0]
    fresh = net.run(net.planned(*[net.builder.value(e) for e in planned_outputs(net)]))[0]
    assert not np.allclose(before, after)
    np.testing.assert_allclose(after, fresh, rtol=1e-5, atol=1e-5)


def planned_outputs(net):
    """The entry of the last node that was built."""
    return [(len(net.builder.nodes) - 1, 0)]


@pytest.mark.parametrize(
    "switch, operator",
    [
        ("MXNET_DISABLE_ONEDNN_FUSE_CONV_BN", "_blocked_scale_shift"),
        ("MXNET_DISABLE_ONEDNN_FUSE_CONV_RELU", "relu"),
        ("MXNET_DISABLE_ONEDNN_CONV_OPT", "Convolution"),
    ],
)
def test_each_pattern_can_be_switched_off(monkeypatch, switch, operator):
    monkeypatch.setenv(switch, "1")
    net = Net((1, 16, 8, 8))
    ops = net.check(net.builder.values.relu(net.norm(net.conv(net.data, 16))))
    assert operator in ops


def test_backend_none_leaves_the_graph_alone(monkeypatch):
    monkeypatch.setenv("MXNET_SUBGRAPH_BACKEND", "NONE")
    net = Net((1, 16, 8, 8))
    assert "Convolution" in net.check(net.builder.values.relu(net.conv(net.data, 16)))


def algorithms(planned):
    return [
        node.attrs.algo
        for node in planned.graph.nodes
        if node.op and hasattr(node.attrs, "algo") and node.op.name == "_sg_onednn_conv"
    ]


def test_verbose_trials_mark_one_winner(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("MXNET_HOME", str(tmp_path))
    monkeypatch.setenv("MXNET_CUDNN_ALGO_VERBOSE_LEVEL", "2")
    net = Net((1, 16, 9, 9))
    first = net.planned(net.conv(net.data, 16))
    lines = capsys.readouterr().out.splitlines()
    assert sum(line.startswith("mxcy algorithm *") for line in lines) == 1
    assert (tmp_path / "mxcy" / "algorithms.json").exists()
    again = net.planned(net.conv(net.data, 16))  # cached: no trial
    assert "us" not in capsys.readouterr().out.split()
    assert algorithms(again) == algorithms(first)


@pytest.mark.parametrize("way", ["variable", "attribute", "determinism"])
def test_trials_can_be_switched_off(monkeypatch, capsys, tmp_path, way):
    monkeypatch.setenv("MXNET_HOME", str(tmp_path))
    monkeypatch.setenv("MXNET_CUDNN_ALGO_VERBOSE_LEVEL", "2")
    if way == "variable":
        monkeypatch.setenv("MXNET_CUDNN_AUTOTUNE_DEFAULT", "0")
    if way == "determinism":
        monkeypatch.setenv("MXNET_ENFORCE_DETERMINISM", "1")
    net = Net((1, 16, 9, 9))
    tune = {"cudnn_tune": "off"} if way == "attribute" else {}
    net.check(net.conv(net.data, 16, **tune))
    assert "*" not in capsys.readouterr().out


def test_winograd_can_be_forbidden(monkeypatch):
    monkeypatch.setenv("MXNET_CUDNN_AUTOTUNE_DEFAULT", "0")
    net = Net((1, 16, 9, 9))
    assert algorithms(net.planned(net.conv(net.data, 16))) == ["conv_winograd"]
    monkeypatch.setenv("MXNET_CUDNN_ALLOW_WINOGRAD", "0")
    assert "conv_winograd" not in algorithms(net.planned(net.conv(net.data, 16)))


def test_nnpack_threads_cap_the_team_of_layers(monkeypatch):
    monkeypatch.setenv("MXNET_CUDNN_AUTOTUNE_DEFAULT", "0")
    net = Net((4, 64, 56, 56))

    def threads():
        steps = net.planned(net.conv(net.data, 64)).plan.steps
        return [s.call.threads for s in steps if s.call.op.name == "_sg_onednn_conv"]

    assert threads() == [ALL]
    for most in (3, 1):
        monkeypatch.setenv("MXNET_CPU_NNPACK_NTHREADS", str(most))
        assert threads() == [most]


def test_plans_of_several_batches_share_packed_weights(monkeypatch):
    monkeypatch.setenv("MXNET_CUDNN_AUTOTUNE_DEFAULT", "0")  # the same kernel for every batch
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Conv2D(16, 3, in_channels=16, padding=1), gluon.nn.BatchNorm(in_channels=16))
    net.initialize()
    net.hybridize(inline_limit=0)
    inputs = [mx.nd.random.uniform(shape=(batch, 16, 9, 9)) for batch in (1, 2, 5)]
    before = [net(x).asnumpy() for x in inputs]
    plans = [bound.planned for bound in net._calls._traced[0][1]._cached._plans.values()]
    held = {id(array) for planned in plans for array in planned._constants.arrays}
    assert len(plans) == 3 and len(held) == len(plans[0].plan.kept)
    net[0].weight.set_data(net[0].weight.data() * 2)
    net[1].gamma.set_data(net[1].gamma.data() * 3)
    for x, old in zip(inputs, before, strict=True):
        np.testing.assert_allclose(net(x).asnumpy(), eagerly(net, x), rtol=1e-4, atol=1e-4)
        assert np.abs(net(x).asnumpy() - old).max() > 0.01


def eagerly(net, x):
    """A hybridized net's output, computed operator by operator."""
    for layer in net:
        x = layer._evaluate_plainly((x,))
    return x.asnumpy()


def test_new_arrays_in_old_places_are_packed_anew():
    net = Net((1, 16, 8, 8))
    planned = net.planned(net.conv(net.data, 16))
    name = next(name for name in planned.variables if name.startswith("w"))
    shape = net.arrays[name].shape
    for value in (1.0, 2.0, 3.0):
        net.arrays[name] = None  # its memory is free for reuse
        net.arrays[name] = mx.nd.full(shape, value)
        actual = net.run(planned)[0]
        fresh = net.run(net.planned(net.builder.value((len(net.builder.nodes) - 1, 0))))[0]
        np.testing.assert_allclose(actual, fresh, rtol=1e-5)


def test_images_of_about_the_same_size_share_a_trial(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("MXNET_HOME", str(tmp_path))
    monkeypatch.setenv("MXNET_CUDNN_ALGO_VERBOSE_LEVEL", "2")
    tried = []
    for width in (40, 45, 49):
        net = Net((1, 16, 40, width))
        net.planned(net.conv(net.data, 16))
        tried.append("mxcy algorithm *" in capsys.readouterr().out)
    assert tried == [True, False, True]
