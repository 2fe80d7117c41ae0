"""`mx.sym.Custom`: user-defined Python operators in symbols."""

from mxcy.base import MXNetError
from mxcy.custom import records
from mxcy.custom.described import NAME
from mxcy.symbol import register
from mxcy.symbol.symbol import Symbol

__all__ = ["Custom"]


def Custom(*data, op_type=None, name=None, attr=None, **kwargs):
    """Apply an operator registered with `mx.operator.register`.

    Parameters
    ----------
    *data : Symbol
        The inputs and then the auxiliary states; alternatively passed by name. Missing ones become
        variables.
    op_type : str
        The operator's registered name.
    name : str, optional
        Name of the result.
    attr : dict of str to str, optional
        Additional attributes, with keys enclosed in double underscores.
    **kwargs
        Inputs by name, and arguments of the property class, passed to it as str.

    Returns
    -------
    Symbol

    Raises
    ------
    MXNetError
        If there is no such operator, or arguments or inputs are invalid.
    """
    named = {key: value for key, value in kwargs.items() if isinstance(value, Symbol)}
    attrs = {key: str(value) for key, value in kwargs.items() if key not in named}
    extra = {key: attrs.pop(key) for key in tuple(attrs) if key.startswith("__")}
    if op_type is not None:
        attrs["op_type"] = str(op_type)
    record = records.record_of(attrs)
    if len(data) > len(record.inputs):
        raise MXNetError(
            f"operator {NAME} ({op_type}): expected at most {len(record.inputs)} inputs "
            f"({', '.join(record.inputs)}), got {len(data)}"
        )
    inputs = [*data, *[None] * (len(record.inputs) - len(data))]
    return register.apply(record, "custom", inputs, attrs, name, attr, {**named, **extra})


Custom.__mx_params__ = {"data": "NDArray-or-Symbol[]", "op_type": "string"}
