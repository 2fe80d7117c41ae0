"""The error type and small facts that every layer shares."""

import numpy as np

__all__ = ["MXNetError", "numeric_types", "integer_types", "string_types"]


class MXNetError(RuntimeError):
    """An operator, a file or the runtime refused its input."""


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
