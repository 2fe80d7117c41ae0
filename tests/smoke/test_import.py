"""The package imports and computes."""

import numpy as np

import mxcy as mx


def test_exp_of_an_array():
    got = mx.nd.exp(mx.nd.array([[0.0, 1.0]])).asnumpy()
    np.testing.assert_allclose(got, np.exp([[0.0, 1.0]]), rtol=1e-6)
