"""Updates of shares by the rows that several workers have pushed."""

import numpy as np
import pytest

import mxcy as mx
from mxcy.dist.servers.row_shares import PushedRows, RowShare
from mxcy.kvstore.server_rules import ServerRules

_ROWS, _SHARES = 300, 3


def _share(value):
    """The second of three shares."""
    terms = {
        "shape": list(value.shape),
        "dtype": value.dtype.str,
        "weight": value.dtype.name,
        "waits": True,
        "by_rows": [1, _SHARES],
    }
    return RowShare("w", terms, value.reshape(-1).view(np.uint8))


def _pushes(draw, row, dtype):
    """What three workers push: a part of the share, nothing, and rows of the whole value."""
    for count, whole in ((30, False), (0, False), (150, True)):
        rows = _ROWS if whole else _ROWS // _SHARES
        ids = np.sort(draw.choice(rows, count, replace=False)).astype(np.int64)
        yield PushedRows(ids, draw.uniform(-1, 1, (count, *row)).astype(dtype), whole)


def _dense(pushes, shape, dtype):
    total = np.zeros(shape, dtype)
    for ids, rows, whole in pushes:
        own = ids % _SHARES == 1 if whole else slice(None)
        total[ids[own] // _SHARES if whole else ids[own]] += rows[own]
    return total


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("row", [(64,), (3, 5), (20000,)])
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("sgd", {"wd": 0.1, "clip_gradient": 0.5}),
        ("sgd", {"momentum": 0.9, "lr_scheduler": mx.lr_scheduler.FactorScheduler(1, 0.5)}),
        ("sgd", {"momentum": 0.9, "lazy_update": False, "wd": 0.1}),
        ("adam", {}),
        ("ftrl", {}),
        ("adagrad", {}),
        ("groupadagrad", {}),
        ("rmsprop", {}),
    ],
)
def test_updates_by_pushed_rows_equal_updates_by_their_sum(name, options, row, dtype):
    if name == "groupadagrad" and (dtype == "float64" or len(row) > 1):
        pytest.skip("GroupAdaGrad takes matrices of float32")
    draw = np.random.RandomState(0)
    start = draw.uniform(-1, 1, (_ROWS // _SHARES, *row)).astype(dtype)
    share, rules = _share(start), ServerRules(0)
    rules.set_updater(0, mx.optimizer.get_updater(mx.optimizer.create(name, **options)))
    weight = mx.nd.array(start, dtype=dtype)
    updater = mx.optimizer.get_updater(mx.optimizer.create(name, **options))
    for _ in range(3):
        pushes = list(_pushes(draw, row, dtype))
        gradient = mx.nd.array(_dense(pushes, start.shape, dtype), dtype=dtype)
        updater("w", gradient.tostype("row_sparse"), weight)
        assert rules.apply(0, share, share.total(pushes))
    assert (share.value == weight.asnumpy()).all() and (share.value != start).any()


def test_functions_get_the_sum_of_pushed_rows():
    """Like any other row_sparse array."""
    start, seen = np.ones((_ROWS // _SHARES, 4), "float32"), []
    share, rules = _share(start), ServerRules(0)

    def update(key, gradient, weight):
        seen.extend([gradient, gradient.copyto(mx.cpu()), gradient.astype("float64")])
        weight += gradient.tostype("default")

    rules.set_updater(0, update)
    pushes = list(_pushes(np.random.RandomState(1), (4,), "float32"))
    assert rules.apply(0, share, share.total(pushes))
    total = _dense(pushes, start.shape, "float32")
    assert (share.value == start + total).all()
    for array in seen:
        assert array.stype == "row_sparse" and array.shape == total.shape
        assert (array.asnumpy() == total).all()
    numbers = np.flatnonzero(total.any(1))
    assert seen[0].dtype == np.float32 and seen[2].dtype == np.float64
    assert (seen[0].indices.asnumpy() == numbers).all()
    assert (seen[0].data.asnumpy() == total[numbers]).all()
