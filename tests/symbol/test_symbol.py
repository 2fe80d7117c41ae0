"""Symbols: composition, names, listings, indexing, attributes, copies."""

import copy
import pickle

import pytest

import mxcy as mx
from mxcy.base import MXNetError, NotImplementedForSymbol

S = mx.sym


@pytest.fixture(autouse=True)
def fresh_names():
    with mx.name.NameManager():
        yield


def dense(name="fc", **kwargs):
    return S.FullyConnected(S.var("data"), num_hidden=10, name=name, **kwargs)


def test_missing_inputs_become_variables():
    fc = S.FullyConnected(num_hidden=10, name="fc")
    assert fc.list_arguments() == ["fc_data", "fc_weight", "fc_bias"]
    assert S.FullyConnected(num_hidden=10, no_bias=True).list_arguments() == [
        "fullyconnected0_data",
        "fullyconnected0_weight",
    ]
    assert S.Concat(S.var("a"), num_args=3, name="c").list_arguments() == ["a", "c_arg1", "c_arg2"]


def test_auxiliary_states():
    bn = S.BatchNorm(S.var("a"), name="bn")
    assert bn.list_arguments() == ["a", "bn_gamma", "bn_beta"]
    assert bn.list_auxiliary_states() == ["bn_moving_mean", "bn_moving_var"]
    assert bn.list_inputs() == ["a", "bn_gamma", "bn_beta", "bn_moving_mean", "bn_moving_var"]
    assert bn.list_outputs() == ["bn_output"]
    assert bn.attr_dict() == {
        "bn_moving_mean": {"__init__": '["zero", {}]'},
        "bn_moving_var": {"__init__": '["one", {}]'},
    }
    shown = S.BatchNorm(S.var("a"), name="bn", output_mean_var=True)
    assert shown.list_outputs() == ["bn_output", "bn_mean", "bn_var"]
    whole = S.split(S.var("a"), num_outputs=1, name="split")
    assert whole.list_outputs() == ["split_output0"]  # the only one that counts to one


def test_operators_and_their_names():
    a, b = S.var("a"), S.var("b")
    made = [a + b, a - b, a * b, a / b, a % b, a**b, a == b, a != b, a > b, a >= b, a < b, a <= b]
    assert [s.name for s in made] == [
        "_plus0",
        "_minus0",
        "_mul0",
        "_div0",
        "_mod0",
        "_power0",
        "_equal0",
        "_not_equal0",
        "_greater0",
        "_greater_equal0",
        "_lesser0",
        "_lesser_equal0",
    ]
    made = [a + 1, 1 + a, a - 1, 1 - a, a * 2, a / 2, 2 / a, a % 2, 2 % a, a**2, 2**a, a == 1, -a]
    assert [s.name for s in made] == [
        "_plusscalar0",
        "_plusscalar1",
        "_minusscalar0",
        "_rminusscalar0",
        "_mulscalar0",
        "_divscalar0",
        "_rdivscalar0",
        "_modscalar0",
        "_rmodscalar0",
        "_powerscalar0",
        "_rpower_scalar0",
        "_equal_scalar0",
        "_mulscalar1",
    ]
    assert (1 - a).attr("scalar") == "1" and (-a).attr("scalar") == "-1.0"
    assert (abs(a).name, S.maximum(a, 2).name, S.pow(2, a).name) == (
        "abs0",
        "_maximumscalar0",
        "_rpowerscalar0",
    )
    assert (S.pow(2, 3), S.maximum(2, 3), S.hypot(3, 4)) == (8, 3, 5.0)
    for other in ("x", None, [1]):
        with pytest.raises(TypeError, match="not supported"):
            a + other
    with pytest.raises(NotImplementedForSymbol, match=r"\+="):
        a += b


def test_names_come_from_the_manager():
    a = S.var("a")
    assert [S.exp(a).name, S.exp(a).name, S.concat(a, a).name] == ["exp0", "exp1", "concat0"]
    with mx.name.Prefix("p_"):
        assert S.FullyConnected(a, num_hidden=1).list_inputs() == [
            "a",
            "p_fullyconnected0_weight",
            "p_fullyconnected0_bias",
        ]
        assert S.FullyConnected(a, num_hidden=1, name="x").name == "p_x"
        assert S.var("v").name == "v"


