"""Moving, indexing and ordering elements with one thread (float32)."""

import pytest

DATA = """
import numpy as np
r = np.random.RandomState(0)
square, images = r.rand(2048, 2048).astype('f'), r.rand(32, 64, 56, 56).astype('f')
parts = [r.rand(32, 64, 28, 28).astype('f') for _ in range(3)]
table, rows = r.rand(50000, 512).astype('f'), r.randint(0, 50000, 4096)
logits, labels = r.rand(4096, 1000).astype('f'), r.randint(0, 1000, 4096)
row, matrix = r.rand(1000000).astype('f'), r.rand(1000, 1000).astype('f')
choice = (matrix > 0.5).astype('f')
"""
NAMES = "square, images, table, rows, logits, labels, row, matrix, choice"
SETUP = {
    "mxcy": DATA
    + f"""
import mxcy as mx
nd = mx.nd
{NAMES} = (nd.array(x, dtype=x.dtype) for x in ({NAMES}))
parts = [nd.array(x) for x in parts]
""",
    "numpy": DATA
    + """
def top(x, k):
    i = np.argpartition(-x, k - 1, -1)[..., :k]
    v = np.take_along_axis(x, i, -1)
    o = np.argsort(-v, -1)
    return np.take_along_axis(v, o, -1), np.take_along_axis(i, o, -1)
""",
    "torch": DATA
    + f"""
import torch
torch.set_num_threads(1)
{NAMES} = (torch.from_numpy(x) for x in ({NAMES}))
parts = [torch.from_numpy(x) for x in parts]
""",
}
CASES = {
    "transpose": (
        "nd.transpose(square)",
        "np.ascontiguousarray(square.T)",
        "square.t().contiguous()",
    ),
    "NCHW to NHWC": (
        "nd.transpose(images, axes=(0, 2, 3, 1))",
        "np.ascontiguousarray(images.transpose(0, 2, 3, 1))",
        "images.permute(0, 2, 3, 1).contiguous()",
    ),
    "concat": ("nd.concat(*parts, dim=1)", "np.concatenate(parts, 1)", "torch.cat(parts, 1)"),
    "slice": (
        "nd.slice_axis(square, axis=1, begin=100, end=1900)",
        "square[:, 100:1900].copy()",
        "square[:, 100:1900].contiguous()",
    ),
    "take rows": ("nd.take(table, rows)", "table.take(rows, 0)", "table.index_select(0, rows)"),
    "pick": (
        "nd.pick(logits, labels)",
        "np.take_along_axis(logits, labels[:, None], 1)",
        "logits.gather(1, labels[:, None])",
    ),
    "one_hot": (
        "nd.one_hot(labels, depth=1000)",
        "(labels[:, None] == np.arange(1000)).astype('f')",
        "torch.nn.functional.one_hot(labels, 1000).float()",
    ),
    "where": (
        "nd.where(choice, matrix, choice)",
        "np.where(choice, matrix, choice)",
        "torch.where(choice != 0, matrix, choice)",
    ),
    "topk, 10 of a million": (
        "nd.topk(row, k=10, ret_typ='both', dtype='int64')",
        "top(row, 10)",
        "row.topk(10)",
    ),
    "topk, 100 of 1000": (
        "nd.topk(matrix, k=100, ret_typ='both', dtype='int64')",
        "top(matrix, 100)",
        "matrix.topk(100)",
    ),
    "argsort": ("nd.argsort(row, dtype='int64')", "np.argsort(row)", "row.argsort()"),
    "sort": ("nd.sort(row)", "np.sort(row)", "row.sort()[0]"),
    "sort, 1000 rows": ("nd.sort(matrix)", "np.sort(matrix)", "matrix.sort()[0]"),
    "repeat": (
        "nd.repeat(matrix, repeats=3, axis=1)",
        "np.repeat(matrix, 3, 1)",
        "matrix.repeat_interleave(3, 1)",
    ),
    "cumsum": ("nd.cumsum(matrix, axis=1)", "matrix.cumsum(1)", "matrix.cumsum(1)"),
}


@pytest.fixture(autouse=True)
def one_thread():
    """Run everything on one thread; restore the library's team afterwards."""
    import mxcy as mx

    before = mx.util.set_num_threads(1)
    yield
    mx.util.set_num_threads(before)


@pytest.mark.parametrize("case", CASES)
def test_indexing(compare, case):
    statements = dict(zip(("mxcy", "numpy", "torch"), CASES[case], strict=True))
    compare(case, SETUP, statements, seconds=0.01)
