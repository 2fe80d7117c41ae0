"""Random operators: the numbers of MXNet 1.9.1, states, seeds, arguments, distributions."""

import json
from pathlib import Path

import numpy as np
import pytest

import mxcy as mx
from mxcy import autograd, util
from mxcy._library import front
from mxcy.base import MXNetError
from mxcy.ops.core.record import REGISTRY, values
from tests.ops.random.random_cases import cases

DATA = Path(__file__).parents[2] / "data"
GOLDEN = json.loads((DATA / "random_golden.json").read_text())["cases"]


def ones(*shape, dtype=np.float32):
    return mx.nd.array(np.ones(shape), dtype=dtype)


# --- the numbers of MXNet 1.9.1 ------------------------------------------------------------------


@pytest.mark.parametrize("case", list(cases()), ids=lambda case: case.name)
def test_numbers_equal_those_of_mxnet(case):
    for seed, shapes in case.seeds():
        got = case.summary(case.draw(mx, seed, shapes))
        want = GOLDEN[case.name][str(seed)]
        np.testing.assert_allclose(got["first"], want["first"], rtol=1e-15 if case.rounded else 0)
        assert got["digest"] == want["digest"], f"seed {seed}"


def test_dropout_passes_data_when_nothing_is_dropped():
    data = mx.nd.array(np.linspace(-1, 1, 60).reshape(4, 15))
    mx.random.seed(7)
    same = [mx.nd.Dropout(data, p=0.5)]
    with autograd.record():
        same.append(mx.nd.Dropout(data, p=0.0))
        same.append(mx.nd.Dropout(data, p=0.0, mode="always"))
    with autograd.train_mode():
        dropped = mx.nd.Dropout(data, p=0.5).asnumpy()
    for out in same:
        np.testing.assert_array_equal(out.asnumpy(), data.asnumpy())
    mx.random.seed(7)  # the calls that dropped nothing drew nothing
    np.testing.assert_array_equal(mx.nd.Dropout(data, p=0.5, mode="always").asnumpy(), dropped)
    assert (dropped == 0).any() and (dropped != 0).any()


@pytest.mark.parametrize("axes", [(), (0,), (1,)])
def test_dropout_gradient_is_the_mask(axes):
    data, grad = ones(40, 30), ones(40, 30)
    autograd.mark_variables([data], [grad])
    with autograd.record():
        out = mx.nd.Dropout(data, p=0.4, axes=axes)
    out.backward()
    np.testing.assert_array_equal(grad.asnumpy(), out.asnumpy())
    mask = out.asnumpy()
    for axis in axes:
        assert (mask == mask.take([0], axis)).all()
    assert 0 < (mask == 0).mean() < 1


def test_samples_have_zero_gradient():
    mean, deviation = ones(3), ones(3)
    mean.attach_grad()
    with autograd.record():
        out = mx.nd.random.normal(mean, deviation, shape=2) * 3
        like = mx.nd.random.normal_like(mean)
    autograd.backward([out, like])
    np.testing.assert_array_equal(mean.grad.asnumpy(), np.zeros(3))
    with autograd.record():
        out = mx.nd.random.shuffle(mean)
    with pytest.raises(MXNetError, match="_shuffle is non-differentiable"):
        out.backward()


def test_multinomial_gradient_of_the_log_probability():
    table = mx.nd.array([[0.2, 0.3, 0.5], [0.1, 0.9, 0.0]])
    table.attach_grad()
    mx.random.seed(3)
    weights = mx.nd.array([[1, 2, 3, 4], [5, 6, 7, 8]])
    with autograd.record():
        chosen, log_probability = mx.nd.random.multinomial(table, shape=4, get_prob=True)
        loss = (log_probability * weights).sum()
    loss.backward()
    np.testing.assert_array_equal(chosen.asnumpy(), [[2, 1, 1, 1], [1, 1, 1, 1]])
    want = [[0, 9 / 0.3, 1 / 0.5], [0, 26 / 0.9, 0]]
    np.testing.assert_allclose(table.grad.asnumpy(), want, rtol=1e-6)


