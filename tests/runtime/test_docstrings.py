"""Docstrings with shared or generated passages."""

import inspect

import pytest

import mxcy as mx
from mxcy._base.docstrings import fill_docstring

SHARED = "shape : int or tuple of ints, optional\n    The shape of the samples"


@pytest.mark.parametrize("indent", ["", "    "])  # as stored by Python 3.13 and by older ones
def test_lines_become_passages(indent):
    def function():
        pass

    lines = ["Do it.", "", "Parameters", "----------", "{more}"]
    function.__doc__ = f"\n{indent}".join(lines)
    fill_docstring(function, {"{more}": "\n        x : int\n            A number."})
    assert function.__doc__.endswith("----------\nx : int\n    A number.")


def test_missing_line():
    def function():
        """Do it."""

    with pytest.raises(ValueError, match="function has no line '{more}'"):
        fill_docstring(function, {"{more}": ""})


def test_no_docstring():
    def function():
        pass

    fill_docstring(function, {"{more}": "x"})
    assert function.__doc__ is None


@pytest.mark.parametrize("module", [mx.nd.random, mx.sym.random])
@pytest.mark.parametrize("name", ["exponential", "gamma", "normal", "poisson", "uniform"])
def test_distributions(module, name):
    text = getattr(module, name).__doc__
    assert f"\n{SHARED}" in text and "{shared}" not in text


def test_iterators():
    for name in ("LibSVMIter", "ImageRecordIter", "ImageDetRecordIter", "ImageRecordUInt8Iter"):
        text = inspect.getdoc(getattr(mx.io, name))
        assert "\nbatch_size : int (non-negative)\n    Samples per batch.\n" in text
