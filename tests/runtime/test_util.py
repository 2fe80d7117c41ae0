"""mx.util: NumPy semantics per thread, ufunc keywords, the environment."""

import threading

import numpy as np
import pytest

import mxcy as mx
from mxcy import util


def state():
    return util.is_np_shape(), util.is_np_array(), util.is_np_default_dtype()


def test_scopes_set_and_restore():
    assert state() == (False, False, False)
    with util.np_shape():
        assert state() == (True, False, False)
        with util.np_shape(False), util.np_array():
            assert state() == (False, True, False)
        with util.np_default_dtype():
            assert state() == (True, False, True)
    assert state() == (False, False, False)


def test_switches_return_the_previous_state():
    assert util.set_np_shape(True) is False
    assert util.set_np_shape(False) is True
    assert util.set_np_default_dtype() is False
    assert util.set_np_default_dtype(False) is True


def test_set_np_switches_everything():
    util.set_np()
    try:
        assert state() == (True, True, False)
        util.set_np(dtype=True)
        assert state() == (True, True, True)
    finally:
        util.reset_np()
    assert state() == (False, False, False)
    with pytest.raises(ValueError, match="Shape semantics"):
        util.set_np(shape=False, array=True)


def test_threads_have_their_own_state():
    collected = []
    with util.np_shape():
        thread = threading.Thread(target=lambda: collected.append(state()))
        thread.start()
        thread.join()
    assert collected == [(False, False, False)]


def test_decorators_of_functions():
    @util.use_np
    def inner(x, y=1):
        """Docs."""
        return x, y, state()

    assert inner(2, y=3) == (2, 3, (True, True, False))
    assert (inner.__name__, inner.__doc__) == ("inner", "Docs.")
    assert util.use_np_default_dtype(state)() == (False, False, True)
    assert state() == (False, False, False)


def test_decorators_of_classes():
    @util.use_np_shape
    class Model:
        def __init__(self):
            self.made = state()

        def method(self):
            return state()

        @property
        def value(self):
            return state()

        @staticmethod
        def static():
            return state()

        @classmethod
        def of_class(cls):
            return cls, state()

    on = (True, False, False)
    model = Model()
    assert model.made == model.method() == model.value == Model.static() == on
    assert Model.of_class() == (Model, on)


def test_decorators_refuse_other_objects():
    for stranger in (3, "a", object()):
        with pytest.raises(TypeError, match="can only decorate classes and callable objects"):
            util.use_np(stranger)


def test_scopes_restore_after_errors():
    with pytest.raises(ZeroDivisionError), util.np_shape():
        raise ZeroDivisionError
    assert state() == (False, False, False)


def test_dtype_from_number():
    assert util.dtype_from_number(3) is util.dtype_from_number(True) is np.int64
    assert util.dtype_from_number(3.0) is np.float32
    with util.np_default_dtype():
        assert util.dtype_from_number(3.0) is np.float64
    with pytest.raises(TypeError, match="'a'"):
        util.dtype_from_number("a")


@pytest.mark.parametrize(
    ("key", "value", "legal"),
    [
        ("dtype", np.float32, True),
        ("dtype", "float32", True),
        ("dtype", bool, False),
        ("dtype", "int16", False),
        ("dtype", "house", False),
        ("order", "C", True),
        ("subok", True, True),
        ("subok", 1, False),
        ("where", False, True),
        ("house", 1, False),
        ("casting", "same_kind", True),
        ("casting", "house", False),
    ],
)
def test_ufunc_options(key, value, legal):
    assert util.np_ufunc_legal_option(key, value) is legal


def test_ufunc_keywords_pass_at_their_defaults_only():
    @util.wrap_np_unary_func
    def unary(x, out=None):
        return x, out

    @util.wrap_np_binary_func
    def binary(x1, x2, out=None):
        return x1, x2, out

    assert unary(1, where=True, order="K", casting="same_kind", subok=True) == (1, None)
    assert binary(1, 2, out=3) == (1, 2, 3)
    for keywords in ({"where": False}, {"dtype": "float32"}, {"order": "C"}):
        with pytest.raises(NotImplementedError, match="not implemented yet for operator unary"):
            unary(1, **keywords)
    with pytest.raises(TypeError, match="invalid keyword to function 'binary'"):
        binary(1, 2, house=3)
    with pytest.raises(TypeError, match="not understood"):
        binary(1, 2, casting="house")


def test_environment_variables():
    util.setenv("MY_TEST_VARIABLE", 3)
    assert util.getenv("MY_TEST_VARIABLE") == "3"
    util.setenv("MY_TEST_VARIABLE", None)
    assert util.getenv("MY_TEST_VARIABLE") is None


def test_set_module_names_the_home():
    @util.set_module("mx.home")
    def function():
        pass

    assert function.__module__ == "mx.home"


def test_gpus_are_counted():
    assert util.get_gpu_count() == mx.num_gpus()


def test_bulk_sizes_nest():
    assert mx.engine.set_bulk_size(10) == 0
    with mx.engine.bulk(5):
        assert mx.engine.set_bulk_size(5) == 5
    assert mx.engine.set_bulk_size(0) == 10
    mx.nd.waitall()


def test_devices_under_their_older_name():
    @mx.util.wrap_ctx_to_device_func
    def place(value, device=None):
        """Where it is."""
        return value, device

    assert place(1, ctx=mx.cpu(2)) == place(1, device=mx.cpu(2)) == (1, mx.cpu(2))
    assert place(1, ctx=None) == (1, None) and place.__doc__ == "Where it is."
    with pytest.raises(TypeError):
        place(1, other=2)


def test_architectures_are_those_of_cuda_devices():
    with pytest.raises(ValueError, match="expected a GPU context, got cpu"):
        mx.npx.get_cuda_compute_capability(mx.cpu())
    with pytest.raises(mx.MXNetError, match="gpu"):
        util.get_cuda_compute_capability(mx.gpu())
