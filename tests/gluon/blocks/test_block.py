"""Blocks: names, registration, hooks, files, summaries."""

import gc
import weakref

import numpy as np
import pytest

import mxcy as mx
from mxcy import gluon
from mxcy.gluon import nn


class Pair(gluon.HybridBlock):
    """Two dense layers in a row, named inside the block's scope."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.first = nn.Dense(3)
            self.second = nn.Dense(2, in_units=3)

    def hybrid_forward(self, F, x):
        return self.second(self.first(x))


def two_layers(**kwargs):
    net = nn.HybridSequential(**kwargs)
    with net.name_scope():
        net.add(nn.Dense(3, in_units=2), nn.Dense(2, in_units=3))
    return net


def values(block):
    return {n: p.data().asnumpy() for n, p in block._collect_params_with_prefix().items()}


def test_prefixes_count_by_kind():
    with mx.name.NameManager():
        assert nn.Dense(1).prefix == "dense0_"
        assert nn.Dense(1).name == "dense1"
        assert nn.Conv2D(1, 1).prefix == "conv0_"
        assert nn.MaxPool2D().prefix == "pool0_"
        assert nn.Activation("tanh").prefix == "tanh0_"
        assert Pair().first.weight.name == "pair0_dense0_weight"
        assert Pair(prefix="my_").second.weight.name == "my_dense1_weight"
        assert nn.Dense(1).prefix == "dense2_"
    assert nn.Dense(1, prefix="foo").name == "foo"


def test_empty_prefix_makes_no_scope():
    with mx.name.NameManager():
        net = two_layers(prefix="")
    assert list(net.collect_params()) == [
        "dense0_weight",
        "dense0_bias",
        "dense1_weight",
        "dense1_bias",
    ]


def test_collect_params_by_either_name():
    net = Pair(prefix="p_")
    parameters = net.collect_params()
    assert list(parameters)[:2] == ["p_dense0_weight", "p_dense0_bias"]
    assert parameters["first.weight"] is parameters["p_dense0_weight"]
    assert list(net.collect_params(".*weight")) == ["p_dense0_weight", "p_dense1_weight"]
    assert list(net.collect_params("second")) == ["p_dense1_weight", "p_dense1_bias"]
    assert list(net.params) == []


def test_parameters_as_attributes():
    class Scaled(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.scale = gluon.Parameter("weight", shape=(1,), init="ones")
            self.inner = nn.Dense(2, in_units=2)

        def forward(self, x):
            return self.inner(x) * self.scale.data()

    net = nn.HybridSequential()
    net.add(Scaled(), Scaled())
    assert len(net.collect_params()) == 6
    assert sorted(net.collect_params(".*scale")._structural) == ["0.scale", "1.scale"]
    net.initialize()
    assert net(mx.nd.ones((1, 2))).shape == (1, 2)


def test_attribute_kinds_do_not_change():
    net = Pair()
    for value in (1, gluon.Parameter("w")):
        with pytest.raises(TypeError, match="Changing attribute type for first"):
            net.first = value
    net.first = nn.Dense(5, in_units=4)
    assert net._children["first"].weight.shape == (5, 4)


def test_hidden_blocks_are_reported():
    net = Pair()
    net.hidden = [nn.Dense(1)]
    with pytest.warns(UserWarning, match='"Pair.hidden" is an unregistered container'):
        net.collect_params()
    net.register_child(net.hidden[0])
    assert len(net.collect_params()) == 6


def test_sharing_through_params():
    first = nn.Dense(2, in_units=3)
    second = nn.Dense(2, in_units=3, params=first.params)
    assert second.weight is first.weight
    third = nn.Dense(2, in_units=3).share_parameters(first.collect_params())
    assert third.weight is first.weight and third.bias is first.bias
    assert list(third.collect_params()) == list(first.collect_params())


def test_hooks():
    net, seen = Pair(), []
    net.initialize()
    before = net.register_forward_pre_hook(lambda block, inputs: seen.append(("pre", len(inputs))))
    with net.register_forward_hook(lambda block, inputs, out: seen.append(("post", out.shape))):
        net(mx.nd.ones((4, 3)))
    before.detach()
    net(mx.nd.ones((4, 3)))
    assert seen == [("pre", 1), ("post", (4, 2))]


def test_apply_visits_children_first():
    seen = []
    net = Pair(prefix="p_")
    assert net.apply(lambda block: seen.append(block.name)) is net
    assert seen == ["p_dense0", "p_dense1", "p"]


def test_cast_leaves_batchnorm_in_float32():
    net = nn.HybridSequential()
    net.add(nn.Dense(2, in_units=2), nn.BatchNorm(in_channels=2))
    net.initialize()
    net.cast("float16")
    assert net[0].weight.data().dtype == np.float16
    assert net[1].gamma.data().dtype == np.float32


def test_files_have_structural_names(tmp_path):
    path = str(tmp_path / "net.params")
    net = two_layers()
    net.initialize()
    net.save_parameters(path)
    assert list(mx.nd.load(path)) == ["0.weight", "0.bias", "1.weight", "1.bias"]
    again = two_layers()
    again.load_parameters(path)
    for name, value in values(net).items():
        np.testing.assert_array_equal(values(again)[name], value)


def test_files_with_full_names(tmp_path):
    path = str(tmp_path / "net.params")
    net = two_layers(prefix="net_")
    net.initialize()
    net.collect_params().save(path)
    with pytest.raises(AssertionError):
        two_layers(prefix="other_").load_parameters(path)
    net.collect_params().save(path, strip_prefix="net_")
    again = two_layers(prefix="other_")
    again.load_parameters(path)
    np.testing.assert_array_equal(again[1].weight.data().asnumpy(), net[1].weight.data().asnumpy())


def test_single_layer_files(tmp_path):
    path = str(tmp_path / "dense.params")
    layer = nn.Dense(2, in_units=3)
    layer.initialize()
    layer.save_parameters(path)
    again = nn.Dense(2)
    again.load_parameters(path)
    np.testing.assert_array_equal(again.weight.data().asnumpy(), layer.weight.data().asnumpy())


def test_missing_and_extra_parameters(tmp_path):
    path = str(tmp_path / "net.params")
    net = two_layers()
    net.initialize()
    net.save_parameters(path)
    short = nn.HybridSequential()
    short.add(nn.Dense(3))
    with pytest.raises(ValueError, match=r"'1\.weight' loaded from file .* is not present"):
        short.load_parameters(path)
    short.load_parameters(path, ignore_extra=True)
    assert short[0].weight.shape == (3, 2)
    long = two_layers()
    long.add(nn.Dense(1, in_units=2))
    with pytest.raises(AssertionError, match=r"'2\.weight' is missing in file"):
        long.load_parameters(path)
    long.load_parameters(path, allow_missing=True)
    with pytest.raises(RuntimeError, match="not been initialized"):
        long[2].weight.data()


def test_shared_parameters_are_saved_once(tmp_path):
    path = str(tmp_path / "net.params")

    def tied():
        net = nn.HybridSequential()
        net.add(nn.Dense(3, in_units=3))
        net.add(nn.Dense(3, in_units=3, params=net[0].params))
        return net

    net = tied()
    net.initialize()
    net.save_parameters(path, deduplicate=True)
    assert list(mx.nd.load(path)) == ["1.weight", "1.bias"]
    again = tied()
    again.load_parameters(path)
    np.testing.assert_array_equal(again[0].weight.data().asnumpy(), net[0].weight.data().asnumpy())


def test_load_dict():
    net = two_layers()
    net.initialize()
    again = two_layers()
    again.load_dict({name: mx.nd.array(value) for name, value in values(net).items()})
    np.testing.assert_array_equal(again[1].bias.data().asnumpy(), net[1].bias.data().asnumpy())


def test_deprecated_file_methods(tmp_path):
    path = str(tmp_path / "net.params")
    net = two_layers()
    net.initialize()
    with pytest.warns(DeprecationWarning, match="save_parameters"):
        net.save_params(path)
    with pytest.warns(DeprecationWarning, match="load_parameters"):
        net.load_params(path)


def test_containers():
    net = two_layers()
    net.add(nn.Dense(1))
    assert len(net) == 3 and net[-1].weight.shape == (1, 0)
    assert [type(layer).__name__ for layer in net] == ["Dense"] * 3
    part = net[1:]
    assert type(part) is nn.HybridSequential and len(part) == 2 and part[0] is net[1]
    with pytest.raises(IndexError):
        net[5]
    with pytest.raises(ValueError, match="must also be HybridBlock"):
        net.add(nn.Sequential())


def test_sequential_passes_several_values():
    class Fork(gluon.Block):
        def forward(self, x, *args):
            return (x + 1, x * 2, *args)

    net = nn.Sequential()
    net.add(Fork(), Fork())
    actual = net(mx.nd.array([3]))
    assert [array.asscalar() for array in actual] == [5, 8, 6]


@pytest.mark.parametrize("kind", [nn.Concatenate, nn.HybridConcatenate])
def test_concatenate(kind):
    net = kind(axis=1)
    net.add(nn.Dense(2), nn.Identity())
    net.initialize()
    assert net(mx.nd.ones((4, 3))).shape == (4, 5)


def test_sequential_recommends_hybrid_sequential():
    net = nn.Sequential()
    net.add(nn.Dense(1))
    with pytest.warns(UserWarning, match="Consider using HybridSequential"):
        net.hybridize()
    assert net[0]._active


def test_forward_is_required():
    with pytest.raises(NotImplementedError, match="Block does not define forward"):
        gluon.Block()(1)


def test_repr_of_nested_blocks():
    net = nn.HybridSequential()
    net.add(Pair(), nn.Activation("relu"))
    assert repr(net) == (
        "HybridSequential(\n"
        "  (0): Pair(\n"
        "    (first): Dense(None -> 3, linear)\n"
        "    (second): Dense(3 -> 2, linear)\n"
        "  )\n"
        "  (1): Activation(relu)\n"
        ")"
    )


def test_summary(capsys):
    net = nn.HybridSequential()
    net.add(nn.Conv2D(4, 3), nn.BatchNorm(), nn.Dense(3))
    net.initialize()
    net.summary(mx.nd.ones((2, 3, 8, 8)))
    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines[3:7]] == [
        ["Input", "(2,", "3,", "8,", "8)", "0"],
        ["Conv2D-1", "(2,", "4,", "6,", "6)", "112"],
        ["BatchNorm-2", "(2,", "4,", "6,", "6)", "16"],
        ["Dense-3", "(2,", "3)", "435"],
    ]
    assert "   Total params: 563" in lines and "   Non-trainable params: 8" in lines
    net.hybridize()
    with pytest.raises(AssertionError, match="must not be hybridized"):
        net.summary(mx.nd.ones((2, 3, 8, 8)))


@pytest.mark.parametrize("hybrid", [False, True])
def test_networks_go_without_the_collector(hybrid):
    gc.collect()
    gc.disable()
    try:
        net = nn.HybridSequential()
        with net.name_scope():
            net.add(nn.Dense(3), nn.Dropout(0.5))
        net.initialize()
        net.hybridize(hybrid)
        net(mx.nd.ones((1, 2)))
        trainer = gluon.Trainer(net.collect_params(), "adam")
        with mx.autograd.record():
            out = net(mx.nd.ones((1, 2)))
        out.backward()
        trainer.step(1)
        left = [
            weakref.ref(each) for each in (net[0], net[0].weight, trainer, net.collect_params())
        ]
        del net, out, trainer
        assert [each() for each in left] == [None] * 4
    finally:
        gc.enable()


def test_arrays_of_numpy_load_into_blocks():
    net = nn.Dense(2, in_units=3)
    net.load_dict({"weight": np.ones((2, 3), np.float32), "bias": np.zeros(2, np.float32)})
    assert net(mx.nd.ones((1, 3))).asnumpy().tolist() == [[3, 3]]
    assert net.share_parameters(None) is net
