"""Write the files that need a real MXNet: ``python make.py``, run with 1.9.1 or 2.0.0b1.

``*_19`` come from 1.9.1, ``*_20`` from 2.0.0b1. csr_20 and rsp_20 are the fragments that 2.0.0b1
leaves when it refuses to save sparse arrays; leg and np0 are an old-style and a NumPy-shape file.
"""

import pickle
from pathlib import Path

import mxnet as mx
import numpy as np

HERE = Path(__file__).parent
BFLOAT16 = np.dtype([("bfloat16", np.uint16)])
NAMES = "float32 float64 float16 uint8 int32 int8 int64 bool".split()


def every_dtype(names):
    """One small array of every element type."""
    arrays = {name: mx.nd.array(np.array([[0, 1, 0], [1, 1, 0]]), dtype=name) for name in names}
    return {**arrays, "bfloat16": mx.nd.array([1.0, -2.0]).astype(BFLOAT16)}


if mx.__version__.startswith("1."):
    mx.nd.save(str(HERE / "dtypes_19.params"), every_dtype(NAMES))
    sparse = mx.nd.sparse.csr_matrix(([1.0, 2.0], [0, 1], [0, 1, 2]), shape=(2, 3))
    content = {"a": mx.nd.array([[1, 2], [3, 4]]), "ctx": mx.gpu(1), "s": sparse}
    (HERE / "ndarray_19.pickle").write_bytes(pickle.dumps(content, 2))
else:
    names = NAMES + "int16 uint16 uint32 uint64".split()
    mx.nd.save(str(HERE / "dtypes_20.params"), every_dtype(names))
    mx.npx.reset_np()
    rows = mx.nd.sparse.row_sparse_array(([[1, 2], [3, 4]], [0, 3]), shape=(5, 2))
    csr = mx.nd.sparse.csr_matrix(([1.0, 2.0, 3.0], [0, 2, 1], [0, 2, 3]), shape=(2, 3))
    mx.npx.savez(str(HERE / "sparse_20.params"), r=rows, c=csr, d=mx.nd.ones((2,)))
