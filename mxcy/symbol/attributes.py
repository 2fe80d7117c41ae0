"""Attributes of symbols: what operators' values look like as text, and the keys kept hidden.

Some of the user's keys steer training and execution (`lr_mult`, `ctx_group`). Symbols store them as
``__lr_mult__``, so that they do not get in the way of operators' parameters, and show both forms.
"""

import numpy as np

from mxcy._base import dtypes
from mxcy.base import MXNetError
from mxcy.graph.legacy import HIDDEN
from mxcy.ops.core.attrs import DType

__all__ = ["shown", "stored_key", "text_of"]


def stored_key(key, value):
    """The key under which a user's attribute is stored.

    Raises
    ------
    MXNetError
        For the keys of an old form that named an input (``weight_lr_mult``).
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
    """A node's attributes together with the plain form of hidden keys, without subgraphs."""
    inside = () if node.op is None else node.op.in_symbols.subgraphs
    visible = {key: text for key, text in node.attrs.items() if key not in inside}
    for hidden in HIDDEN:
        if f"__{hidden}__" in node.attrs:
            visible[hidden] = node.attrs[f"__{hidden}__"]
    return visible


def _plain(value):
    """NumPy's scalars, also inside sequences, as Python's."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, (tuple, list)):
        return type(value)(_plain(v) for v in value)
    return value


def text_of(field, value):
    """The text of an operator's attribute.

    Parameters
    ----------
    field : Field
    value : object
        In any form that the operator accepts.
    """
    if isinstance(field.type, DType) and value is not None and not isinstance(value, str):
        return dtypes.name_of(dtypes.code_of(value))
    return str(_plain(value))