def test_python_functions_draw_the_operators_numbers():
    array = ones(2)
    pairs = [
        (mx.nd.random.uniform, {"low": 1, "high": 3, "shape": 5}, "random_uniform"),
        (mx.nd.random.normal, {"loc": 1, "scale": 3, "shape": 5}, "random_normal"),
        (mx.nd.random.gamma, {"alpha": 2, "beta": 3, "shape": 5}, "random_gamma"),
        (mx.nd.random.poisson, {"lam": 2, "shape": 5}, "random_poisson"),
        (mx.nd.random.negative_binomial, {"k": 2, "p": 0.5}, "random_negative_binomial"),
        (mx.nd.random.randint, {"low": 2, "high": 50, "shape": 5}, "random_randint"),
        (mx.nd.random.uniform, {"low": array, "high": array, "shape": 5}, "sample_uniform"),
        (mx.nd.random.shuffle, {"data": mx.nd.array(np.arange(9))}, "shuffle"),
        (mx.random.uniform, {"shape": 5}, "uniform"),
        (mx.random.normal, {"shape": 5}, "normal"),
    ]
    for function, given, operator in pairs:
        mx.random.seed(3)
        got = function(**given).asnumpy()
        mx.random.seed(3)
        given = {"shape": 1, **given} if "random" in operator else given
        np.testing.assert_array_equal(got, getattr(mx.nd, operator)(**given).asnumpy())
    mx.random.seed(3)
    got = mx.nd.random.exponential(4.0, shape=5).asnumpy()
    mx.random.seed(3)
    np.testing.assert_array_equal(got, mx.nd.random_exponential(lam=0.25, shape=5).asnumpy())
    mx.random.seed(3)
    got = mx.nd.random.randn(2, 3, loc=2).asnumpy()
    mx.random.seed(3)
    np.testing.assert_array_equal(got, mx.nd.random_normal(2, 1, shape=(2, 3)).asnumpy())


@pytest.mark.parametrize("name", ["uniform", "normal", "exponential", "gamma", "poisson"])
def test_like_draws_with_shape_and_dtype_of_the_data(name):
    for dtype in ("float32", "float64", "float16"):
        mx.random.seed(8)
        got = getattr(mx.nd.random, f"{name}_like")(ones(3, 4, dtype=dtype)).asnumpy()
        mx.random.seed(8)
        want = getattr(mx.nd, f"random_{name}")(shape=(3, 4), dtype=dtype).asnumpy()
        np.testing.assert_array_equal(got, want, strict=True)
    with pytest.raises(MXNetError, match=rf"_random_{name}_like.*data.*floating"):
        getattr(mx.nd.random, f"{name}_like")(ones(3, dtype=np.int32))


def test_integer_parameters_count_as_floats():
    low, high = np.array([1, -3]), np.array([2, 9])
    drawn = []
    for dtype in (np.float32, np.int32, np.int64, np.int8):
        mx.random.seed(1)
        arrays = mx.nd.array(low, dtype=dtype), mx.nd.array(high, dtype=dtype)
        drawn.append(mx.nd.random.uniform(*arrays, shape=4).asnumpy())
        assert drawn[-1].dtype == np.float32
    for other in drawn[1:]:
        np.testing.assert_array_equal(other, drawn[0])


# --- streams -------------------------------------------------------------------------------------


def test_numbers_do_not_depend_on_the_number_of_threads(run_python):
    code = """
import hashlib, mxcy as mx
mx.random.seed(4)
for name in ("uniform", "normal", "gamma"):
    drawn = getattr(mx.nd.random, name)(shape=300001)
    print(hashlib.sha256(drawn.asnumpy().tobytes()).hexdigest())
"""
    one = run_python(code, OMP_NUM_THREADS="1")
    assert one == run_python(code, OMP_NUM_THREADS="3")
    assert one == run_python(code, OMP_NUM_THREADS="2", MXNET_ENABLE_CYTHON="0")


