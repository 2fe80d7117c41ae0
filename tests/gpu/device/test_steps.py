"""Optimizer steps by our kernels against the CPU."""

import numpy as np
import pytest

import mxcy as mx
from tests.gpu.device.test_launches import launches
from tests.gpu.device.test_lines import GPU, both


@pytest.fixture
def x():
    return np.random.default_rng(0).standard_normal((3, 70, 5)).astype(np.float32)


STEPS = {
    "sgd_update": (2, {"lr": 0.1, "wd": 0.01}),
    "sgd_mom_update": (3, {"lr": 0.1, "wd": 0.01, "momentum": 0.9, "clip_gradient": 0.5}),
    "adam_update": (4, {"lr": 0.1, "wd": 0.01, "rescale_grad": 0.5}),
}


@pytest.mark.parametrize("name", STEPS)
def test_steps(x, name):
    count, attrs = STEPS[name]
    values = [x, x[::-1], x * 0 + 1, x * x][:count]
    host, device = both(lambda *a: [getattr(mx.nd, name)(*a, out=a[0], **attrs)], *values)
    for result, expected in zip(device, host, strict=True):
        np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-6)


def test_many_weights_are_one_launch(x):
    shapes = [(7,), (3, 40), (300,)]
    rng = np.random.default_rng(3)
    values = [rng.standard_normal(s).astype("float32") for s in shapes for _ in range(3)]
    rates = {"lrs": (0.1, 0.2, 0.3), "wds": (0.0, 0.1, 0.01)}

    def all_at_once(*arrays):
        mx.nd.multi_sgd_mom_update(
            *arrays, out=list(arrays[::3]), num_weights=3, momentum=0.9, **rates
        )

    _, device = both(all_at_once, *values)
    arrays = [mx.nd.array(v, ctx=GPU) for v in values]
    for i, (lr, wd) in enumerate(zip(*rates.values(), strict=True)):
        own = arrays[3 * i : 3 * i + 3]
        mx.nd.sgd_mom_update(*own, lr=lr, wd=wd, momentum=0.9, out=own[0])
    for result, array in zip(device, arrays, strict=True):
        np.testing.assert_array_equal(result, array.asnumpy())


def test_outputs_in_the_memory_of_other_weights(x):
    """Each weight is read before another one's output overwrites it."""
    kept = []
    for ctx in (mx.cpu(), GPU):
        arrays = [mx.nd.array(x * factor, ctx=ctx) for factor in (1, 2, 3, 4)]
        crossed = [arrays[2], arrays[0]]
        mx.nd.multi_sgd_update(*arrays, out=crossed, lrs=(0.1, 0.2), wds=(0, 0.1), num_weights=2)
        kept.append([array.asnumpy() for array in arrays])
    for result, expected in zip(*reversed(kept), strict=True):
        np.testing.assert_allclose(result, expected, rtol=1e-6)


@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_a_trainer_with_many_weights(optimizer):
    """More weights than fit into one launch."""
    results = []
    for ctx in (mx.cpu(), GPU):
        rng = np.random.default_rng(4)
        net = mx.gluon.nn.HybridSequential()
        net.add(*(mx.gluon.nn.Dense(3, in_units=3) for _ in range(33)))
        net.initialize(mx.init.Zero(), ctx=ctx)
        for parameter in net.collect_params().values():
            parameter.set_data(mx.nd.array(rng.standard_normal(parameter.shape)))
        settings = {"learning_rate": 0.05, "wd": 0.01}
        if optimizer == "sgd":
            settings["momentum"] = 0.9
        trainer = mx.gluon.Trainer(net.collect_params(), optimizer, settings)
        for _ in range(3):
            slopes = [rng.standard_normal(p.shape) for p in net.collect_params().values()]
            with mx.autograd.record():
                parts = [
                    (parameter.data() * mx.nd.array(slope, ctx=ctx)).sum()
                    for parameter, slope in zip(net.collect_params().values(), slopes, strict=True)
                ]
            mx.autograd.backward(parts)
            before = launches()
            trainer.step(1)
            count = launches() - before
        results.append([p.data().asnumpy() for p in net.collect_params().values()])
    assert count <= 4
    for result, expected in zip(*reversed(results), strict=True):
        np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("optimizer", ["sgd", "nag", "adam", "adamw"])
def test_mixed_precision(optimizer, dtype):
    """Master weights are float32."""
    kept = []
    for ctx in (mx.cpu(), GPU):
        rng = np.random.default_rng(5)
        weight = mx.nd.array(rng.standard_normal(300), ctx=ctx).astype(dtype)
        own = mx.optimizer.create(
            optimizer, learning_rate=0.1, wd=0.01, multi_precision=True, use_fused_step=True
        )
        state = own.create_state_multi_precision(0, weight)
        for _ in range(3):
            gradient = mx.nd.array(rng.standard_normal(300), ctx=ctx).astype(dtype)
            own.update_multi_precision([0], [weight], [gradient], [state])
        kept.append(weight.astype("float32").asnumpy())
    np.testing.assert_allclose(kept[1], kept[0], rtol=2**-7, atol=2**-7)


OTHERS = {
    "nag_mom_update": (3, {"momentum": 0.9}),
    "rmsprop_update": (3, {"clip_weights": 0.9}),
    "rmspropalex_update": (5, {}),
    "signsgd_update": (2, {}),
    "signum_update": (3, {"momentum": 0.9, "wd_lh": 0.01}),
    "ftrl_update": (4, {}),
    "ftml_update": (5, {"t": 3}),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_steps_are_one_launch(x, name):
    count, attrs = OTHERS[name]
    values = [x, x[::-1], x * x + 0.1, x * x / 9, x / 3][:count]
    if name == "rmspropalex_update":
        values[2:] = [x * x + 1, x / 3, x / 5]
    attrs = {"lr": 0.1, "wd": 0.01, "rescale_grad": 0.5, **attrs}
    host, device = both(lambda *a: [getattr(mx.nd, name)(*a, out=a[0], **attrs)], *values)
    for result, expected in zip(device, host, strict=True):
        np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-5)
    arrays = [mx.nd.array(v, ctx=GPU) for v in values]
    mx.nd.waitall()
    before = launches()
    getattr(mx.nd, name)(*arrays, out=arrays[0], **attrs)
    mx.nd.waitall()
    assert launches() - before == 1
