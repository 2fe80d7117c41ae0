"""The error type and small facts that every layer shares."""

import numpy as np

__all__ = ["MXNetError", "kernel_error", "numeric_types", "integer_types", "string_types"]


class MXNetError(RuntimeError):
    """An operator, a file or the runtime refused its input."""


def kernel_error(where, text):
    """The exception for a kernel's error text, which may begin with the type IndexError.

    Parameters
    ----------
    where, text : str
        What goes before the text, and the text of ``mx_last_error``.
    """
    if text.startswith("IndexError: "):
        return IndexError(where + text.removeprefix("IndexError: "))
    return MXNetError(where + text)


numeric_types = (float, int, np.generic)
integer_types = (int, np.integer)
string_types = (str,)


class _NullType:
    """The type of `_Null`, the "not given" marker of operator parameters."""

    def __repr__(self):
        return "_Null"

    def __bool__(self):
        return False


_Null = _NullType()
