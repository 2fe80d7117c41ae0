"""The operators in mx.nd and its namespaces."""

import inspect

import numpy as np
import pytest

import mxcy as mx
from mxcy.ops.core import homes
from mxcy.ops.core.record import REGISTRY

nd = mx.nd
PLACES = {
    homes.MAIN: nd,
    homes.INTERNAL: nd._internal,
    "contrib": nd.contrib,
    "linalg": nd.linalg,
    "image": nd.image,
    "random": nd.random,
}


@pytest.mark.parametrize(
    ("registered", "home"),
    [
        ("exp", ("", "exp")),
        ("FullyConnected", ("", "FullyConnected")),
        ("linalg_gemm", ("", "linalg_gemm")),
        ("_linalg_gemm", ("linalg", "gemm")),
        ("_contrib_box_nms", ("contrib", "box_nms")),
        ("_contrib_index_copy", ("contrib", "index_copy")),
        ("_image_to_tensor", ("image", "to_tensor")),
        ("_sparse_dot", ("sparse", "dot")),
        ("_plus_scalar", ("_internal", "_plus_scalar")),
        ("_random_uniform", ("_internal", "_random_uniform")),
        ("_random_uniform_like", ("random", "uniform_like")),
        ("_npi_add", (None, "_npi_add")),
        ("_npx_relu", (None, "_npx_relu")),
    ],
)
def test_names_tell_the_home(registered, home):
    assert homes.home(registered) == home


def test_every_operator_is_offered_at_home():
    listed = {namespace: set(dir(place)) for namespace, place in PLACES.items()}
    for name in sorted(REGISTRY):
        namespace, short = homes.home(name)
        if namespace not in PLACES:
            continue
        assert short in listed[namespace]
        function = getattr(PLACES[namespace], short)
        assert callable(function), name
        if getattr(function, "__mx_params__", None) is not None:
            assert function.__name__ == short
            ending = list(inspect.signature(function).parameters)[-3:]
            assert ending == ["out", "name", "kwargs"], name


def test_functions_are_made_once():
    assert nd.exp is nd.exp is nd.op.exp
    assert "exp" in vars(nd)


def test_names_that_are_no_operators_are_refused():
    for place in PLACES.values():
        assert not hasattr(place, "no_such_operator")
        assert not hasattr(place, "_npi_add")
    assert not hasattr(nd, "_plus_scalar")
    assert not hasattr(nd.op, "_plus_scalar")
    assert not hasattr(nd._internal, "exp")
    with pytest.raises(AttributeError, match="mxcy.ndarray.linalg.*no_such_operator"):
        nd.linalg.no_such_operator()


def test_methods_of_every_lower_case_operator():
    for name, record in REGISTRY.items():
        wanted = name[0].isalpha() and name.islower() and record.inputs and not record.variadic
        assert not wanted or callable(getattr(nd.NDArray, name))


def test_contrib_tests_for_special_numbers():
    x = nd.array([1, float("inf"), float("nan"), -float("inf")])
    assert nd.contrib.isnan(x).asnumpy().tolist() == [0, 0, 1, 0]
    assert nd.contrib.isinf(x).asnumpy().tolist() == [0, 1, 0, 1]
    assert nd.contrib.isfinite(x).asnumpy().tolist() == [1, 0, 0, 0]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64"])
def test_integers_are_finite(dtype):
    x = nd.array([0, 1, 100], dtype=dtype)
    assert nd.contrib.isfinite(x).asnumpy().tolist() == [1, 1, 1]
    assert nd.contrib.isinf(x).asnumpy().tolist() == [0, 0, 0]
    assert nd.contrib.isnan(x).asnumpy().tolist() == [0, 0, 0]


@pytest.mark.parametrize("name", ["digamma", "log_sigmoid", "mish"])
def test_sparse_functions_of_mxnet_2(name):
    x = nd.array([[2, 0.5], [1, 3]])
    expected = getattr(nd, name)(x).asnumpy()
    np.testing.assert_array_equal(getattr(nd.sparse, name)(x.tostype("csr")).asnumpy(), expected)
    executor = getattr(mx.sym.sparse, name)(mx.sym.var("x", stype="csr")).bind("cpu", {"x": x})
    np.testing.assert_array_equal(executor.forward()[0].asnumpy(), expected)


def test_old_functions_of_arrays():
    target = mx.nd.zeros((2, 2), dtype="int32")
    assert mx.nd._internal._set_value(3.0, out=target) is target
    assert target.asnumpy().tolist() == [[3, 3], [3, 3]]
    assert mx.nd._internal._copyto(mx.nd.ones((2, 2)), out=target) is target
    assert target.asnumpy().tolist() == [[1, 1], [1, 1]]