def test_composition_replaces_variables():
    fc = S.FullyConnected(num_hidden=10, name="fc")
    other = S.exp(S.var("x"))
    made = fc(fc_data=other, name="composed")
    assert made.list_arguments() == ["x", "fc_weight", "fc_bias"]
    assert (made.name, made.list_outputs(), fc.name) == ("composed", ["composed_output"], "fc")
    assert fc.list_arguments()[0] == "fc_data"
    group = S.Group([S.var("a"), S.var("b")])(a=other)
    assert group.list_outputs() == ["exp0_output", "b"]
    for args, kwargs, error in (
        ((other,), {}, MXNetError),
        ((), {"nothing": other}, MXNetError),
        ((), {"fc_data": group}, MXNetError),
        ((other,), {"fc_data": other}, TypeError),
        ((3,), {}, TypeError),
    ):
        with pytest.raises(error):
            fc(*args, **kwargs)


def test_refusals_of_operators():
    a = S.var("a")
    with pytest.raises(MXNetError, match="foo.*FullyConnected"):
        S.FullyConnected(a, num_hidden=1, foo=1)
    with pytest.raises(MXNetError, match="num_hidden.*not presented"):
        S.FullyConnected(a)
    with pytest.raises(MXNetError, match="num_hidden"):
        S.FullyConnected(a, num_hidden="x")
    with pytest.raises(AssertionError, match="data must be Symbol"):
        S.FullyConnected(3, num_hidden=1)
    with pytest.raises(MXNetError, match="foo not found"):
        S.FullyConnected(a, num_hidden=1, foo=a)
    with pytest.raises(MXNetError, match="single value"):
        S.exp(S.split(a, num_outputs=2))


def test_indexing():
    parts = S.split(S.var("a"), num_outputs=3, name="sp")
    assert len(parts) == 3 and [p.list_outputs() for p in parts] == [
        ["sp_output0"],
        ["sp_output1"],
        ["sp_output2"],
    ]
    assert parts["sp_output2"].list_outputs() == parts[2].list_outputs() == ["sp_output2"]
    assert parts[0:2].list_outputs() == ["sp_output0", "sp_output1"]
    for index, error in ((3, IndexError), ("x", ValueError), (1.5, TypeError), (-1, MXNetError)):
        with pytest.raises(error):
            parts[index]
    with pytest.raises(IndexError, match="index 3 is out of range for a symbol of 3 outputs"):
        parts[3]
    with pytest.raises(ValueError, match="multiple"):
        S.Group([S.var("a"), S.var("a")])["a"]


def test_internals_and_children():
    fc = dense()
    out = S.exp(fc)
    assert out.get_internals().list_outputs() == [
        "data",
        "fc_weight",
        "fc_bias",
        "fc_output",
        "exp0_output",
    ]
    assert out.get_internals()["fc_output"].name == "fc"
    assert fc.get_children().list_outputs() == ["data", "fc_weight", "fc_bias"]
    assert S.var("a").get_children() is None
    assert (S.Group([fc, out]).name, repr(S.Group([fc, out]))) == (
        None,
        "<Symbol group [fc, exp0]>",
    )
    for bad in ([], [1]):
        with pytest.raises(TypeError):
            S.Group(bad)


def test_attributes():
    with mx.AttrScope(ctx_group="g", lr_mult="2", __foo__="3"):
        v = S.var("v")
        f = S.FullyConnected(v, num_hidden=2, name="f", attr={"__mood__": "x"})
    own = {
        "__foo__": "3",
        "__lr_mult__": "2",
        "lr_mult": "2",
        "__ctx_group__": "g",
        "ctx_group": "g",
    }
    assert v.list_attr() == own
    assert f.list_attr() == {**own, "num_hidden": "2", "__mood__": "x"}
    assert f.attr_dict()["f_weight"] == f.list_attr()
    assert (f.attr("lr_mult"), f.attr("__lr_mult__"), f.attr("nope")) == ("2", "2", None)
    assert f.attr("name") == f.name and "name" not in f.list_attr()
    with pytest.raises(MXNetError, match="mood"):
        S.FullyConnected(v, num_hidden=2, attr={"mood": "x"})
    with pytest.raises(MXNetError, match="deprecated"):
        S.FullyConnected(v, num_hidden=2, weight_lr_mult=3)
    with pytest.raises(DeprecationWarning):
        v.list_attr(recursive=True)


