"""Values that plans compute from parameters once, while parameters change around runs."""

import threading

import numpy as np
import pytest

import mxcy as mx
from mxcy import nd

#: images large enough that plans run on a worker
IMAGES = (2, 16, 48, 48)


def layer(scale=1.0):
    """A hybridized 3 x 3 convolution whose weights are all `scale`."""
    net = mx.gluon.nn.Conv2D(32, 3, padding=1, in_channels=16, use_bias=False)
    net.initialize(mx.init.Constant(scale))
    net.hybridize(inline_limit=0)
    return net


def images(seed=0):
    return nd.array(np.random.RandomState(seed).uniform(size=IMAGES), dtype="float32")


def test_a_run_keeps_the_weights_that_it_started_with():
    net, x = layer(), images()
    once = net(x).asnumpy()
    results = []
    for scale in range(1, 9):  # nothing waits in between
        net.weight.data()[:] = scale
        results.append(net(x))
    for scale, result in enumerate(results, 1):
        np.testing.assert_allclose(result.asnumpy(), scale * once, rtol=1e-5)


def test_runs_of_several_batches_follow_the_weights_they_share():
    net, x, single = layer(), images(), images()[:1].copy()
    once = net(x).asnumpy()
    results = []
    for scale in (2, 3, 5):
        net.weight.set_data(scale * nd.ones(net.weight.shape))
        results += [(scale, net(single)), (scale, net(x)), (scale, net(single))]
    for scale, result in results:
        values = result.asnumpy()
        np.testing.assert_allclose(values, scale * once[: len(values)], rtol=1e-5)


def test_writes_through_numpy_are_seen():
    net, x = layer(), images()
    once = net(x).asnumpy()
    weight = net.weight.data()
    view = np.from_dlpack(weight)
    for scale in (2, 3):
        view[:] = scale
        np.testing.assert_allclose(net(x).asnumpy(), scale * once, rtol=1e-5)


def test_a_parameter_with_new_arrays_is_read_anew():
    net, x = layer(), images()
    once = net(x).asnumpy()
    np.testing.assert_array_equal(net(x).asnumpy(), once)
    net.initialize(mx.init.Constant(2.0), force_reinit=True)
    np.testing.assert_allclose(net(x).asnumpy(), 2 * once, rtol=1e-5)
    net.cast("float64")
    result = net(x.astype("float64"))
    assert result.dtype == np.float64
    np.testing.assert_allclose(result.asnumpy(), 2 * once, rtol=1e-5)


def test_executors_see_their_arguments_written():
    data = mx.sym.var("data")
    net = mx.sym.Convolution(data, kernel=(3, 3), pad=(1, 1), num_filter=32, no_bias=True, name="c")
    executor = net.simple_bind(mx.cpu(), data=IMAGES, grad_req="null")
    executor.arg_dict["data"][:] = images()
    results = {}
    for scale in (1, 2, 7):
        executor.arg_dict["c_weight"][:] = scale
        results[scale] = executor.forward()[0].copy()
    for scale, result in results.items():
        np.testing.assert_allclose(result.asnumpy(), scale * results[1].asnumpy(), rtol=1e-5)


def test_an_error_in_a_weight_reaches_the_output_and_can_be_mended():
    net, x = layer(), images()
    once = net(x).asnumpy()
    bad = nd.take(nd.ones((4, 9)), nd.array([9.0] * (32 * 16)), mode="raise")
    bad.reshape(net.weight.shape).copyto(net.weight.data())
    with pytest.raises((IndexError, mx.MXNetError), match="take"):
        net(x).asnumpy()
    net.weight.data()[:] = 1
    np.testing.assert_array_equal(net(x).asnumpy(), once)


def test_threads_share_a_network():
    net = layer()
    inputs = [images(seed) for seed in range(4)]
    expected = [net(x).asnumpy() for x in inputs]
    wrong = []

    def work(i):
        for _ in range(25):
            if not np.array_equal(net(inputs[i]).asnumpy(), expected[i]):
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(inputs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
