"""Updates in float32 round where MXNet 1.9.1 rounds, bit for bit, on whole vectors and tails."""

import numpy as np
import pytest

import mxcy as mx
from mxcy.ops.core import params
from tests.ops.kernel_call import run_kernel

f = np.float32
LR, WD, RESCALE, CLIP = f(0.037), f(0.013), f(0.71), f(0.9)
STEP = {"lr": LR, "wd": WD, "rescale_grad": RESCALE, "clip_gradient": CLIP}


def draw(n, count):
    rng = np.random.default_rng(2)
    return [rng.normal(size=n).astype(f) for _ in range(count)]


def scaled(grad):
    return np.clip(RESCALE * grad, -CLIP, CLIP)


def decayed(weight, grad):
    return np.clip(grad * RESCALE + WD * weight, -CLIP, CLIP)


def sgd(weight, grad):
    return ((f(1) - LR * WD) * weight - LR * scaled(grad),)


def sgd_mom(weight, grad, mom):
    mom = f(0.9) * mom - LR * WD * weight - LR * scaled(grad)
    return weight + mom, mom


def nag_mom(weight, grad, mom):
    old, grad = f(0.9) * mom, scaled(grad)
    weight = weight - old + (f(0.9) + f(1)) * (old - LR * (grad + WD * weight))
    return weight, old - LR * (grad + WD * weight)


def adam(weight, grad, mean, var):
    grad = decayed(weight, grad)
    mean = f(0.9) * mean + (f(1) - f(0.9)) * grad
    var = f(0.99) * var + (f(1) - f(0.99)) * grad * grad
    return weight - LR * mean / (np.sqrt(var) + f(1e-8)), mean, var


def rmsprop(weight, grad, n):
    grad = decayed(weight, grad)
    n = (f(1) - f(0.95)) * (grad * grad) + f(0.95) * n
    return np.clip(weight - LR * (grad / np.sqrt(n + f(1e-8))), f(-1.5), f(1.5)), n


CASES = {
    "sgd_update": (sgd, params.SGD, {}),
    "sgd_mom_update": (sgd_mom, params.SGD_MOM, {"momentum": f(0.9)}),
    "nag_mom_update": (nag_mom, params.SGD_MOM, {"momentum": f(0.9)}),
    "adam_update": (adam, params.ADAM, {"beta1": f(0.9), "beta2": f(0.99), "epsilon": f(1e-8)}),
    "rmsprop_update": (
        rmsprop,
        params.RMSPROP,
        {"gamma1": f(0.95), "epsilon": f(1e-8), "clip_weights": f(1.5)},
    ),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("n", (5, 1000))
@pytest.mark.parametrize("threads", (1, 2))
def test_rounding(name, n, threads):
    formula, struct, more = CASES[name]
    weight, grad, *states = draw(n, 1 + formula.__code__.co_argcount)[1:]
    states = [np.abs(state) for state in states]
    expected = formula(weight, grad, *states)
    ins = [weight, grad, *states]
    packed = struct.pack(**STEP, **more)
    out = run_kernel(name, ins, [np.empty_like(weight)], packed, threads=threads)
    for actual, want in zip((out, *states), expected, strict=True):
        np.testing.assert_array_equal(actual, want)


@pytest.mark.parametrize("name", ("sgd_update", "sgd_mom_update", "nag_mom_update"))
def test_multiple_precision_computes_in_float32(name):
    formula, struct, more = CASES[name]
    weight32, grad, *states = draw(37, formula.__code__.co_argcount)
    half = grad.astype(np.float16)
    expected = formula(weight32, half.astype(f), *states)
    ins = [weight32.astype(np.float16), half, *states, weight32]
    out = run_kernel(f"mp_{name}", ins, [np.empty_like(half)], struct.pack(**STEP, **more))
    np.testing.assert_array_equal(weight32, expected[0])
    np.testing.assert_array_equal(out, expected[0].astype(np.float16))
    for actual, want in zip(states, expected[1:], strict=True):
        np.testing.assert_array_equal(actual, want)


def test_nan_survives_clipping():
    weight = np.ones(3, f)
    grad = np.array([np.nan, 5, -5], f)
    out = run_kernel("sgd_update", [weight, grad], [np.empty_like(weight)], params.SGD.pack(**STEP))
    assert np.isnan(out[0]) and out[1] < 1 < out[2]


@pytest.mark.parametrize("name", ["multi_sgd_update", "_multi_lamb_update"])
def test_changing_rates_keep_the_prepared_call(name, capsys, monkeypatch):
    """New values in tuples reach the kernel, or the reference, of a prepared call."""
    monkeypatch.setenv("MXCY_VERBOSE", "dispatch")
    update = getattr(mx.nd._internal if name.startswith("_") else mx.nd, name)
    lamb = "lamb" in name
    prepared = []
    for step in range(4):
        rates = (0.1 / (step + 1), 0.2)
        states = [mx.nd.full((3,), 0.5) for _ in range(4)] if lamb else []
        arrays = [mx.nd.ones((3,)) for _ in range(4)]
        inputs = [*arrays[:2], *states[:2], *arrays[2:], *states[2:]]
        keywords = {"learning_rates": rates, "num_tensors": 2, "step_count": (step + 1, 1)}
        keywords = keywords if lamb else {"lrs": rates, "num_weights": 2}
        one, _ = update(*inputs, wds=[0.0, 0.0], **keywords)
        if not lamb:
            np.testing.assert_allclose(one.asnumpy(), 1 - rates[0], rtol=1e-6)
        prepared.append(name in capsys.readouterr().out)
    assert not any(prepared[1:])


def test_too_many_rates():
    arrays = [mx.nd.ones((1,))] * 122
    with pytest.raises(mx.base.MXNetError, match="lrs.*multi_sgd_update.*at most 60"):
        mx.nd.multi_sgd_update(*arrays, lrs=[1.0] * 61, wds=[0.0] * 61, num_weights=61)
