"""Initializers: parameter roles, serialization, files, registration."""

import json
import logging

import numpy as np
import pytest

import mxcy as mx
from mxcy.initializer import InitDesc


def filled(init, name, shape=(2, 2), attrs=None):
    array = mx.nd.full(shape, 9)
    init(InitDesc(name, attrs), array)
    return array.asnumpy()


@pytest.mark.parametrize(
    ("name", "value"),
    [("a_weight", 3), ("a_bias", 0), ("a_gamma", 1), ("a_beta", 0), ("a_min", 0), ("a_max", 1)],
)
def test_roles_by_name(name, value):
    assert (filled(mx.init.Constant(3), name) == value).all()


def test_unknown_roles():
    for name in ("thing", "a_moving_mean"):
        with pytest.raises(ValueError, match=f"Unknown initialization pattern for {name}"):
            filled(mx.init.One(), name)


def test_initializer_of_a_single_parameter():
    text = mx.init.Constant(5).dumps()
    assert (filled(mx.init.Zero(), "thing", attrs={"__init__": text}) == 5).all()
    assert (filled(mx.init.Zero(), "a_bias", attrs={"__init__": "ones"}) == 1).all()


def test_plain_names_follow_older_rules():
    array = mx.nd.full((2,), 9)
    with pytest.warns(DeprecationWarning, match="plain name"):
        mx.init.One()("a_moving_var", array)
    assert array.asnumpy().tolist() == [1, 1]
    with pytest.warns(DeprecationWarning), pytest.raises(TypeError, match="must be string"):
        mx.init.One()(3, array)


@pytest.mark.parametrize(
    ("init", "text"),
    [
        (
            mx.init.Xavier(),
            '["xavier", {"rnd_type": "uniform", "factor_type": "avg", "magnitude": 3}]',
        ),
        (mx.init.Normal(0.5), '["normal", {"sigma": 0.5}]'),
        (mx.init.MSRAPrelu(), '["msraprelu", {"factor_type": "avg", "slope": 0.25}]'),
        (mx.init.Zero(), '["zero", {}]'),
        (mx.init.Constant(np.ones(2)), '["constant", {"value": [1.0, 1.0]}]'),
    ],
)
def test_descriptions(init, text):
    assert init.dumps() == text
    assert mx.init.create(text).dumps() == text


def test_equality():
    assert mx.init.Uniform() == mx.init.Uniform()
    assert mx.init.Uniform() != mx.init.Uniform(3)
    assert mx.init.Uniform(0.07) != mx.init.Normal(0.07)


def test_create():
    assert mx.init.create("ones") == mx.init.One()
    assert mx.init.create("Normal", sigma=3) == mx.init.Normal(3)
    assert mx.init.create({"initializer": "normal", "sigma": 3}) == mx.init.Normal(3)
    with pytest.raises(AssertionError, match="nothing is not registered"):
        mx.init.create("nothing")


def test_register():
    @mx.init.register
    class AllSevens(mx.init.Initializer):
        def _init_weight(self, name, arr):
            arr[:] = 7

    assert (filled(mx.init.create("allsevens"), "a_weight") == 7).all()


def test_load(tmp_path, caplog):
    path = str(tmp_path / "arrays.params")
    mx.nd.save(path, {"arg:w": mx.nd.array([1, 2])})
    load = mx.init.Load(path, default_init=mx.init.One(), verbose=True)
    with caplog.at_level(logging.INFO):
        assert filled(load, "w", (2,)).tolist() == [1, 2]
        assert filled(load, "other_weight", (2,)).tolist() == [1, 1]
    assert "Initialized w by loading" in caplog.text
    with pytest.raises(AssertionError, match="Shape mismatch"):
        filled(load, "w", (3,))
    with pytest.raises(AssertionError, match="Not found in loaded param"):
        filled(mx.init.Load({}), "w")


def test_mixed():
    mixed = mx.init.Mixed(["a.*", ".*"], [mx.init.Constant(2), mx.init.Constant(3)])
    assert (filled(mixed, "a_weight") == 2).all() and (filled(mixed, "b_weight") == 3).all()
    with pytest.raises(ValueError, match="did not match any pattern"):
        filled(mx.init.Mixed(["x"], [mx.init.One()]), "b_weight")


def test_verbosity(caplog):
    init = mx.init.Constant(2).set_verbosity(True)
    with caplog.at_level(logging.INFO):
        filled(init, "a_weight")
    assert "Initialized a_weight as weight: 2.0" in caplog.text


def test_refused_arguments():
    for init, reason in (
        (mx.init.Xavier(factor_type="mean"), "Incorrect factor type"),
        (mx.init.Xavier(rnd_type="cauchy"), "Unknown random type"),
        (mx.init.Orthogonal(rand_type="cauchy"), "rand_type"),
    ):
        with pytest.raises(ValueError, match=reason):
            filled(init, "a_weight")
    with pytest.raises(ValueError, match="at least 2D"):
        filled(mx.init.Xavier(), "a_weight", (2,))


