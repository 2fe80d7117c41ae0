"""Errors name the block that was called, and tracebacks show only the program's frames."""

import copy
import os
import pickle
import traceback

import numpy as np
import pytest

import mxcy as mx
from mxcy import gluon, nd
from tests.env.run import python

HERE = os.path.basename(__file__)


class Outer(gluon.HybridBlock):
    """A network of a program's own around one of the package's."""

    def __init__(self):
        super().__init__(prefix="outer_")
        with self.name_scope():
            self.inner = gluon.nn.HybridSequential()
            with self.inner.name_scope():
                self.inner.add(gluon.nn.Dense(4), gluon.nn.Dense(3, in_units=7))

    def hybrid_forward(self, F, x):
        return self.inner(x)


def refusal(call):
    with pytest.raises(mx.MXNetError) as caught:
        call()
    return caught.value


def files_of(error):
    steps = traceback.extract_tb(error.__traceback__)
    return [os.path.basename(step.filename) for step in steps]


def test_the_innermost_block_is_named():
    net = Outer()
    net.initialize()
    error = refusal(lambda: net(nd.ones((2, 8))))
    assert str(error).splitlines() == [
        "Error in operator FullyConnected: argument weight: expected shape (3, 4), got (3, 7); "
        "data has shape (2, 4)",
        "  in block outer_hybridsequential0_dense1 (Dense), called with (2, 4)",
    ]
    assert type(error).__module__ == "mxcy.base" and isinstance(error, mx.base.ShapeError)


def test_tracebacks_have_the_programs_steps_alone():
    net = Outer()
    net.initialize()
    assert set(files_of(refusal(lambda: net(nd.ones((2, 8)))))) == {HERE}


def test_tracebacks_of_operators_leave_the_preparation_out():
    files = files_of(refusal(lambda: nd.ones((2, 3)) + nd.ones((2, 4))))
    assert files[0] == HERE and not {"prepare.py", "op.py"} & set(files)


def test_variable_enables_full_tracebacks():
    program = (
        "import traceback, mxcy as mx\n"
        "net = mx.gluon.nn.Dense(3, in_units=7)\n"
        "net.initialize()\n"
        "try:\n"
        "    net(mx.nd.ones((2, 8)))\n"
        "except mx.MXNetError as error:\n"
        "    print([s.name for s in traceback.extract_tb(error.__traceback__)])\n"
    )
    short = python(program).out
    whole = python(program, MXCY_VERBOSE="tracebacks").out
    assert "prepare" not in short and "'prepare_eager'" in whole and "'__call__'" in whole


def test_other_errors_keep_their_steps():
    class Broken(gluon.Block):
        def forward(self, x):
            raise mx.MXNetError("of its own")

    error = refusal(lambda: Broken()(nd.ones(2)))
    assert str(error) == "of its own" and len(files_of(error)) > 2


@pytest.mark.parametrize("module", [mx.nd, mx.np, mx.sym, mx.gluon.nn])
def test_unknown_names_are_plain_attribute_errors(module):
    with pytest.raises(AttributeError, match="has no attribute 'convolutoin'") as caught:
        module.convolutoin  # noqa: B018
    shown = traceback.format_exception_only(caught.value)[-1]
    assert shown.startswith("AttributeError: ")
    copied = pickle.loads(pickle.dumps(caught.value))
    assert type(copied) is AttributeError and str(copied) == str(caught.value)


def test_errors_are_known_where_users_look():
    names = "InferError InvalidAxisError InvalidIndexError InvalidValueError ShapeError"
    for name in names.split():
        kind = getattr(mx.base, name)
        assert kind.__module__ == "mxcy.base" and issubclass(kind, mx.MXNetError)
        assert type(pickle.loads(pickle.dumps(kind("a")))) is kind
        assert str(copy.copy(kind("a"))) == "a"


def test_symbols_and_modules_have_the_programs_steps_alone():
    scores = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=3, name="fc")
    network = mx.sym.SoftmaxOutput(scores, name="softmax")
    batches = mx.io.NDArrayIter(np.ones((4, 3)), np.ones((4, 7)), 2)
    module = mx.mod.Module(network)
    for call in (
        lambda: module.fit(batches, num_epoch=1),
        lambda: network.infer_shape(data=(2, 3), softmax_label=(2, 7)),
        lambda: network.simple_bind(mx.cpu(), data=(2, 3), softmax_label=(2, 7)),
    ):
        error = refusal(call)
        assert str(error).startswith("Error in node softmax: Error in operator SoftmaxOutput: ")
        assert set(files_of(error)) == {HERE}
