"""Views of several arrays at once, which stores of several processes take of gradients."""

import numpy as np
import pytest

import mxcy as mx
from mxcy._library import front

FLOAT32, FLOAT64 = 0, 1


def detach(values, shapes, codes=None, addresses=None):
    codes = codes or [FLOAT32] * len(shapes)
    return front.detach_parts(values, list(range(len(shapes))), shapes, codes, addresses)


def test_views_share_memory_and_are_not_recorded():
    first, second = mx.nd.zeros((2, 3)), mx.nd.ones(4)
    first.attach_grad()
    addresses = np.zeros(2, np.int64)
    views = detach([first, [second]], [(2, 3), (4,)], addresses=addresses)
    views[0][:] = 7
    views[1][:] = 8
    assert first.asnumpy().tolist() == [[7, 7, 7], [7, 7, 7]]
    assert second.asnumpy().tolist() == [8, 8, 8, 8]
    assert views[0].grad is None
    assert addresses.tolist() == [view.address for view in views]


def test_positions_select_and_addresses_are_optional():
    arrays = [mx.nd.full(2, i) for i in range(3)]
    views = front.detach_parts(arrays, [2, 0], [(2,), (2,)], [FLOAT32, FLOAT32], None)
    assert [view.asnumpy().tolist() for view in views] == [[2, 2], [0, 0]]


@pytest.mark.parametrize(
    ("values", "shape", "code"),
    [
        ([mx.nd.ones(2)], (3,), FLOAT32),
        ([mx.nd.ones(2)], (2,), FLOAT64),
        ([[mx.nd.ones(2), mx.nd.ones(2)]], (2,), FLOAT32),
        ([np.ones(2, np.float32)], (2,), FLOAT32),
        ([mx.nd.ones((2, 2)).tostype("row_sparse")], (2, 2), FLOAT32),
        ([mx.nd.ones(2, ctx=mx.cpu_pinned())], (2,), FLOAT32),
    ],
    ids=["shape", "type", "several", "foreign", "sparse", "pinned"],
)
def test_none_where_one_does_not_fit(values, shape, code):
    assert detach(values, [shape], [code]) is None
