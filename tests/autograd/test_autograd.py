"""Recording, backward, higher derivatives."""

import gc
import threading

import numpy as np
import pytest

import mxcy as mx
from mxcy import autograd
from mxcy.base import MXNetError


def variable(values, req="write"):
    x = mx.nd.array(np.asarray(values, np.float32))
    x.attach_grad(req)
    return x


def test_backward_of_a_chain():
    x = variable([1.0, 2.0, 3.0])
    with autograd.record():
        y = (x * x + 2 * x).exp().log()
    y.backward()
    np.testing.assert_allclose(x.grad.asnumpy(), 2 * x.asnumpy() + 2, rtol=1e-5)


def test_head_gradients_weigh_the_outputs():
    x = variable([1.0, 2.0])
    with autograd.record():
        y = x * 3
    y.backward(mx.nd.array([10.0, 100.0]))
    np.testing.assert_array_equal(x.grad.asnumpy(), [30.0, 300.0])


def test_gradients_of_broadcast_operands_are_summed():
    x, y = variable(np.ones((2, 3))), variable(np.ones((3,)))
    with autograd.record():
        z = mx.nd.broadcast_mul(x, y.reshape((1, 3)))
    z.backward()
    assert x.grad.shape == (2, 3) and y.grad.shape == (3,)
    np.testing.assert_array_equal(y.grad.asnumpy(), [2, 2, 2])


@pytest.mark.parametrize("req, expected", [("write", 2.0), ("add", 6.0), ("null", 0.0)])
def test_grad_req(req, expected):
    x = variable([1.0], req)
    for _ in range(3):
        with autograd.record():
            y = x * 2
        y.backward()
    if req == "null":
        assert x.grad is None or x.grad.asscalar() == 0
    else:
        assert x.grad.asscalar() == expected


def test_a_variable_used_many_times_sums_its_gradients():
    x = variable([2.0])
    with autograd.record():
        y = x + x + x * x + x
    y.backward()
    assert x.grad.asscalar() == 3 + 2 * 2


def test_several_heads():
    x = variable([1.0, 2.0])
    with autograd.record():
        y, z = x * 2, x * x
    autograd.backward([y, z], [None, mx.nd.array([10.0, 10.0])])
    np.testing.assert_array_equal(x.grad.asnumpy(), [22, 42])


def test_only_recorded_operations_count():
    x = variable([3.0])
    with autograd.record():
        y = x * 2
        with autograd.pause():
            w = y * 100
        z = y + w
    z.backward()
    assert x.grad.asscalar() == 2
    assert not autograd.is_recording()


def test_scopes_set_modes_and_restore_them():
    assert not autograd.is_training()
    with autograd.record():
        assert autograd.is_recording() and autograd.is_training()
        with autograd.predict_mode():
            assert autograd.is_recording() and not autograd.is_training()
        with autograd.pause(train_mode=True):
            assert not autograd.is_recording() and autograd.is_training()
    with autograd.train_mode():
        assert autograd.is_training() and not autograd.is_recording()
    with pytest.raises(RuntimeError, match="inside"), autograd.record():
        raise RuntimeError("inside")
    assert not autograd.is_recording() and not autograd.is_training()


def test_each_thread_has_its_own_state():
    seen = []
    with autograd.record():
        thread = threading.Thread(target=lambda: seen.append(autograd.is_recording()))
        thread.start()
        thread.join()
    assert seen == [False]


def test_the_graph_is_freed_unless_retained():
    x = variable([1.0])
    with autograd.record():
        y = x * x
    y.backward(retain_graph=True)
    y.backward()
    with pytest.raises(MXNetError, match="retain_graph"):
        y.backward()


@pytest.mark.parametrize("hybridize", [False, True])
def test_a_state_of_the_step_before_is_a_constant(hybridize):
    """As in MXNet, loops over a text need not detach the state that they carry along."""
    weight = mx.nd.array([2.0])
    weight.attach_grad()
    net = mx.gluon.nn.HybridLambda(lambda F, state, w: state * w)
    if hybridize:
        net.hybridize()
    state = mx.nd.array([1.0])
    for step in range(3):
        with autograd.record():
            state = net(state, weight)
        state.backward()
        assert weight.grad.asscalar() == 2.0**step
    assert state.asscalar() == 8
    with autograd.record():
        state[:] = 5  # its graph is gone
        (state * weight).backward()
    assert weight.grad.asscalar() == 5


def test_a_freed_part_of_a_live_graph_is_refused():
    x = mx.nd.array([3.0])
    x.attach_grad()
    with autograd.record():
        shared = x * 2
        first, second = shared * 3, shared * x
    first.backward()
    with pytest.raises(MXNetError, match="retain_graph"):
        second.backward()


def test_a_state_that_a_function_made_is_a_constant():
    class Double(autograd.Function):
        def forward(self, x):
            return x * 2

        def backward(self, slope):
            return slope * 2

    x = mx.nd.array([1.0])
    x.attach_grad()
    for _ in range(2):
        with autograd.record():
            y = Double()(x)
        y.backward()
        with autograd.record():
            z = Double()(y) + x
        z.backward()
        assert x.grad.asscalar() == 1