def test_copies_of_the_streams_are_taken_in_turn(run_python):
    code = """
import mxcy as mx
mx.random.seed(3)
for _ in range(5):
    print(float(mx.nd.random.uniform().asnumpy()[0]))
mx.random.seed(3)
print(float(mx.nd.random.uniform().asnumpy()[0]))
"""
    printed = [float(line) for line in run_python(code, MXNET_CPU_PARALLEL_RAND_COPY="4").split()]
    # Copy i is seeded 127 * seed + 16 * i, and the first draw takes copy 1.
    engines = [np.random.RandomState(127 * 3 + 16 * i) for i in range(4)]
    first = [engine.randint(2**32, size=2, dtype=np.uint32) for engine in engines]
    want = [first[1][0], first[2][0], first[3][0], first[0][0], first[1][1], first[1][0]]
    np.testing.assert_array_equal(printed, np.array(want, np.float32) / np.float32(2**32))


def test_a_fresh_process_has_seed_zero(run_python):
    first = float(run_python("import mxcy as mx; print(mx.nd.random.uniform().asnumpy()[0])"))
    mx.random.seed(0)
    assert first == mx.nd.random.uniform().asnumpy()[0]


def test_state_continues_where_it_was_saved(run_python):
    mx.random.seed(6)
    data = mx.nd.array(np.arange(50))

    def some():
        return [
            mx.nd.random.normal(shape=1000).asnumpy(),
            mx.nd.random.shuffle(data).asnumpy(),
            mx.nd.random.uniform(shape=70000).asnumpy(),
        ]

    some()
    state = mx.random.get_state()
    first = some()
    mx.random.seed(1)
    mx.random.set_state(state)
    for got, want in zip(some(), first, strict=True):
        np.testing.assert_array_equal(got, want)
    code = f"""
import mxcy as mx
mx.random.set_state(bytes.fromhex("{state[:20].hex()}"))
"""
    assert "mx_rng_restore" in run_python(code, fails=True)


@pytest.mark.parametrize("package", ["_cy", "_ctypes"])
def test_streams_of_both_fronts(package):
    made = front.load(package)["Streams"](2)
    made.seed(0, 5)
    state = made.get_state()
    made.set_state(state)
    assert made.get_state() == state
    for damaged in (b"", state[:-1], state + b"1", b"\xff" * len(state)):
        with pytest.raises(MXNetError, match="mx_rng_restore"):
            made.set_state(damaged)
    with pytest.raises(MXNetError, match="copies must be from 1 to 1024, got 0"):
        front.load(package)["Streams"](0)


def test_seed_of_one_context():
    mx.random.seed(3)
    want = mx.nd.random.uniform(shape=3).asnumpy()
    for ctx in (mx.cpu(), mx.cpu(5), "cpu", mx.cpu_pinned()):
        mx.random.seed(3, ctx=ctx)
        np.testing.assert_array_equal(mx.nd.random.uniform(shape=3, ctx=mx.cpu(1)).asnumpy(), want)
    for wrong in (3.5, "4", None):
        with pytest.raises(ValueError, match="seed_state must be int"):
            mx.random.seed(wrong)


# --- arguments -----------------------------------------------------------------------------------


