"""Arrays of executors: ordering, names, gradients and gradient requests."""

import numpy as np

from mxcy import ndarray as nd
from mxcy.base import MXNetError
from mxcy.ndarray import NDArray

__all__ = [
    "by_name",
    "check_gradients",
    "dense",
    "gradient_arrays",
    "head_gradient",
    "in_order",
    "requests_of",
    "resized",
]

_REQUESTS = ("null", "write", "add")


def in_order(arrays, names, what):
    """Order a list or dict of arrays by names."""
    if isinstance(arrays, dict):
        lacking = [name for name in names if name not in arrays]
        if lacking:
            raise ValueError(f"key `{lacking[0]}` is missing in `{what}`")
        arrays = [arrays[name] for name in names]
    arrays = list(arrays)
    if len(arrays) != len(names):
        raise ValueError(f"Length of {what} does not match the number: {len(names)} {names}")
    for name, array in zip(names, arrays, strict=True):
        if not isinstance(array, NDArray):
            raise TypeError(f"{what}: {name} must be an NDArray, got {type(array).__name__}")
    return arrays


def requests_of(grad_req, names):
    """Make {argument: request} from a request, a list or a dict of them."""
    if isinstance(grad_req, str):
        requests = dict.fromkeys(names, grad_req)
    elif isinstance(grad_req, (list, tuple)):
        if len(grad_req) != len(names):
            raise ValueError(f"grad_req: expected {len(names)} requests, got {len(grad_req)}")
        requests = dict(zip(names, grad_req, strict=True))
    elif isinstance(grad_req, dict):
        requests = {name: grad_req.get(name, "null") for name in names}
    else:
        raise ValueError("grad_req must be a string, a list or a dict")
    for name, request in requests.items():
        if request not in _REQUESTS:
            raise ValueError(f"grad_req must be in {_REQUESTS}, got {request!r} for {name}")
    return requests


def gradient_arrays(args_grad, names):
    """The gradient arrays, None where missing; those of 'null' requests are kept."""
    if args_grad is None:
        return [None] * len(names)
    if isinstance(args_grad, dict):
        return [args_grad.get(name) for name in names]
    if len(args_grad) != len(names):
        raise ValueError(f"Length of args_grad does not match the number: {len(names)}")
    return list(args_grad)


def check_gradients(names, arrays, gradients):
    """Check that the gradient arrays match the arguments."""
    for name, array, gradient in zip(names, arrays, gradients, strict=True):
        if gradient is None:
            continue
        if gradient.stype != "default" or array.stype != "default":
            fits = gradient.shape == array.shape
        else:
            fits = gradient.size >= array.size
        if gradient.dtype_code != array.dtype_code or not fits:
            raise MXNetError(
                f"args_grad: {name}: expected shape {array.shape} and {array.dtype.__name__}, "
                f"got shape {gradient.shape} and {gradient.dtype.__name__}"
            )


def dense(array):
    """Return a dense array itself, of a sparse one a dense copy."""
    return array if array.stype == "default" else array.tostype("default")


def head_gradient(name, gradient, output):
    """Check the gradient of one output and cast it to the output's dtype."""
    if gradient is None and output.stype != "default":
        return nd.ones(output.shape, output.context, output.dtype)
    if gradient is None:
        return nd.ones_like(output)
    if not isinstance(gradient, NDArray):
        raise TypeError(
            f"backward: gradient of {name}: expected an NDArray, got {type(gradient).__name__}"
        )
    if gradient.shape != output.shape:
        raise MXNetError(
            f"backward: gradient of {name}: expected shape {output.shape}, got {gradient.shape}"
        )
    if gradient.on_device or output.on_device:
        gradient = gradient.as_in_context(output.context)
    same = gradient.dtype_code == output.dtype_code
    return gradient if same else gradient.astype(output.dtype)


def by_name(names, arrays, what):
    """Make {name: array}; names must be unique."""
    named = dict(zip(names, arrays, strict=True))
    if len(named) != len(names):
        raise ValueError(f"Duplicate names detected in {what}: {names}")
    return named


def resized(array, shape, name, may_grow):
    """Return an array of a new shape: the same, a part of its memory, or a larger one."""
    if array.shape == tuple(shape):
        return array
    if array.stype != "default":
        return nd.zeros(shape, array.context, array.dtype, array.stype)
    size = int(np.prod(shape, dtype=np.int64))
    if size <= array.size:
        return array.reshape((-1,))[:size].reshape(shape)
    if not may_grow:
        raise MXNetError(
            f"New shape of {name} is larger than original. First making a big executor and then "
            "down sizing it is more efficient than the reverse. If you really want to up size, set "
            "allow_up_sizing=True to enable allocation of new arrays."
        )
    return nd.empty(shape, ctx=array.context, dtype=array.dtype)
