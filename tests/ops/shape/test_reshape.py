"""Limits of requested shapes."""

import pytest

import mxcy as mx


def test_a_shape_of_many_thousand_extents_is_refused_at_once():
    """Their product has hundreds of thousands of digits."""
    shape = mx.nd.full((300_000,), 6)
    with pytest.raises(mx.MXNetError, match="300000 dimensions, expected 1024 at most"):
        mx.nd.contrib.dynamic_reshape(mx.nd.ones((4, 3)), shape)
    assert mx.nd.contrib.dynamic_reshape(mx.nd.ones((4, 3)), mx.nd.array([2, -1])).shape == (2, 6)
