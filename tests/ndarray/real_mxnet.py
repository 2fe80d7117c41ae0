"""The half of test_real_mxnet.py that runs under a real MXNet: ``python real_mxnet.py read|write``.

`read` prints what it finds in the ``.params`` files of the current folder, `write` writes some and
prints what is in them: as JSON, {file: [[name, storage type, shape, dtype, bytes as hex], ...]}.
A file called ``np_*`` is handled under NumPy's shape semantics, any other in those of MXNet 1.x.
"""

import contextlib
import json
import pathlib
import pickle
import sys

import mxnet as mx
import numpy as np

TWO = mx.__version__.startswith("2.")
BFLOAT16 = np.dtype([("bfloat16", np.uint16)])
if TWO:
    mx.npx.reset_np()


def semantics(file):
    return mx.util.np_shape(True) if file.startswith("np_") else contextlib.nullcontext()


def describe(name, array):
    dense = array if array.stype == "default" else array.tostype("default")
    data = dense.asnumpy()
    kind = "bfloat16" if data.dtype == BFLOAT16 else data.dtype.name
    return [name, array.stype, list(array.shape), kind, data.tobytes().hex()]


def describe_all(arrays):
    named = arrays.items() if isinstance(arrays, dict) else ((None, array) for array in arrays)
    return [describe(name, array) for name, array in named]


def read():
    collected = {}
    for path in sorted(pathlib.Path().glob("*.params")):
        with semantics(path.name):
            collected[path.name] = describe_all(mx.nd.load(path.name))
    return collected


def write():
    names = "float32 float64 float16 uint8 int32 int8 int64 bool".split()
    names += "int16 uint16 uint32 uint64".split() if TWO else []
    dense = {name: mx.nd.array([[0, 1, 1], [1, 0, 1]], dtype=name) for name in names}
    dense["bfloat16"] = mx.nd.array([1, -2]).astype(BFLOAT16)
    sparse = {
        "c": mx.nd.sparse.csr_matrix(([1.0, 2.0], [0, 1], [0, 1, 2]), shape=(2, 3)),
        "r": mx.nd.sparse.row_sparse_array(([[1, 2]], [3]), shape=(5, 2)),
        "empty csr": mx.nd.sparse.zeros("csr", (2, 3)),
        "empty rows": mx.nd.sparse.zeros("row_sparse", (2, 3)),
    }
    written = {
        "dict.params": {**dense, **sparse},
        "list.params": list(dense.values()),
        "é.params": {"é": mx.nd.ones((1,) * 6)},
    }
    for file, arrays in written.items():
        mx.nd.save(file, arrays)
    if TWO:
        del dense["bfloat16"]  # it cannot read its own
        for file, arrays in [("npz.params", dense), ("sparse_npz.params", sparse)]:
            mx.npx.savez(file, **arrays)
            written[file] = arrays
    with mx.util.np_shape(True):
        written["np_.params"] = {"a": mx.nd.ones(()), "b": mx.nd.zeros((0, 3)), "c": mx.nd.ones(2)}
        mx.nd.save("np_.params", written["np_.params"])
        actual = {"np_.params": describe_all(written.pop("np_.params"))}
    with open("x.pickle", "wb") as file:
        pickle.dump(dense["float32"], file)
    return {**actual, **{file: describe_all(arrays) for file, arrays in written.items()}}


print(json.dumps({"read": read, "write": write}[sys.argv[1]]()))
