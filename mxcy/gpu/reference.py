"""Reference implementations of operators on devices, run by CuPy.

A reference that CuPy cannot run, or that draws random numbers, runs on the host: operands are
copied there and results back.
"""

from functools import partial

import numpy as np

from mxcy import env
from mxcy._base import dtypes
from mxcy._library import front
from mxcy.base import MXNetError
from mxcy.context import cpu
from mxcy.gpu import driver
from mxcy.gpu.copies import memory_type, upload
from mxcy.gpu.views import view, working_on
from mxcy.ops.core import reference

__all__ = ["operand", "run", "store"]

_BF16 = dtypes.BFLOAT16
#: what CuPy raises for a reference that it cannot run; a failing kernel raises something else
_UNFIT = (TypeError, NotImplementedError, AttributeError, ImportError)
#: messages of CuPy's libraries, which have their own CUDA runtime, if that finds no device
_NO_LIBRARY = ("cudaErrorInsufficientDriver", "cudaErrorInvalidDevice", "cudaErrorNoDevice")


def run(call, attrs, inputs, outputs):
    """Compute a call whose arrays are held, on any device.

    Parameters
    ----------
    call : mxcy.ops.core.prepare.Call
    attrs : Attrs
    inputs, outputs : sequence of NDArrayBase
    """
    device = next((a.context.device_id for a in (*outputs, *inputs) if a.on_device), None)
    if device is None:
        reference.run(call, attrs, inputs, outputs)
        return
    op = call.op
    if op.identity and _copied(inputs, outputs):
        return
    targets = [*outputs, *(inputs[i] for i in op.mutated(len(inputs)))]
    if op.uses_rng or op.ref is None:
        _run_on_host(op, attrs, inputs, outputs, targets)
        return
    try:
        with working_on(device) as xp:
            operands = [operand(array, device, xp) for array in inputs]
            results = reference.compute(op, attrs, operands, xp)
            for target, values in zip(targets, results, strict=True):
                if values is not None:
                    _keep(target, values, device, xp)
    except Exception as error:
        cause = error.__cause__ or error
        if not _is_unfit(cause):
            raise _explained(op, error, cause) from cause
        if "dispatch" in env.get("MXCY_VERBOSE"):
            print(f"mxcy dispatch {op.name} -> host: {cause}", flush=True)
        _run_on_host(op, attrs, inputs, outputs, targets)


def _copied(inputs, outputs):
    """Copy an array to one of the same size elsewhere; return False if sizes differ."""
    if len(inputs) != 1 or len(outputs) != 1:
        return False
    (origin,), (target,) = inputs, outputs
    if origin.dtype_code != target.dtype_code or origin.size != target.size:
        return False
    size = origin.size * memory_type(origin.dtype_code).itemsize
    places = [a.context.device_id if a.on_device else driver.HOST for a in (target, origin)]
    driver.copy(target.address, places[0], origin.address, places[1], size)
    return True


def store(target, values, add=False):
    """Write (or add) values, a NumPy array or another array, to an array that is held.

    See `mxcy.ops.core.reference.store`.
    """
    if not target.on_device:
        reference.store(target, values, add)
        return
    device = target.context.device_id
    if isinstance(values, (np.ndarray, np.generic)) and not add:
        values = np.asarray(values)
        upload(target, reference.narrow(values) if target.dtype_code == _BF16 else values)
        return
    with working_on(device) as xp:
        if isinstance(values, (np.ndarray, np.generic)):
            values = xp.asarray(values)
        else:
            values = operand(values, device, xp)
        _keep(target, operand(target, device, xp) + values if add else values, device, xp)


def _is_unfit(cause):
    """Return whether CuPy cannot run a reference although the call is valid."""
    return isinstance(cause, _UNFIT) or any(word in str(cause) for word in _NO_LIBRARY)


def _explained(op, error, cause):
    """Return the error to raise for a failed call, with the device's message if it has one."""
    on_device = type(cause).__module__.startswith(("cupy", "cupy_backends"))
    if isinstance(cause, MemoryError) or on_device:
        return MXNetError(f"Error in operator {op.name}: {type(cause).__name__}: {cause}")
    if type(error) is MXNetError and not str(error).startswith("Error in"):
        return MXNetError(f"Error in operator {op.name}: {error}")
    return error


def operand(array, device, xp):
    """Return any array as a CuPy array on a device; bfloat16 as float32.

    Parameters
    ----------
    array : NDArrayBase
    device : int
    xp : module
        CuPy, working on that device.

    Returns
    -------
    cupy.ndarray
    """
    if not array.on_device:
        values = xp.asarray(array.held_read_view())
    elif array.context.device_id == device:
        values = view(array)
    else:
        values = xp.asarray(array.held_read_view())
    return reference.widen(values, xp) if array.dtype_code == _BF16 else values


def _keep(target, values, device, xp):
    """Write a CuPy array to an array."""
    values = xp.asarray(values)
    if target.dtype_code == _BF16:
        values = reference.narrow(values, xp)
    if target.on_device and target.context.device_id == device:
        view(target)[...] = values
    elif target.on_device:
        upload(target, values.get())
    else:
        target.held_view()[...] = values.get()


def _run_on_host(op, attrs, inputs, outputs, targets):
    """Compute a call on the CPU."""
    at_home = partial(front.from_numpy, context=cpu())
    arrays = tuple(at_home(_values(array), array.dtype_code) for array in inputs)
    arguments = {name: getattr(attrs, name) for name in op.schema.names}
    if "ctx" in arguments:
        arguments["ctx"] = str(cpu())
    with cpu():
        results, _ = front.execute(op, arrays, arguments, train=attrs.train)
    results = [*results, *(arrays[i] for i in op.mutated(len(inputs)))]
    for target, result in zip(targets, results, strict=True):
        if target is None:
            continue
        values = result.read_view()
        if target.on_device:
            upload(target, values)
        else:
            target.held_view()[...] = values


def _values(array):
    """Return an array's elements as a NumPy array of its logical dtype."""
    values = np.ascontiguousarray(array.held_read_view())
    return values.view(dtypes.bfloat16) if array.dtype_code == _BF16 else values
