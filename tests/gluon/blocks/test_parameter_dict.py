"""Dictionaries of parameters: lookup, creation, sharing, saving."""

import numpy as np
import pytest

import mxcy as mx
from mxcy import gluon


def filled(prefix="net_"):
    parameters = gluon.ParameterDict(prefix)
    parameters.get("w", shape=(2,))
    parameters.get("b", shape=(3,))
    parameters.initialize(mx.init.One())
    return parameters


def test_get_makes_and_finds():
    parameters = gluon.ParameterDict("a_")
    weight = parameters.get("w", shape=(2, 0))
    assert weight.name == "a_w"
    assert parameters.get("w", shape=(0, 3)) is weight
    assert weight.shape == (2, 3)
    assert parameters.get("w", init="zeros").init == "zeros"
    assert "a_w" in parameters and "w" not in parameters
    assert list(parameters) == ["a_w"] and len(parameters) == 1


@pytest.mark.parametrize(
    ("attribute", "value"),
    [("shape", (2, 4)), ("shape", (2, 3, 1)), ("dtype", "float16"), ("grad_req", "null")],
)
def test_get_refuses_contradictions(attribute, value):
    parameters = gluon.ParameterDict("a_")
    parameters.get("w", shape=(2, 3))
    with pytest.raises(AssertionError, match=f"Cannot retrieve .* for attribute '{attribute}'"):
        parameters.get("w", **{attribute: value})


def test_constants():
    parameters = gluon.ParameterDict("a_")
    constant = parameters.get_constant("k", [1, 2])
    assert parameters.get_constant("k") is constant
    assert parameters.get_constant("k", np.array([1, 2])) is constant
    with pytest.raises(AssertionError, match="value doesn't match"):
        parameters.get_constant("k", [1, 3])
    with pytest.raises(KeyError, match="No constant named 'a_other'"):
        parameters.get_constant("other")
    parameters.get("w")
    with pytest.raises(AssertionError, match="not a constant"):
        parameters.get_constant("w", [1])


def test_sharing():
    original = filled()
    sharing = gluon.ParameterDict("net_", shared=original)
    assert sharing.get("w") is original["net_w"]
    assert list(sharing) == ["net_w"]


def test_update():
    first, second = filled(), filled("other_")
    first.update(second)
    assert list(first) == ["net_w", "net_b", "other_w", "other_b"]
    with pytest.raises(AssertionError, match="different Parameters with the same name 'net_w'"):
        first.update(filled())


def test_all_at_once():
    parameters = filled()
    parameters.setattr("lr_mult", 3)
    assert [parameter.lr_mult for parameter in parameters.values()] == [3, 3]
    parameters["net_w"].grad()[:] = 5
    parameters.zero_grad()
    assert parameters["net_w"].grad().asnumpy().tolist() == [0, 0]
    parameters.reset_ctx([mx.cpu(1), mx.cpu(2)])
    assert parameters.list_ctx() == [mx.cpu(1), mx.cpu(2)]


def test_save_and_load(tmp_path):
    path = str(tmp_path / "net.params")
    parameters = filled()
    with pytest.raises(ValueError, match="'net_w' does not start with it"):
        parameters.save(path, strip_prefix="foo_")
    parameters.save(path, strip_prefix="net_")
    assert sorted(mx.nd.load(path)) == ["b", "w"]
    again = gluon.ParameterDict("net_")
    again.get("w", shape=(0,))
    with pytest.raises(AssertionError, match="'b' loaded from file.* not present"):
        again.load(path, restore_prefix="net_")
    again.load(path, restore_prefix="net_", ignore_extra=True)
    assert again["net_w"].data().asnumpy().tolist() == [1, 1]
    again.get("more", shape=(1,))
    with pytest.raises(AssertionError, match="'more' is missing"):
        again.load(path, restore_prefix="net_", ignore_extra=True)
    with pytest.raises(AssertionError, match="does not start with it"):
        again.load(path, restore_prefix="ne_")


def test_load_checks_shape_and_type(tmp_path):
    path = str(tmp_path / "net.params")
    mx.nd.save(path, {"arg:w": mx.nd.ones((2, 3), dtype="float16")})
    parameters = gluon.ParameterDict()
    parameters.get("w", shape=(2, 4))
    with pytest.raises(AssertionError, match="shape incompatible"):
        parameters.load(path)
    parameters = gluon.ParameterDict()
    weight = parameters.get("w", shape=(2, 0))
    with pytest.raises(
        AssertionError, match="dtype incompatible expected float32 vs saved float16"
    ):
        parameters.load(path)
    parameters.load(path, cast_dtype=True)
    assert weight.data().dtype == np.float32
    saved = gluon.ParameterDict()
    saved.get("w")
    saved.load(path, cast_dtype=True, dtype_source="saved")
    assert saved["w"].data().dtype == np.float16
    weight.reset_ctx(mx.cpu(1))
    with pytest.raises(AssertionError, match="previously initialized on"):
        parameters.load(path, ctx=mx.cpu(2), cast_dtype=True)


def test_repr():
    text = repr(filled())
    assert text.startswith("net_ (\n  Parameter net_w (shape=(2,)") and text.endswith("\n)")
