"""`mx._ffi`: conversion of Python values to the containers of `mx.container`, as in MXNet 2."""

import numbers

from mxcy._library import front
from mxcy.container import ADT, Map, String

__all__ = ["convert_to_node"]


def convert_to_node(value):
    """Convert a value to a container, recursively.

    Parameters
    ----------
    value : str, number, NDArray, list, tuple, dict, or a container
        Keys of dictionaries must be str.

    Returns
    -------
    String, ADT, Map, number or NDArray

    Raises
    ------
    ValueError
        If a value has another type.
    """
    if isinstance(value, (front.NDArrayBase, ADT, Map, String, numbers.Real)):
        return value
    if isinstance(value, str):
        return String(value)
    if isinstance(value, (list, tuple)):
        return ADT(0, [convert_to_node(item) for item in value])
    if isinstance(value, dict):
        wrong = [key for key in value if not isinstance(key, str)]
        if wrong:
            raise ValueError(f"convert_to_node: dictionary keys must be strings, got {wrong[0]!r}")
        return Map({String(key): convert_to_node(item) for key, item in value.items()})
    raise ValueError(f"convert_to_node: unsupported type {type(value)}")
