"""Thread-local state: context, names, attributes and name scope."""

import threading

import pytest

import mxcy as mx
from mxcy import util
from mxcy.gluon.block import _BlockScope


def in_a_thread(function):
    """A function's result in a separate thread."""
    results = []
    thread = threading.Thread(target=lambda: results.append(function()))
    thread.start()
    thread.join()
    return results[0]


@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [
        (mx.Context, "default_ctx", mx.cpu(3)),
        (mx.name.NameManager, "current", mx.name.Prefix("net_")),
        (mx.AttrScope, "current", mx.AttrScope(ctx_group="stage1")),
    ],
)
def test_settings_are_thread_local(kind, name, value):
    before = getattr(kind, name)

    def replace():
        setattr(kind, name, value)
        return getattr(kind, name)

    assert in_a_thread(replace) == value
    assert getattr(kind, name) is before


def test_the_class_attribute_names_and_tags_new_symbols():
    def make():
        mx.name.NameManager.current = mx.name.Prefix("net_")
        mx.AttrScope.current = mx.AttrScope(ctx_group="stage1")
        symbol = mx.sym.exp(mx.sym.var("x"))
        return symbol.name, symbol.attr("ctx_group")

    assert in_a_thread(make) == ("net_exp0", "stage1")
    assert mx.AttrScope.current.get({}) == {}


def test_value_of_the_current_scope_can_be_read_and_set():
    outer = mx.Context._default_ctx.value
    with mx.cpu(2):
        assert mx.Context._default_ctx.value == mx.cpu(2)
        mx.Context._default_ctx.value = mx.cpu(4)
        assert mx.current_context() == mx.cpu(4)
    assert mx.current_context() == outer
    assert _BlockScope._current.value is None
    block = mx.gluon.nn.HybridSequential(prefix="seq_")
    with block.name_scope():
        assert _BlockScope._current.value is block._scope
        assert mx.name.NameManager._current.value.get(None, "exp") == "seq_exp0"
    assert _BlockScope._current.value is None


def test_counters_of_names_belong_to_their_manager():
    with mx.name.NameManager() as names:
        mx.sym.exp(mx.sym.exp(mx.sym.var("x")))
    assert names._counter == {"exp": 2}


def test_shape_semantics_of_one_thread_or_all():
    try:
        util.set_np_shape(True)
        assert util.is_np_shape() and not in_a_thread(util.is_np_shape)
        assert util.set_np_shape(2) is True
        assert in_a_thread(util.is_np_shape)
        with util.np_shape(False):
            assert not util.is_np_shape() and not in_a_thread(util.is_np_shape)
        assert util.is_np_shape() and in_a_thread(util.is_np_shape)
    finally:
        util.set_np_shape(False)
    assert not util.is_np_shape() and not in_a_thread(util.is_np_shape)


def test_array_semantics_need_those_of_shapes():
    util.set_np()
    try:
        with pytest.raises(ValueError, match="set_np_shape.*reset_np"):
            util.set_np_shape(False)
        assert util.is_np_shape()
    finally:
        util.reset_np()
    with util._NumpyArrayScope(True) as scope:
        assert scope._is_np_array and util.is_np_array()
