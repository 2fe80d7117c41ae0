"""`mx.sym.Custom`: operators that users have written in Python, in symbols."""

from mxcy.base import MXNetError
from mxcy.custom import records
from mxcy.custom.described import NAME
from mxcy.symbol import register
from mxcy.symbol.symbol import Symbol

__all__ = ["Custom"]


def Custom(*data, op_type=None, name=None, attr=None, **kwargs):
    """An operator that was registered by `mx.operator.register`.

    Parameters
    ----------
    *data : Symbol
        The inputs, followed by the auxiliary states; also by their names. Those not given become
        variables.
    op_type : str
        The name under which the operator was registered.
    name : str, optional
        The name of the result.
    attr : dict of str to str, optional
        Further attributes, their keys between double underscores.
    **kwargs
        Inputs by name, and arguments of the property class, which gets them as texts.

    Returns
    -------
    Symbol

    Raises
    ------
    MXNetError
        When there is no such operator, or arguments or inputs do not fit.
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