def test_shapes():
    random = mx.nd.random
    assert random.uniform().shape == random.normal(0, 1).shape == random.randint(0, 5).shape == (1,)
    assert random.uniform(shape=3).shape == (3,)
    assert random.uniform(shape=[2, 3]).shape == random.randn(2, 3).shape == (2, 3)
    assert random.normal(ones(2, 3), ones(2, 3)).shape == (2, 3)
    assert random.normal(ones(2, 3), ones(2, 3), shape=(4, 5)).shape == (2, 3, 4, 5)
    assert random.poisson(ones(2), shape=4).shape == (2, 4)
    row, table = mx.nd.array([0.5, 0.5]), mx.nd.array([[0.5, 0.5]] * 3)
    assert random.multinomial(row).shape == (1,)
    assert random.multinomial(row, shape=(2, 3)).shape == (2, 3)
    assert random.multinomial(table).shape == (3,)
    assert [out.shape for out in random.multinomial(table, 2, True)] == [(3, 2), (3, 2)]


def test_context_of_the_result():
    random = mx.nd.random
    assert random.uniform().context == mx.cpu(0)
    for ctx in (mx.cpu(2), "cpu(2)"):
        assert random.uniform(ctx=ctx).context == mx.cpu(2)
    rates = mx.nd.ones(2, ctx=mx.cpu(1))
    with mx.cpu(3):
        assert random.normal(shape=2).context == random.randint(0, 9).context == mx.cpu(3)
        assert random.poisson(rates).context == mx.cpu(1)
    with pytest.raises(MXNetError, match="gpu"):
        random.uniform(ctx=mx.gpu(99))


def test_out_decides_shape_and_dtype():
    for dtype in ("float32", "float64", "float16"):
        out = ones(2, 3, dtype=dtype)
        assert mx.nd.random.uniform(5, 6, out=out) is out
        assert (out.asnumpy() >= 5).all()
        mx.nd.random_normal(loc=100, scale=0.1, out=out)
        assert (out.asnumpy() > 90).all()
        mx.nd.random.normal(ones(2) * 100, ones(2), shape=3, out=out)
        assert (out.asnumpy() > 90).all()
    out = ones(3, dtype="int64")
    mx.nd.random.randint(2**40, 2**41, out=out)
    assert (out.asnumpy() >= 2**40).all()
    with pytest.raises(MXNetError, match=r"_random_uniform.*out"):
        mx.nd.random.uniform(shape=(3, 3), out=ones(2, 3))
    with pytest.raises(MXNetError, match=r"dtype.*_random_uniform"):
        mx.nd.random.uniform(out=ones(2, 3, dtype=np.int32))


@pytest.mark.parametrize(
    ("name", "given", "needs"),
    [
        ("uniform", {"low": 2, "high": 1}, "low <= high"),
        ("normal", {"scale": 0}, "scale > 0"),
        ("normal", {"scale": float("nan")}, "scale > 0"),
        ("exponential", {"scale": -1}, "lam > 0"),
        ("gamma", {"alpha": 0}, "alpha > 0"),
        ("poisson", {"lam": -1}, "lam >= 0"),
        ("binomial", {"p": 1.5}, "0 <= p <= 1"),
        ("negative_binomial", {"k": -1}, "k >= 0"),
        ("negative_binomial", {"p": 0}, "0 < p <= 1"),
        ("negative_binomial", {"k": 2.5}, "k=2.5"),
        ("generalized_negative_binomial", {"alpha": -1}, "alpha >= 0"),
        ("uniform", {"shape": ()}, "np_shape"),
        ("normal", {"shape": (2, 0)}, "np_shape"),
        ("normal", {"shape": None}, "shape must be given"),
        ("uniform", {"shape": (-1, 2)}, "negative"),
        ("uniform", {"dtype": "int32"}, "dtype"),
        ("randint", {"low": 5, "high": 5}, "low must be less than high"),
        ("randint", {"low": 0.5, "high": 5}, "low=0.5"),
        ("randint", {"low": 0, "high": 5, "dtype": "float32"}, "dtype"),
    ],
)
def test_bad_arguments_are_named(name, given, needs):
    with pytest.raises(MXNetError) as caught:
        getattr(mx.nd.random, name)(**given)
        mx.nd.waitall()
    assert f"_random_{name}" in str(caught.value) and needs in str(caught.value)


