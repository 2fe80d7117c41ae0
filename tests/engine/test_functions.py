"""Python functions as operations on arrays."""

import time

import numpy as np
import pytest

import mxcy as mx
from mxcy.base import MXNetError


def test_functions_compute_on_their_arrays(engine):
    source, target = mx.nd.ones((4, 4)), mx.nd.zeros((4, 4))

    def work():
        time.sleep(0.05)
        target[:] = source * 3
        assert target.asnumpy()[0, 0] == 3  # they need not wait for themselves

    mx.engine.push(work, reads=[source], writes=[target])
    later = target + 1
    source[:] = 100  # waits for the function
    assert np.array_equal(later.asnumpy(), np.full((4, 4), 4))


def test_their_errors_are_those_of_the_arrays(threaded):
    target = mx.nd.zeros((4, 4))

    def fail():
        raise ValueError("planned")

    mx.engine.push(fail, writes=[target])
    later = target + 1
    for array in (later, target):
        with pytest.raises(MXNetError, match="operator fail: ValueError: planned"):
            array.asnumpy()
    target[:] = 2
    assert (target + 1).asnumpy()[0, 0] == 3
    mx.nd.waitall()
