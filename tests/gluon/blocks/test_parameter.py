"""Parameters: initialization, deferred shapes, gradients, contexts, types."""

import numpy as np
import pytest

import mxcy as mx
from mxcy import gluon

TWO = [mx.cpu(0), mx.cpu(1)]


def test_arrays_before_initialize():
    parameter = gluon.Parameter("w", shape=(2, 3))
    for access in (parameter.data, parameter.list_data, parameter.grad, parameter.list_ctx):
        with pytest.raises(RuntimeError, match="'w' has not been initialized"):
            access()
    with pytest.raises(ValueError, match="not been initialized"):
        parameter.reset_ctx(mx.cpu(1))
    with pytest.raises(AssertionError, match="not been initialized"):
        parameter.set_data(mx.nd.ones((2, 3)))


def test_one_copy_per_context():
    parameter = gluon.Parameter("w", shape=(2, 3))
    parameter.initialize(mx.init.One(), ctx=TWO)
    assert parameter.list_ctx() == TWO
    assert [array.context for array in parameter.list_data()] == TWO
    assert parameter.data(mx.cpu(1)).context == mx.cpu(1)
    assert parameter.grad(device=mx.cpu(1)).shape == (2, 3)
    with pytest.raises(RuntimeError, match=r"not initialized on context cpu\(3\)"):
        parameter.data(mx.cpu(3))


def test_contexts_may_be_named():
    parameter = gluon.Parameter("w", shape=(2, 3))
    parameter.initialize(ctx=["cpu", "cpu(1)"])
    assert parameter.list_ctx() == TWO and parameter.data("cpu(1)").context == mx.cpu(1)
    parameter.reset_ctx("cpu(3)")
    assert parameter.list_ctx() == [mx.cpu(3)]


def test_initialize_twice_warns_and_keeps_the_value():
    parameter = gluon.Parameter("w", shape=(2,))
    parameter.initialize(mx.init.One())
    with pytest.warns(UserWarning, match="already initialized"):
        parameter.initialize(mx.init.Zero())
    assert parameter.data().asnumpy().tolist() == [1, 1]
    parameter.initialize(mx.init.Zero(), force_reinit=True)
    assert parameter.data().asnumpy().tolist() == [0, 0]


def test_own_initializer_wins_over_the_default():
    parameter = gluon.Parameter("w", shape=(2,), init=mx.init.Constant(3))
    parameter.initialize(default_init=mx.init.One())
    assert parameter.data().asnumpy().tolist() == [3, 3]
    named = gluon.Parameter("anything", shape=(2,), init="ones")
    named.initialize()
    assert named.data().asnumpy().tolist() == [1, 1]


@pytest.mark.parametrize("unknown", [0, -1])
def test_deferred_initialization(unknown):
    parameter = gluon.Parameter("w", shape=(2, unknown), allow_deferred_init=True)
    parameter.initialize(mx.init.One())
    with pytest.raises(gluon.DeferredInitializationError, match="'w' has not been initialized yet"):
        parameter.data()
    assert issubclass(gluon.DeferredInitializationError, mx.MXNetError)
    assert parameter.list_ctx() == [mx.cpu()]
    parameter.shape = (2, 5)
    parameter._finish_deferred_init()
    assert parameter.data().shape == (2, 5)


def test_initializers_serve_bfloat16_too():
    # They draw no such numbers themselves; shapes may be known before the cast or after it.
    net = mx.gluon.nn.Dense(4)
    net.initialize()
    net.cast("bfloat16")
    assert net(mx.nd.ones((2, 3), dtype="bfloat16")).dtype == net.weight.data().dtype
    values = net.weight.data().astype("float32").asnumpy()
    assert 0 < abs(values).min() and abs(values).max() <= 0.07


def test_unknown_shape_needs_permission():
    for shape in ((0, 3), None):
        with pytest.raises(ValueError, match="invalid shape"):
            gluon.Parameter("w", shape=shape).initialize()


def test_unknown_extents_in_numpy_shapes():
    dense = mx.gluon.nn.Dense(3)
    dense.initialize()
    assert dense.weight.shape == (3, 0) and repr(dense) == "Dense(None -> 3, linear)"
    with mx.util.np_shape():
        assert dense.weight.shape == (3, -1) and repr(dense) == "Dense(-1 -> 3, linear)"
        assert mx.gluon.Parameter("w", shape=(0, 2)).shape == (-1, 2)
        dense(mx.nd.ones((2, 4)))
    assert dense.weight.shape == (3, 4)