def test_parameters_of_mixed_kinds():
    with pytest.raises(AssertionError, match="must all have the same type"):
        mx.nd.random.uniform(ones(2), 1)
    with pytest.raises(AssertionError, match="must all have the same type"):
        mx.nd.random.normal(0, ones(2))
    with pytest.raises(ValueError, match="must be either NDArray or numbers"):
        mx.nd.random.uniform("a", 1)
    with pytest.raises(MXNetError, match=r"_sample_uniform.*high"):
        mx.nd.random.uniform(ones(2), ones(3))
    with pytest.raises(MXNetError, match="_sample_uniform.*float"):
        mx.nd.random.uniform(ones(2), ones(2, dtype=np.float64))


def test_zero_size_and_rows_without_samples():
    mx.random.seed(2)
    with util.np_shape():
        assert mx.nd.random.uniform(shape=(2, 0)).shape == (2, 0)
        assert mx.nd.random.normal(ones(2), ones(2), shape=(0,)).shape == (2, 0)
    first = mx.nd.random.uniform().asnumpy()
    mx.random.seed(2)  # nothing was drawn for no elements
    with util.np_shape():
        scalar = mx.nd.random.uniform(shape=())
    assert scalar.shape == () and scalar.asnumpy() == first[0]
    mx.random.seed(2)
    np.testing.assert_array_equal(mx.nd.random.uniform().asnumpy(), first)


def test_impossible_row_parameters_end():
    nan = float("nan")
    shapes = mx.nd.array([nan, -3.0, float("inf"), 2.0])
    drawn = mx.nd.random.gamma(shapes, ones(4), shape=5).asnumpy()
    assert np.isnan(drawn[:3]).all() and np.isfinite(drawn[3]).all()
    mx.nd.random.poisson(mx.nd.array([nan, -1.0, float("inf")]), shape=5).asnumpy()


def test_multinomial_never_leaves_the_table():
    table = mx.nd.array([0.25, 0.25])
    assert set(mx.nd.random.multinomial(table, shape=500).asnumpy()) == {0, 1}


def test_shuffle_keeps_rows_together_and_works_in_place():
    data = mx.nd.array(np.arange(40).reshape(10, 4))
    mixed = mx.nd.random.shuffle(data).asnumpy()
    order = mixed[:, 0].argsort()
    assert (order != np.arange(10)).any()
    np.testing.assert_array_equal(mixed[order], data.asnumpy())
    mx.random.seed(5)
    want = mx.nd.random.shuffle(data).asnumpy()
    mx.random.seed(5)
    assert mx.nd.random.shuffle(data, out=data) is data
    np.testing.assert_array_equal(data.asnumpy(), want)


# --- distributions -------------------------------------------------------------------------------

#: operator -> (attributes, mean, standard deviation)
MOMENTS = {
    "_random_uniform": ({"low": 1, "high": 4}, 2.5, 3 / 12**0.5),
    "_random_normal": ({"loc": 3, "scale": 2}, 3, 2),
    "_random_exponential": ({"lam": 0.5}, 2, 2),
    "_random_gamma": ({"alpha": 0.5, "beta": 3}, 1.5, 4.5**0.5),
    "_random_poisson": ({"lam": 20}, 20, 20**0.5),
    "_random_binomial": ({"n": 40, "p": 0.7}, 28, 8.4**0.5),
    "_random_negative_binomial": ({"k": 4, "p": 0.4}, 6, 15**0.5),
    "_random_generalized_negative_binomial": ({"mu": 3, "alpha": 0.5}, 3, 7.5**0.5),
    "_random_randint": ({"low": -4, "high": 5}, 0, (80 / 12) ** 0.5),
}


