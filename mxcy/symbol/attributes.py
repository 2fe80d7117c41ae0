"""Attributes of symbols: the attribute methods of Symbol, and hidden keys.

Some user attributes control training and execution (`lr_mult`, `ctx_group`). Symbols store them as
``__lr_mult__``, to avoid clashes with operators' parameters, and show both forms.
"""

import numpy as np

from mxcy._base import dtypes
from mxcy.base import MXNetError
from mxcy.graph.legacy import HIDDEN
from mxcy.graph.node import topological
from mxcy.ops.core.attrs import DType
from mxcy.symbol import compose

__all__ = ["attr", "attr_dict", "list_attr", "only_node", "shown", "stored_key", "text_of"]


def stored_key(key, value):
    """Return the key under which a user's attribute is stored.

    Raises
    ------
    MXNetError
        For keys of an old form that contain an input's name (``weight_lr_mult``).
    """
    for hidden in HIDDEN:
        if key == hidden:
            return f"__{key}__"
        if key.endswith(f"_{hidden}"):
            argument = key.removesuffix(f"_{hidden}")
            raise MXNetError(
                f"setting variable attributes with {key} is deprecated. please instead use\n"
                f"w = Variable({hidden}={value})\nsym = YourSymbolName({argument}=w)"
            )
    return key


def shown(node):
    """A node's attributes, with the plain form of hidden keys and without subgraphs."""
    inside = () if node.op is None else node.op.in_symbols.subgraphs
    visible = {key: text for key, text in node.attrs.items() if key not in inside}
    for hidden in HIDDEN:
        if f"__{hidden}__" in node.attrs:
            visible[hidden] = node.attrs[f"__{hidden}__"]
    return visible


def _plain(value):
    """Convert NumPy scalars to Python's, also in sequences."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, (tuple, list)):
        return type(value)(_plain(v) for v in value)
    return value


def text_of(field, value):
    """Convert an operator's attribute to str.

    Parameters
    ----------
    field : Field
    value : object
        The value in any form that the operator accepts.
    """
    if isinstance(field.type, DType) and value is not None and not isinstance(value, str):
        return dtypes.name_of(dtypes.code_of(value))
    return str(_plain(value))


def only_node(entries):
    """Return the node of all entries, or None if there are several.

    Returns
    -------
    SymbolNode or None
    """
    node = entries[0][0]
    return node if all(other is node for other, _ in entries) else None


def attr(self, key):
    """Return an attribute of the operation or variable.

    Parameters
    ----------
    key : str
        ``name`` is the node's own name.

    Returns
    -------
    str or None
        None if it is not set, or for groups.
    """
    node = only_node(self._entries)
    if node is None:
        return None
    return node.name if key == "name" else shown(node).get(key)


def list_attr(self, recursive=False):
    """Return the attributes of the operation or variable.

    Parameters
    ----------
    recursive : bool
        No longer supported; use `attr_dict`.

    Returns
    -------
    dict of str to str

    Raises
    ------
    DeprecationWarning
        If `recursive` is True.
    """
    if recursive:
        raise DeprecationWarning(
            "Symbol.list_attr with recursive=True has been deprecated. "
            "Please use attr_dict instead."
        )
    node = only_node(self._entries)
    return {} if node is None else shown(node)


def attr_dict(self):
    """Return the attributes of all nodes that have any.

    Returns
    -------
    dict of str to dict
        Node name -> attributes.
    """
    by_node = {}
    for node in topological(self._entries):
        if values := shown(node):
            by_node.setdefault(node.name, {}).update(values)
    return by_node


def _set_attr(self, **kwargs):
    """Set attributes of the operation or variable.

    Parameters
    ----------
    **kwargs : str

    Raises
    ------
    ValueError
        If a value is not a str.
    MXNetError
        If the operator rejects an attribute, or for groups.
    """
    for key, value in kwargs.items():
        if not isinstance(value, str):
            raise ValueError("Set Attr only accepts string values")
        node = only_node(self._entries)
        if node is None:
            raise MXNetError("Symbol.SetAttrs only works for non-grouped symbol")
        key = stored_key(key, value)
        if node.op is not None:
            compose.check_key(node.op, key)
        node.attrs[key] = value
        node.changed()
        if node.op is not None:
            _ = node.parsed  # raises if the operator rejects it
