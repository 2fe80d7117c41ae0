"""The services that higher layers provide to a front, injected once as one object."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mxcy._base.per_thread import PerThread

__all__ = ["Services"]


@dataclass(frozen=True, slots=True)
class Services:
    """Functions and classes that a front calls but does not import.

    `mxcy.ndarray` makes one and passes it to ``front.start``; both fronts keep it as ``services``.

    Attributes
    ----------
    prepare : callable
        `mxcy.ops.core.prepare.prepare`: prepares a call from a record and input specs.
    spec : type
        `mxcy.ops.core.infer.Spec`.
    prepare_on_device : callable
        ``prepare_on_device(call, device)``: the call with a kernel of a device, or None.
    run_reference, store_result : callable
        `mxcy.ops.core.reference.run` and `store`: compute by the definition; store a result as
        requested (write or add).
    mixed_inputs : callable
        ``mixed_inputs(op, attrs, inputs)``: the inputs of a call, cast for mixed precision, and the
        factor of its `grad_scale`.
    run_sparse : callable
        ``run_sparse(op, attrs, inputs, out)``: run a call with sparse inputs or results, which the
        fronts do not handle.
    streams_of : callable
        ``streams_of(context)``: the `Streams` of random numbers of a context.
    context_of : callable
        ``context_of(attrs)``: the context of an operator without inputs.
    pool_of : callable
        ``pool_of(context)``: the `Pool` of a context.
    shared_array : callable
        ``shared_array(shape, dtype, context)``: a new array in shared memory.
    array_class : type
        The subclass of `NDArrayBase` for new arrays.
    default_context : Context
        The context of most arrays, which the fronts need not look up.
    contexts : PerThread
        Its `value` is the current context, for arrays created without one.
    serves_devices : bool
        Whether there are contexts other than CPUs.
    device_memory : bool
        Whether the host cannot access their arrays' memory.
    upload, download : callable
        ``upload(array, values)`` copies NumPy values to such memory, ``download(array)`` returns
        a copy as a NumPy array; the caller keeps the arrays alive.
    operators : list of tuple of Op
        For each arithmetic operator of `mxcy.ops.core.operators`: the records for (array, array),
        (array, scalar) and (scalar, array).
    unusual_operands : callable
        ``unusual_operands(operation, lhs, rhs)``: arithmetic with any other operands.
    most_signatures : int
        The number of prepared calls cached per operator and set of attributes.
    """

    prepare: Callable[..., Any]
    spec: type
    prepare_on_device: Callable[[Any, int], Any]
    run_reference: Callable[..., None]
    store_result: Callable[..., None]
    run_sparse: Callable[..., Any]
    mixed_inputs: Callable[..., tuple[tuple[Any, ...], float]]
    streams_of: Callable[[Any], Any]
    context_of: Callable[[Any], Any]
    pool_of: Callable[[Any], Any]
    shared_array: Callable[..., Any]
    array_class: type
    default_context: Any
    contexts: PerThread
    serves_devices: bool
    device_memory: bool
    upload: Callable[[Any, Any], None]
    download: Callable[[Any], Any]
    operators: list[tuple[Any, ...]]
    unusual_operands: Callable[[int, Any, Any], Any]
    most_signatures: int