@pytest.mark.parametrize("name", MOMENTS)
@pytest.mark.parametrize("kernel", [None, "ref"])
def test_mean_and_deviation(name, kernel):
    attrs, mean, deviation = MOMENTS[name]
    mx.random.seed(11)
    n = 40000
    outs, _ = front.execute(REGISTRY[name], (), {**attrs, "shape": (n,)}, kernel=kernel)
    drawn = outs[0].numpy_view().astype(np.float64)
    assert abs(drawn.mean() - mean) < 5 * deviation / n**0.5
    assert abs(drawn.std() / deviation - 1) < 0.05


@pytest.mark.parametrize("kernel", [None, "ref"])
def test_multinomial_frequencies(kernel):
    table = np.array([[0.1, 0.2, 0.7], [0.5, 0.5, 0.0]])
    mx.random.seed(12)
    attrs = {"shape": (20000,), "get_prob": True}
    record = REGISTRY["_sample_multinomial"]
    outs, _ = front.execute(record, (mx.nd.array(table),), attrs, kernel=kernel)
    indices, logs = (out.numpy_view() for out in outs)
    for row, chosen, log in zip(table, indices, logs, strict=True):
        np.testing.assert_allclose(np.bincount(chosen, minlength=3) / 20000, row, atol=0.02)
        np.testing.assert_allclose(log, np.log(row[chosen]), rtol=1e-6)


def test_references_make_the_kernels_shapes_and_dtypes():
    records = {record.name: record for record in REGISTRY.values() if record.uses_rng}
    rng = np.random.default_rng(0)
    tried = 0
    for record in records.values():
        if callable(record.samples):  # layers that draw in some calls only
            continue
        for sample in record.samples:
            sources = [values(1, 2, s) if isinstance(s, tuple) else s for s in sample.inputs]
            arrays = tuple(mx.nd.array(source(rng)) for source in sources)
            train = {"train": sample.train}
            native, ran = front.execute(record, arrays, sample.attrs, **train)
            assert ran != "ref" or not record.kernels
            reference, _ = front.execute(record, arrays, sample.attrs, kernel="ref", **train)
            for one, other in zip(native, reference, strict=True):
                assert (one.shape, one.dtype_code) == (other.shape, other.dtype_code)
            tried += 1
    assert tried > 30


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("axes", [(), (1,)])
def test_dropping_everything_leaves_no_number(dtype, axes):
    """In MXNet what is left is 0, times the infinity that makes up for the rest."""
    x = mx.nd.ones((3, 4)).astype(dtype)
    assert (mx.nd.Dropout(x, p=1, axes=axes) == x).asnumpy().all()
    with mx.autograd.record():
        dropped = mx.nd.Dropout(x, p=1, axes=axes)
    assert np.isnan(dropped.astype("float32").asnumpy()).all()
    for p in (-0.1, 1.1):
        with pytest.raises(mx.MXNetError, match=r"Dropout: p: must be in \[0, 1\]"):
            mx.nd.Dropout(x, p=p)


def test_classes_without_replacement():
    """About as many draws are needed as chances say; frequent classes come first."""
    draw = mx.nd._internal._sample_unique_zipfian
    mx.random.seed(3)
    classes, trials = (array.asnumpy() for array in draw(20000, shape=(4, 500)))
    assert classes.dtype == trials.dtype == np.int64
    assert classes.min() >= 0 and classes.max() < 20000
    for row, count in zip(classes, trials, strict=True):
        assert len(set(row.tolist())) == 500
        # Expected: the number of draws until 500 of these classes have come.
        assert 700 < count < 1000
        assert row[:100].mean() < row[-100:].mean()
    everything, _ = draw(6, shape=(2, 6))
    assert np.sort(everything.asnumpy()).tolist() == [[0, 1, 2, 3, 4, 5]] * 2
    for attrs in ({"range_max": 3, "shape": (1, 4)}, {"range_max": 3, "shape": (3,)}):
        with pytest.raises(MXNetError, match="_sample_unique_zipfian: shape"):
            draw(**attrs)
