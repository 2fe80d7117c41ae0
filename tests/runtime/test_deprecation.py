"""Deprecated names and arguments work, warn at the caller's line and are marked in help."""

import inspect
import warnings

import pytest

from mxcy._base.deprecation import deprecated, renamed_argument


@deprecated("0.3.0", "mx.nd.exp")
def former(x, *, y=1):
    """Add.

    Parameters
    ----------
    x, y : int
    """
    return x + y


@deprecated("0.3.0", "mx.Later")
class Former:
    """A thing."""

    def __init__(self, value):
        self.value = value


@renamed_argument("0.3.0", "a", "axis")
def total(x, axis=0):
    """Sum."""
    return x, axis


def warned(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = call()
    return result, [(one.category, str(one.message), one.filename) for one in caught]


def test_functions_work_and_warn_where_they_are_called():
    result, told = warned(lambda: former(2, y=3))
    text = "former is deprecated since mxcy 0.3.0: use mx.nd.exp"
    assert result == 5 and told == [(DeprecationWarning, text, __file__)]
    assert list(inspect.signature(former).parameters) == ["x", "y"]


def test_docstring_mentions_deprecation_after_the_summary():
    lines = former.__doc__.splitlines()
    assert lines[:4] == ["Add.", "", ".. deprecated:: 0.3.0", "   Use mx.nd.exp."]
    assert "Parameters" in lines
    assert Former.__doc__.endswith(".. deprecated:: 0.3.0\n   Use mx.Later.")


def test_classes_stay_classes():
    class Mine(Former):
        pass

    made, told = warned(lambda: Former(3))
    assert isinstance(made, Former) and made.value == 3
    assert [entry[1:] for entry in told] == [
        ("Former is deprecated since mxcy 0.3.0: use mx.Later", __file__)
    ]
    mine, told = warned(lambda: Mine(4))
    assert mine.value == 4 and not told


def test_arguments_are_taken_by_their_former_names():
    result, told = warned(lambda: total(1, a=2))
    text = "total: argument 'a' is deprecated since mxcy 0.3.0: use 'axis'"
    assert result == (1, 2) and told == [(DeprecationWarning, text, __file__)]
    assert warned(lambda: total(1, axis=2)) == ((1, 2), [])
    with pytest.raises(TypeError, match="'a' is the former name of 'axis', which was also passed"):
        total(1, a=2, axis=3)


def test_invalid_deprecations_are_refused():
    with pytest.raises(ValueError, match="expected a minor release such as '0.3.0', got '0.3.1'"):
        deprecated("0.3.1", "b")
    with pytest.raises(TypeError, match="total: expected an argument 'b' and no 'c'"):
        renamed_argument("0.3.0", "c", "b")(total)
