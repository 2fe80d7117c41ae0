"""LAMB and LANS by our kernels against the CPU."""

import numpy as np
import pytest

import mxcy as mx
from tests.gpu.device.test_launches import work_of
from tests.gpu.standin.seam import is_chosen

GPU = mx.gpu(0)
SHAPES = (7,), (3, 700), (130, 50), (1,), (0,)
PHASES = {
    "lamb_update_phase1": {"t": 3, "wd": 0.1, "rescale_grad": 2.0, "clip_gradient": 0.4},
    "mp_lamb_update_phase1": {"t": 1, "wd": 0.1, "bias_correction": False},
    "lamb_update_phase2": {"lr": 0.1},
    "mp_lamb_update_phase2": {"lr": 0.1, "lower_bound": 0.9, "upper_bound": 1.1},
}
MANY = {
    "plain": {},
    "bounds": {"lower_bound": 0.5, "upper_bound": 1.0, "rescale_grad": 2.0, "clip_gradient": 0.01},
}
TOLERANCES = {"float64": 1e-12, "float32": 1e-5, "float16": 2e-3, "bfloat16": 2e-2}


def placed(values, ctx):
    return [mx.nd.array(v, ctx=ctx).astype(dtype) for v, dtype in values]


def compare(results, expected, dtype):
    for result, wanted in zip(results, expected, strict=True):
        step = TOLERANCES[dtype]
        result, wanted = (a.astype("float64").asnumpy() for a in (result, wanted))
        np.testing.assert_allclose(result, wanted, rtol=step, atol=step)


def operands(name, dtype):
    """Random operands of a phase."""
    rng = np.random.default_rng(0)
    own = "float32" if name.startswith("mp_") else dtype
    weight, other, squares = (rng.standard_normal((3, 700)) for _ in range(3))
    if "phase1" in name:
        values = [(weight, dtype), (other, dtype), (other / 3, own), (squares**2, own)]
    else:
        values = [(weight, dtype), (other, own), (np.full(1, 0.7), own), (np.full(1, 1.3), own)]
    return values + [(weight, own)] * name.startswith("mp_")


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("name", PHASES)
def test_phases(name, dtype):
    if name.startswith("mp_") and dtype == "float64":
        pytest.skip("there is no wider type")
    values = operands(name, dtype)
    host, device = (placed(values, ctx) for ctx in (mx.cpu(), GPU))
    function = getattr(mx.nd, name)
    results = [function(*arrays, **PHASES[name]) for arrays in (host, device)]
    assert results[1].context == GPU
    compare([results[1], *device], [results[0], *host], dtype)
    if is_chosen():
        assert work_of(function, *device, **PHASES[name]) == (1, 0)


@pytest.mark.parametrize("zero", ["r1", "r2"])
def test_without_a_norm_the_step_is_not_scaled(zero):
    norms = {"r1": 2.0, "r2": 4.0, zero: 0.0}
    arrays = [mx.nd.array(v, ctx=GPU) for v in ([3.0, 5.0], [1.0, -1.0])]
    norms = [mx.nd.array([v], ctx=GPU) for v in norms.values()]
    result = mx.nd.lamb_update_phase2(*arrays, *norms, lr=0.5)
    np.testing.assert_array_equal(result.asnumpy(), [2.5, 5.5])


def of_many(shapes, dtype, mixed):
    """Random weights, gradients and states of many weights."""
    rng, values = np.random.default_rng(1), []
    for shape in shapes:
        weight = rng.standard_normal(shape)
        own = "float32" if mixed else dtype
        values += [(weight, dtype), (rng.standard_normal(shape), dtype)]
        values += [(rng.uniform(0.1, 1, shape), own) for _ in range(2)]
        values += [(weight.astype(dtype if dtype != "bfloat16" else "float32"), own)] * mixed
    return values


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("bounds", MANY)
@pytest.mark.parametrize("name", ["lamb", "lans"])
def test_many_weights(name, bounds, dtype):
    mixed, count = dtype in ("float16", "bfloat16"), len(SHAPES)
    attrs = {
        "learning_rates": [0.1 + i / 10 for i in range(count)],
        "wds": [i / 30 for i in range(count)],
        "step_count": [1 + i for i in range(count)],
        "num_tensors": count,
        "epsilon": 1e-3,
        **MANY[bounds],
    }
    function = getattr(mx.nd._internal, f"_multi_{'mp_' * mixed}{name}_update")
    values, kept = of_many(SHAPES, dtype, mixed), []
    for ctx in (mx.cpu(), GPU):
        arrays = placed(values, ctx)
        for _ in range(2):
            function(*arrays, out=arrays[:: 4 + mixed], **attrs)
        kept.append(arrays)
    compare(kept[1], kept[0], dtype)
    if is_chosen():
        arrays, launches = kept[1], {"lamb": 2, "lans": 3}[name]
        outs = arrays[:: 4 + mixed]
        assert work_of(function, *arrays, out=outs, **attrs) == (launches, 0)


def test_outputs_in_the_memory_of_other_weights():
    """Each weight is read before another one's output overwrites it."""
    attrs = {"learning_rates": [0.1, 0.2], "wds": [0.0, 0.1], "step_count": [1, 2]}
    attrs["num_tensors"] = 2
    kept = []
    for ctx in (mx.cpu(), GPU):
        arrays = placed(of_many([(30, 50)] * 2, "float32", False), ctx)
        mx.nd._internal._multi_lamb_update(*arrays, out=[arrays[4], arrays[0]], **attrs)
        kept.append(arrays)
    compare(kept[1], kept[0], "float32")


@pytest.mark.parametrize("name", ["lamb", "lans"])
def test_a_trainer(name, monkeypatch):
    """A step of all weights on the device: two launches for LAMB, three for LANS, no copy."""
    monkeypatch.setenv("MXNET_OPTIMIZER_AGGREGATION_SIZE", "45")
    kept, work = [], []
    for ctx in (mx.cpu(), GPU):
        rng = np.random.default_rng(4)
        net = mx.gluon.nn.HybridSequential()
        net.add(*(mx.gluon.nn.Dense(9, in_units=9) for _ in range(20)))
        net.initialize(mx.init.Zero(), ctx=ctx)
        parameters = net.collect_params().values()
        for parameter in parameters:
            parameter.set_data(mx.nd.array(rng.standard_normal(parameter.shape)))
        settings = {"learning_rate": 0.05, "wd": 0.01}
        trainer = mx.gluon.Trainer(net.collect_params(), name, settings)
        for _ in range(3):
            slopes = [mx.nd.array(rng.standard_normal(p.shape), ctx=ctx) for p in parameters]
            with mx.autograd.record():
                parts = [(p.data() * s).sum() for p, s in zip(parameters, slopes, strict=True)]
            mx.autograd.backward(parts)
            if is_chosen():
                work.append(work_of(trainer.step, 1))
            else:
                trainer.step(1)
        kept.append([p.data() for p in parameters])
    compare(kept[1], kept[0], "float32")
    if is_chosen():
        assert work[-1] == ({"lamb": 2, "lans": 3}[name], 0)
