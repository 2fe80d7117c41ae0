"""Checks of symbols: they pass correct operators and detect wrong ones."""

import numpy as np
import pytest

import mxcy as mx

utils = mx.test_utils
X, Y = mx.sym.var("x"), mx.sym.var("y")
PLACE = {"x": np.random.RandomState(0).rand(3, 2), "y": np.random.RandomState(1).rand(3, 2)}
VALUE = PLACE["x"] * PLACE["y"] + np.exp(PLACE["x"])
GRADIENTS = {"x": PLACE["y"] + np.exp(PLACE["x"]), "y": PLACE["x"]}


def product():
    return X * Y + mx.sym.exp(X)


def test_simple_forward():
    actual = utils.simple_forward(product(), **PLACE)
    np.testing.assert_allclose(actual, VALUE, rtol=1e-6)
    both = utils.simple_forward(mx.sym.Group([product(), X * Y]), **PLACE)
    assert len(both) == 2


def test_forward():
    for place in (PLACE, list(PLACE.values())):
        (output,) = utils.check_symbolic_forward(product(), place, [VALUE])
    assert output.dtype == np.float32
    name = product().list_outputs()[0]
    utils.check_symbolic_forward(product(), PLACE, [VALUE, VALUE + 1])  # more than there are
    with pytest.raises(AssertionError, match="EXPECTED__plus.*FORWARD__plus"):
        utils.check_symbolic_forward(product(), PLACE, [VALUE + 1])
    with pytest.raises(ValueError, match="keys of the given location do not match"):
        utils.check_symbolic_forward(product(), {"x": PLACE["x"]}, [VALUE])
    assert name.endswith("_output")


def test_forward_in_double_precision():
    (output,) = utils.check_symbolic_forward(
        product(), PLACE, [VALUE], rtol=1e-14, dtype=np.float64
    )
    assert output.dtype == np.float64


@pytest.mark.parametrize("grad_req", ["write", "add", {"x": "null", "y": "add"}])
def test_backward(grad_req):
    ones = np.ones((3, 2))
    actual = utils.check_symbolic_backward(product(), PLACE, [ones], GRADIENTS, grad_req=grad_req)
    assert sorted(actual) == ["x", "y"]
    if grad_req == "write":
        np.testing.assert_allclose(actual["x"].asnumpy(), GRADIENTS["x"], rtol=1e-5)
    wrong = {**GRADIENTS, "y": GRADIENTS["y"] + 1}
    with pytest.raises(AssertionError, match="EXPECTED_y"):
        utils.check_symbolic_backward(product(), PLACE, [ones], wrong, grad_req=grad_req)


def test_numeric_gradient_of_right_rules():
    utils.check_numeric_gradient(product(), PLACE, rtol=1e-2, atol=1e-3)
    utils.check_numeric_gradient(product(), PLACE, rtol=1e-6, atol=1e-8, dtype=np.float64)
    utils.check_numeric_gradient(product(), PLACE, grad_nodes=["y"], rtol=1e-2, atol=1e-3)
    with pytest.raises(AssertionError, match="real numbers"):
        utils.check_numeric_gradient(product(), PLACE, dtype=np.int32)
    requests = {"x": "add", "y": "null"}
    utils.check_numeric_gradient(product(), PLACE, grad_nodes=requests, rtol=1e-2, atol=1e-3)
    two = mx.sym.Group([product(), X * 3])
    utils.check_numeric_gradient(two, PLACE, rtol=1e-2, atol=1e-3)


def test_numeric_gradient_finds_wrong_rules():
    with pytest.raises(AssertionError, match="NUMERICAL_x"):
        utils.check_numeric_gradient(mx.sym.BlockGrad(X) * Y, PLACE)
    with pytest.raises(ValueError, match="grad_nodes must be a list or a dict"):
        utils.check_numeric_gradient(product(), PLACE, grad_nodes="x")


