"""DataDesc and DataBatch."""

import pickle

import numpy as np
import pytest

import mxcy as mx

Desc = mx.io.DataDesc


def test_descriptions_are_pairs_with_attributes():
    one = Desc("data", (2, 3), "float16", "NT")
    name, shape = one
    assert (name, shape) == ("data", (2, 3)) == one
    assert (one.dtype, one.layout) == ("float16", "NT")
    assert repr(Desc("a", (1, 2))) == "DataDesc[a,(1, 2),<class 'numpy.float32'>,NCHW]"
    again = pickle.loads(pickle.dumps(one))
    assert again == one and again.dtype == "float16" and again.layout == "NT"


def test_batch_axis():
    layouts = ("NCHW", "TNC", "CHW", None)
    assert [Desc.get_batch_axis(layout) for layout in layouts] == [0, 1, -1, 0]


def test_list_of_descriptions():
    assert Desc.get_list([("a", (1,))], None)[0].dtype is np.float32
    assert Desc.get_list([("a", (1,))], [("a", "int8")])[0].dtype == "int8"


def test_batches_hold_lists():
    array = mx.nd.zeros((2, 3))
    assert str(mx.io.DataBatch([array])) == "DataBatch: data shapes: [(2, 3)] label shapes: None"
    assert str(mx.io.DataBatch([array], [array])).endswith("label shapes: [(2, 3)]")
    with pytest.raises(AssertionError, match="Data must be list"):
        mx.io.DataBatch(array)
    with pytest.raises(AssertionError, match="Label must be list"):
        mx.io.DataBatch([array], array)
