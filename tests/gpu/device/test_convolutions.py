"""Convolutions by plans of the real cuDNN, run by the stand-in's library."""

import re

import numpy as np
import pytest

import mxcy as mx
from mxcy import autograd, gluon
from mxcy.gpu import graphs
from mxcy.gpu.convolution import convolutions, cudnn
from tests.gpu.standin.seam import is_chosen

GPU = mx.gpu(0)

if not cudnn.is_open():
    reason = "cuDNN is not installed; make test-cudnn installs it (1.7 GB)"
    pytest.skip(reason, allow_module_level=True)

CASES = {
    "groups": {"shape": (2, 8, 9, 9), "groups": 2},
    "strides": {"shape": (2, 4, 9, 8), "stride": (2, 2), "pad": (1, 1)},
    "dilation": {"shape": (1, 3, 7, 9), "dilate": (2, 1)},
    "lines": {"shape": (2, 4, 11), "kernel": (3,), "stride": (2,), "pad": (1,)},
    "volumes": {"shape": (1, 4, 4, 5, 6), "kernel": (3, 2, 1), "pad": (1, 1, 0)},
    "depthwise": {"shape": (1, 6, 5, 5), "groups": 6},
    "float16": {"shape": (2, 4, 6, 6), "dtype": "float16", "tol": 2e-2},
    "bfloat16": {"shape": (2, 4, 6, 6), "dtype": "bfloat16", "tol": 1e-1},
    "float64": {"shape": (2, 4, 6, 6), "dtype": "float64"},
}


