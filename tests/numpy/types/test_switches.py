"""NumPy semantics as a state of the thread: shapes, arrays and element types."""

import threading

import pytest

import mxcy as mx

util = mx.util


@pytest.fixture(autouse=True)
def restored():
    yield
    util.reset_np()


def states():
    return util.is_np_shape(), util.is_np_array(), util.is_np_default_dtype()


def test_all_are_off_at_first_and_in_other_threads():
    assert states() == (False, False, False)
    util.set_np(dtype=True)
    assert states() == (True, True, True)
    seen = []
    thread = threading.Thread(target=lambda: seen.append(states()))
    thread.start()
    thread.join()
    assert seen == [(False, False, False)]
    util.reset_np()
    assert states() == (False, False, False)


def test_arrays_need_shapes():
    with pytest.raises(ValueError):
        util.set_np(shape=False, array=True)
    util.set_np()
    with pytest.raises(ValueError):
        util.set_np_shape(False)


def test_previous_states_are_returned():
    assert util.set_np_shape(True) is False and util.set_np_shape(False) is True
    assert util.set_np_default_dtype(True) is False and util.set_np_default_dtype(False) is True


@pytest.mark.parametrize("name", ["np_shape", "np_array", "np_default_dtype"])
def test_scopes(name):
    is_on = getattr(util, f"is_{name}")
    with getattr(util, name)(True):
        assert is_on()
        with getattr(util, name)(False):
            assert not is_on()
        assert is_on()
    assert not is_on()


@pytest.mark.parametrize(
    ("decorator", "expected"),
    [
        (util.use_np, (True, True, False)),
        (util.use_np_shape, (True, False, False)),
        (util.use_np_default_dtype, (False, False, True)),
    ],
)
def test_decorators_of_functions_and_classes(decorator, expected):
    @decorator
    def function():
        return states()

    @decorator
    class Holder:
        def method(self):
            return states()

        @property
        def value(self):
            return states()

    assert function() == Holder().method() == Holder().value == expected
    assert states() == (False, False, False)


def test_types_follow_the_thread():
    array = mx.np.ones(2, "int32")
    assert (array / array).dtype == "float32"
    with util.np_default_dtype(True):
        assert (array / array).dtype == "float64" and mx.np.zeros(1).dtype == "float64"
    assert (array / array).dtype == "float32"


def test_decorated_classes_run_inherited_methods_so_too():
    class Base:
        def inherited(self):
            return states()

        def __call__(self):
            return states()

    @util.use_np
    class Holder(Base):
        @staticmethod
        def given_itself(self, value):
            return type(self).__name__, value, states()

        @staticmethod
        def alone(value):
            return value, states()

    expected = (True, True, False)
    assert Holder().inherited() == Holder()() == expected
    assert Base().inherited() == (False, False, False)
    assert Holder().given_itself(3) == ("Holder", 3, expected)
    assert Holder().alone(3) == Holder.alone(3) == (3, expected)


def test_parameters_of_decorated_blocks_are_arrays_of_numpy():
    @util.use_np
    class Net(mx.gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            with self.name_scope():
                self.w = self.params.get("w", shape=(2, 3))

        def hybrid_forward(self, F, x, w):
            return F.np.dot(x, w)

    for hybridize in (False, True):
        net = Net()
        net.initialize()
        if hybridize:
            net.hybridize()
        assert type(net(mx.np.ones((4, 2)))) is mx.np.ndarray
        assert type(net.w.data()) is mx.np.ndarray
    assert states() == (False, False, False)
