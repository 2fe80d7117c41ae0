"""`mx._ffi`: Python values as the containers of `mx.container`, as tests of MXNet 2 have them."""

import numbers

from mxcy._library import front
from mxcy.container import ADT, Map, String

__all__ = ["convert_to_node"]


def convert_to_node(value):
    """A value as a container, with everything in it.

    Parameters
    ----------
    value : str, number, NDArray, list, tuple, dict, or a container
        The keys of dictionaries are texts.

    Returns
    -------
    String, ADT, Map, number or NDArray

    Raises
    ------
    ValueError
        For other types.
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
            raise ValueError(
                f"convert_to_node: keys of dictionaries must be strings, got {wrong[0]!r}"
            )
        return Map({String(key): convert_to_node(item) for key, item in value.items()})
    raise ValueError(f"convert_to_node: no container holds values of type {type(value)}")
