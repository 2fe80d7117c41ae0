"""Deconvolutions in inference: what fuses with them, what does not, and unchanged results."""

import numpy as np
import pytest

from mxcy._library import onednn
from tests.graph.test_layers import Net
from tests.ops.kernel_call import library

FUSED = "_sg_onednn_deconv" if onednn.version() else "Deconvolution"


def deconv(net, x, filters, kernel=4, group=1, bias=False, **attrs):
    """Append a deconvolution, by default one that doubles the size."""
    kernel = (kernel,) * (len(x.shape) - 2) if isinstance(kernel, int) else kernel
    name = f"w{len(net.arrays)}"
    inputs = [x, net.variable(name, (x.shape[1], filters // group, *kernel), -0.3, 0.3)]
    if bias:
        inputs.append(net.variable(f"{name}_bias", (filters,)))
    attrs = {"stride": (2,) * len(kernel), "pad": (1,) * len(kernel), **attrs}
    return net.builder.values.Deconvolution(
        *inputs, kernel=kernel, num_filter=filters, num_group=group, no_bias=not bias, **attrs
    )


def activated(F, x, act):
    if act == "clip":
        return F.clip(x, a_min=-0.5, a_max=0.7)
    if act in ("leaky", "elu", "gelu"):
        return F.LeakyReLU(x, act_type=act, slope=0.3)
    return F.Activation(x, act_type=act)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("group", [1, 2])
def test_norm_and_activation_join(group, bias):
    net = Net((2, 32, 5, 6))
    x = net.norm(deconv(net, net.data, 48, group=group, bias=bias))
    ops = net.check(net.builder.values.Activation(x, act_type="relu"))
    assert ops[FUSED] == 1 and "BatchNorm" not in ops
    assert ("relu" in ops) == (FUSED == "Deconvolution")


@pytest.mark.parametrize(
    "act", ["relu", "sigmoid", "tanh", "softrelu", "leaky", "elu", "gelu", "clip"]
)
def test_activations(act):
    net = Net((2, 16, 5, 4))
    x = deconv(net, net.data, 16, bias=True)
    assert net.check(activated(net.builder.values, x, act))[FUSED] == 1


@pytest.mark.parametrize(
    "shape, filters, attrs",
    [
        ((2, 3, 7, 6), 5, {}),
        ((1, 16, 6, 5), 16, {"kernel": 3, "adj": (1, 1)}),
        ((1, 16, 6, 5), 16, {"target_shape": (11, 10)}),
        ((2, 16, 7), 8, {"kernel": 3}),
        ((1, 16, 3, 4, 3), 16, {"kernel": (3, 2, 4), "pad": (1, 0, 1)}),
        ((1, 32, 6, 5), 32, {"kernel": 3, "dilate": (2, 2)}),
        ((1, 32, 6, 5), 32, {"kernel": 4, "group": 32}),
        ((2, 16, 1, 1), 32, {"stride": (1, 1), "pad": (0, 0)}),
    ],
)
def test_forms(shape, filters, attrs):
    net = Net(shape)
    net.check(net.builder.values.relu(net.norm(deconv(net, net.data, filters, **attrs))))


def test_a_branch_in_the_middle_ends_the_chain():
    net = Net((1, 16, 8, 8))
    F = net.builder.values
    x = deconv(net, net.data, 16)
    ops = net.check(F.relu(x), F.tanh(x))
    assert ops[FUSED] == 1 and ops["relu"] == 1 and ops["tanh"] == 1


def test_a_normalisation_that_two_read_takes_no_activation_in():
    net = Net((1, 16, 8, 8))
    F = net.builder.values
    x = net.norm(deconv(net, net.data, 16))
    ops = net.check(F.relu(x), F.mean(x))
    assert ops[FUSED] == 1 and ops["relu"] == 1 and "BatchNorm" not in ops


@pytest.mark.skipif(library().mx_isa() < 3, reason="oneDNN adds on CPUs with AVX2")
@pytest.mark.parametrize("blocked", [False, True])
def test_sums_join(blocked):
    net = Net((2, 16, 6, 5))
    F = net.builder.values
    other = net.conv(deconv(net, net.data, 16), 32)
    x = F.relu(deconv(net, net.data, 32, bias=True) + other)
    ops = net.check(net.conv(x, 16) if blocked else x, F.mean(other))
    assert ops[FUSED] == 2
    if onednn.version():
        assert not {"elemwise_add", "broadcast_add", "_fused_pointwise"} & ops.keys()


def test_layers_hand_on_blocked_arrays():
    net = Net((2, 32, 6, 5))
    F = net.builder.values
    x = F.relu(net.norm(net.conv(net.data, 32)))
    x = F.relu(net.norm(deconv(net, x, 64)))
    x = F.relu(net.norm(deconv(net, x, 32)))
    ops = net.check(net.conv(F.Pooling(x, kernel=(2, 2), pool_type="max"), 16))
    if onednn.version():
        assert ops[FUSED] == 2 and ops.get("_to_blocked", 0) <= 1
        assert ops.get("_from_blocked", 0) <= 1


def test_written_parameters_are_packed_again():
    net = Net((1, 16, 8, 8))
    y = deconv(net, net.data, 16)
    planned = net.planned(y)
    before = net.run(planned)[0]
    net.arrays["w1"][:] = net.arrays["w1"] * 2
    np.testing.assert_allclose(net.run(planned)[0], 2 * before, rtol=1e-5, atol=1e-6)
    if onednn.version():
        assert "_pack_deconv_weight" in planned.graph.count_ops()


@pytest.mark.parametrize(
    "switch, operator",
    [
        (
            "MXNET_DISABLE_ONEDNN_FUSE_CONV_BN",
            "relu" if FUSED == "Deconvolution" else "_batch_norm_scale",
        ),
        ("MXNET_DISABLE_ONEDNN_FUSE_CONV_RELU", "relu"),
        ("MXNET_DISABLE_ONEDNN_CONV_OPT", "Deconvolution"),
    ],
)
def test_each_pattern_can_be_switched_off(monkeypatch, switch, operator):
    monkeypatch.setenv(switch, "1")
    net = Net((1, 16, 8, 8))
    x = net.norm(deconv(net, net.data, 16))
    assert operator in net.check(net.builder.values.relu(x))


def test_other_layouts_and_types_stay_alone():
    net = Net((1, 16, 4, 4))
    F = net.builder.values
    weight = net.variable("w", (16, 16, 2, 2))
    half = F.Deconvolution(
        F.Cast(net.data, dtype="float64"),
        F.Cast(weight, dtype="float64"),
        kernel=(2, 2),
        num_filter=16,
        stride=(2, 2),
    )
    assert "_sg_onednn_deconv" not in net.check(F.relu(half))
