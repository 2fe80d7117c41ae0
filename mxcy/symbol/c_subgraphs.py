"""Partitioning of symbols through MXNet's C interface, see `mxcy.graph.selection`.

The functions take ctypes' values and pointers, and return 0.
"""

from mxcy._library.c_functions import pointee
from mxcy.graph import selection
from mxcy.symbol import pointers

__all__ = [
    "MXBuildSubgraphByOpNames",
    "MXRemoveSubgraphPropertyOpNames",
    "MXRemoveSubgraphPropertyOpNamesV2",
    "MXSetSubgraphPropertyOpNames",
    "MXSetSubgraphPropertyOpNamesV2",
]


def MXBuildSubgraphByOpNames(  # noqa: N802
    sym_handle, prop_name, num_ops, op_names, ret_sym_handle
):
    """Enclose operators of a symbol in subgraphs.

    Parameters
    ----------
    sym_handle : ctypes.c_void_p
        The symbol's ``handle``.
    prop_name : ctypes.c_char_p
        Name of the backend.
    num_ops : ctypes.c_uint
    op_names : array of ctypes.c_char_p
        Names of the operators.
    ret_sym_handle : object
        ``ctypes.byref`` of a ``SymbolHandle``, from which the caller makes the new symbol.

    Returns
    -------
    int
        0, for success.
    """
    symbol = pointers.symbol_at(sym_handle)
    names = _names(num_ops, op_names)
    entries = selection.partition(symbol._entries, _text(prop_name), names)
    pointee(ret_sym_handle).value = pointers.pointer_to_new(type(symbol)(entries)).value
    return 0


def MXSetSubgraphPropertyOpNamesV2(prop_name, num_ops, op_names):  # noqa: N802
    """Select operators for a backend until `MXRemoveSubgraphPropertyOpNamesV2`.

    Parameters
    ----------
    prop_name : ctypes.c_char_p
        Name of the backend.
    num_ops : ctypes.c_uint
    op_names : array of ctypes.c_char_p
        Names of the operators.

    Returns
    -------
    int
        0, for success.
    """
    selection.select(_text(prop_name), _names(num_ops, op_names))
    return 0


def MXRemoveSubgraphPropertyOpNamesV2(prop_name):  # noqa: N802
    """Remove the selection of operators for a backend.

    Parameters
    ----------
    prop_name : ctypes.c_char_p
        Name of the backend.

    Returns
    -------
    int
        0, for success.
    """
    selection.deselect(_text(prop_name))
    return 0


# MXNet keeps the selection for executors apart; here both names mean the same selection.
MXSetSubgraphPropertyOpNames = MXSetSubgraphPropertyOpNamesV2
MXRemoveSubgraphPropertyOpNames = MXRemoveSubgraphPropertyOpNamesV2


def _text(value):
    return getattr(value, "value", value).decode("utf-8")


def _names(count, array):
    return [array[i].decode("utf-8") for i in range(getattr(count, "value", count))]
