"""Errors of running operations are raised by the first wait for a result."""

import inspect

import numpy as np
import pytest

import mxcy as mx
from mxcy import autograd, gluon
from mxcy._library import front
from tests.env.run import python

pytestmark = pytest.mark.skipif(
    mx.engine.stats()["type"] == "NaiveEngine", reason="NaiveEngine raises errors at the call"
)


@pytest.fixture(autouse=True)
def forget_errors():
    """Prevent errors of one test from surfacing in another."""
    yield
    try:
        mx.nd.waitall()
    except (mx.MXNetError, IndexError):
        pass


def bad(shape=(2, 2)):
    """An array whose operation fails."""
    return mx.nd.random.normal(0, -1, shape)


def busy():
    """An array that is still being computed, zeros at last."""
    data = mx.nd.ones((900, 900))
    for _ in range(3):
        data = mx.nd.dot(data, data) * 0
    return data


def waits():
    """The ways to wait for an array."""
    return [
        lambda a: a.wait_to_read(),
        lambda a: a.wait_to_write(),
        lambda a: a.asnumpy(),
        lambda a: repr(a),
        lambda a: a.copy().asnumpy(),
        lambda a: a[0, 0].asscalar(),
        lambda a: list(a[0])[0].asscalar(),
        lambda a: float(a.sum()),
        lambda a: bool(a.sum() > 0),
        lambda a: np.asarray(a),
        lambda a: mx.nd.to_dlpack_for_read(a),
        lambda a: a.__reduce__(),
        lambda a: a.astype("float64").asnumpy(),
        lambda a: a.reshape((-1,)).asnumpy(),
        lambda a: a[[0, 0]].asnumpy(),
        lambda a: a[:, 1].asnumpy(),
        lambda a: mx.nd.zeros((2, 2))[:].__setitem__(0, a[0]),
        lambda a: mx.metric.Loss().update(None, [a]),
        lambda a: gluon.data.batchify.Stack()([a, a]).asnumpy(),
        lambda a: a[0].__setitem__(slice(None), 1),
    ]


@pytest.mark.parametrize("number", range(len(waits())))
def test_every_way_to_look_at_an_array_raises_its_error(number):
    with pytest.raises(mx.MXNetError, match="_random_normal: scale > 0"):
        waits()[number](bad())


def test_operations_do_not_end_the_errors_of_their_inputs():
    array = bad()
    for look in (lambda a: a.copy().asnumpy(), lambda a: float(a.sum()), waits()[-1]):
        for _ in range(2):
            with pytest.raises(mx.MXNetError, match="_random_normal: scale > 0"):
                look(array)
    with pytest.raises(mx.MXNetError, match="_random_normal: scale > 0"):
        array.asnumpy()
    assert array.asnumpy().shape == array.copy().shape == (2, 2)


def test_save_raises(tmp_path):
    with pytest.raises(mx.MXNetError, match="scale > 0"):
        mx.nd.save(str(tmp_path / "x.params"), {"a": bad()})


def test_error_is_raised_later_and_names_the_calling_line():
    array, line = mx.nd.random.normal(0, -1, (2,)), inspect.currentframe().f_lineno
    with pytest.raises(mx.MXNetError) as caught:
        array.asnumpy()
    assert f"test_failures.py:{line})" in str(caught.value)
    pushed, line = mx.nd.take(busy()[0], mx.nd.array([5000]), mode="raise"), line + 4
    with pytest.raises((mx.MXNetError, IndexError), match="take") as caught:
        pushed.asnumpy()
    assert f"test_failures.py:{line})" in str(caught.value)


def test_naive_engine_raises_at_the_line_of_the_call():
    code = "import mxcy as mx, traceback\ntry:\n  x = mx.nd.random.normal(0, -1, (2, 2))\n"
    code += "except mx.MXNetError as error:\n  lines = traceback.extract_tb(error.__traceback__)\n"
    code += "  print([f.lineno for f in lines if f.filename == '<string>'])"
    done = python(code, MXNET_ENGINE_TYPE="NaiveEngine")
    assert done.out.strip() == "[3]"


def test_bad_arguments_raise_at_the_call():
    data = mx.nd.ones((2, 3))
    with pytest.raises(mx.MXNetError):
        mx.nd.dot(data, data)
    with pytest.raises(mx.MXNetError):
        mx.nd.elemwise_add(busy(), data)