def test_orthogonal():
    weight = filled(mx.init.Orthogonal(scale=2), "a_weight", (3, 5))
    np.testing.assert_allclose(weight @ weight.T, 4 * np.eye(3), atol=1e-5)


@pytest.mark.parametrize("mode", ["rnn_tanh", "lstm", "gru"])
@pytest.mark.parametrize("projection", [None, 2])
def test_fused_layers_part_by_part(mode, projection):
    if projection and mode != "lstm":
        return
    settings = {"state_size": 3, "num_layers": 2, "mode": mode, "bidirectional": True}
    settings["projection_size"] = projection
    parameters = mx.sym.RNN(
        *map(mx.sym.var, ("data", "parameters", "state", "cell")[: 4 if mode == "lstm" else 3]),
        **settings,
    ).infer_shape(data=(5, 1, 4))[0][1]
    init = mx.init.RNNFused(
        **settings,
        i2h_weight_initializer=mx.init.Constant(1),
        h2h_weight_initializer="xavier",
        h2h_bias_initializer=mx.init.Constant(4),
        h2r_weight_initializer=mx.init.Constant(2),
    )
    values = filled(init, "parameters_weight", parameters)
    gates = {"rnn_tanh": 1, "lstm": 4, "gru": 3}[mode]
    rows, recurrent = gates * 3, projection or 3
    first = values[: rows * (4 + recurrent)]
    assert (first[: rows * 4] == 1).all()
    xavier = first[rows * 4 :]
    assert 0 < abs(xavier).max() <= np.sqrt(6 / (rows + recurrent)) and np.ptp(xavier) > 0
    biases = values[-4 * 2 * rows :].reshape(4, 2, rows)
    assert (biases[:, 0] == 0).all() and (biases[:, 1] == 4).all()
    assert (values == 2).sum() == (4 * projection * 3 if projection else 0)


def test_fused_layers_get_a_default():
    init = mx.init.RNNFused("rnn_relu", 1, 2, i2h_weight_initializer="one")
    init.set_initializer(mx.init.Constant(6))
    values = filled(init, "w_weight", (2 * 3 + 2 * 2 + 4,))
    assert values.tolist() == [1] * 6 + [6] * 4 + [0] * 4


@pytest.mark.parametrize("value", [3, np.arange(4.0).reshape(2, 2), mx.nd.ones((2,))])
def test_constants_are_written_as_plain_numbers(value):
    constant = mx.init.Constant(value)
    text = constant.dumps()
    assert json.loads(text) == ["constant", constant._kwargs]
    assert mx.init.create(text).dumps() == text


def test_bilinear_kernels_need_four_dimensions():
    with pytest.raises(ValueError, match=r"Bilinear: expected .* 4 dimensions, got shape \(3, 2\)"):
        mx.gluon.nn.Dense(3, in_units=2, weight_initializer="bilinear").initialize()


@pytest.mark.parametrize("init, scale", [(mx.init.Normal(1), 1), (mx.init.MSRAPrelu("in", 0), 1)])
def test_normal_numbers_are_those_of_mx_np_if_numpy_arrays_are_on(init, scale):
    with mx.util.np_shape(True), mx.util.np_array(True):
        mx.random.seed(7)
        values = filled(init, "a_weight", (3, 2))
    real = [0.80284, -0.13737269, -0.83998173, 1.0147312, -1.001695, -0.25585568]
    np.testing.assert_allclose(values.ravel(), np.multiply(real, scale), rtol=1e-5)


@pytest.mark.parametrize(
    ("active", "total"), [(True, -111.982414), (False, -3.6669464)], ids=["np", "nd"]
)
@pytest.mark.parametrize("version", ["1.9", "2.0"])
def test_uniform_numbers_follow_numpy_arrays_as_in_both_mxnets(version, active, total):
    before = mx.util.set_profile(version)
    try:
        mx.npx.set_np() if active else mx.npx.reset_np()
        weight = (mx.np if active else mx.nd).zeros((50, 100))
        mx.random.seed(1)
        mx.init.Uniform(2.0)(mx.init.InitDesc("weight"), weight)
    finally:
        mx.util.set_profile(before)
    np.testing.assert_allclose(weight.asnumpy().sum(), total, rtol=1e-4)


def test_uniform_numbers_of_integers_are_truncated():
    with mx.util.np_shape(True), mx.util.np_array(True):
        mx.random.seed(1)
        weight = mx.gluon.Parameter(
            "weight", shape=(2, 3), dtype="int32", init=mx.init.Uniform(5), grad_req="null"
        )
        weight.initialize()
        assert weight.data().asnumpy().ravel()[:4].tolist() == [0, -4, -4, 0]
