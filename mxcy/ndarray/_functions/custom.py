"""`mx.nd.Custom`: calls of user-defined Python operators."""

from mxcy._library import front
from mxcy.custom import records
from mxcy.ndarray import mixed_precision
from mxcy.ops.core.precision import mixed

__all__ = ["Custom"]


def Custom(*data, op_type=None, out=None, name=None, **kwargs):
    """Call an operator registered with `mx.operator.register`.

    Parameters
    ----------
    *data : NDArray
        The inputs and then the auxiliary states; alternatively passed by name.
    op_type : str
        The operator's registered name.
    out : NDArray or list of NDArray, optional
        Arrays to write the outputs to.
    name : str, optional
        Accepted for compatibility.
    **kwargs
        Inputs by name, and arguments of the property class, passed to it as str.

    Returns
    -------
    NDArray or list of NDArray
        The outputs, computed asynchronously by the operator's methods, whose exceptions are raised
        when the outputs are awaited.

    Raises
    ------
    MXNetError
        If there is no such operator, or arguments or inputs are invalid.
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
