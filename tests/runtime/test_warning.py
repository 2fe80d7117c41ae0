"""Warnings point to the program's line, through any number of our functions."""

import re
import warnings

import pytest

import mxcy as mx
from mxcy import nd, sym
from mxcy._base.warning import warn
from tests.env.run import python


def network():
    return sym.SoftmaxOutput(sym.FullyConnected(sym.var("data"), num_hidden=3), name="softmax")


def fitted():
    module = mx.mod.Module(network())
    module.bind([("data", (2, 4))])
    return module


def initialized_twice():
    module = mx.mod.Module(network())
    module.bind([("data", (2, 4))], [("softmax_label", (2,))])
    module.init_params()
    module.init_params()


CALLS = {
    "label_shapes don't match names": fitted,
    "label_names=['label']": lambda: mx.mod.Module(network(), label_names=["label"]),
    "already initialized": initialized_twice,
    "Clipping results will be undefined": lambda: mx.gluon.utils.clip_global_norm(
        [nd.array([float("nan")])], 1
    ),
    "it is ignored, as in MXNet": lambda: nd.relu(nd.ones(2), nothing=1),
    "of its own": lambda: warn("of its own"),
}


@pytest.mark.parametrize("text", CALLS)
def test_the_programs_line_is_shown(text):
    with pytest.warns(UserWarning, match=re.escape(text)) as caught:
        CALLS[text]()
    assert {one.filename for one in caught} == {__file__}


def test_each_line_is_warned_about_once_by_default():
    program = (
        "import mxcy as mx\n"
        "from mxcy._base.warning import warn\n"
        "for _ in range(3):\n"
        "    warn('once')\n"
        "warn('again', DeprecationWarning)\n"
    )
    told = python(program).err
    assert told.count("UserWarning: once") == 1 and "<string>:4:" in told
    assert "<string>:5: DeprecationWarning: again" in told  # they are shown in programs


def test_warnings_can_be_errors():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match="of its own"):
            warn("of its own", RuntimeWarning)