def test_setting_attributes():
    fc = dense()
    fc._set_attr(num_hidden="20", lr_mult="3")
    assert fc.infer_shape(data=(1, 2))[1] == [(1, 20)]
    assert fc[0].attr("lr_mult") == "3"
    for attrs, error in (
        ({"q": 3}, ValueError),
        ({"num_hidden": "z"}, MXNetError),
        ({"nope": "z"}, MXNetError),
    ):
        with pytest.raises(error):
            fc._set_attr(**attrs)
    with pytest.raises(MXNetError):
        S.Group([S.var("a"), S.var("b")])._set_attr(k="v")


def test_variables():
    v = S.var(
        "x",
        attr={"a": "b", "lr_mult": "7"},
        shape=(2, 0),
        lr_mult=2,
        wd_mult=3,
        dtype="float16",
        init=mx.init.Zero(),
        stype="csr",
        __k__=5,
    )
    assert v.list_attr() == {
        "__storage_type__": "2",
        "__init__": '["zero", {}]',
        "__wd_mult__": "3",
        "wd_mult": "3",
        "__shape__": "(2, 0)",
        "__k__": "5",
        "__lr_mult__": "2",
        "lr_mult": "2",
        "__dtype__": "2",
        "a": "b",
    }
    with pytest.raises(ValueError, match="foo"):
        S.var("x", foo=3)
    with pytest.raises(TypeError):
        S.var(3)


def test_copies_are_independent():
    fc = dense()
    for made in (copy.copy(fc), copy.deepcopy(fc), pickle.loads(pickle.dumps(fc))):
        made._set_attr(num_hidden="99")
        assert made.list_inputs() == fc.list_inputs()
    assert fc.attr("num_hidden") == "10"


def test_unsupported_operations_of_symbols():
    a = S.var("a")
    for name in "asnumpy asscalar wait_to_read copy as_in_context detach backward".split():
        with pytest.raises(NotImplementedForSymbol, match=name):
            getattr(a, name)()
    with pytest.raises(NotImplementedForSymbol):
        bool(a)
    with pytest.raises(TypeError):
        hash(a)


def test_methods():
    a = S.var("a")
    assert a.exp().name == "exp0" and a.sum(axis=1).attr("axis") == "1"
    assert a.expand_dims(axis=0, inplace=True).name == "expand_dims0"
    assert a.astype("float16").attr("dtype") == "float16"
    assert a.reshape((2, 3)).attr("shape") == "(2, 3)"
    assert len(a.split_v2(2)) == 2


def test_debug_text():
    a = S.var("a")
    text = S.FullyConnected(2 * a + S.sin(a), num_hidden=10, name="d").debug_str()
    assert text == (
        "Symbol Outputs:\n\toutput[0]=d(0)\nVariable:a\n"
        "--------------------\nOp:_mul_scalar, Name=_mulscalar0\n"
        "Inputs:\n\targ[0]=a(0) version=0\nAttrs:\n\tscalar=2\n"
        "--------------------\nOp:sin, Name=sin0\nInputs:\n\targ[0]=a(0) version=0\n"
        "--------------------\nOp:elemwise_add, Name=_plus0\n"
        "Inputs:\n\targ[0]=_mulscalar0(0)\n\targ[1]=sin0(0)\n"
        "Variable:d_weight\nVariable:d_bias\n"
        "--------------------\nOp:FullyConnected, Name=d\n"
        "Inputs:\n\targ[0]=_plus0(0)\n\targ[1]=d_weight(0) version=0\n"
        "\targ[2]=d_bias(0) version=0\nAttrs:\n\tnum_hidden=10\n"
    )


def test_the_last_operation_alone():
    x, w = mx.sym.var("x"), mx.sym.var("w")
    symbol = mx.sym.FullyConnected(x * 2, w, no_bias=True, num_hidden=3, name="f")
    assert symbol._gen_atomic_symbol().list_arguments() == ["f_data", "f_weight"]
    with pytest.raises(mx.MXNetError, match="one operation"):
        x._gen_atomic_symbol()


@pytest.mark.parametrize("name", ["Concat", "add_n", "stack", "khatri_rao", "Crop"])
def test_operators_of_many_inputs_need_one(name):
    with pytest.raises(mx.MXNetError, match="num_args: expected one input or more"):
        getattr(mx.sym, name)()