def test_numeric_gradient_with_auxiliary_states():
    x = mx.sym.BatchNorm(X, name="bn", fix_gamma=False, use_global_stats=True)
    place = {
        "x": np.random.RandomState(2).rand(4, 3),
        "bn_gamma": np.ones(3) * 2,
        "bn_beta": np.ones(3),
    }
    states = {"bn_moving_mean": np.ones(3) * 0.5, "bn_moving_var": np.ones(3) * 2}
    utils.check_numeric_gradient(x, place, aux_states=states, rtol=1e-2, atol=1e-2)
    with pytest.raises(ValueError, match="aux_states"):
        utils.check_numeric_gradient(x, place, aux_states={"bn_moving_mean": np.ones(3)})


def test_numeric_grad_of_an_executor():
    arrays = {name: mx.nd.array(value) for name, value in PLACE.items()}
    executor = product().bind(mx.cpu(), dict(arrays))
    actual = utils.numeric_grad(executor, arrays, eps=1e-2)
    for name, expected in GRADIENTS.items():
        np.testing.assert_allclose(actual[name], expected, rtol=1e-3)
    actual = utils.numeric_grad(executor, PLACE, eps=1e-2)
    np.testing.assert_allclose(actual["x"], GRADIENTS["x"], rtol=1e-3)


def test_consistency():
    ways = [
        {"ctx": mx.cpu(), "x": (2, 3), "y": (2, 3), "type_dict": dict.fromkeys("xy", kind)}
        for kind in (np.float64, np.float32)
    ]
    truth = utils.check_consistency(product(), ways)
    assert {"x", "y"} < set(truth) and truth["x"].dtype == np.float64
    assert isinstance(truth["x"], mx.nd.NDArray)
    outputs = [sym(X, Y, name="z") for sym in (mx.sym.elemwise_mul, mx.sym.elemwise_add)]
    with pytest.raises(AssertionError, match="of way 1"):
        utils.check_consistency(outputs, ways)
    truth = utils.check_consistency(outputs, ways, raise_on_err=False)
    # Outputs are the head gradients: d/dx and d/dy are z * y and z * x, and z is x * y.
    z, dx, dy = (truth[name].asnumpy() for name in ("z_output", "x", "y"))
    np.testing.assert_allclose(dx * dy, z**3, rtol=1e-6)
    with pytest.raises(AssertionError, match="different names"):
        utils.check_consistency([X * Y, X + Y], ways, raise_on_err=False)


def test_speed():
    assert utils.check_speed(product(), N=2, x=(2, 2), y=(2, 2)) > 0
    assert utils.check_speed(product(), PLACE, N=2, typ="forward") > 0
    with pytest.raises(ValueError, match='"whole" or "forward"'):
        utils.check_speed(product(), PLACE, typ="half")


def test_structure():
    assert utils.same_symbol_structure(X * Y + X, Y * X + Y)
    assert not utils.same_symbol_structure(X * Y, X + Y)


def test_optimizers():
    utils.compare_optimizer(
        mx.optimizer.SGD(momentum=0.9), mx.optimizer.SGD(momentum=0.9), (3, 4), "float32"
    )
    with pytest.raises(AssertionError):
        utils.compare_optimizer(
            mx.optimizer.SGD(), mx.optimizer.SGD(learning_rate=1.0), [(3, 4), (2,)], "float32"
        )


def test_hybridized_blocks():
    def build():
        net = mx.gluon.nn.HybridSequential()
        net.add(mx.gluon.nn.Dense(3, activation="tanh"), mx.gluon.nn.Dense(2))
        return net

    utils.check_gluon_hybridize_consistency(build, [mx.nd.ones((2, 4))])
    with pytest.raises(AssertionError):
        utils.check_gluon_hybridize_consistency(
            build, [mx.nd.ones((2, 4))], numpy_func=lambda x: x[:, :2] + 50
        )