def test_errors_travel_along_chains():
    first = bad()
    second = mx.nd.dot(first + 1, mx.nd.ones((2, 2)))
    third = mx.nd.concat(second, mx.nd.ones((2, 2)), dim=0)
    fourth = mx.nd.topk(third)
    fifth = third.sum()
    messages = set()
    for array in (first, second, third, fourth, fifth):
        with pytest.raises(mx.MXNetError) as caught:
            array.wait_to_read()
        messages.add(str(caught.value))
    assert len(messages) == 1


def test_other_arrays_stay_usable():
    other, failed = mx.nd.ones((2, 2)), bad()
    assert (other + 1).asnumpy().tolist() == [[2, 2], [2, 2]]
    with pytest.raises(mx.MXNetError):
        (failed + other).asnumpy()
    assert mx.nd.random.normal(0, 1, (2, 2)).asnumpy().shape == (2, 2)
    assert other.asnumpy().tolist() == [[1, 1], [1, 1]]


def test_waitall_raises_in_place_of_later_waits():
    first, second = bad(), mx.nd.random.uniform(0, 1, (2,))
    with pytest.raises(mx.MXNetError, match="scale > 0"):
        mx.nd.waitall()
    mx.nd.waitall()
    second.wait_to_read()
    first.wait_to_read()


@pytest.mark.parametrize("wait", [mx.nd.waitall, None])
def test_rows_of_a_failed_array_share_one_error(wait):
    first, second = bad()
    with pytest.raises(mx.MXNetError, match="scale > 0"):
        (wait or first.asnumpy)()
    assert second.asnumpy().shape == (2,)


def test_values_computed_from_missing_ones_fail_after_waitall():
    array = bad()
    with pytest.raises(mx.MXNetError, match="scale > 0"):
        mx.nd.waitall()
    with pytest.raises(mx.MXNetError, match="scale > 0"):
        (array + 1).asnumpy()


def test_waitall_is_silent_about_errors_that_were_raised():
    with pytest.raises(mx.MXNetError):
        bad().wait_to_read()
    mx.nd.waitall()


def test_waitall_raises_the_first():
    mx.nd.random.normal(0, -7, (2,))
    mx.nd.random.normal(0, -8, (2,))
    with pytest.raises(mx.MXNetError, match="got 0 and -7 "):
        mx.nd.waitall()


@pytest.mark.parametrize(
    "heal",
    [
        lambda a: a.__setitem__(slice(None), 3),
        lambda a: mx.nd.full((2, 2), 3).copyto(a),
        lambda a: mx.nd.elemwise_add(mx.nd.ones((2, 2)), mx.nd.full((2, 2), 2), out=a),
        lambda a: a.__setitem__(slice(None), mx.nd.full((2, 2), 3)),
    ],
)
def test_rewriting_a_failed_array_clears_the_error(heal):
    array = bad()
    heal(array)
    assert array.asnumpy().tolist() == [[3, 3], [3, 3]]
    assert not array.failed


def test_writing_a_part_or_adding_does_not_make_it_sound():
    array = bad()
    with pytest.raises(mx.MXNetError):
        array[0] = 1
    mx.nd.elemwise_add(mx.nd.ones((1, 2)), mx.nd.ones((1, 2)), out=array[1:2])
    array += 1
    with pytest.raises(mx.MXNetError, match="scale > 0"):
        array.asnumpy()


def test_errors_of_references_wait_as_well():
    data = mx.nd.ones((3,))
    array = mx.nd.take(data, mx.nd.array([7]), mode="raise")
    with pytest.raises((IndexError, mx.MXNetError), match="take"):
        array.asnumpy()


def test_gradients_carry_errors():
    data = mx.nd.ones((2, 2))
    data.attach_grad()
    with autograd.record():
        result = (data * bad()).sum()
    result.backward()
    with pytest.raises(mx.MXNetError, match="scale > 0"):
        data.grad.asnumpy()
    with autograd.record():
        result = (data * 2).sum()
    result.backward()
    assert data.grad.asnumpy().tolist() == [[2, 2], [2, 2]]


