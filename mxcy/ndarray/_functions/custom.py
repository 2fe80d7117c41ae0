"""`mx.nd.Custom`: operators that users have written in Python, on arrays."""

from mxcy._library import front
from mxcy.custom import records
from mxcy.ndarray import mixed_precision
from mxcy.ops.core.precision import mixed

__all__ = ["Custom"]


def Custom(*data, op_type=None, out=None, name=None, **kwargs):
    """Call an operator that was registered by `mx.operator.register`.

    Parameters
    ----------
    *data : NDArray
        The inputs, followed by the auxiliary states; also by their names.
    op_type : str
        The name under which the operator was registered.
    out : NDArray or list of NDArray, optional
        The arrays that take the outputs.
    name : str, optional
        Accepted for compatibility.
    **kwargs
        Inputs by name, and arguments of the property class, which gets them as texts.

    Returns
    -------
    NDArray or list of NDArray
        They are computed when the operator's methods have run, which may be later; what goes wrong
        there is raised by waiting for them.

    Raises
    ------
    MXNetError
        When there is no such operator, or arguments or inputs do not fit.
    """
    named = {key: value for key, value in kwargs.items() if isinstance(value, front.NDArrayBase)}
    attrs = {key: str(value) for key, value in kwargs.items() if key not in named}
    if op_type is not None:
        attrs["op_type"] = str(op_type)
    record = records.record_of(attrs)
    if mixed.policy is not None and data and out is None:
        data, _ = mixed_precision.inputs_of(record, None, data)
    return record.foreign.function(*data, out=out, **named)


Custom.__mx_params__ = {"data": "NDArray-or-Symbol[]", "op_type": "string"}