def computed(ctx, shape, kernel=(3, 3), groups=1, dtype="float32", tol=1e-4, **how):
    """Return a convolution and its gradients in float64."""
    rng = np.random.default_rng(0)
    filters = 6
    arrays = [
        mx.nd.array(rng.standard_normal(extents), ctx=ctx, dtype=dtype)
        for extents in (shape, (filters, shape[1] // groups, *kernel), (filters,))
    ]
    for array in arrays:
        array.attach_grad()
    with autograd.record():
        y = mx.nd.Convolution(*arrays, kernel=kernel, num_filter=filters, num_group=groups, **how)
        loss = (y * y).sum()
    loss.backward()
    return [a.astype("float64").asnumpy() for a in (y, *(array.grad for array in arrays))]


@pytest.fixture
def plans(monkeypatch):
    """Record the plans that convolutions request."""
    asked = []
    original = convolutions._plan

    def noted(*wanted):
        asked.append((wanted[0].direction, original(*wanted)))
        return asked[-1][1]

    monkeypatch.setattr(convolutions, "_plan", noted)
    return asked


@pytest.mark.parametrize("name", CASES)
def test_results(name, plans, monkeypatch):
    monkeypatch.setenv("MXNET_CUDNN_AUTOTUNE_DEFAULT", "0")
    case = CASES[name]
    found, expected = computed(GPU, **case), computed(mx.cpu(), **case)
    assert {direction for direction, _ in plans} == {"fwd", "dgrad", "wgrad"}
    assert all(plan for _, (plan, _) in plans)
    for result, wanted in zip(found, expected, strict=True):
        scale = np.abs(wanted).max()
        np.testing.assert_allclose(result / scale, wanted / scale, atol=case.get("tol", 1e-4))


def test_transposes(monkeypatch):
    monkeypatch.setenv("MXNET_CUDNN_AUTOTUNE_DEFAULT", "0")
    rng = np.random.default_rng(1)
    x, w = rng.standard_normal((2, 6, 5, 5)), rng.standard_normal((6, 4, 3, 3))
    results = [
        mx.nd.Deconvolution(
            *(mx.nd.array(values, ctx=ctx) for values in (x, w)),
            kernel=(3, 3),
            num_filter=4,
            stride=(2, 2),
        ).asnumpy()
        for ctx in (GPU, mx.cpu())
    ]
    np.testing.assert_allclose(*results, rtol=1e-4, atol=1e-4)


_extents = iter(range(20, 100))


def told(capfd, dtype="float32", level="2", **how):
    """Return what a new convolution prints about its plans."""
    x = mx.nd.ones((1, 16, next(_extents), 4), ctx=GPU, dtype=dtype)
    w = mx.nd.ones((16, 16, 3, 3), ctx=GPU, dtype=dtype)
    capfd.readouterr()
    mx.nd.Convolution(x, w, kernel=(3, 3), num_filter=16, no_bias=True, **how).wait_to_read()
    return [line for line in capfd.readouterr().out.splitlines() if "mxcy cuDNN fwd" in line]


def engines(lines):
    return [int(re.search(r"eng(\d+)", line)[1]) for line in lines]


def chosen(lines):
    (line,) = [line for line in lines if "fwd*" in line]
    return line


def test_variables(capfd, monkeypatch):
    def put(name, value):
        monkeypatch.setenv(f"MXNET_{name}", value)

    put("CUDNN_ALGO_VERBOSE_LEVEL", "2")
    put("CUDNN_AUTOTUNE_DEFAULT", "0")
    everything = told(capfd)
    assert len(everything) > 2
    assert chosen(everything) == everything[0]
    assert not any(" us" in line or "tensor_core" in line for line in everything)
    put("CUDNN_HEUR_MODE", "0")
    assert engines(told(capfd)) != engines(everything)
    put("CUDNN_HEUR_MODE", "1")

    first = engines(everything)[0]
    put("CUDNN_DISABLED_CONV_FWD_ENGINES", str(first))
    assert first not in engines(told(capfd))
    put("CUDNN_DISABLED_CONV_FWD_ENGINES", ",".join(map(str, range(100))))
    assert told(capfd) == ["mxcy cuDNN fwd: no plan left, using mxcy's kernel"]
    monkeypatch.delenv("MXNET_CUDNN_DISABLED_CONV_FWD_ENGINES")

    put("CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION", "1")
    assert any("tensor_core" in line for line in told(capfd))
    assert any("tensor_core" in line for line in told(capfd, "float16"))
    put("CUDA_ALLOW_TENSOR_CORE", "0")
    assert not any("tensor_core" in line for line in told(capfd, "float16") + told(capfd))
    put("CUDNN_ALGO_VERBOSE_LEVEL", "1")
    (line,) = told(capfd)
    assert chosen([line])


def test_trials(capfd, monkeypatch):
    monkeypatch.setenv("MXNET_CUDNN_ALGO_VERBOSE_LEVEL", "2")
    monkeypatch.setenv("MXNET_CUDNN_AUTOTUNE_DEFAULT", "1")
    lines = told(capfd)
    timed = [line for line in lines if " us" in line]
    assert 1 < len(timed) <= 8
    assert chosen(lines) in timed
    assert all(" us" in line for line in told(capfd, cudnn_tune="fastest"))
    sizes = [int(re.search(r"workspace (\d+)", line)[1]) for line in told(capfd, workspace=0)]
    assert set(sizes) == {0}
    monkeypatch.setenv("MXNET_CUDNN_AUTOTUNE_DEFAULT", "0")  # overrides the operator's attribute
    assert not any(" us" in line for line in told(capfd, cudnn_tune="fastest"))


def test_determinism(capfd, monkeypatch):
    monkeypatch.setenv("MXNET_CUDNN_AUTOTUNE_DEFAULT", "1")
    monkeypatch.setenv("MXNET_CUDNN_ALGO_VERBOSE_LEVEL", "2")
    monkeypatch.setenv("MXNET_ENFORCE_DETERMINISM", "1")
    lines = told(capfd)
    assert lines
    assert not any(" us" in line or "nondeterministic" in line for line in lines)


def test_without_cudnn(plans):
    x, w = mx.nd.ones((1, 3, 5, 6), ctx=GPU), mx.nd.ones((2, 3, 3, 3), ctx=GPU)
    how = {"kernel": (3, 3), "num_filter": 2, "no_bias": True, "cudnn_off": True}
    assert (mx.nd.Convolution(x, w, **how).asnumpy() == 27).all()
    assert not plans


def test_choices_are_kept(monkeypatch):
    """The next process reads the choice from the cache."""
    monkeypatch.setenv("MXNET_CUDNN_AUTOTUNE_DEFAULT", "1")
    shape = (1, 3, next(_extents), 5)
    expected = computed(GPU, shape)
    convolutions._plan.cache_clear()
    monkeypatch.setattr(cudnn, "candidates", None)
    out = (1, 6, shape[2] - 2, 3)
    case = cudnn.Convolution("fwd", 0, shape, (6, 3, 3, 3), out, (0, 0), (1, 1), (1, 1))
    plan, _ = convolutions._plan(case, 0, convolutions._choice(None, case))
    assert plan
    assert expected[0].any()


@pytest.mark.parametrize("order", ["eager", "random:1", "random:2"])
@pytest.mark.skipif(not is_chosen(), reason="the stand-in has orders")
def test_streams_wait(order, monkeypatch):
    from concurrent.futures import ThreadPoolExecutor

    from tests.gpu.device.test_streams import run_in

    monkeypatch.setenv("MXNET_CUDNN_AUTOTUNE_DEFAULT", "0")
    x, w = mx.nd.ones((1, 4, 6, 6), ctx=GPU), mx.nd.ones((4, 4, 1, 1), ctx=GPU)
    how = {"kernel": (1, 1), "num_filter": 4, "no_bias": True}
    with ThreadPoolExecutor(1) as one, ThreadPoolExecutor(1) as other:
        for pool in (one, other):
            pool.submit(lambda: (x + 0).wait_to_read()).result()
        run_in(order)
        for _ in range(5):
            x = one.submit(lambda x=x: x / 2).result()
            x = other.submit(lambda x=x: mx.nd.Convolution(x, w, **how)).result()
        assert (x.asnumpy() == 2**5).all()
    run_in("lazy")


def test_graphs(monkeypatch):
    """Plans can be captured and replayed."""
    monkeypatch.setenv("MXNET_ENABLE_CUDA_GRAPHS", "1")
    monkeypatch.setenv("MXNET_CUDNN_AUTOTUNE_DEFAULT", "0")
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Conv2D(3, 3, in_channels=3, activation="relu"))
    net.add(gluon.nn.Conv2D(3, 3, in_channels=3), gluon.nn.Conv2D(2, 3, in_channels=3))
    net.initialize(mx.init.Constant(0.1), ctx=[GPU, mx.cpu()])
    net.hybridize(static_alloc=True, static_shape=True)
    x = mx.nd.random.uniform(shape=(2, 3, 8, 8), ctx=mx.cpu())
    expected, there = net(x).asnumpy(), x.as_in_context(GPU)
    before = graphs.stats()["replayed"]
    for _ in range(4):
        np.testing.assert_allclose(net(there).asnumpy(), expected, rtol=1e-4)
    assert graphs.stats()["replayed"] > before
