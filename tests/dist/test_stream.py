"""Copies to memory that other cores read next."""

import numpy as np
import pytest

from mxcy._library.stream import stream


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
