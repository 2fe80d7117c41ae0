"""Copies and sums for memory that other cores read next."""

import numpy as np
import pytest

from mxcy._library.stream import stream
from mxcy._library.sums import sum_arrays


@pytest.mark.parametrize("start", [0, 1, 16, 63])
def test_copies_of_all_sizes_and_alignments(start):
    source = np.random.default_rng(0).integers(0, 256, 5000).astype("u1")
    for size in (0, 1, 63, 64, 65, 1023, 1024, 1100, 4096):
        out = np.full(5000, 7, "u1")
        stream(out[start : start + size], source[3 : 3 + size])
        assert (out[start : start + size] == source[3 : 3 + size]).all()
        assert (out[:start] == 7).all() and (out[start + size :] == 7).all()


def test_other_arrays():
    source = np.arange(2000)
    out = np.zeros(1000, "f8")
    stream(out, source[::2])
    assert (out == source[::2]).all()
    with pytest.raises(ValueError, match=r"expected the shape \(1000,\), got \(2000,\)"):
        stream(out, source)


@pytest.mark.parametrize("dtype", ["float32", "float64", "uint8", "int8", "int32", "int64"])
@pytest.mark.parametrize("count", [2, 3, 5])
def test_arrays_add_up_in_order(dtype, count):
    """For this core, for others, or both; in place of any term; of any length."""
    draw = np.random.RandomState(3)
    for length in (0, 1, 1023, 5000):
        terms = [(draw.randn(length) * 99).astype(dtype) for _ in range(count)]
        expected = terms[0].copy()
        for term in terms[1:]:
            expected += term
        out, shared = np.empty(length, dtype), np.empty(length, dtype)
        sum_arrays(terms, out, shared)
        assert (out == expected).all() and (shared == expected).all()
        shared[:] = 0
        sum_arrays(terms, None, shared)
        assert (shared == expected).all()
        sum_arrays(terms, terms[-1])
        assert (terms[-1] == expected).all()


def test_arrays_that_do_not_add_up():
    with pytest.raises(ValueError, match="expected arrays of 3 elements"):
        sum_arrays([np.ones(3), np.ones(4)], np.empty(3))
    with pytest.raises(TypeError, match="arrays of float16"):
        sum_arrays([np.ones(3, "float16")] * 2, np.empty(3, "float16"))
