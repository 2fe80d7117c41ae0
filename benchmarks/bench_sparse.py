"""Sparse arrays in mxcy, scipy.sparse and, if MXCY_REAL_MXNET_19 names its Python, MXNet 1.9.1."""

import pytest

#: the same arrays for all contenders; scipy's own generator would shuffle all 1e9 positions
DRAWN = """
import numpy as np
def parts(seed, rows=10**4, columns=10**5):
    r = np.random.RandomState(seed)
    places = np.unique(r.randint(0, rows * columns, rows * columns // 1000))
    indptr = np.searchsorted(places // columns, np.arange(rows + 1))
    return (r.rand(len(places)).astype('f'), places % columns, indptr), (rows, columns)
r = np.random.RandomState(0)
wide, tall, flat = (r.rand(*shape).astype('f') for shape in ((10**5, 64), (10**4, 64), (64, 10**4)))
"""
ARRAYS = """
nd = mx.nd
a, b, few = (nd.sparse.csr_matrix(p, shape=s) for p, s in (parts(0), parts(1), parts(2, 10**3)))
wide, tall, flat = map(nd.array, (wide, tall, flat))
nd.waitall()
"""
PRODUCTS = {
    "mxcy": "import mxcy as mx" + DRAWN + ARRAYS,
    "scipy": DRAWN
    + """
from scipy import sparse
a, b, few = (sparse.csr_matrix(p, shape=s) for p, s in (parts(0), parts(1), parts(2, 10**3)))
""",
    "mxnet": "import mxnet as mx" + DRAWN + ARRAYS,
}
#: ours and MXNet's, and scipy's
CASES = {
    "csr . dense": ("nd.dot(a, wide)", "a @ wide"),
    "csr transposed . dense": (
        "nd.dot(a, tall, transpose_a=True, forward_stype='default')",
        "a.T @ tall",
    ),
    "csr transposed . dense to row_sparse": ("nd.dot(a, tall, transpose_a=True)", "a.T @ tall"),
    "dense . csr": ("nd.dot(flat, a, forward_stype='default')", "flat @ a"),
    "dense . csr to csr": ("nd.dot(flat, a)", "flat @ a"),
    "csr + csr": ("a + b", "a + b"),
    "csr * csr": ("a * b", "a.multiply(b)"),
    "csr to dense": ("few.tostype('default')", "few.toarray()"),
    "dense to csr": ("wide.tostype('csr')", "sparse.csr_matrix(wide)"),
    "sum of columns": ("nd.sum(a, axis=0)", "a.sum(0)"),
}

UPDATES = """
nd = mx.nd
import itertools
import numpy as np
r = np.random.RandomState(0)
rows, n = 10**6, 10**4
weight, mean, var = (nd.ones((rows, 64)) for _ in range(3))
values = r.rand(n, 64).astype('f')
grads = itertools.cycle([
    nd.sparse.row_sparse_array((values, np.sort(r.choice(rows, n, replace=False))), (rows, 64))
    for _ in range(16)
])
embedding = nd.ones((200000, 64))
words = nd.array(r.randint(0, 200000, 4096), dtype='int64')
def backward(sparse):
    embedding.attach_grad(stype='row_sparse' if sparse else None)
    def run():
        with mx.autograd.record():
            out = nd.Embedding(words, embedding, 200000, 64, sparse_grad=sparse)
        out.backward()
        embedding.grad.wait_to_read()
    return run
nd.waitall()
"""
#: a lower bound in NumPy: gather rows, compute, scatter them
BY_HAND = """
import itertools
import numpy as np
r = np.random.RandomState(0)
rows, n = 10**6, 10**4
weight, mean, var = (np.ones((rows, 64), 'f') for _ in range(3))
values = r.rand(n, 64).astype('f')
turns = itertools.cycle([np.sort(r.choice(rows, n, replace=False)) for _ in range(16)])
def sgd(lr=np.float32(0.1), wd=np.float32(0.01)):
    ids = next(turns)
    w = weight[ids]
    weight[ids] = w - lr * (values + wd * w)
def adam(lr=np.float32(0.1), wd=np.float32(0.01), b1=np.float32(0.9), b2=np.float32(0.999)):
    ids = next(turns)
    w = weight[ids]
    g = values + wd * w
    m, v = b1 * mean[ids] + (1 - b1) * g, b2 * var[ids] + (1 - b2) * g * g
    mean[ids], var[ids] = m, v
    weight[ids] = w - lr * m / (np.sqrt(v) + np.float32(1e-8))
def adagrad(lr=np.float32(0.1)):
    ids = next(turns)
    h = var[ids] + values * values
    var[ids] = h
    weight[ids] -= lr * values / np.sqrt(h + np.float32(1e-7))
"""
LAZY = {
    "lazy SGD, 10 k rows of 1 M x 64": (
        "nd.sgd_update(weight, next(grads), lr=0.1, wd=0.01, out=weight)", "sgd()",
    ),
    "lazy Adam": (
        "nd.adam_update(weight, next(grads), mean, var, lr=0.1, wd=0.01, out=weight)", "adam()",
    ),
    "lazy AdaGrad": (
        "nd.sparse.adagrad_update(weight, next(grads), var, lr=0.1, out=weight)", "adagrad()",
    ),
}  # fmt: skip