def test_set_data_before_the_shape_is_known():
    parameter = gluon.Parameter("w", shape=(0, 2), allow_deferred_init=True)
    parameter.initialize()
    parameter.set_data(mx.nd.array([[1, 2]]))
    assert parameter.shape == (1, 2)
    parameter._finish_deferred_init()
    assert parameter.data().asnumpy().tolist() == [[1, 2]]


def test_set_data_on_all_contexts():
    parameter = gluon.Parameter("w", shape=(2,))
    parameter.initialize(ctx=TWO)
    parameter.set_data(mx.nd.array([4, 5]))
    assert [array.asnumpy().tolist() for array in parameter.list_data()] == [[4, 5], [4, 5]]


def test_known_extents_do_not_change():
    parameter = gluon.Parameter("w", shape=(2, 0))
    parameter.shape = (2, 7)
    for shape in ((3, 7), (2,)):
        with pytest.raises(AssertionError, match="incompatible"):
            parameter.shape = shape
    assert parameter.shape == (2, 7)
    assert gluon.Parameter("w", shape=3).shape == (3,)


def test_grad_req():
    parameter = gluon.Parameter("w", shape=(2,))
    parameter.initialize()
    parameter.grad_req = "null"
    with pytest.raises(RuntimeError, match="grad_req='null'"):
        parameter.list_grad()
    parameter.grad_req = "add"
    for _ in range(2):
        with mx.autograd.record():
            loss = (parameter.data() * 3).sum()
        loss.backward()
    assert parameter.grad().asnumpy().tolist() == [6, 6]
    parameter.zero_grad()
    assert parameter.grad().asnumpy().tolist() == [0, 0]
    with pytest.raises(AssertionError, match="grad_req must be one of"):
        parameter.grad_req = "sum"


def test_not_differentiable_has_no_gradient():
    parameter = gluon.Parameter("w", shape=(2,), differentiable=False)
    parameter.grad_req = "write"
    assert parameter.grad_req == "null"


def test_cast_keeps_value_and_gradient_on_the_tape():
    parameter = gluon.Parameter("w", shape=(2,))
    parameter.initialize(mx.init.Constant(0.5))
    parameter.cast("float16")
    assert parameter.data().dtype == parameter.grad().dtype == np.float16
    with mx.autograd.record():
        loss = (parameter.data() * 2).sum()
    loss.backward()
    assert parameter.grad().asnumpy().tolist() == [2, 2]
    parameter.dtype = "float64"
    assert parameter.data().dtype == np.float64


def test_reset_ctx_averages_and_moves():
    parameter = gluon.Parameter("w", shape=(1,))
    parameter.initialize(ctx=TWO)
    parameter.list_data()[0][:] = 1
    parameter.list_data()[1][:] = 3
    parameter.reset_ctx(mx.cpu(2))
    assert parameter.list_ctx() == [mx.cpu(2)]
    assert parameter.data().asnumpy().tolist() == [2]
    parameter.reset_device(mx.cpu(0))
    assert parameter.data().context == mx.cpu(0)
    waiting = gluon.Parameter("w", shape=(0,), allow_deferred_init=True)
    waiting.initialize()
    waiting.reset_ctx(TWO)
    assert waiting.list_device() == TWO


def test_constant():
    constant = gluon.Constant("c", [[1, 2], [3, 4]])
    constant.initialize()
    assert constant.data().asnumpy().tolist() == [[1, 2], [3, 4]]
    constant.grad_req = "write"
    assert constant.grad_req == "null"
    unnamed = gluon.Constant(mx.nd.array([5]))
    unnamed.initialize()
    assert unnamed.data().asnumpy().tolist() == [5]


@pytest.mark.parametrize("init", ["mixed", "load"])
def test_initializers_chosen_by_name(init):
    if init == "mixed":
        init = mx.init.Mixed([".*bias", ".*"], [mx.init.Constant(7), mx.init.One()])
    else:
        init = mx.init.Load({"arg:x_bias": mx.nd.array([7])}, mx.init.One())
    collected = []
    for name in ("x_bias", "x_weight"):
        parameter = gluon.Parameter(name, shape=(1,))
        parameter.initialize(default_init=init)
        collected.append(parameter.data().asscalar())
    assert collected == [7, 1]