def test_heads_must_be_recorded():
    with pytest.raises(MXNetError, match="record"):
        mx.nd.ones((2,)).backward()


def test_detach_cuts_the_graph():
    x = variable([2.0])
    with autograd.record():
        y = x * x
        z = y.detach() * x
    z.backward()
    assert x.grad.asscalar() == 4


def test_grad_returns_gradients_of_variables_and_intermediates():
    x = variable([2.0])
    with autograd.record():
        y = x * x
        z = y * y
    by_x, by_y = autograd.grad(z, [x, y])
    assert by_x.asscalar() == 32 and by_y.asscalar() == 8
    assert x.grad.asscalar() == 0  # the variable's own gradient is untouched


def test_grad_of_one_variable_is_a_list_too():
    x = variable([2.0])
    with autograd.record():
        y = x * x
        slope = autograd.grad(y, x, create_graph=True, retain_graph=True)
        assert isinstance(slope, list) and len(slope) == 1
        total = slope[0].sum()
    total.backward()
    assert x.grad.asscalar() == 2


def test_grad_of_an_unrelated_variable_is_an_error():
    x, other = variable([2.0]), variable([1.0])
    with autograd.record():
        y = x * x
    with pytest.raises(MXNetError, match="not part"):
        autograd.grad(y, [other])


@pytest.mark.parametrize(
    "function, second",
    [
        (lambda x: x * x * x, lambda x: 6 * x),
        (lambda x: x.exp(), np.exp),
        (lambda x: x.sigmoid(), None),
        (lambda x: mx.nd.sin(x), lambda x: -np.sin(x)),
        (lambda x: 1 / x, lambda x: 2 / x**3),
    ],
)
def test_second_derivatives(function, second):
    x = variable([0.5, 1.0, 2.0])
    with autograd.record():
        y = function(x)
        (first,) = autograd.grad(y, [x], create_graph=True)
    first.backward()
    values = x.asnumpy()
    if second is None:
        s = 1 / (1 + np.exp(-values))
        expected = s * (1 - s) * (1 - 2 * s)
    else:
        expected = second(values)
    np.testing.assert_allclose(x.grad.asnumpy(), expected, rtol=1e-5)


def test_second_derivative_of_a_dense_layer():
    x, w = variable(np.random.RandomState(0).rand(3, 4)), variable(np.ones((2, 4)))
    with autograd.record():
        y = mx.nd.FullyConnected(x, w, num_hidden=2, no_bias=True)
        (by_x,) = autograd.grad((y * y).sum(), [x], create_graph=True)
        penalty = (by_x * by_x).sum()
    penalty.backward()

    # penalty = 4 |x w^T w|^2; its gradient by w, by finite differences
    def value(weights):
        return 4 * np.sum((x.asnumpy() @ weights.T @ weights) ** 2)

    step, base = 1e-3, np.ones((2, 4))
    for i in ((0, 0), (1, 3)):
        moved = base.copy()
        moved[i] += step
        back = base.copy()
        back[i] -= step
        expected = (value(moved) - value(back)) / (2 * step)
        assert abs(w.grad.asnumpy()[i] - expected) < 1e-3 * abs(expected)


def test_in_place_writes_are_refused_while_recording():
    x = variable([1.0])
    with autograd.record():
        y = x * 2
        with pytest.raises(MXNetError, match="[Ii]nplace"):
            y += 1


def test_mark_variables_checks_its_arguments():
    x = mx.nd.ones((2,))
    with pytest.raises(ValueError, match="grad_req"):
        autograd.mark_variables([x], [mx.nd.zeros((2,))], "sometimes")
    with pytest.raises(ValueError, match="length"):
        autograd.mark_variables([x], [])


def test_a_long_chain_is_walked_and_freed_without_recursion():
    x = variable([0.0])
    with autograd.record():
        y = x
        for _ in range(20000):
            y = y + 1
    y.backward()
    assert y.asscalar() == 20000 and x.grad.asscalar() == 1
    with autograd.record():
        y = x
        for _ in range(20000):
            y = y + 1
    del y
    gc.collect()


def test_gradients_keep_to_their_own_memory():
    """Gradients may take over a result's memory instead of a copy, unless it is shared."""
    a, b = mx.nd.array([[1.0, 2.0]]), mx.nd.array([[3.0, 4.0]])
    head = mx.nd.array([[5.0, 6.0]])
    a.attach_grad()
    b.attach_grad()
    with mx.autograd.record():
        y = a + b
    y.backward(head)
    a.grad[:] = 0
    np.testing.assert_array_equal(b.grad.asnumpy(), [[5, 6]])
    b.grad[:] = 1
    np.testing.assert_array_equal(head.asnumpy(), [[5, 6]])

    with mx.autograd.record():
        y = a * b + a.reshape((2,)).reshape((1, 2))
    y.backward(head)
    np.testing.assert_array_equal(a.grad.asnumpy(), [[20, 30]])
    a.grad[:] = 0
    b.grad[:] = 0
    np.testing.assert_array_equal(a.asnumpy(), [[1, 2]])
    np.testing.assert_array_equal(head.asnumpy(), [[5, 6]])


