"""Training matches MXNet 1.9.1: a hundred losses of each network."""

from pathlib import Path

import numpy as np
import pytest

import mxcy as mx

from .programs import CASES, losses


@pytest.fixture(scope="module")
def of_mxnet():
    with np.load(Path(__file__).with_name("mxnet.npz")) as kept:
        return {tuple(name.split("/")): kept[name] for name in kept.files}


def furthest(actual, expected):
    """The largest relative difference."""
    return (np.abs(actual - expected) / expected).max()


@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_follows_mxnet(of_mxnet, name, dtype):
    expected = of_mxnet[name, dtype]
    actual = losses(mx, name, dtype)
    exact = of_mxnet.get((name, "float64"))
    if dtype == "float64":
        assert furthest(actual, expected) < 1e-9
    elif exact is None:
        assert furthest(actual, expected) < 1e-4
    else:  # rounding errors are no larger than MXNet's
        assert furthest(actual, exact) < max(furthest(expected, exact), 1e-6)
    assert expected[-10:].mean() < expected[:10].mean()  # it does learn