def test_repr():
    assert repr(gluon.Parameter("w", shape=(2, 0), dtype="float16")) == (
        "Parameter w (shape=(2, 0), dtype=float16)"
    )


def test_arrays_are_listed_by_context():
    contexts = [mx.cpu(2), mx.cpu(0)]
    parameter = gluon.Parameter("w", shape=(2, 3), init="ones")
    assert parameter._data is None and parameter._grad is None
    parameter.initialize(ctx=contexts)
    assert parameter.list_ctx() == contexts
    for arrays in (parameter._data, parameter._grad):
        assert [array.context for array in arrays] == contexts
    assert parameter.data(mx.cpu(0)) is parameter._data[1]
    parameter.cast("float16")
    assert [array.dtype for array in parameter._data] == [np.float16] * 2
    parameter.grad_req = "null"
    assert parameter._grad is None and len(parameter._data) == 2


class _Dropped(gluon.Parameter):
    """A copy of a parameter that returns its array with dropout, as in GluonNLP."""

    def __init__(self, parameter):
        super().__init__(
            name=parameter.name,
            shape=parameter.shape,
            init=parameter.init,
            allow_deferred_init=parameter._allow_deferred_init,
        )
        self._deferred_init = parameter._deferred_init
        self._data, self._grad = parameter._data, parameter._grad
        self._ctx_list, self._ctx_map = parameter._ctx_list, parameter._ctx_map

    def data(self, ctx=None):
        return mx.nd.Dropout(self._check_and_get(self._data, ctx), 0.5, "training")


@pytest.mark.parametrize("early", [True, False])
@pytest.mark.parametrize("hybrid", [True, False])
def test_replacing_a_layers_parameter(early, hybrid):
    dense = gluon.nn.Dense(3, in_units=4, use_bias=False, weight_initializer="ones")
    if not early:
        dense.initialize()
    other = _Dropped(dense.weight)
    dense._reg_params["weight"] = dense._params._params[other.name] = other
    object.__setattr__(dense, "weight", other)
    sharing = gluon.nn.Dense(3, in_units=4, use_bias=False, params=dense.params)
    assert sharing.weight is other
    both = gluon.nn.HybridSequential()
    both.add(dense, sharing)
    assert list(both.collect_params().values()) == [other]
    if early:
        both.initialize()
    if hybrid:
        dense.hybridize()
    ones = mx.nd.ones((2, 4))
    assert dense(ones).asnumpy().tolist() == [[4] * 3] * 2
    mx.random.seed(1)
    with mx.autograd.record():
        total = dense(ones).sum()
    total.backward()
    dropped = other._grad[0].asnumpy()
    assert set(dropped.ravel()) == {0, 4}
    assert total.asscalar() == dropped.sum()


@pytest.mark.parametrize("hybrid", [True, False])
def test_results_in_the_place_of_a_parameters_array(hybrid):
    """MXFusion samples weights and assigns them to a network's layers in this way."""
    contexts = [mx.cpu(0), mx.cpu(2)]
    dense = gluon.nn.Dense(1, in_units=2, use_bias=False)
    dense.initialize(ctx=contexts)
    if hybrid:
        dense.hybridize()
    scale = mx.nd.array([3.0], ctx=contexts[1])
    scale.attach_grad()
    parameter = dense.weight
    assert parameter._ctx_list == contexts
    places = parameter._ctx_map[contexts[1].device_typeid & 1]
    assert places == [0, None, 1]
    with mx.autograd.record():
        parameter._data[places[2]] = scale * mx.nd.array([[1.0, 2.0]], ctx=contexts[1])
        result = dense(mx.nd.array([[1.0, 10.0]], ctx=contexts[1]))
    result.backward()
    assert result.asscalar() == 63
    assert scale.grad.asscalar() == 21


@pytest.mark.parametrize(("stype", "code"), [("default", "0"), ("row_sparse", "1")])
def test_variables_note_the_storage_type(stype, code):
    attributes = gluon.Parameter("w", shape=(2, 3), stype=stype).var().list_attr()
    assert attributes["__storage_type__"] == code