@pytest.mark.parametrize("units", [3, 600])  # large arrays start on separate pages
def test_gradients_of_hybridized_networks_keep_to_their_own_memory(units):
    net = mx.gluon.nn.Dense(units, in_units=units, use_bias=False)
    net.initialize(mx.init.One())
    net.hybridize()
    x, y = (mx.nd.full((1, units), value) for value in (2, 3))
    parameter = net.weight

    def gradient(data):
        with mx.autograd.record():
            total = net(data).sum()
        total.backward()
        return parameter.grad()

    first = gradient(x)
    np.testing.assert_array_equal(first.asnumpy(), np.full((units, units), 2))
    seen = first[1:2]
    assert gradient(y) is first
    for array in (first, seen):  # shared memory is written, not replaced
        np.testing.assert_array_equal(array.asnumpy(), np.full(array.shape, 3))
    kept = gradient(x).copy()
    with mx.autograd.record():
        total = net(y).sum()
    total.backward(retain_graph=True)
    parameter.grad()[:] = 0
    total.backward()
    np.testing.assert_array_equal(first.asnumpy(), np.full((units, units), 3))
    np.testing.assert_array_equal(kept.asnumpy(), np.full((units, units), 2))
    np.testing.assert_array_equal(parameter.data().asnumpy(), np.ones((units, units)))


def test_views_of_gradients_follow_them():
    x, w = mx.nd.array([[1.0, 2.0], [3.0, 4.0]]), mx.nd.array([[2.0, 3.0], [4.0, 5.0]])
    x.attach_grad()
    for number in range(3):
        gradient = x.grad
        if number == 1:
            row, flat = x.grad[1], x.grad.reshape((4,))
            shared = mx.nd.from_dlpack(x.grad.to_dlpack_for_write())
        with mx.autograd.record():
            y = x * w * (number + 1)
        y.backward()
        want = w.asnumpy() * (number + 1)
        assert gradient is x.grad
        np.testing.assert_array_equal(gradient.asnumpy(), want)
        if number >= 1:
            np.testing.assert_array_equal(row.asnumpy(), want[1])
            np.testing.assert_array_equal(flat.asnumpy(), want.reshape(-1))
            np.testing.assert_array_equal(shared.asnumpy(), want)


@pytest.mark.parametrize("linear", [mx.nd.radians, mx.nd.identity, lambda x: 3 * x - 1])
@pytest.mark.parametrize("known_head", [False, True])
def test_gradients_of_linear_functions_can_be_differentiated_again(linear, known_head):
    x = mx.nd.array([1, 2, 3])
    x.attach_grad()
    head = mx.nd.array([2, 3, 4]) if known_head else None
    with autograd.record():
        y = linear(x)
        slope = autograd.grad(y, x, head, create_graph=True)[0]
        total = (slope * x).sum()
    total.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), slope.asnumpy())
    with autograd.record():
        slope = autograd.grad(linear(x), x, head, create_graph=True)[0]
    slope.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), 0)


def test_gradients_that_arrive_often_at_several_outputs_are_summed():
    x = mx.nd.arange(12).reshape((2, 6)) + 1
    x.attach_grad()
    with autograd.record():
        left, middle, right = mx.nd.split(x, 3, axis=1)
        loss = (left + right * right + right * 3 + right).sum() + (right * right).sum()
    loss.backward()
    expected = np.zeros((2, 6))
    expected[:, :2], expected[:, 4:] = 1, 4 * x.asnumpy()[:, 4:] + 4
    np.testing.assert_array_equal(x.grad.asnumpy(), expected)
    assert middle.shape == (2, 2)


def test_a_gradient_that_is_handed_on_stays_what_it_is():
    x, y = mx.nd.ones(3), mx.nd.ones(3)
    x.attach_grad()
    y.attach_grad()
    with autograd.record():
        z = x + y
    given = mx.nd.array([1, 2, 3])
    z.backward(given)
    x.grad[:] = 7
    assert y.grad.asnumpy().tolist() == given.asnumpy().tolist() == [1, 2, 3]


@pytest.mark.parametrize("module", [mx.nd, mx.np])
def test_a_request_for_no_gradient_lasts_until_backward(module):
    x, y = module.ones((2,)), module.ones((2,)) * 3
    x.attach_grad("null")
    y.attach_grad()
    with autograd.record():
        z = x * y
    z.backward(retain_graph=True)
    assert x.grad.asnumpy().tolist() == [0, 0]
    z.backward()
    assert x.grad is None and y.grad.asnumpy().tolist() == [1, 1]
