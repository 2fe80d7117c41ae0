"""Variables for error messages and printed output."""

import pickle

import mxcy as mx
from tests.env.run import python

_ERRORS = """
import json, pickle, mxcy as mx
texts = []
for wrong in (lambda: mx.nd.ones((2, 3)).reshape((4, 5)),
              lambda: mx.nd.random.normal(0, -1, (2, 2)).asnumpy()):
    try:
        wrong()
    except mx.MXNetError as error:
        again = pickle.loads(pickle.dumps(error))
        assert str(again) == str(error)
        texts.append(str(error))
print(json.dumps(texts))
"""


def frames(text):
    return [line for line in text.splitlines() if line.startswith("  [bt] (")]


def test_stack_trace_depth():
    """Errors of Python code and of kernels list the requested number of native frames."""
    few = python(_ERRORS, DMLC_LOG_STACK_TRACE_DEPTH="5", DMLC_LOG_BEFORE_THROW="1")
    for text in few.value:
        assert 0 < len(frames(text)) <= 5 and "Stack trace:" in text
    assert "libmxcy.so(" in few.value[1]  # the kernel's own frames
    assert few.value[0].splitlines()[0] in few.err
    none = python(_ERRORS, DMLC_LOG_STACK_TRACE_DEPTH="0")
    assert not any(frames(text) for text in none.value) and "reshape" not in none.err
    assert "Stack trace" not in "".join(none.value)


def test_stack_traces_follow_the_environment(monkeypatch):
    monkeypatch.setenv("DMLC_LOG_STACK_TRACE_DEPTH", "2")
    assert len(frames(str(mx.MXNetError("wrong")))) == 2
    monkeypatch.delenv("DMLC_LOG_STACK_TRACE_DEPTH")
    assert str(mx.MXNetError("wrong")) == "wrong"
    assert pickle.loads(pickle.dumps(mx.MXNetError("wrong"))).args == ("wrong",)


_SPARSE = """
import json, mxcy as mx
rows = mx.nd.sparse.row_sparse_array(([[1, 1, 1]], [2]), shape=(4, 3))
for _ in range(2):
    dense = mx.nd.softmax(rows, axis=0)
print(json.dumps([round(float(x), 3) for x in dense.asnumpy()[:, 0]]))
"""


def test_storage_fallback():
    """Converting a sparse array to dense warns once, unless switched off."""
    told = python(_SPARSE)
    assert told.err.count("Storage type fallback detected") == 1
    assert "operator = softmax\ninput storage types = [row_sparse, ]\n" in told.err
    quiet = python(_SPARSE, MXNET_STORAGE_FALLBACK_LOG_VERBOSE="0")
    assert quiet.err == ""
    assert quiet.value == told.value == [0.175, 0.175, 0.475, 0.175]


_SPARSE_GRAPH = """
import json, mxcy as mx
x = mx.sym.var("x")
y = mx.sym.exp(mx.sym.tanh(mx.sym.dot(mx.sym.square(x, name="squares"), mx.sym.var("w"))))
call = mx.nd.CachedOp(y)
arrays = mx.nd.ones((3, 4)).tostype("csr"), mx.nd.ones((4, 2))
for _ in range(2):
    value = call(*arrays)
print(json.dumps(value.shape))
"""


def test_storage_types_of_graphs():
    told = python(_SPARSE_GRAPH, MXNET_INFER_STORAGE_TYPE_VERBOSE_LOGGING="1")
    assert told.err.count("storage types of a graph:") == 1
    assert "x: csr\n" in told.err and "w: default\n" in told.err
    assert "squares: square [csr] -> csr, alone\n" in told.err
    assert ": dot [csr, default] -> default, alone\n" in told.err
    assert ": exp [default] -> default\n" in told.err
    quiet = python(_SPARSE_GRAPH)
    assert quiet.err == "" and quiet.value == told.value == [3, 2]
