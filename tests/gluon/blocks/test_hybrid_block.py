"""Hybrid blocks: both styles, and parameters whose shapes depend on the input."""

import numpy as np
import pytest

import mxcy as mx
from mxcy import gluon
from mxcy.gluon import nn


class Affine(gluon.HybridBlock):
    """A dense layer in the style of MXNet 1.x without shape inference."""

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        with self.name_scope():
            self.weight = self.params.get("weight", shape=(units, 0), allow_deferred_init=True)
            self.bias = self.params.get("bias", shape=(0,), init="ones", allow_deferred_init=True)

    def hybrid_forward(self, F, x, weight, bias):
        return F.FullyConnected(x, weight, bias, num_hidden=self.units)


class Scale(gluon.HybridBlock):
    """A layer in the style of MXNet 2.x."""

    def __init__(self):
        super().__init__()
        self.scale = gluon.Parameter(
            shape=(-1,), init=mx.init.Constant(2), allow_deferred_init=True
        )

    def infer_shape(self, x):
        self.scale.shape = (x.shape[-1],)

    def forward(self, x):
        return x * self.scale.data()


def test_operators_find_shapes():
    net = Affine(3)
    net.initialize(mx.init.One())
    out = net(mx.nd.ones((2, 5)))
    assert net.weight.shape == (3, 5) and net.bias.shape == (3,)
    assert out.asnumpy().tolist() == [[6, 6, 6]] * 2
    assert net(mx.nd.ones((1, 5))).shape == (1, 3)


def test_operators_find_shapes_while_recording():
    net = Affine(2)
    net.initialize(mx.init.One())
    with mx.autograd.record():
        out = net(mx.nd.ones((4, 3))).sum()
    out.backward()
    assert net.weight.grad().asnumpy().tolist() == [[4, 4, 4]] * 2


def test_named_arguments_and_namespaces():
    class Named(Affine):
        def hybrid_forward(self, F, x, weight, bias):
            drawn = F.random.uniform(shape=(1,)) * 0
            y = F.FullyConnected(data=x, weight=weight, bias=bias, num_hidden=self.units)
            return y + drawn

    net = Named(2)
    net.initialize()
    assert net(mx.nd.ones((4, 3))).shape == (4, 2)


def test_undetermined_shapes():
    class Unused(Affine):
        def hybrid_forward(self, F, x, weight, bias):
            return x

    net = Unused(2)
    net.initialize()
    with pytest.raises(ValueError, match="cannot be inferred"):
        net(mx.nd.ones((2, 2)))


def test_forward_with_infer_shape():
    net = Scale()
    net.initialize()
    assert net(mx.nd.ones((1, 2))).asnumpy().tolist() == [[2, 2]]


def test_forward_without_infer_shape():
    class Careless(Scale):
        infer_shape = gluon.HybridBlock.infer_shape

    net = Careless()
    net.initialize()
    with pytest.raises(gluon.DeferredInitializationError, match="does not define infer_shape"):
        net(mx.nd.ones((1, 2)))


def test_layers_can_be_refined_in_either_style():
    class Doubled(nn.Dense):
        def hybrid_forward(self, F, x, weight, bias=None):
            return super().hybrid_forward(F, x, weight * 2, bias)

    class Tripled(nn.Dense):
        def forward(self, x):
            return super().forward(x) * 3

    for kind, factor in ((Doubled, 2), (Tripled, 3)):
        layer = kind(1, use_bias=False)
        layer.initialize(mx.init.One())
        assert layer(mx.nd.ones((1, 4))).asscalar() == 4 * factor


def test_not_initialized():
    with pytest.raises(RuntimeError, match="has not been initialized"):
        nn.Dense(3)(mx.nd.ones((2, 3)))


def test_inputs_must_be_arrays():
    with pytest.raises(ValueError, match=r"there must be one NDArray.*got int$"):
        nn.Dense(3)(1)
    with pytest.raises(ValueError, match=r"got numpy\.ndarray"):
        nn.Dense(3)(np.ones((2, 3)))


@pytest.mark.parametrize("hybridized", [False, True])
@pytest.mark.parametrize("inputs", [(None, None), (1.5,), ([], None)])
def test_forward_of_mxnet_2_needs_an_array(hybridized, inputs):
    class Second(mx.gluon.HybridBlock):
        def forward(self, x, y=None):
            return y

    block = Second()
    block.hybridize(hybridized)
    with pytest.raises(ValueError, match="there must be one NDArray"):
        block(*inputs)
    assert block(None, mx.nd.ones(2)).shape == (2,)


def test_lists_of_arrays_as_input():
    class Add(gluon.HybridBlock):
        def hybrid_forward(self, F, pair):
            return pair[0] + pair[1]

    assert Add()([mx.nd.ones(1), mx.nd.ones(1)]).asscalar() == 2


def test_the_context_of_the_input_is_current():
    class Ones(gluon.HybridBlock):
        def hybrid_forward(self, F, x):
            return F.ones((1,)) + x

    assert Ones()(mx.nd.ones(1, ctx=mx.cpu(2))).context == mx.cpu(2)


def test_parameters_on_several_contexts():
    net = nn.Dense(2)
    net.initialize(ctx=[mx.cpu(0), mx.cpu(1)])
    for ctx in (mx.cpu(0), mx.cpu(1)):
        assert net(mx.nd.ones((1, 3), ctx=ctx)).context == ctx
    with pytest.raises(RuntimeError, match="not initialized on context"):
        net(mx.nd.ones((1, 3), ctx=mx.cpu(2)))


def test_hybridize_changes_nothing_but_the_flag():
    net = nn.HybridSequential()
    net.add(nn.Dense(3), nn.Dense(2))
    net.initialize()
    x = mx.nd.ones((2, 4))
    before = net(x).asnumpy()
    net.hybridize(static_alloc=True, static_shape=True)
    assert (net(x).asnumpy() == before).all()
    assert all(layer._active for layer in net)
    net.hybridize(False)
    assert not any(layer._active for layer in net)


def test_wrong_shapes_name_the_operator():
    net = nn.Dense(3, in_units=4)
    net.initialize()
    with pytest.raises(mx.MXNetError, match="FullyConnected"):
        net(mx.nd.ones((2, 3)))