@pytest.mark.parametrize("wait", ["output", "gradient", "waitall"])
def test_symbols(wait):
    data = mx.sym.var("x")
    out = mx.sym.MakeLoss(mx.sym.broadcast_mul(data, mx.sym.random.normal(0, -1, shape=(2, 2))))
    executor = out.bind(mx.cpu(), [mx.nd.ones((2, 2))], [mx.nd.zeros((2, 2))])
    executor.forward(is_train=True)
    executor.backward()
    with pytest.raises(mx.MXNetError, match="_random_normal .*scale > 0"):
        if wait == "output":
            executor.outputs[0].asnumpy()
        elif wait == "gradient":
            executor.grad_arrays[0].asnumpy()
        else:
            mx.nd.waitall()


def train_with_failures(hybrid, failures):
    """Train a network; some steps get data that fail. Returns the other losses, and the states."""
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dense(4), gluon.nn.BatchNorm(), gluon.nn.Dense(2))
    net.initialize(mx.init.One())
    if hybrid:
        net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.1})
    losses = []
    for step in range(5):
        for fails in (True, False) if step in failures else (False,):
            data = bad((2, 3)) if fails else mx.nd.arange(6).reshape((2, 3)) + step
            try:
                with autograd.record():
                    loss = (net(data) ** 2).sum()
                loss.backward()
                trainer.step(2)
                losses.append(loss.asscalar())
            except mx.MXNetError as error:
                assert "scale > 0" in str(error)
                trainer.optimizer.num_update -= 1
                for index in trainer.optimizer._index_update_count:
                    trainer.optimizer._index_update_count[index] -= 1
    mx.nd.waitall()
    return losses, [p.data().asnumpy() for p in net.collect_params().values()]


@pytest.mark.parametrize("hybrid", [False, True])
def test_training_goes_on_after_a_failed_batch(hybrid):
    losses, states = train_with_failures(hybrid, ())
    same_losses, same_states = train_with_failures(hybrid, (2, 3))
    np.testing.assert_array_equal(losses, same_losses)
    for state, same in zip(states, same_states, strict=True):
        np.testing.assert_array_equal(state, same)


def with_failed_weight():
    """A planned network with data, its result, the weight that has failed since, and its values."""
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dense(64), gluon.nn.Dense(64), gluon.nn.Dense(64))
    net.initialize()
    net.hybridize()
    data = mx.nd.ones((4, 64))
    expected = net(data).asnumpy()
    weight = net[1].weight.data()
    values = weight.copy()
    mx.nd.random.normal(0, -1, weight.shape, out=weight)
    return net, data, expected, weight, values


def test_packed_weights_are_not_used_after_waitall_raised_their_error():
    net, data, expected, weight, values = with_failed_weight()
    net(data)
    with pytest.raises(mx.MXNetError, match="scale > 0"):
        mx.nd.waitall()
    with pytest.raises(mx.MXNetError, match="scale > 0"):
        net(data).asnumpy()
    weight.wait_to_read()
    values.copyto(weight)
    np.testing.assert_array_equal(net(data).asnumpy(), expected)


@pytest.mark.parametrize("hybrid", [False, True])
def test_networks_work_again_with_sound_data(hybrid):
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dense(8), gluon.nn.Dropout(0.5), gluon.nn.Dense(4), gluon.nn.Dense(2))
    net.initialize()
    if hybrid:
        net.hybridize(static_alloc=True)
    expected = net(mx.nd.ones((2, 3))).asnumpy()
    failed = net(bad((2, 3)))
    with pytest.raises(mx.MXNetError, match="scale > 0"):
        failed.wait_to_read()
    np.testing.assert_array_equal(net(mx.nd.ones((2, 3))).asnumpy(), expected)


def test_packed_weights_are_made_again_after_a_failure():
    net, data, expected, weight, values = with_failed_weight()
    with pytest.raises(mx.MXNetError, match="scale > 0"):
        net(data).asnumpy()
    values.copyto(weight)
    np.testing.assert_array_equal(net(data).asnumpy(), expected)


def test_optimizers_hand_errors_on():
    weight, gradient = mx.nd.ones((2, 2)), bad()
    updater = mx.optimizer.get_updater(mx.optimizer.SGD(learning_rate=0.1, momentum=0.9))
    updater(0, gradient, weight)
    with pytest.raises(mx.MXNetError, match="scale > 0"):
        weight.asnumpy()


def test_failed_operations_let_go_of_their_arrays():
    mx.nd.take(busy()[0], mx.nd.array([5000]), mode="raise")
    with pytest.raises((mx.MXNetError, IndexError)):
        mx.nd.waitall()
    assert front.unfinished() == 0