@pytest.fixture(params=[1, 2], ids=["1 thread", "2 threads"])
def threads(request):
    """The team size, restored afterwards."""
    import mxcy as mx

    before = mx.util.set_num_threads(request.param)
    yield request.param
    mx.util.set_num_threads(before)


@pytest.mark.parametrize("case", CASES)
def test_arrays(compare, case, threads):
    ours, scipys = CASES[case]
    statements = {"mxcy": ours, "scipy": scipys, "mxnet": f"({ours}).wait_to_read()"}
    compare(f"{case}, {threads} threads", PRODUCTS, statements, 0.05, threads)


@pytest.mark.parametrize("case", LAZY)
def test_updates_by_rows(compare, case, threads):
    ours, by_hand = LAZY[case]
    setups = {
        "mxcy": "import mxcy as mx" + UPDATES, "numpy": BY_HAND,
        "mxnet": "import mxnet as mx" + UPDATES,
    }  # fmt: skip
    statements = {"mxcy": ours, "numpy": by_hand, "mxnet": f"{ours}.wait_to_read()"}
    compare(f"{case}, {threads} threads", setups, statements, 0.05, threads)


def test_embedding_backward(compare, threads):
    """4096 ids of a 200,000 x 64 matrix, compared with the dense gradient."""
    ours = "import mxcy as mx" + UPDATES
    setups = {
        "mxcy": ours + "run = backward(True)", "dense": ours + "run = backward(False)",
        "mxnet": "import mxnet as mx" + UPDATES + "run = backward(True)",
    }  # fmt: skip
    label = f"embedding backward, {threads} threads"
    compare(label, setups, dict.fromkeys(setups, "run()"), 0.05, threads)


@pytest.mark.parametrize("case", ["all rows", "10 k rows"])
def test_push_and_row_sparse_pull(compare, case, threads):
    """Rows of a 100,000 x 64 value, compared with a dense array of the pushed size."""
    stored = "np.arange(rows)" if case == "all rows" else "np.arange(0, rows, 10)"
    setup = f"""
import numpy as np
nd, rows = mx.nd, 10**5
ids = {stored}
store = mx.kv.create('local')
store.init('w', nd.ones((rows, 64)).tostype('row_sparse'))
value = nd.sparse.row_sparse_array((np.ones((len(ids), 64), 'f'), ids), shape=(rows, 64))
out, wanted = nd.zeros((rows, 64), stype='row_sparse'), nd.array(ids, dtype='int64')
store.init('d', nd.ones((len(ids), 64)))
dense, to = nd.ones((len(ids), 64)), nd.zeros((len(ids), 64))
def sparse_way():
    store.push('w', [value, value])
    store.row_sparse_pull('w', out=out, row_ids=wanted)
    out.wait_to_read()
def dense_way():
    store.push('d', [dense, dense])
    store.pull('d', out=to)
    to.wait_to_read()
nd.waitall()
"""
    setups = {"mxcy": "import mxcy as mx" + setup, "dense": "import mxcy as mx" + setup}
    setups["mxnet"] = "import mxnet as mx" + setup
    statements = {"mxcy": "sparse_way()", "dense": "dense_way()", "mxnet": "sparse_way()"}
    label = f"push and row_sparse_pull, {case}, {threads} threads"
    compare(label, setups, statements, 0.05, threads)
